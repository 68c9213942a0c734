"""Assembly: active slots and contacts become rows without gaps, at the least capacity that holds them."""

import functools
from typing import NamedTuple

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
    return search(count, jnp.arange(size, dtype=count.dtype), side="right")


class _Own(NamedTuple):
    """What a row takes from its slot or contact, shapes (n,); the last two belong to elliptic cones."""

    pos: Array
    margin: Array
    frictionloss: Array
    R: Array
    k: Array
    b: Array
    imp: Array
    slope: Array
    b_friction: Array | None = None
    R_friction: Array | None = None


class _Part(NamedTuple):
    """What slots give to their rows and contacts to theirs, shapes (capacity, ...); other rows hold anything."""

    kind: Array
    index: Array
    J: Array


class _PlannedSlot(NamedTuple):
    """What a row takes from the plan of its slot, shapes (n,); see ConstraintPlan."""

    kind: Array
    id: Array
    dof: Array
    sign: Array
    dense: Array


def rows(capacity: int, t: Topology, inputs: Inputs) -> Rows:
    """Return the rows of one world, at most `capacity` of them: active slots, then contacts.

    Source: mj_makeConstraint.
    """
    nslot = len(t.plans.constraint.slot_type)
    row = jnp.arange(capacity, dtype=jnp.int32)
    start = inputs.slot_end[-1] if nslot else jnp.int32(0)
    of_slot = row < start
    used = of_slot if inputs.contact is None else row < start + inputs.contact_end[-1]
    ends, tables = ([inputs.slot_end], [_of_slots(t, inputs)]) if nslot else ([], [])
    if inputs.contact is not None:
        inputs = _held(capacity, t, inputs)
        ends.append(start + inputs.contact_end)
        tables.append(_of_contacts(t, inputs))
    end = jnp.concatenate(ends)
    source = jnp.minimum(nth_active(end, capacity), end.size - 1)
    own = _picked(jax.tree.map(lambda *x: jnp.concatenate(x), *tables), source)
    parts = [_slot_rows(jnp.minimum(source, nslot - 1), t, inputs)] if nslot else []
    if inputs.contact is not None:
        of_contact, own = _contact_rows(jnp.maximum(source - nslot, 0), row - start, t, inputs, own)
        parts.append(of_contact)

    def join(a: Array, b: Array) -> Array:
        return jnp.where(of_slot.reshape((-1,) + (1,) * (b.ndim - 1)), a, b)

    return _finish(own, functools.reduce(functools.partial(jax.tree.map, join), parts), used)


