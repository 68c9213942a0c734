"""Derivative of actuator forces in the velocities of their transmissions."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.actuator.stage import controls, forces
from mjx_like.math.select import segment_sum, take
from mjx_like.types.data import Data
from mjx_like.types.enums import BiasType, DisableBit, GainType, TrnType
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array


def velocity_dependent(t: Topology) -> np.ndarray:
    """Return the ids of actuators whose force may depend on velocity; none where actuation is disabled."""
    if t.disabled(DisableBit.ACTUATION):
        return np.zeros(0, np.int64)
    gain = np.isin(t.actuator_gaintype, (GainType.AFFINE, GainType.MUSCLE))
    return np.flatnonzero(gain | (t.actuator_biastype == BiasType.AFFINE))


def force_slope(m: Model, d: Data, ids: np.ndarray) -> Array:
    """Return the derivative of the force of each actuator in its velocity, shape (n,) [N s/m or N m s/rad].

    It is 0 where the force, or the total force on the joint or tendon, is at the end of its range.
    ids: static actuator ids, shape (n,).
    Reads time, ctrl, history, act, act_dot, actuator_length, actuator_velocity, actuator_force, qfrc_actuator.
    Source: mjd_actuator_vel.
    """
    control, _ = controls(m, d)

    def force(velocity: Array) -> Array:
        return forces(m, d.replace(actuator_velocity=velocity), control, d.act_dot)

    _, slope = jax.jvp(force, (d.actuator_velocity,), (jnp.ones_like(d.actuator_velocity),))
    return jnp.where(_saturated(m, d, ids), 0, take(slope, ids))


def _saturated(m: Model, d: Data, ids: np.ndarray) -> Array:
    """Return whether each actuator, or the joint or tendon that it acts on, is at a force limit, shape (n,)."""
    target, kind = m.actuator_trnid[ids, 0], m.actuator_trntype[ids]
    saturated = jnp.zeros(ids.size, bool)
    limited = m.actuator_forcelimited[ids]
    if limited.any():
        saturated |= limited & _at_end(take(d.actuator_force, m.actuator_outadr[ids]), take(m.actuator_forcerange, ids))
    on_joint = np.isin(kind, (TrnType.JOINT, TrnType.JOINTINPARENT))
    joint = np.where(on_joint, target, 0)
    limited = on_joint & m.jnt_actfrclimited[joint] if m.njnt else np.zeros(ids.size, bool)
    if limited.any():
        total = take(d.qfrc_actuator, m.jnt_dofadr[joint])
        saturated |= limited & _at_end(total, take(m.jnt_actfrcrange, joint))
    on_tendon = kind == TrnType.TENDON
    tendon = np.where(on_tendon, target, 0)
    limited = on_tendon & m.tendon_actfrclimited[tendon] if m.ntendon else np.zeros(ids.size, bool)
    if limited.any():
        pulling = np.flatnonzero(m.actuator_trntype == TrnType.TENDON)
        force = take(d.actuator_force, m.actuator_outadr[pulling])
        total = segment_sum(force, m.actuator_trnid[pulling, 0], m.ntendon)
        saturated |= limited & _at_end(take(total, tendon), take(m.tendon_actfrcrange, tendon))
    return saturated


def _at_end(force: Array, limits: Array) -> Array:
    """Return whether a clamped force is at an end of its range, up to rounding; limits: shape (n, 2)."""
    slack = 16 * jnp.finfo(force.dtype).eps * jnp.max(jnp.abs(limits), axis=1)
    return (force <= limits[:, 0] + slack) | (force >= limits[:, 1] - slack)
