"""Slots: the rows that equalities, friction loss and limits can need, active or not."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.equality import equality_rows
from mjx_like.constraint.softening import acts_from
from mjx_like.math import safe
from mjx_like.math.quaternion import normalize, to_rotation_vector
from mjx_like.math.select import take, take_all
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType
from mjx_like.types.model import Model

Array = jax.Array


class _Owner(NamedTuple):
    """What slots take from the dof, joint or tendon that they belong to, shapes (n, ...)."""

    invweight: Array
    solref: Array
    solimp: Array


class Slots(NamedTuple):
    """Rows of all slots in MuJoCo's order, shapes (nslot, ...)."""

    active: Array
    J: Array  # (ndense, nv), of the slots that touch several dofs
    pos: Array
    margin: Array
    frictionloss: Array
    violation: Array
    invweight: Array
    solref: Array
    solimp: Array


def slots(m: Model, d: Data) -> Slots:
    """Return all slots.

    Reads what `equality_rows` reads, and eq_active.  Source: mj_instantiateEquality, mj_instantiateFriction,
    mj_instantiateLimit.
    """
    plan = m.plans.constraint
    parts = []
    if len(plan.equality_order):
        parts.append(_equality(m, d))
    if len(plan.friction_dof):
        parts.append(_dof_friction(m, d))
    if len(plan.friction_tendon):
        parts.append(_tendon_friction(m, d))
    if len(plan.limit_order):
        parts.append(_joint_limit(m, d))
    if len(plan.limit_tendon):
        parts.append(_tendon_limit(m, d))
    return Slots(*(jnp.concatenate(x) for x in zip(*parts, strict=True)))


def smoothed_limits(m: Model) -> bool:
    """Return whether limits begin gradually."""
    return m.smoothing is not None and m.smoothing.limits


def equality_active(m: Model, d: Data) -> Array:
    """Return, for each equality slot, whether its row exists.  Reads eq_active."""
    plan = m.plans.constraint
    return take(d.eq_active, plan.slot_id[: len(plan.equality_order)])


def _equality(m: Model, d: Data) -> Slots:
    plan = m.plans.constraint
    rows = equality_rows(m, d)
    ids = plan.slot_id[: len(plan.equality_order)]
    active = equality_active(m, d)
    if len(plan.tendon):
        active = active & (~np.isin(ids, plan.tendon) | jnp.any(rows.J != 0, axis=1))
    zero = jnp.zeros_like(rows.pos)
    return Slots(
        active=active,
        J=rows.J,
        pos=rows.pos,
        margin=zero,
        frictionloss=zero,
        violation=rows.violation,
        invweight=rows.invweight,
        solref=take(m.eq_solref, ids),
        solimp=take(m.eq_solimp, ids),
    )


def _friction(loss: Array, exists: Array, J: Array, owner: _Owner) -> Slots:
    zero = jnp.zeros_like(loss)
    return Slots(
        active=(loss > 0) & exists,
        J=J,
        pos=zero,
        margin=zero,
        frictionloss=loss,
        violation=zero,
        **owner._asdict(),
    )


def _dof_friction(m: Model, d: Data) -> Slots:
    dofs = m.plans.constraint.friction_dof
    none, loss = jnp.zeros((0, m.nv), d.qpos.dtype), take(m.dof_frictionloss, dofs)
    owner = _Owner(take(m.dof_invweight0, dofs), take(m.dof_solref, dofs), take(m.dof_solimp, dofs))
    return _friction(loss, np.ones(len(dofs), bool), none, owner)


def _tendon_friction(m: Model, d: Data) -> Slots:
    ids = m.plans.constraint.friction_tendon
    J, loss = take(d.ten_J, ids), take(m.tendon_frictionloss, ids)
    exists = jnp.any(J != 0, axis=1)
    owner = _Owner(take(m.tendon_invweight0, ids), take(m.tendon_solref_fri, ids), take(m.tendon_solimp_fri, ids))
    return _friction(loss, exists, J, owner)


def _joint_limit(m: Model, d: Data) -> Slots:
    plan = m.plans.constraint
    scalar, ball = plan.limit_scalar, plan.limit_ball
    value, span = take(d.qpos, m.jnt_qposadr[scalar]), take(m.jnt_range, scalar)
    dist = jnp.stack([value - span[:, 0], span[:, 1] - value], axis=1).reshape(-1)
    J = jnp.zeros((0, m.nv), d.qpos.dtype)
    if len(ball):
        quat = d.qpos[m.jnt_qposadr[ball][:, None] + np.arange(4)]
        axis, angle = safe.normalize(to_rotation_vector(normalize(quat)))
        dist = jnp.concatenate([dist, jnp.max(take(m.jnt_range, ball), axis=1) - angle[:, 0]])
        own = np.arange(m.nv) == (m.jnt_dofadr[ball][:, None] + np.arange(3))[..., None]
        J = -jnp.sum(jnp.where(own, axis[..., None], 0), axis=1)
    owner = plan.slot_id[plan.slot_type == ConstraintType.LIMIT_JOINT]
    margin, solref, solimp = take_all((m.jnt_margin, m.jnt_solref, m.jnt_solimp), owner)
    return _limit(
        reach=acts_from(m, smoothed_limits(m)),
        dist=take(dist, plan.limit_order),
        margin=margin,
        exists=np.ones(len(owner), bool),
        J=J,
        owner=_Owner(take(m.dof_invweight0, m.jnt_dofadr[owner]), solref, solimp),
    )


def _tendon_limit(m: Model, d: Data) -> Slots:
    ids = m.plans.constraint.limit_tendon
    value, span = take(d.ten_length, ids), take(m.tendon_range, ids)
    dist = jnp.stack([value - span[:, 0], span[:, 1] - value], axis=1).reshape(-1)
    J = take(d.ten_J, ids)
    owner = np.repeat(ids, 2)
    return _limit(
        reach=acts_from(m, smoothed_limits(m)),
        dist=dist,
        margin=take(m.tendon_margin, owner),
        exists=jnp.repeat(jnp.any(J != 0, axis=1), 2),
        J=jnp.stack([J, -J], axis=1).reshape(-1, m.nv),
        owner=_Owner(
            take(m.tendon_invweight0, owner), take(m.tendon_solref_lim, owner), take(m.tendon_solimp_lim, owner)
        ),
    )


def _limit(reach: Array | float, dist: Array, margin: Array, exists: Array, J: Array, owner: _Owner) -> Slots:
    return Slots(
        active=(dist < margin + reach) & exists,
        J=J,
        pos=dist,
        margin=margin,
        frictionloss=jnp.zeros_like(dist),
        violation=dist - margin,
        **owner._asdict(),
    )
