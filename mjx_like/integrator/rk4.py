"""Runge-Kutta of fourth order, on rotations by the method of Munthe-Kaas."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.integrator.advance import advance
from mjx_like.integrator.position import angular_velocity, integrate_pos, replace_angular_velocity
from mjx_like.math import safe
from mjx_like.math.moving import moving_with
from mjx_like.math.quaternion import cross
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.pytree import Role, with_role

Array = jax.Array

STAGE = np.array([0.0, 0.5, 0.5, 1.0])  # of the step, where the stages stand
WEIGHT = np.array([1.0, 2.0, 2.0, 1.0]) / 6
COUNTERS = with_role(Data, Role.COUNTER)
_RESULTS = (*with_role(Data, Role.SOLUTION, Role.RESULT), "contact")

Forward = Callable[[Model, Data], Data]  # forward dynamics without sensors
Slope = tuple[Array, Array, Array]  # rates of position (nv,), velocity (nv,) and activation (na,)


def rk4(m: Model, d: Data, forward: Forward) -> Data:
    """Return `d` one time step later; `forward` was called for the first stage before.

    Reads time, qpos, qvel, act, act_dot, qacc; writes what `finish` and `forward` write.  Source: mj_RungeKutta.
    """
    slope = (d.qvel, d.qacc, d.act_dot)
    mean = tuple(float(WEIGHT[0]) * x for x in slope)
    first, *ends = _stages(m, d, forward, 1, slope, mean)
    return finish(m, first, first, *ends)


def stages(m: Model, d: Data, forward: Forward) -> tuple[Data, Data, Slope, Slope]:
    """Return `d` after the first stage and after the last, the slope of the last stage and the mean slope.

    Both have the state of the step's start and the counters of all stages. The four stages are one loop, so that
    forward dynamics are compiled once.
    """
    none = (jnp.zeros_like(d.qvel), jnp.zeros_like(d.qacc), jnp.zeros_like(d.act_dot))
    return _stages(m, d, forward, 0, none, none)


def finish(m: Model, d: Data, first: Data, last: Data, slope: Slope, mean: Slope) -> Data:
    """Return `d` one time step later, with the mean of qacc; what forward dynamics derive is that of the last stage.

    What was added to `first` since, such as sensors, stays that of the step's start.

    Args:
      d: `first`, and what was computed from it.
      first, last, slope, mean: what `stages` returns.

    Writes time, qpos, qvel, act, plastic, history, qacc, qacc_warmstart, and what forward dynamics write.
    """
    velocity, acceleration, act_dot = mean
    new = advance(m, d.replace(qacc=slope[1]), act_dot, acceleration, velocity).replace(qacc=acceleration)
    return jax.tree.map(lambda before, after, end: end if after is before else after, first, new, last)


def _stages(
    m: Model, d: Data, forward: Forward, start: int, slope: Slope, mean: Slope
) -> tuple[Data, Data, Slope, Slope]:
    """Return what `stages` does, from stage `start` on; slope: of the stage before; mean: its part so far."""
    h = m.opt.timestep

    def stage(carry, coefficients):
        (velocity, acceleration, act_dot), mean, counters, first, last = carry
        share, weight = coefficients
        dt = share * h
        begin = d.replace(
            time=d.time + dt,
            qpos=integrate_pos(m, d.qpos, velocity, dt),
            qvel=d.qvel + dt * acceleration,
            act=d.act + dt * act_dot,
            **counters,
        )
        end = forward(m, begin)
        slope = (straightened(m, dt * velocity, end.qvel), end.qacc, end.act_dot)
        mean = tuple(total + weight * x for total, x in zip(mean, slope, strict=True))
        last = jax.tree.map(lambda old, before, after: old if before is after else after, last, begin, end)
        if start == 0:  # else `d` has what stage 1 derives
            first = jax.lax.cond(share == STAGE[0], lambda: last, lambda: first)
        return (slope, mean, {name: getattr(end, name) for name in COUNTERS}, first, last), None

    counters = {name: getattr(d, name) for name in COUNTERS}
    slope, mean, results = moving_with((slope, mean, {name: getattr(d, name) for name in _RESULTS}), (m, d))
    before = d.replace(**results)
    coefficients = jnp.asarray(np.stack([STAGE, WEIGHT], axis=1)[start:], h.dtype)
    (slope, mean, counters, first, last), _ = jax.lax.scan(stage, (slope, mean, counters, before, before), coefficients)
    return first.replace(**counters), last.replace(**counters), slope, mean


def straightened(m: Model, moved: Array, qvel: Array) -> Array:
    """Return `qvel` with angular velocities as rates of the rotation vector from the step's start, shape (nv,).

    moved: joint motion since then, shape (nv,) [m or rad].  Source: the inverse differential of the exponential map.
    """
    if not m.plans.integrator.quat_dof.size:
        return qvel
    rotation, omega = angular_velocity(m, moved), angular_velocity(m, qvel)
    across = cross(rotation, omega)
    rate = omega + 0.5 * across + _curvature(rotation) * cross(rotation, across)
    return replace_angular_velocity(m, qvel, rate)


def _curvature(rotation: Array) -> Array:
    """Return (1 - (a/2) cot(a/2)) / a^2 for a = |turn|, shape (..., 1); its series near 0."""
    square = jnp.sum(rotation * rotation, axis=-1, keepdims=True)
    small = square < 1e-2
    angle = safe.sqrt(jnp.where(small, 1, square))
    series = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square * (1 / 1209600 + square / 47900160)))
    exact = 1 - safe.divide(0.5 * angle * jnp.cos(0.5 * angle), jnp.sin(0.5 * angle))
    exact = safe.ratio(exact, jnp.where(small, 1, square))
    return jnp.where(small, series, exact)
