"""Assembly: active slots and contacts become rows without gaps, at the least capacity that holds them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint import tree_rows
from mjx_like.constraint.contact import ContactParameters, row_directions, row_jacobian
from mjx_like.constraint.slots import Slots
from mjx_like.constraint.spring import Springs
from mjx_like.math import safe
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import rows as rows_of
from mjx_like.math.select import search, take
from mjx_like.types.data import Contact
from mjx_like.types.enums import ConeType, ConstraintType
from mjx_like.types.plans import ConstraintPlan
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
    springs: Springs | None  # of the slots
    contact: Contact | None
    parameters: ContactParameters | None
    contact_rows: Array  # (nconmax,) rows of each contact, 0 if it has none
    slot_end: Array  # running total of the active slots
    contact_end: Array  # running total of contact_rows
    cdof: Array
    subtree_com: Array


def contacts_share(t: Topology) -> int:
    """Return how many rows a capacity has for each contact that it holds."""
    return 1 if t.plans.tree.trees is None else max(1, t.plans.constraint.contact_rows[0])


def nth_active(count: Array, size: int) -> Array:
    """Return, for r below `size`, the index of the entry where the running total `count` first exceeds r."""
    return _first_beyond(count, jnp.arange(size, dtype=count.dtype), many=False)


def _first_beyond(total: Array, row: Array, many: bool) -> Array:
    """Return the index of the entry where a running total first exceeds each r.

    On a CPU few entries are counted, by a product, which makes fewer loops than a sum.
    """
    if many or not on_cpu():
        return search(total, row, side="right")
    before = (total <= row[:, None]).astype(jnp.float32)
    return (before @ np.ones(total.size, np.float32)).astype(jnp.int32)


class _Values(NamedTuple):
    """What stands in each row, shapes (capacity, ...); rows that are not in use hold anything."""

    kind: Array
    index: Array
    pos: Array
    margin: Array
    frictionloss: Array
    R: Array
    KBIP: Array
    J: Array


class _OfSlot(NamedTuple):
    """What a row takes from its slot, shapes (n,)."""

    pos: Array
    margin: Array
    frictionloss: Array
    R: Array
    k: Array
    b: Array
    imp: Array
    slope: Array


class _PlannedSlot(NamedTuple):
    """What a row takes from the plan of its slot, shapes (n,); see ConstraintPlan."""

    kind: Array
    id: Array
    dof: Array
    sign: Array
    dense: Array


class _OfContact(NamedTuple):
    """What a row takes from its contact, shapes (n,)."""

    dist: Array
    margin: Array
    spring: ContactParameters


def rows(capacity: int, t: Topology, inputs: Inputs) -> Rows:
    """Return the rows of one world, at most `capacity` of them: active slots, then contacts.

    Source: mj_makeConstraint.
    """
    nslot = len(t.plans.constraint.slot_type)
    row = jnp.arange(capacity, dtype=jnp.int32)
    start = inputs.slot_end[-1] if nslot else jnp.int32(0)
    if inputs.contact is None:
        return _finish(_slot_rows(row, t, inputs), row < start)
    used = row < start + inputs.contact_end[-1]
    contacts = _contact_rows(row - start, t, inputs)
    if not nslot:
        return _finish(contacts, used)

    def join(a: Array, b: Array) -> Array:
        return jnp.where((row < start).reshape((-1,) + (1,) * (b.ndim - 1)), a, b)

    return _finish(jax.tree.map(join, _slot_rows(row, t, inputs), contacts), used)


def _finish(v: _Values, used: Array) -> Rows:
    R, imp = jnp.where(used, v.R, 1), v.KBIP[:, 2]
    made = Rows(
        efc_type=v.kind,
        efc_id=v.index,
        efc_J=v.J,
        efc_pos=v.pos,
        efc_margin=v.margin,
        efc_frictionloss=v.frictionloss,
        efc_diagA=safe.ratio(R * imp, jnp.where(used, 1 - imp, 1)),
        efc_KBIP=v.KBIP,
        efc_D=safe.ratio(1, R),
        efc_R=R,
    )
    return jax.tree.map(lambda x: jnp.where(used.reshape((-1,) + (1,) * (x.ndim - 1)), x, 0), made)


def _slot_rows(row: Array, t: Topology, inputs: Inputs) -> _Values:
    """Return what the n-th active slots give to rows, for each n in `row`."""
    plan, s, p, trees = t.plans.constraint, inputs.slots, inputs.springs, t.plans.tree.trees
    source = jnp.minimum(_first_beyond(inputs.slot_end, row, many=trees is not None), len(plan.slot_type) - 1)
    own = _picked(_OfSlot(s.pos, s.margin, s.frictionloss, p.R, p.k, p.b, p.imp, p.slope), source)
    column = plan.slot_dof if trees is None else tree_rows.slot_column(t)
    every = _PlannedSlot(plan.slot_type, plan.slot_id, column, plan.slot_sign, plan.slot_dense)
    table = jnp.asarray(np.stack(every, axis=1).astype(np.int32))
    slot = _PlannedSlot(*_rows_at(table, source).T)
    J = jnp.where(np.arange(t.ncolJ) == slot.dof[:, None], slot.sign.astype(own.R.dtype)[:, None], 0)
    if s.J.shape[0]:
        several = s.J if trees is None else tree_rows.slot_parts(t, s.J)
        J = jnp.where((slot.dof < 0)[:, None], _rows_at(several, jnp.maximum(slot.dense, 0)), J)
    return _Values(
        kind=slot.kind,
        index=slot.id,
        pos=own.pos,
        margin=own.margin,
        frictionloss=own.frictionloss,
        R=own.R,
        KBIP=jnp.stack([own.k, own.b, own.imp, own.slope], axis=1),
        J=J,
    )


def _rows_at(x: Array, index: Array) -> Array:
    return rows_of(x, index)


def _picked(columns: Any, index: Array, kept: Callable[[Array], Array] = lambda x: x) -> Any:
    """Return a record of columns at an index, picked as one array; kept: what is done to that array before."""
    parts, structure = jax.tree.flatten(columns)
    return jax.tree.unflatten(structure, _rows_at(kept(jnp.stack(parts, axis=1)), index).T)


def _contact_rows(row: Array, t: Topology, inputs: Inputs) -> _Values:
    """Return what contacts give to rows; `row` counts rows of contacts."""
    plan = t.plans.constraint
    pyramidal = t.flags.cone == ConeType.PYRAMIDAL
    ncon = min(inputs.contact_rows.shape[0], -(-row.size // contacts_share(t)))
    c: Contact = jax.tree.map(lambda x: x[:ncon], inputs.contact)
    p: ContactParameters = jax.tree.map(lambda x: x[:ncon], inputs.parameters)
    each, end = inputs.contact_rows[:ncon], inputs.contact_end[:ncon]
    many = t.plans.tree.trees is not None
    source = jnp.minimum(_first_beyond(end, row, many), ncon - 1)
    edge = row - _rows_at(end - each, source)
    packed = jnp.concatenate([x.reshape(ncon, -1) for x in (c.frame, c.pos, c.friction)], axis=1)
    geometry = _rows_at(jax.lax.optimization_barrier(packed), source)  # else each row makes its contact again
    own = _picked(_OfContact(c.dist, c.includemargin, p), source, jax.lax.optimization_barrier)
    dim = _rows_at(c.dim, source)
    friction = geometry[:, 12:17]
    if many:
        axes = tree_rows.contact_axes(t, c, inputs.cdof, inputs.subtree_com)
        J, mu = tree_rows.contact_rows(axes, source, edge, dim, friction, plan.contact_dims, pyramidal)
        return _contact_values(plan, pyramidal, source, edge, dim, own, friction, mu, J)
    direction = row_directions(edge, dim, geometry[:, :9].reshape(-1, 3, 3), friction, plan.contact_dims, pyramidal)
    J = row_jacobian(
        direction.force,
        direction.torque,
        geometry[:, 9:12],
        _dof_signs(t, _rows_at(c.geom, source), friction.dtype),
        inputs.cdof,
        take(inputs.subtree_com, t.body_rootid[t.dof_bodyid]),
        plan.one_tree,
    )
    return _contact_values(plan, pyramidal, source, edge, dim, own, friction, direction.friction, J)


def _contact_values(
    plan: ConstraintPlan, pyramidal: bool, source: Array, edge: Array, dim: Array, own: _OfContact, friction: Array,
    mu: Array, J: Array,
) -> _Values:  # fmt: skip
    """Return the values of rows of contacts; friction: shape (n, 5); mu: that of the row's axis."""
    dist, margin, k, b, R = own.dist, own.margin, own.spring.k, own.spring.b, own.spring.R
    if not pyramidal:
        tangent = edge > 0
        dist, margin, k = (jnp.where(tangent, 0, x) for x in (dist, margin, k))
        b = jnp.where(tangent, own.spring.b_friction, b)
        ratio = safe.ratio(friction[:, 0], mu)
        R = jnp.where(tangent, own.spring.R_friction * ratio * ratio, R)
    cone = ConstraintType.CONTACT_PYRAMIDAL if pyramidal else ConstraintType.CONTACT_ELLIPTIC
    kind = jnp.where(dim == 1, jnp.int32(ConstraintType.CONTACT_FRICTIONLESS), jnp.int32(cone))
    KBIP = jnp.stack([k, b, own.spring.imp, own.spring.slope], axis=1)
    return _Values(
        kind=kind,
        index=source,
        pos=dist,
        margin=margin,
        frictionloss=jnp.zeros_like(dist),
        R=R,
        KBIP=KBIP,
        J=J,
    )


def _dof_signs(t: Topology, geom: Array, dtype) -> Array:
    """Return, for pairs of geoms, 1 where a dof moves the second's body alone, -1 the first's alone, else 0."""
    bits = _rows_at(jnp.asarray(t.plans.constraint.body_dof_bits[t.geom_bodyid]), geom)
    moves = ((bits[..., None] >> np.arange(32, dtype=np.uint32)) & 1).astype(dtype)
    moves = moves.reshape(*bits.shape[:-1], -1)[..., : t.nv]
    return moves[:, 1] - moves[:, 0]
