"""Actuation: controls and activations to actuator forces, and those to joint forces."""

from enum import IntEnum

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.actuator import dcmotor, orientation, pid
from mjx_like.actuator.delay import delayed_controls
from mjx_like.actuator.period import nearest, period
from mjx_like.actuator.servo import limited
from mjx_like.actuator.table import BIASES, DYNAMICS, GAINS, Law, Motion
from mjx_like.constants import MAXVAL, MINVAL
from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.math.select import put, scatter, segment_sum, take
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, WarningType
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
    ctrl, bad = controls(m, d)
    act_dot = _activation_rates(m, d, ctrl)
    force = forces(m, d, ctrl, act_dot)
    if (m.plans.actuator.tendon_limit < m.ntendon).any():
        force = _limit_tendons(m, force)
    force = _limit_outputs(m, force)
    for g in m.plans.actuator.dcmotor:
        rubbing = dcmotor.friction(m, d, g, act_dot) * m.plans.actuator.enabled[g.ids]
        force = force + scatter(rubbing, m.actuator_outadr[g.ids], m.nout)
    return d.replace(
        act_dot=act_dot,
        actuator_force=force,
        qfrc_actuator=_joint_force(m, d, force),
        warning=d.warning.at[WarningType.BADCTRL].add(bad.astype(d.warning.dtype)),
    )


def next_activation(m: Model, d: Data, act_dot: Array) -> Array:
    """Return the activations one time step later, shape (na,); those of disabled actuators stay.

    Reads act, actuator_length, actuator_velocity.  Source: mj_nextActivation and mj_advance.
    """
    plan, parts = m.plans.actuator, []
    if plan.stateful.size:
        after = _advanced(m, d, act_dot)
        periodic = plan.periodic[plan.stateful]
        if periodic.any():
            length = take(d.actuator_length, m.actuator_outadr[plan.stateful])
            after = jnp.where(periodic, nearest(after, length, take(period(m), plan.stateful)), after)
        parts.append((plan.stateful, plan.act_adr, after))
    for i, cells in plan.user:
        after = take(d.act, cells) + m.opt.timestep * take(act_dot, cells)
        parts.append((np.array([i]), cells, limited(m, np.array([i]), after[None])[0]))
    for kernel, groups in ((pid, plan.pid), (dcmotor, plan.dcmotor)):
        for g in groups:
            parts += [(g.ids, g.slots[name], after) for name, after in kernel.advanced(m, d, g, act_dot).items()]
    for g in plan.orientation:
        if g.source == "act":
            after = orientation.anchored(orientation.advanced(m, d, g, act_dot))
            parts.append((np.repeat(g.ids, 3), g.cells, after.ravel()))
    kept = [(at, jnp.where(plan.enabled[ids], after, take(d.act, np.ravel(at)))) for ids, at, after in parts]
    return put(d.act, kept)


def controls(m: Model, d: Data) -> tuple[Array, Array]:
    """Return the delayed, clamped controls, shape (nu,), and whether any is bad; then all are zero.

    Reads ctrl, time, history.
    """
    ctrl = delayed_controls(m, d)
    if not m.topology.disabled(DisableBit.CLAMPCTRL):
        ctrl = jnp.where(m.actuator_ctrllimited, safe.clip(ctrl, *m.actuator_ctrlrange.T), ctrl)
    bad = jnp.any(~(jnp.abs(ctrl) <= MAXVAL))
    return jnp.where(bad, 0, ctrl), bad


def _first(m: Model, ctrl: Array) -> Array:
    """Return the first control of each actuator, shape (nactuator,); anything for those that have none."""
    if not m.nu:
        return jnp.zeros(m.nactuator, ctrl.dtype)
    return take(ctrl, np.minimum(m.actuator_ctrladr, m.nu - 1))


def _activation_rates(m: Model, d: Data, ctrl: Array) -> Array:
    """Return the rates of the activations, shape (na,) [1/s]."""
    plan, parts = m.plans.actuator, []
    if plan.stateful.size:
        ids, act = plan.stateful, take(d.act, plan.act_adr)
        parts.append((plan.act_adr, _rates_by_type(m, d, ids, take(_first(m, ctrl), ids), act)))
    if m.hooks.act_dyn is not None:
        parts += [(cells, jnp.asarray(m.hooks.act_dyn(m, d, i), d.act.dtype)[:-1]) for i, cells in plan.user]
    for kernel, groups in ((pid, plan.pid), (dcmotor, plan.dcmotor)):
        for g in groups:
            parts += [(g.slots[name], rate) for name, rate in kernel.rates(m, d, ctrl, g).items()]
    parts += [(g.cells, orientation.rates(m, ctrl, g)) for g in plan.orientation if g.source == "act"]
    return put(jnp.zeros_like(d.act), parts)


def forces(m: Model, d: Data, ctrl: Array, act_dot: Array) -> Array:
    """Return the force of each output, shape (nout,), without limits and friction; zero where its group is disabled.

    ctrl: clamped controls, shape (nu,); act_dot: shape (na,).
    Reads act, actuator_length, actuator_velocity.
    """
    plan = m.plans.actuator
    force = jnp.zeros(m.nout, d.qpos.dtype)
    if plan.single.any():
        single = _single_forces(m, d, ctrl, act_dot)
        ids = np.flatnonzero(plan.single)
        force = single if m.nout == ids.size else scatter(take(single, ids), m.actuator_outadr[ids], m.nout)
    parts = []
    for kernel, groups in ((pid, plan.pid), (dcmotor, plan.dcmotor)):
        parts += [(m.actuator_outadr[g.ids], kernel.force(m, d, ctrl, g, act_dot)) for g in groups]
    parts += [(orientation.outputs(m, g), orientation.force(m, d, ctrl, g, act_dot).ravel()) for g in plan.orientation]
    return jnp.where(plan.enabled[plan.out_owner], put(force, parts), 0)


