"""Actuation: controls and activations to actuator forces, and those to joint forces."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.actuator import muscle
from mjx_like.actuator.delay import delayed_controls
from mjx_like.constants import MAXVAL, MINVAL
from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.math.select import place, segment_sum, take
from mjx_like.types.data import Data
from mjx_like.types.enums import BiasType, DisableBit, DynType, GainType, TrnType, WarningType
from mjx_like.types.model import Model

Array = jax.Array


def fwd_actuation(m: Model, d: Data) -> Data:
    """Return d with activation rates, actuator forces and the joint forces that they make.

    The control hook, if any, sets `ctrl` first. Controls that are not finite or beyond 1e10 set all of them to zero.

    Reads time, ctrl, history, act, actuator_length, actuator_velocity, actuator_moment, qfrc_gravcomp, warning. Writes
    ctrl (by the hook), act_dot, actuator_force, qfrc_actuator, warning.  Source: mj_fwdActuation.
    """
    if not m.nactuator or m.topology.disabled(DisableBit.ACTUATION):
        return d.replace(actuator_force=jnp.zeros_like(d.actuator_force), qfrc_actuator=jnp.zeros_like(d.qvel))
    if m.hooks.control is not None:
        d = d.replace(ctrl=m.hooks.control(m, d))
    control, bad = controls(m, d)
    rate = _activation_rates(m, d, control)
    act_dot = _to_act(m, rate, jnp.zeros_like(d.act))
    force = forces(m, d, control, act_dot)
    if (m.plans.actuator.tendon_limit < m.ntendon).any():
        force = _limit_tendons(m, force)
    force = jnp.where(m.actuator_forcelimited, safe.clip(force, *m.actuator_forcerange.T), force)
    force = force if m.nout == m.nactuator else place(force, m.actuator_outadr, m.nout)
    return d.replace(
        act_dot=act_dot,
        actuator_force=force,
        qfrc_actuator=_joint_force(m, d, force),
        warning=d.warning.at[WarningType.BADCTRL].add(bad.astype(d.warning.dtype)),
    )


def next_activation(m: Model, d: Data, act_dot: Array) -> Array:
    """Return the activations one time step later, shape (na,); those of disabled actuators stay.

    Reads act, actuator_length.  Source: mj_nextActivation and mj_advance.
    """
    plan = m.plans.actuator
    if not plan.stateful.size:
        return d.act
    after = _advanced(m, d, act_dot)
    periodic = plan.periodic[plan.stateful]
    if periodic.any():
        length = take(d.actuator_length, m.actuator_outadr[plan.stateful])
        period = take(_period(m), plan.stateful)
        after = jnp.where(periodic, _nearest(after, length, period), after)
    after = jnp.where(plan.enabled[plan.stateful], after, take(d.act, plan.act_adr))
    return _to_act(m, after, d.act)


def controls(m: Model, d: Data) -> tuple[Array, Array]:
    """Return the delayed, clamped first control of each actuator, shape (nactuator,), and whether any control is bad.

    Reads ctrl, time, history.
    """
    ctrl = delayed_controls(m, d)
    if not m.topology.disabled(DisableBit.CLAMPCTRL):
        ctrl = jnp.where(m.actuator_ctrllimited, safe.clip(ctrl, *m.actuator_ctrlrange.T), ctrl)
    bad = jnp.any(~(jnp.abs(ctrl) <= MAXVAL))
    return take(jnp.where(bad, 0, ctrl), np.minimum(m.actuator_ctrladr, max(m.nu - 1, 0))), bad


def _activation_rates(m: Model, d: Data, control: Array) -> Array:
    """Return the rate of the activation of each stateful actuator, shape (nstateful,) [1/s]."""
    ids = m.plans.actuator.stateful
    if not ids.size:
        return jnp.zeros(0, d.act.dtype)
    ctrl, act = take(control, ids), take(d.act, m.plans.actuator.act_adr)
    kernels = DYNAMICS | {DynType.USER: functools.partial(_hooked, m, d, ids, m.hooks.act_dyn, 0.0)}
    return _by_type(m.actuator_dyntype[ids], kernels, ctrl, act, take(m.actuator_dynprm, ids))


def forces(m: Model, d: Data, control: Array, act_dot: Array) -> Array:
    """Return gain times input plus bias of each actuator, shape (nactuator,); zero where its group is disabled."""
    plan, ids = m.plans.actuator, np.arange(m.nactuator)
    length, velocity = take(d.actuator_length, m.actuator_outadr), take(d.actuator_velocity, m.actuator_outadr)
    state = (
        length,
        velocity,
        take(m.actuator_lengthrange, m.actuator_outadr),
        take(m.actuator_acc0, m.actuator_outadr),
    )
    signal = control
    if plan.stateful.size:
        act = take(d.act, plan.act_adr)
        if m.actuator_actearly.any():
            act = jnp.where(m.actuator_actearly[plan.stateful], _advanced(m, d, act_dot), act)
        choice = np.where(plan.act_order < plan.stateful.size, m.nactuator + plan.act_order, ids)
        signal = take(jnp.concatenate([control, act]), choice)
    if plan.periodic.any():
        signal = jnp.where(plan.periodic, _nearest(signal, length, _period(m)), signal)
    gains = GAINS | {GainType.USER: functools.partial(_hooked, m, d, ids, m.hooks.act_gain, 1.0)}
    biases = BIASES | {BiasType.USER: functools.partial(_hooked, m, d, ids, m.hooks.act_bias, 0.0)}
    gain = _by_type(m.actuator_gaintype, gains, *state, m.actuator_gainprm)
    bias = _by_type(m.actuator_biastype, biases, *state, m.actuator_biasprm)
    return jnp.where(plan.enabled, gain * signal + bias, 0)


def _by_type(kind: np.ndarray, kernels: dict, *args: Array) -> Array:
    """Return the values of each element's kernel; kernels are elementwise, unknown kinds give zero."""
    out = jnp.zeros_like(args[0])
    for value in np.unique(kind):
        if value in kernels:
            result = kernels[value](*args)
            out = result if (kind == value).all() else jnp.where(kind == value, result, out)
    return jnp.broadcast_to(out, args[0].shape)


