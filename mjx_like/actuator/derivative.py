"""Derivative of actuator forces in the velocities of their transmissions."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.actuator import dcmotor, orientation
from mjx_like.actuator.stage import controls, forces
from mjx_like.actuator.table import BIASES, GAINS
from mjx_like.math import safe
from mjx_like.math.select import put, scatter, segment_sum, take
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, GainType, TrnType
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array


def velocity_dependent(t: Topology) -> np.ndarray:
    """Return the outputs whose force may depend on velocity; none where actuation is disabled."""
    if t.disabled(DisableBit.ACTUATION):
        return np.zeros(0, np.int64)
    gain, bias = ([kind for kind, law in table.items() if law.velocity_dependent] for table in (GAINS, BIASES))
    found = np.isin(t.actuator_gaintype, gain) | np.isin(t.actuator_biastype, bias)
    return np.flatnonzero(found[np.repeat(np.arange(t.nactuator), t.actuator_outnum)])


def force_slope(m: Model, d: Data, out: np.ndarray) -> Array:
    """Return the derivative of the force of each output in its velocity, shape (n,) [N s/m or N m s/rad].

    It is 0 where the force, or the total force on the joint or tendon, is at the end of its range. Of the friction of
    DC motors only the damping of the bristles counts.
    out: static addresses of outputs, shape (n,).
    Reads time, ctrl, history, act, act_dot, actuator_length, actuator_velocity, actuator_force, qfrc_actuator.
    Source: mjd_actuator_vel.
    """
    ctrl, _ = controls(m, d)
    act_dot = d.act_dot

    def force(velocity: Array) -> Array:
        moving = d.replace(actuator_velocity=velocity)
        return forces(m, moving, ctrl, _with_current(m, moving, ctrl, act_dot))

    _, slope = jax.jvp(force, (d.actuator_velocity,), (jnp.ones_like(d.actuator_velocity),))
    limited = m.plans.actuator.out_owner[out]
    slope = jnp.where(_force_at_end(m, d, out, limited), 0, take(slope, out))
    rubbing = jnp.zeros(m.nout, slope.dtype)
    for g in m.plans.actuator.dcmotor:
        if "bristle" in g.slots:
            damping = take(m.actuator_dynprm, g.ids)[:, 6] * m.plans.actuator.enabled[g.ids]
            rubbing = rubbing + scatter(damping, m.actuator_outadr[g.ids], m.nout)
    return jnp.where(_target_at_end(m, d, limited), 0, slope - take(rubbing, out))


def length_slope(m: Model, d: Data, out: np.ndarray) -> Array:
    """Return the derivative of the force of each output in its length, shape (n,) [N/m or N m/rad].

    It is 0 as that of `force_slope` is, whose arguments and fields it has. Of an orientation servo: minus its gain.
    """
    ctrl, _ = controls(m, d)

    def force(length: Array) -> Array:
        return forces(m, d.replace(actuator_length=length), ctrl, d.act_dot)

    def rubbing(length: Array) -> Array:
        total = jnp.zeros_like(length)
        for g in m.plans.actuator.dcmotor:
            own = dcmotor.friction(m, d.replace(actuator_length=length), g, d.act_dot) * m.plans.actuator.enabled[g.ids]
            total = total + scatter(own, m.actuator_outadr[g.ids], m.nout)
        return total

    ones, owner = jnp.ones_like(d.actuator_length), m.plans.actuator.out_owner[out]
    slope = take(jax.jvp(force, (d.actuator_length,), (ones,))[1], out)
    servo = m.actuator_gaintype[owner] == GainType.SO3
    if servo.any():
        gain = take(m.actuator_gainprm[:, 0], owner) * m.plans.actuator.enabled[owner]
        slope = jnp.where(servo, -gain, slope)
    slope = jnp.where(_force_at_end(m, d, out, owner), 0, slope)
    if m.plans.actuator.dcmotor:
        slope = slope + take(jax.jvp(rubbing, (d.actuator_length,), (ones,))[1], out)
    return jnp.where(_target_at_end(m, d, owner), 0, slope)


def _with_current(m: Model, d: Data, ctrl: Array, act_dot: Array) -> Array:
    """Return the rates of the activations with those of the currents of DC motors evaluated again."""
    parts = [
        (g.slots["current"], dcmotor.rates(m, d, ctrl, g)["current"])
        for g in m.plans.actuator.dcmotor
        if "current" in g.slots
    ]
    return put(act_dot, parts)


def _force_at_end(m: Model, d: Data, out: np.ndarray, ids: np.ndarray) -> Array:
    """Return whether each output is at a limit of its actuator's force, shape (n,); ids: their actuators.

    Friction of DC motors is not limited and is left out.
    """
    limited = m.actuator_forcelimited[ids]
    if not limited.any():
        return jnp.zeros(ids.size, bool)
    force = d.actuator_force
    for g in m.plans.actuator.dcmotor:
        rubbing = dcmotor.friction(m, d, g, d.act_dot) * m.plans.actuator.enabled[g.ids]
        force = force - scatter(rubbing, m.actuator_outadr[g.ids], m.nout)
    ends = _at_end(take(force, out), take(m.actuator_forcerange, ids))
    for g in m.plans.actuator.orientation:
        cells = orientation.outputs(m, g)
        size = safe.norm(take(force, cells.ravel()).reshape(-1, 3))
        full = _at_end(size, take(m.actuator_forcerange, g.ids))
        servo = m.actuator_gaintype[ids] == GainType.SO3
        ends = jnp.where(
            servo & np.isin(ids, g.ids), take(scatter(jnp.repeat(full, 3), cells.ravel(), m.nout), out), ends
        )
    return limited & ends


def _target_at_end(m: Model, d: Data, ids: np.ndarray) -> Array:
    """Return whether the joint or tendon that each actuator acts on is at a force limit, shape (n,)."""
    target, kind = m.actuator_trnid[ids, 0], m.actuator_trntype[ids]
    saturated = jnp.zeros(ids.size, bool)
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
