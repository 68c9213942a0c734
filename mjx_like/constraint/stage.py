"""The stages of constraint/: rows that depend on position, and their reference acceleration."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Layout, with_layout_constraint

from mjx_like.constraint.adhesion import adhesion_bias, adhesive_gap, surface_motion
from mjx_like.constraint.assemble import Inputs, Rows, contacts_share, nth_active, rows
from mjx_like.constraint.contact import approximate_diagonal, contact_parameters, edge_count
from mjx_like.constraint.equality import velocity_product
from mjx_like.constraint.exact_diagonal import exact_diagonal
from mjx_like.constraint.impedance import end_of_step
from mjx_like.constraint.plan import without_rows
from mjx_like.constraint.slots import Slots, equality_active, slots, smoothed_limits
from mjx_like.constraint.softening import acts_from
from mjx_like.constraint.spring import LIMIT, Sources, Springs, springs
from mjx_like.math import safe
from mjx_like.math.batching import LEAST_CAPACITY, capacities, doubled, mapped_batch, with_capacity
from mjx_like.math.linear import floats, is_float, linear_at_capacity
from mjx_like.math.platform import on_cpu
from mjx_like.math.rule import custom_jvp
from mjx_like.math.select import running_total, sum_of_lower
from mjx_like.math.tangent import changing, still
from mjx_like.smooth.crb import full_factor
from mjx_like.tree.blocks import row_velocity
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import ConeType, ConstraintType, EnableBit, WarningType
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array

_LEAST_SAVING = 2.5  # of all rows over those of a capacity, on an accelerator


class _InUse(NamedTuple):
    """Which slots and contacts have rows."""

    slots: Slots | None
    each: Array  # rows of each contact, shape (nconmax,)
    slot_end: Array  # running total of the active slots
    contact_end: Array  # running total of the rows of contacts
    asked: Array  # rows if njmax had no limit


def make_constraint(m: Model, d: Data) -> Data:
    """Return `d` with the constraint rows and all of them that depends on position alone.

    Reads eq_active, contact, qpos, body, site and tendon poses, ten_J, subtree_com, cdof. Writes efc_type, efc_id,
    efc_J, efc_pos, efc_margin, efc_frictionloss, efc_diagA, efc_KBIP, efc_D, efc_R, contact.efc_address, contact.dim,
    ne, nf, nl, nefc, maxuse_efc and the CNSTRFULL counter of warning. If the rows exceed njmax, the deepest contacts
    stay. With the flag diagexact it reads qLD as well, but for the integrator `discrete`, whose metric is made later.
    Source: mj_makeConstraint.
    """
    if without_rows(m):
        return _without_rows(m, d)
    d = adhesive_gap(m, d)
    use = _in_use(m, d)
    counts, total = _counts(m, use.slot_end), _last(use.slot_end)
    nefc = total + _last(use.contact_end)
    # a capacity holds as many contacts as rows, those without rows included
    last = jnp.max(jnp.where(use.each > 0, jnp.arange(1, use.each.size + 1), 0), initial=0)
    each = contacts_share(m.topology)
    made = _assemble(m.topology, _sizes(m), jnp.maximum(nefc, last if each == 1 else each * last), _inputs(m, d, use))
    full = jnp.zeros_like(d.warning).at[int(WarningType.CNSTRFULL)].set(1) * (use.asked > m.njmax)
    d = d.replace(
        **made._asdict(),
        contact=d.contact.replace(efc_address=jnp.where(use.each > 0, total + use.contact_end - use.each, -1)),
        ne=counts[0],
        nf=counts[1],
        nl=counts[2],
        nefc=nefc,
        maxuse_efc=jnp.maximum(d.maxuse_efc, use.asked),
        warning=d.warning + full.astype(d.warning.dtype),
    )
    exact = m.enabled(EnableBit.DIAGEXACT) and not m.plans.integrator.in_step
    return exact_diagonal(m, d, full_factor(m, d)) if exact else d


def reference_constraint(m: Model, d: Data) -> Data:
    """Return `d` with the velocity and the reference acceleration of each constraint row.

    Reads qvel, efc_J, efc_KBIP, efc_pos, efc_margin, and for equalities eq_active, cvel, cdof_dot and what
    `make_constraint` reads. Writes efc_vel, efc_aref.  Source: mj_referenceConstraint.
    """
    plan = m.plans.constraint
    if without_rows(m):
        return d
    vel = row_velocity(m, d, d.qvel)
    if m.has["geom_surfacevel"].any() and plan.contact_dims:
        vel = vel + surface_motion(m, d)
    k, b, imp = d.efc_KBIP[:, 0], d.efc_KBIP[:, 1], d.efc_KBIP[:, 2]
    h, discrete = m.opt_floats.timestep, m.plans.integrator.in_step
    violation = d.efc_pos - d.efc_margin
    aref = -b * vel - k * imp * (violation + h * vel if discrete else violation)
    if discrete:
        rise = end_of_step(k, b, imp, h)
        aref = safe.ratio(aref, rise)
    if m.adhesive and plan.contact_dims:
        aref = aref + adhesion_bias(m, d)
    if len(plan.connect) + len(plan.weld):
        nrow = min(len(plan.equality_order), m.njmax)
        source = nth_active(running_total(equality_active(m, d)), nrow)
        product = velocity_product(m, d).at[jnp.minimum(source, len(plan.equality_order) - 1)].get()
        product = jnp.where(jnp.arange(nrow) < d.ne, product, 0)
        product = jnp.concatenate([product, jnp.zeros(m.njmax - nrow, aref.dtype)])
        aref = aref - (safe.ratio(product, rise) if discrete else product)
    return d.replace(efc_vel=vel, efc_aref=aref)


def _without_rows(m: Model, d: Data) -> Data:
    zero = jnp.zeros_like(d.nefc)
    return d.replace(
        ne=zero, nf=zero, nl=zero, nefc=zero,
        contact=d.contact.replace(efc_address=jnp.full_like(d.contact.efc_address, -1)),
    )  # fmt: skip


def _in_use(m: Model, d: Data) -> _InUse:
    """Return the slots and contacts that have rows, at most njmax rows in all."""
    plan = m.plans.constraint
    fixed = slots(m, d) if len(plan.slot_type) else None
    each = _contact_rows(m, d)
    slot_end, end = _slot_totals(fixed), running_total(each)
    asked = _last(slot_end) + _last(end)
    if m.njmax < plan.default_njmax:
        fixed, each = _within_capacity(m, d, fixed, slot_end, each)
        slot_end, end = _slot_totals(fixed), running_total(each)
    return _InUse(fixed, each, slot_end, end, asked)


def _inputs(m: Model, d: Data, use: _InUse) -> Inputs:
    """Return what the rows follow from."""
    fixed, contact = use.slots, _reduced(d.contact) if m.plans.constraint.contact_dims else None
    slot_springs, contact_springs = _springs(m, fixed, contact)
    if m.smoothing is not None:
        fixed, contact = _softened(m, fixed, slot_springs, contact, contact_springs)
    return Inputs(
        slots=fixed,
        springs=slot_springs,
        contact=contact,
        parameters=None if contact is None else contact_parameters(m, contact, contact_springs),
        contact_rows=use.each,
        slot_end=use.slot_end,
        contact_end=use.contact_end,
        cdof=d.cdof,
        subtree_com=d.subtree_com,
    )


def _contact_rows(m: Model, d: Data) -> Array:
    """Return the number of rows of each contact: none in the gap, and none between bodies that move as one."""
    c, plan = d.contact, m.plans.constraint
    if not plan.contact_dims:
        return jnp.zeros(m.nconmax, jnp.int32)
    force = c.dist < c.includemargin + acts_from(m)
    if m.topology.enabled(EnableBit.SPECULATIVE):
        force = force | (c.exclude == 0)
    if m.adhesive:
        force = force | (c.adhesion != 0)
    force = force & (c.geom[:, 0] >= 0)
    if plan.contact_may_lack_dofs:
        own = jnp.asarray(plan.body_group[m.geom_bodyid])[jnp.maximum(c.geom, 0)]
        force = force & (own[:, 0] != own[:, 1])
    pyramidal = m.flags.cone == ConeType.PYRAMIDAL
    each = edge_count(c.dim) if pyramidal else c.dim
    return jnp.where(force, each, 0).astype(jnp.int32)


def _slot_totals(fixed: Slots | None) -> Array:
    """Return the running total of the active slots, in the order of their rows."""
    return jnp.zeros(0, jnp.int32) if fixed is None else running_total(fixed.active)


def _last(total: Array) -> Array:
    return total[-1] if total.size else jnp.int32(0)


def _counts(m: Model, total: Array) -> tuple[Array, Array, Array]:
    """Return the number of active equality, friction loss and limit slots, from their running total."""
    kind = m.plans.constraint.slot_type
    ends = (*np.searchsorted(kind, (ConstraintType.FRICTION_DOF, ConstraintType.LIMIT_JOINT)), len(kind))
    until = [_last(total[:end]) for end in ends]
    return until[0], until[1] - until[0], until[2] - until[1]


def _within_capacity(
    m: Model, d: Data, fixed: Slots | None, slot_end: Array, each: Array
) -> tuple[Slots | None, Array]:  # fmt: skip
    """Return slots and contact rows limited to njmax: the first slots, then the deepest contacts."""
    if fixed is not None:
        fixed = fixed._replace(active=fixed.active & (slot_end <= m.njmax))
    room = jnp.int32(m.njmax) - jnp.minimum(_last(slot_end), m.njmax)
    if each.size:
        before = sum_of_lower(d.contact.dist, each)
        each = jnp.where(before + each <= room, each, 0)
    return fixed, each


def _reduced(c: Contact) -> Contact:
    """Return the contacts with geom ids that can index, and friction that can divide, where a row is not in use."""
    return c.replace(geom=jnp.maximum(c.geom, 0), friction=jnp.where(c.friction > 0, c.friction, 1))


def _springs(m: Model, fixed: Slots | None, c: Contact | None) -> tuple[Springs | None, Springs | None]:
    """Return the springs of slots and of contacts, made in one."""
    parts = [] if fixed is None else [Sources(fixed.solref, fixed.solimp, fixed.violation, fixed.invweight)]
    if c is not None:
        weight = m.body_invweight0[:, 0].at[m.geom_bodyid].get()
        weight = jnp.sum(weight.at[c.geom].get(mode="promise_in_bounds"), axis=1)
        diagonal = approximate_diagonal(c, weight, m.flags.cone == ConeType.PYRAMIDAL)
        parts.append(Sources(c.solref, c.solimp, c.dist - c.includemargin, diagonal))
    both = springs(m, Sources(*(jnp.concatenate(x) for x in zip(*parts, strict=True))))
    nslot = len(m.plans.constraint.slot_type)
    first, rest = (jax.tree.map(lambda x, own=own: x[own], both) for own in (slice(nslot), slice(nslot, None)))
    return None if fixed is None else first, None if c is None else rest


def _softened(m: Model, fixed: Slots | None, own: Springs | None, c: Contact | None, contacts: Springs | None):
    """Return slots and contacts with the margin below which their springs push."""
    if fixed is not None and smoothed_limits(m):
        limit = np.isin(m.plans.constraint.slot_type, LIMIT)
        fixed = fixed._replace(margin=jnp.where(limit, fixed.pos - own.soft, fixed.margin))
    return fixed, None if c is None else c.replace(includemargin=c.dist - contacts.soft)


@functools.partial(custom_jvp, nondiff_argnums=(0, 1))
def _assemble(t: Topology, sizes: tuple[int, ...], need: Array, inputs: Inputs) -> Rows:
    """Return the rows at full capacity; `need`: the rows in use, which decide with which of `sizes` they are made."""
    turned = not on_cpu()  # a choice ends fusions: J is written as the solver's kernel reads it

    def kernel(axes, need, inputs):
        def sized(capacity, inputs):
            made = jax.vmap(functools.partial(_padded, capacity, t), in_axes=axes[1:])(inputs)
            return made._replace(efc_J=with_layout_constraint(made.efc_J.mT, Layout((0, 1, 2)))) if turned else made

        made = with_capacity(sizes, need, sized, inputs)
        return made._replace(efc_J=made.efc_J.mT) if turned else made

    return mapped_batch(kernel)(need, inputs)


def _sizes(m: Model) -> tuple[int, ...]:
    """Return the capacities to choose from, beyond the rows that are always there if these are many.

    On an accelerator, where a choice waits for the host, they are few and far apart.
    """
    most, kind = m.njmax, m.plans.constraint.slot_type
    always = min(most, len(kind) if m.hard is not None else int(np.sum(~np.isin(kind, LIMIT))))
    always = always if 2 * always > LEAST_CAPACITY else 0
    more = (capacities if m.plans.tree.trees is None else doubled)(most - always)
    sizes = [always + n for n in more]
    return tuple(sizes) if on_cpu() else (*(n for n in sizes[:-1] if _LEAST_SAVING * n < most), most)


@functools.partial(_assemble.defjvp, symbolic_zeros=True)
def _assemble_jvp(t: Topology, sizes: tuple[int, ...], primals, tangents):
    need, inputs = primals
    made = _assemble(t, sizes, need, inputs)
    _, changes, _ = changing(inputs, tangents[1])
    if not changes:
        return made, jax.tree.map(still, made)

    def rates(capacity: int, inputs: Inputs, changes: list[Array]) -> list[Array]:
        values, _, with_others = changing(inputs, tangents[1])
        return jax.jvp(lambda v: floats(_padded(capacity, t, with_others(v)))[0], (values,), (changes,))[1]

    found = iter(linear_at_capacity(rates, t.njmax, need, inputs, changes))
    return made, jax.tree.map(lambda x: next(found) if is_float(x) else still(x), made)


def _padded(capacity: int, t: Topology, inputs: Inputs) -> Rows:
    """Return the rows of one world, at most `capacity` of them, and zeros up to njmax."""

    def pad(x: Array) -> Array:
        return jnp.pad(x, [(0, t.njmax - capacity)] + [(0, 0)] * (x.ndim - 1)) if capacity < t.njmax else x

    return jax.tree.map(pad, rows(capacity, t, inputs))
