"""Forces that spatial tendons apply to the bodies along their paths."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import cross
from mjx_like.math.select import combine, segment_sum, take
from mjx_like.tendon.span import spans
from mjx_like.tendon.stage import length_acceleration
from mjx_like.tree.blocks import full_j
from mjx_like.tree.inherited import has_armature, has_damping, tendon_armature, tendon_damping
from mjx_like.tree.spring import polynomial_factor, tendon_extension
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType, DisableBit, EqType, TrnType
from mjx_like.types.model import Model

Array = jax.Array


def tendon_wrench(m: Model, d: Data) -> Array:
    """Return what spatial tendons apply to each body, shape (nbody, 6): torque about the world's origin, force.

    Reads site_xpos, geom_xpos, geom_xmat and what `tension` reads.
    """
    pull = tension(m, d)
    return _from_segments(m, d, pull) + _from_spans(m, d, pull)


def tension(m: Model, d: Data) -> Array:
    """Return the force along each tendon that lengthens it, shape (ntendon,) [N]; negative where it pulls.

    Springs, dampers, actuators, constraints and armature together.
    Reads ten_length, ten_velocity, ten_J, actuator_force, qacc and constraint rows.
    """
    total = _passive(m, d) + _actuators(m, d)
    if m.njmax:
        total = total + _constraints(m, d)
    if has_armature(m.topology, "tendon", m.plans.tree.tendon_actuator).any():
        acceleration = matmul(d.ten_J, d.qacc) + length_acceleration(m, d)
        total = total - tendon_armature(m) * acceleration
    return total


def _from_segments(m: Model, d: Data, pull: Array) -> Array:
    plan = m.plans.tendon
    start, end = (take(d.site_xpos, plan.segment_site[:, k]) for k in (0, 1))
    direction, _ = safe.normalize(end - start)
    divisor = take(jnp.concatenate([jnp.ones(1, m.wrap_prm.dtype), m.wrap_prm]), plan.segment_pulley)
    force = direction * safe.ratio(combine(plan.segment_tendon.T, pull), divisor)[:, None]
    points, forces = jnp.concatenate([end, start]), jnp.concatenate([force, -force])
    return _on_bodies(m, points, forces, np.concatenate([plan.segment_body[:, 1], plan.segment_body[:, 0]]))


def _from_spans(m: Model, d: Data, pull: Array) -> Array | float:
    plan = m.plans.tendon
    if not plan.span_geom.size:
        return 0.0
    around = spans(m, d)
    force = around.force * combine(plan.span_tendon.T, pull)[:, None]
    body = np.concatenate([plan.span_body[:, k] for k in (0, 2, 2, 1)])
    return _on_bodies(m, around.points.reshape(-1, 3), force.reshape(-1, 3), body)


def _on_bodies(m: Model, points: Array, forces: Array, body: np.ndarray) -> Array:
    """Return the sum over each body of forces at points, shape (nbody, 6): torque about the world's origin, force."""
    return segment_sum(jnp.concatenate([cross(points, forces), forces], axis=1), body, m.nbody)


def _passive(m: Model, d: Data) -> Array:
    total = jnp.zeros_like(d.ten_length)
    stiff = m.has["tendon_stiffness"].any() or m.has["tendon_stiffnesspoly"].any()
    if stiff and not m.disabled(DisableBit.SPRING):
        extension = tendon_extension(m, d)
        total = total - extension * polynomial_factor(m.tendon_stiffness, m.tendon_stiffnesspoly, extension)
    damped = has_damping(m.topology, "tendon", m.plans.tree.tendon_actuator).any()
    if damped and not m.disabled(DisableBit.DAMPER):
        damping = tendon_damping(m)
        factor = polynomial_factor(damping[:, 0], damping[:, 1:], jnp.abs(d.ten_velocity))
        total = total - d.ten_velocity * factor
    return total


def _actuators(m: Model, d: Data) -> Array:
    acting = m.actuator_trntype == TrnType.TENDON
    if not acting.any():
        return jnp.zeros_like(d.ten_length)
    target = (np.arange(m.ntendon)[:, None] == m.actuator_trnid[:, 0]) & acting
    force = take(d.actuator_force, m.actuator_outadr) * take(m.actuator_gear[:, 0], m.actuator_outadr)
    return combine(target, force)


def _constraints(m: Model, d: Data) -> Array:
    """Return the forces of limits, friction loss and equality constraints on each tendon, shape (ntendon,)."""
    live = np.arange(m.njmax) < d.nefc
    force = jnp.where(live, d.efc_force, 0)
    total = jnp.zeros_like(d.ten_length)
    if m.has["tendon_frictionloss"].any():
        total = total + jnp.sum(jnp.where(_rows(d, ConstraintType.FRICTION_TENDON, np.arange(m.ntendon)), force, 0), 1)
    if m.tendon_limited.any():
        side = jnp.sign(matmul(d.ten_J, full_j(m, d).T))
        mine = _rows(d, ConstraintType.LIMIT_TENDON, np.arange(m.ntendon))
        total = total + jnp.sum(jnp.where(mine, side * force, 0), axis=1)
    ties = np.flatnonzero(m.eq_type == EqType.TENDON)
    if ties.size:
        total = total + _equalities(m, d, ties, force)
    return total


def _equalities(m: Model, d: Data, eq: np.ndarray, force: Array) -> Array:
    row_force = jnp.sum(jnp.where(_rows(d, ConstraintType.EQUALITY, eq), force, 0), axis=1)
    first, second = m.eq_obj1id[eq], m.eq_obj2id[eq]
    other = np.maximum(second, 0)
    offset = take(d.ten_length, other) - take(m.tendon_length0, other)
    c = take(m.eq_data, eq)
    slope = c[:, 1] + offset * (2 * c[:, 2] + offset * (3 * c[:, 3] + offset * 4 * c[:, 4]))
    on_second = jnp.where(second >= 0, -slope * row_force, 0)
    return segment_sum(jnp.concatenate([row_force, on_second]), np.concatenate([first, other]), m.ntendon)


def _rows(d: Data, kind: ConstraintType, ids: np.ndarray) -> Array:
    """Return which rows belong to each constraint of a kind, shape (n, njmax)."""
    return (d.efc_type == int(kind)) & (d.efc_id == ids[:, None])