def _affine(length, velocity, lengthrange, acc0, prm):
    return prm[:, 0] + prm[:, 1] * length + prm[:, 2] * velocity


def _filter(ctrl, act, prm):
    return (ctrl - act) / jnp.maximum(MINVAL, prm[:, 0])


def _hooked(m: Model, d: Data, ids: np.ndarray, hook, otherwise: float, first: Array, *rest: Array) -> Array:
    """Return the values of a user hook, called once for each actuator; `otherwise` where there is none."""
    if hook is None:
        return jnp.full_like(first, otherwise)
    return jnp.stack([jnp.asarray(hook(m, d, int(i)), first.dtype).reshape(()) for i in ids])


DYNAMICS = {
    DynType.INTEGRATOR: lambda ctrl, act, prm: ctrl,
    DynType.FILTER: _filter,
    DynType.FILTEREXACT: _filter,
    DynType.MUSCLE: muscle.dynamics,
}
GAINS = {
    GainType.FIXED: lambda length, velocity, lengthrange, acc0, prm: prm[:, 0],
    GainType.AFFINE: _affine,
    GainType.MUSCLE: muscle.gain,
}
BIASES = {
    BiasType.NONE: lambda length, velocity, lengthrange, acc0, prm: jnp.zeros_like(length),
    BiasType.AFFINE: _affine,
    BiasType.MUSCLE: lambda length, velocity, lengthrange, acc0, prm: muscle.bias(length, lengthrange, acc0, prm),
}


def _advanced(m: Model, d: Data, act_dot: Array) -> Array:
    """Return the activation of each stateful actuator one time step later, limited, shape (nstateful,)."""
    plan = m.plans.actuator
    ids, h = plan.stateful, m.opt.timestep
    rate = take(act_dot, plan.act_adr)
    tau = jnp.maximum(MINVAL, take(m.actuator_dynprm, ids)[:, 0])
    exact = m.actuator_dyntype[ids] == DynType.FILTEREXACT
    span = jnp.where(exact, tau * -jnp.expm1(-h / tau), h) if exact.any() else h
    after = take(d.act, plan.act_adr) + rate * span
    return jnp.where(m.actuator_actlimited[ids], safe.clip(after, *take(m.actuator_actrange, ids).T), after)


def _to_act(m: Model, values: Array, otherwise: Array) -> Array:
    """Return an array like `act` with values at the stateful actuators and `otherwise` elsewhere."""
    plan = m.plans.actuator
    stateful = plan.act_place < plan.stateful.size
    if stateful.all():
        return take(values, plan.act_place) if m.na else otherwise
    padded = jnp.concatenate([values, jnp.zeros(1, values.dtype)])
    return jnp.where(stateful, take(padded, plan.act_place), otherwise)


def _period(m: Model) -> Array:
    """Return the length of a full turn of each actuator, shape (nactuator,); 0 where it is no rotational servo."""
    gear = take(m.actuator_gear, m.actuator_outadr)
    on_site = m.actuator_trntype == TrnType.SITE
    axis = jnp.where(on_site[:, None], gear[:, 3:], gear[:, :3])
    servo = (m.actuator_gainprm[:, 0] == -m.actuator_biasprm[:, 1]) & ~(on_site & jnp.any(gear[:, :3] != 0, axis=1))
    return jnp.where(servo, 2 * np.pi * safe.norm(axis), 0)


def _nearest(setpoint: Array, length: Array, period: Array) -> Array:
    """Return the setpoint, or what differs by whole periods and is nearest to the length."""
    turns = safe.divide(setpoint - length, period)
    return setpoint - period * jax.lax.stop_gradient(jnp.sign(turns) * jnp.floor(jnp.abs(turns) + 0.5))


def _limit_tendons(m: Model, force: Array) -> Array:
    """Return the forces scaled so that the sum over each limited tendon is in its range."""
    target = m.plans.actuator.tendon_limit
    total = segment_sum(force, target, m.ntendon)
    bounded = safe.clip(total, *m.tendon_actfrcrange.T)
    scale = jnp.concatenate([safe.divide(bounded, total, 1.0), jnp.ones(1, force.dtype)])
    return force * take(scale, target)


def _joint_force(m: Model, d: Data, force: Array) -> Array:
    """Return the joint forces, shape (nv,), with gravity compensation by actuators and the limits of joints."""
    plan = m.plans.actuator
    total = matmul(d.actuator_moment.T, force)
    gravity = m.has["body_gravcomp"].any() and not m.topology.disabled(DisableBit.GRAVITY)
    if gravity and plan.gravcomp_dof.any():
        total = total + jnp.where(plan.gravcomp_dof, d.qfrc_gravcomp, 0)
    if plan.clamped_dof.size:
        clamped = safe.clip(take(total, plan.clamped_dof), *take(m.jnt_actfrcrange, plan.clamped_joint).T)
        limited = np.isin(np.arange(m.nv), plan.clamped_dof)
        total = jnp.where(limited, place(clamped, plan.clamped_dof, m.nv), total)
    return total
