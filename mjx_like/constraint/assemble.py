"""Assembly: active slots and contacts become rows without gaps, at the least capacity that holds them."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.contact import ContactParameters, row_directions, row_jacobian
from mjx_like.constraint.slots import Slots
from mjx_like.math.select import take
from mjx_like.types.data import Contact
from mjx_like.types.enums import ConeType, ConstraintType
from mjx_like.types.topology import Topology

Array = jax.Array


class Rows(NamedTuple):
    """Constraint rows, shapes (capacity, ...); rows from the number in use on are zero.  Fields as in Data."""

    efc_type: Array
    efc_id: Array
    efc_J: Array
    efc_pos: Array
    efc_margin: Array
    efc_frictionloss: Array
    efc_diagA: Array
    efc_KBIP: Array
    efc_D: Array
    efc_R: Array


class Inputs(NamedTuple):
    """All that the rows are made from, for one world."""

    slots: Slots | None
    contact: Contact | None
    parameters: ContactParameters | None
    contact_rows: Array  # (nconmax,) rows of each contact, 0 if it has none
    cdof: Array
    subtree_com: Array


def nth_active(count: Array, size: int) -> Array:
    """Return, for r below `size`, the index of the entry where the running total `count` first exceeds r."""
    return jnp.sum(count <= jnp.arange(size, dtype=count.dtype)[:, None], axis=1, dtype=jnp.int32)


def rows(capacity: int, t: Topology, inputs: Inputs) -> Rows:
    """Return the rows of one world, at most `capacity` of them: active slots, then contacts.

    Source: mj_makeConstraint.
    """
    nslot = len(t.plans.constraint.slot_type)
    fixed = _slot_rows(min(capacity, nslot), t, inputs) if nslot else None
    if inputs.contact is None:
        return _pad(fixed, capacity)
    start = jnp.sum(inputs.slots.active, dtype=jnp.int32) if nslot else jnp.int32(0)
    contacts = _contact_rows(capacity, t, inputs, start)
    if fixed is None:
        return contacts
    first = jnp.arange(capacity) < start

    def join(a: Array, b: Array) -> Array:
        return jnp.where(first.reshape((-1,) + (1,) * (b.ndim - 1)), a, b)

    return jax.tree.map(join, _pad(fixed, capacity), contacts)


def _pad(part: Rows, capacity: int) -> Rows:
    return jax.tree.map(
        lambda x: (
            jnp.concatenate([x, jnp.zeros((capacity - x.shape[0], *x.shape[1:]), x.dtype)])
            if x.shape[0] < capacity
            else x
        ),
        part,
    )


def _finish(kind, index, J, pos, margin, frictionloss, KBIP, R, used: Array) -> Rows:
    imp = KBIP[:, 2]
    zero = jnp.zeros_like(pos)
    R = jnp.where(used, R, 1)
    return Rows(
        efc_type=jnp.where(used, kind, 0),
        efc_id=jnp.where(used, index, 0),
        efc_J=jnp.where(used[:, None], J, 0),
        efc_pos=jnp.where(used, pos, zero),
        efc_margin=jnp.where(used, margin, zero),
        efc_frictionloss=jnp.where(used, frictionloss, zero),
        efc_diagA=jnp.where(used, R * imp / jnp.where(used, 1 - imp, 1), zero),
        efc_KBIP=jnp.where(used[:, None], KBIP, 0),
        efc_D=jnp.where(used, 1 / R, zero),
        efc_R=jnp.where(used, R, zero),
    )


def _slot_rows(capacity: int, t: Topology, inputs: Inputs) -> Rows:
    plan, s = t.plans.constraint, inputs.slots
    nslot, nv = len(plan.slot_type), inputs.cdof.shape[0]
    count = jnp.cumsum(s.active, dtype=jnp.int32)
    source = jnp.minimum(nth_active(count, capacity), nslot - 1)
    used = jnp.arange(capacity) < count[-1]
    packed = jnp.concatenate([jnp.stack([s.pos, s.margin, s.frictionloss, s.R], axis=1), s.KBIP], axis=1)
    value = _rows_at(packed, source)
    dof = _rows_at(jnp.asarray(plan.slot_dof), source)
    sign = _rows_at(jnp.asarray(plan.slot_sign, s.pos.dtype), source)
    J = jnp.where(np.arange(nv) == dof[:, None], sign[:, None], 0)
    if s.J.shape[0]:
        dense = _rows_at(jnp.asarray(plan.slot_dense), source)
        J = jnp.where((dof < 0)[:, None], _rows_at(s.J, jnp.maximum(dense, 0)), J)
    kind = _rows_at(jnp.asarray(plan.slot_type), source)
    index = _rows_at(jnp.asarray(plan.slot_id), source)
    return _finish(kind, index, J, value[:, 0], value[:, 1], value[:, 2], value[:, 4:], value[:, 3], used)


def _rows_at(x: Array, index: Array) -> Array:
    return x.at[index].get(mode="promise_in_bounds")


def _contact_rows(capacity: int, t: Topology, inputs: Inputs, start: Array) -> Rows:
    plan = t.plans.constraint
    pyramidal = t.flags.cone == ConeType.PYRAMIDAL
    ncon = min(inputs.contact_rows.shape[0], capacity)
    c: Contact = jax.tree.map(lambda x: x[:ncon], inputs.contact)
    p: ContactParameters = jax.tree.map(lambda x: x[:ncon], inputs.parameters)
    each = inputs.contact_rows[:ncon]
    end = jnp.cumsum(each, dtype=jnp.int32)
    row = jnp.arange(capacity, dtype=jnp.int32) - start
    source = jnp.sum(end <= row[:, None], axis=1, dtype=jnp.int32)
    used = (row >= 0) & (source < ncon)
    source = jnp.minimum(source, ncon - 1)
    edge = row - _rows_at(end - each, source)
    packed = jnp.concatenate([x.reshape(ncon, -1) for x in (c.frame, c.pos, c.friction)], axis=1)
    geometry = _rows_at(packed, source)
    packed = jnp.stack([c.dist, c.includemargin, *p], axis=1)
    dist, margin, k, b, b_friction, imp, slope, R, R_friction = _rows_at(packed, source).T
    dim = _rows_at(c.dim, source)
    friction = geometry[:, 12:17]
    direction = row_directions(edge, dim, geometry[:, :9].reshape(-1, 3, 3), friction, plan.contact_dims, pyramidal)
    J = row_jacobian(
        direction.force,
        direction.torque,
        geometry[:, 9:12],
        _dof_signs(t, _rows_at(c.geom, source), R.dtype),
        inputs.cdof,
        take(inputs.subtree_com, t.body_rootid[t.dof_bodyid]),
        plan.one_tree,
    )
    if not pyramidal:
        tangent = edge > 0
        dist, margin, k = (jnp.where(tangent, 0, x) for x in (dist, margin, k))
        b = jnp.where(tangent, b_friction, b)
        ratio = friction[:, 0] / direction.friction
        R = jnp.where(tangent, R_friction * ratio * ratio, R)
    cone = ConstraintType.CONTACT_PYRAMIDAL if pyramidal else ConstraintType.CONTACT_ELLIPTIC
    kind = jnp.where(dim == 1, int(ConstraintType.CONTACT_FRICTIONLESS), int(cone))
    KBIP = jnp.stack([k, b, imp, slope], axis=1)
    return _finish(kind, source, J, dist, margin, jnp.zeros_like(dist), KBIP, R, used)


def _dof_signs(t: Topology, geom: Array, dtype) -> Array:
    """Return, for pairs of geoms, 1 where a dof moves the second's body alone, -1 the first's alone, else 0."""
    bits = _rows_at(jnp.asarray(t.plans.constraint.body_dof_bits[t.geom_bodyid]), geom)
    words = bits[..., np.arange(t.nv) // 32]
    moves = ((words >> np.arange(t.nv, dtype=np.uint32) % 32) & 1).astype(dtype)
    return moves[:, 1] - moves[:, 0]