def _held(capacity: int, t: Topology, inputs: Inputs) -> Inputs:
    """Return the inputs with those contacts alone that a capacity has room for."""
    count = min(inputs.contact_rows.shape[0], -(-capacity // contacts_share(t)))
    names = ("contact", "parameters", "contact_rows", "contact_end")
    return inputs._replace(**{name: jax.tree.map(lambda x: x[:count], getattr(inputs, name)) for name in names})


def _of_slots(t: Topology, inputs: Inputs) -> _Own:
    s, p = inputs.slots, inputs.springs
    own = _Own(s.pos, s.margin, s.frictionloss, p.R, p.k, p.b, p.imp, p.slope)
    cone = inputs.contact is not None and not _pyramidal(t)
    return own._replace(b_friction=p.b, R_friction=p.R) if cone else own


def _of_contacts(t: Topology, inputs: Inputs) -> _Own:
    c, p = inputs.contact, inputs.parameters
    own = _Own(c.dist, c.includemargin, jnp.zeros_like(c.dist), p.R, p.k, p.b, p.imp, p.slope)
    return own if _pyramidal(t) else own._replace(b_friction=p.b_friction, R_friction=p.R_friction)


def _pyramidal(t: Topology) -> bool:
    return t.flags.cone == ConeType.PYRAMIDAL


def _finish(own: _Own, v: _Part, used: Array) -> Rows:
    R = jnp.where(used, own.R, 1)
    made = Rows(
        efc_type=v.kind,
        efc_id=v.index,
        efc_J=v.J,
        efc_pos=own.pos,
        efc_margin=own.margin,
        efc_frictionloss=own.frictionloss,
        efc_diagA=safe.ratio(R * own.imp, jnp.where(used, 1 - own.imp, 1)),
        efc_KBIP=jnp.stack([own.k, own.b, own.imp, own.slope], axis=1),
        efc_D=safe.ratio(1, R),
        efc_R=R,
    )
    return jax.tree.map(lambda x: jnp.where(used.reshape((-1,) + (1,) * (x.ndim - 1)), x, 0), made)


def _slot_rows(source: Array, t: Topology, inputs: Inputs) -> _Part:
    """Return what slots give to rows; source: slot of each row."""
    plan, s, trees = t.plans.constraint, inputs.slots, t.plans.tree.trees
    column = plan.slot_dof if trees is None else tree_rows.slot_column(t)
    every = _PlannedSlot(plan.slot_type, plan.slot_id, column, plan.slot_sign, plan.slot_dense)
    table = jnp.asarray(np.stack(every, axis=1).astype(np.int32))
    slot = _PlannedSlot(*rows_of(table, source).T)
    J = jnp.where(np.arange(t.ncolJ) == slot.dof[:, None], slot.sign.astype(s.pos.dtype)[:, None], 0)
    if s.J.shape[0]:
        several = s.J if trees is None else tree_rows.slot_parts(t, s.J)
        J = jnp.where((slot.dof < 0)[:, None], rows_of(several, jnp.maximum(slot.dense, 0)), J)
    return _Part(kind=slot.kind, index=slot.id, J=J)


def _picked(own: _Own, index: Array) -> _Own:
    """Return the columns of a record at an index: as one array on a CPU, else each in the kernel that reads it."""
    parts, structure = jax.tree.flatten(own)
    table = _kept(jnp.stack(parts, axis=1 if on_cpu() else 0))
    columns = rows_of(table, index).T if on_cpu() else [rows_of(column, index) for column in table]
    return jax.tree.unflatten(structure, columns)


def _kept(table: Array) -> Array:
    """Return a table that is made once: else each row makes its own entry again."""
    return jax.lax.optimization_barrier(table)


def _contact_rows(source: Array, row: Array, t: Topology, inputs: Inputs, own: _Own) -> tuple[_Part, _Own]:
    """Return what contacts give to rows, and what the rows take from them, by the direction of each.

    source: contact of each row; row: its number among the rows of contacts, negative for slots.
    """
    plan, c, pyramidal = t.plans.constraint, inputs.contact, _pyramidal(t)
    edge = row - rows_of(inputs.contact_end - inputs.contact_rows, source)
    packed = jnp.concatenate([x.reshape(x.shape[0], -1) for x in (c.frame, c.pos, c.friction)], axis=1)
    geometry = rows_of(_kept(packed), source)
    dim = rows_of(c.dim, source)
    friction = geometry[:, 12:17]
    if t.plans.tree.trees is not None:
        axes = tree_rows.contact_axes(t, c, inputs.cdof, inputs.subtree_com)
        J, mu = tree_rows.contact_rows(axes, source, edge, dim, friction, plan.contact_dims, pyramidal)
    else:
        turned = geometry[:, :9].reshape(-1, 3, 3)
        force, torque, mu = row_directions(edge, dim, turned, friction, plan.contact_dims, pyramidal)
        sign = _dof_signs(t, rows_of(c.geom, source), friction.dtype)
        center = take(inputs.subtree_com, t.body_rootid[t.dof_bodyid])
        J = row_jacobian(force, torque, geometry[:, 9:12], sign, inputs.cdof, center, plan.one_tree)
    cone = ConstraintType.CONTACT_PYRAMIDAL if pyramidal else ConstraintType.CONTACT_ELLIPTIC
    kind = jnp.where(dim == 1, jnp.int32(ConstraintType.CONTACT_FRICTIONLESS), jnp.int32(cone))
    return _Part(kind=kind, index=source, J=J), own if pyramidal else _by_axis(own, edge, row, friction[:, 0], mu)


def _by_axis(own: _Own, edge: Array, row: Array, friction: Array, mu: Array) -> _Own:
    """Return what rows of elliptic cones take: those of tangents have no position, and the damping of friction.

    friction: that of the first tangent, shape (n,); mu: of the row's axis.
    """
    tangent = (row >= 0) & (edge > 0)
    ratio = safe.ratio(friction, mu)
    return own._replace(
        pos=jnp.where(tangent, 0, own.pos),
        margin=jnp.where(tangent, 0, own.margin),
        k=jnp.where(tangent, 0, own.k),
        b=jnp.where(tangent, own.b_friction, own.b),
        R=jnp.where(tangent, own.R_friction * ratio * ratio, own.R),
    )


def _dof_signs(t: Topology, geom: Array, dtype) -> Array:
    """Return, for pairs of geoms, 1 where a dof moves the second's body alone, -1 the first's alone, else 0."""
    bits = rows_of(jnp.asarray(t.plans.constraint.body_dof_bits[t.geom_bodyid]), geom)
    moves = ((bits[..., None] >> np.arange(32, dtype=np.uint32)) & 1).astype(dtype)
    moves = moves.reshape(*bits.shape[:-1], -1)[..., : t.nv]
    return moves[:, 1] - moves[:, 0]