def _single_forces(m: Model, d: Data, ctrl: Array, act_dot: Array) -> Array:
    """Return gain times signal plus bias of each actuator, shape (nactuator,); of no use for controllers and servos."""
    plan, ids = m.plans.actuator, np.arange(m.nactuator)
    length, velocity = take(d.actuator_length, m.actuator_outadr), take(d.actuator_velocity, m.actuator_outadr)
    rest = take(m.actuator_lengthrange, m.actuator_outadr), take(m.actuator_acc0, m.actuator_outadr)
    motion = Motion(length, velocity, *rest)
    signal = _first(m, ctrl)
    if plan.stateful.size:
        act = take(d.act, plan.act_adr)
        if m.actuator_actearly.any():
            act = jnp.where(m.actuator_actearly[plan.stateful], _advanced(m, d, act_dot), act)
        choice = np.where(plan.act_order < plan.stateful.size, m.nactuator + plan.act_order, ids)
        signal = take(jnp.concatenate([signal, act]), choice)
    if (plan.periodic & plan.single).any():
        signal = jnp.where(plan.periodic, nearest(signal, length, period(m)), signal)
    gain = _by_law(m, d, m.actuator_gaintype, GAINS, motion, m.actuator_gainprm)
    bias = _by_law(m, d, m.actuator_biastype, BIASES, motion, m.actuator_biasprm)
    return gain * signal + bias


def _by_law(m: Model, d: Data, kind: np.ndarray, table: dict[IntEnum, Law], motion: Motion, prm: Array) -> Array:
    """Return gain or bias of each actuator, by its type; zero where a controller has a force of its own."""
    out, ids = jnp.zeros_like(motion.length), np.arange(m.nactuator)
    for value in np.unique(kind):
        law = table.get(value)
        if law is None or (law.kernel is None and not law.hook):
            continue
        if law.own:
            at = np.flatnonzero(kind == value)
            out = put(out, [(at, law.kernel(Motion(*(take(x, at) for x in motion)), take(prm, at)))])
            continue
        result = _hooked(m, d, ids, law, motion.length) if law.hook else law.kernel(motion, prm)
        out = result if (kind == value).all() else jnp.where(kind == value, result, out)
    return jnp.broadcast_to(out, motion.length.shape)


def _hooked(m: Model, d: Data, ids: np.ndarray, law: Law, like: Array) -> Array:
    """Return the values of a user hook, called once for each actuator; `absent` where there is none."""
    hook = getattr(m.hooks, law.hook)
    if hook is None:
        return jnp.full_like(like, law.absent)
    return jnp.stack([jnp.asarray(hook(m, d, int(i)), like.dtype).reshape(()) for i in ids])


def _rates_by_type(m: Model, d: Data, ids: np.ndarray, ctrl: Array, act: Array) -> Array:
    """Return the rate of the one, or last, activation of each actuator of `ids`, by its dynamics, shape (n,)."""
    out, kind, prm = jnp.zeros_like(ctrl), m.actuator_dyntype[ids], take(m.actuator_dynprm, ids)
    for value in np.unique(kind):
        row = DYNAMICS.get(value)
        if row is None or (row.kernel is None and not row.hook):
            continue
        rate = _user_rates(m, d, ids[kind == value], kind == value, act) if row.hook else row.kernel(ctrl, act, prm)
        out = rate if (kind == value).all() else jnp.where(kind == value, rate, out)
    return jnp.broadcast_to(out, ctrl.shape)


def _user_rates(m: Model, d: Data, ids: np.ndarray, mine: np.ndarray, act: Array) -> Array:
    """Return the rates of user actuators, `ids`, in an array like `act`, of which `mine` are theirs."""
    if m.hooks.act_dyn is None:
        return jnp.zeros_like(act)
    rates = [jnp.ravel(jnp.asarray(m.hooks.act_dyn(m, d, int(i)), act.dtype))[-1] for i in ids]
    return scatter(jnp.stack(rates), np.flatnonzero(mine), len(mine))


def _advanced(m: Model, d: Data, act_dot: Array) -> Array:
    """Return the activation of each stateful actuator one time step later, limited, shape (nstateful,)."""
    plan = m.plans.actuator
    ids, h = plan.stateful, m.opt.timestep
    rate = take(act_dot, plan.act_adr)
    tau = jnp.maximum(MINVAL, take(m.actuator_dynprm, ids)[:, 0])
    exact = np.isin(m.actuator_dyntype[ids], [kind for kind, row in DYNAMICS.items() if row.exponential])
    span = jnp.where(exact, tau * -jnp.expm1(safe.ratio(-h, tau)), h) if exact.any() else h
    after = take(d.act, plan.act_adr) + rate * span
    return jnp.where(m.actuator_actlimited[ids], safe.clip(after, *take(m.actuator_actrange, ids).T), after)


def _limit_outputs(m: Model, force: Array) -> Array:
    """Return the forces of the outputs within the force ranges of their actuators."""
    if not m.actuator_forcelimited.any():
        return force
    owner = m.plans.actuator.out_owner
    clamped = jnp.where(m.actuator_forcelimited[owner], safe.clip(force, *take(m.actuator_forcerange, owner).T), force)
    rotated = [
        (at, orientation.limited_torque(m, g, take(force, at.ravel()).reshape(-1, 3)))
        for g in m.plans.actuator.orientation
        for at in (orientation.outputs(m, g),)
    ]
    return put(clamped, rotated)


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
        total = jnp.where(limited, scatter(clamped, plan.clamped_dof, m.nv), total)
    return total
