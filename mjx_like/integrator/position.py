"""Positions from velocities and back, on the manifold of the joint coordinates."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion, safe
from mjx_like.math.select import take
from mjx_like.types.enums import JointType
from mjx_like.types.model import Model

Array = jax.Array


def integrate_pos(m: Model, qpos: Array, qvel: Array, dt: Array | float) -> Array:
    """Return the joint positions after moving for a time `dt` with velocity `qvel`, shape (nq,).

    qpos: shape (nq,) [m or rad, quaternions wxyz]; qvel: shape (nv,) [m/s or rad/s]; dt: [s].
    Quaternions come back normalised; the derivatives are right at zero velocity.
    Source: mj_integratePos.
    """
    plan, qpos, qvel = m.plans.integrator, jnp.asarray(qpos), jnp.asarray(qvel)
    scalar = take(qpos, plan.scalar_qpos) + dt * take(qvel, plan.scalar_dof)
    if not plan.quat_qpos.size:
        return scalar
    rotated = quaternion.integrate(quaternions(m, qpos), angular_velocity(m, qvel), dt)
    return take(jnp.concatenate([scalar, rotated.ravel()]), plan.qpos_order)


def differentiate_pos(m: Model, qpos1: Array, qpos2: Array, dt: Array | float = 1.0) -> Array:
    """Return the velocity, shape (nv,), that leads from `qpos1` to `qpos2` in a time `dt` [s].

    qpos1, qpos2: joint positions, shape (nq,).  Source: mj_differentiatePos.
    """
    plan, qpos1, qpos2 = m.plans.integrator, jnp.asarray(qpos1), jnp.asarray(qpos2)
    scalar = safe.ratio(take(qpos2, plan.scalar_qpos) - take(qpos1, plan.scalar_qpos), dt)
    if not plan.quat_qpos.size:
        return scalar
    rotation = safe.ratio(quaternion.subtract(quaternions(m, qpos2), quaternions(m, qpos1)), dt)
    return take(jnp.concatenate([scalar, rotation.ravel()]), plan.dof_order)


def quaternions(m: Model, qpos: Array) -> Array:
    """Return the quaternions of the ball and free joints, shape (nquat, 4)."""
    return take(qpos, m.plans.integrator.quat_qpos.ravel()).reshape(-1, 4)


def angular_velocity(m: Model, qvel: Array) -> Array:
    """Return the angular velocities of the ball and free joints in their own frames, shape (nquat, 3) [rad/s]."""
    return take(qvel, m.plans.integrator.quat_dof.ravel()).reshape(-1, 3)


def replace_angular_velocity(m: Model, qvel: Array, omega: Array) -> Array:
    """Return `qvel` with other angular velocities for the ball and free joints, shape (nquat, 3)."""
    plan = m.plans.integrator
    return take(jnp.concatenate([take(qvel, plan.scalar_dof), omega.ravel()]), plan.dof_order)


def normalize_quat(m: Model, qpos: Array) -> Array:
    """Return joint positions, shape (nq,), with all quaternions normalised.  Source: mj_normalizeQuat."""
    rotating = np.isin(m.jnt_type, (JointType.FREE, JointType.BALL))
    start = (m.jnt_qposadr + 3 * (m.jnt_type == JointType.FREE))[rotating]
    cells, qpos = start[:, None] + np.arange(4), jnp.asarray(qpos)
    return qpos.at[cells].set(quaternion.normalize(qpos[cells])) if cells.size else qpos
