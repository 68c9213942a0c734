"""Runge-Kutta of fourth order, on rotations by the method of Munthe-Kaas."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.integrator.advance import advance
from mjx_like.integrator.position import angular_velocity, integrate_pos, replace_angular_velocity
from mjx_like.math import safe
from mjx_like.math.quaternion import cross
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array

STAGE = np.array([0.5, 0.5, 1.0])  # of the step, where stages 2, 3 and 4 stand
WEIGHT = np.array([1.0, 2.0, 2.0, 1.0]) / 6
COUNTERS = ("warning", "unconverged", "maxuse_con", "maxuse_efc")


def rk4(m: Model, d: Data, forward: Callable[[Model, Data], Data]) -> Data:
    """Return `d` with the state one time step later; derived fields are those of the step's start, qacc the mean.

    forward: forward dynamics without sensors; it was called for the first stage before. Stages 2 to 4 run in one loop,
    so that it is compiled once.
    Reads time, qpos, qvel, act, act_dot, qacc. Writes time, qpos, qvel, act, qacc, qacc_warmstart, counters.
    Source: mj_RungeKutta.
    """
    h = m.opt.timestep
    slope = (d.qvel, d.qacc, d.act_dot)
    mean = tuple(float(WEIGHT[0]) * x for x in slope)

    def stage(carry, coefficients):
        (velocity, acceleration, act_dot), mean, counters = carry
        dt, weight = coefficients[0] * h, coefficients[1]
        state = dict(
            time=d.time + dt,
            qpos=integrate_pos(m, d.qpos, velocity, dt),
            qvel=d.qvel + dt * acceleration,
            act=d.act + dt * act_dot,
        )
        end = forward(m, d.replace(**state, **counters))
        slope = (straightened(m, dt * velocity, end.qvel), end.qacc, end.act_dot)
        mean = tuple(total + weight * x for total, x in zip(mean, slope, strict=True))
        return (slope, mean, {name: getattr(end, name) for name in COUNTERS}), None

    start = (slope, mean, {name: getattr(d, name) for name in COUNTERS})
    coefficients = jnp.asarray(np.stack([STAGE, WEIGHT[1:]], axis=1), h.dtype)
    (last, (velocity, acceleration, act_dot), counters), _ = jax.lax.scan(stage, start, coefficients)
    d = advance(m, d.replace(qacc=last[1], **counters), act_dot, acceleration, velocity)
    return d.replace(qacc=acceleration)


def straightened(m: Model, moved: Array, qvel: Array) -> Array:
    """Return `qvel` with angular velocities as rates of the rotation vector from the step's start, shape (nv,).

    moved: joint motion since then, shape (nv,) [m or rad].  Source: the inverse differential of the exponential map.
    """
    if not m.plans.integrator.quat_dof.size:
        return qvel
    turn, omega = angular_velocity(m, moved), angular_velocity(m, qvel)
    across = cross(turn, omega)
    rate = omega + 0.5 * across + _curvature(turn) * cross(turn, across)
    return replace_angular_velocity(m, qvel, rate)


def _curvature(turn: Array) -> Array:
    """Return (1 - (a/2) cot(a/2)) / a^2 for a = |turn|, shape (..., 1); its series near 0."""
    square = jnp.sum(turn * turn, axis=-1, keepdims=True)
    small = square < 1e-2
    angle = safe.sqrt(jnp.where(small, 1, square))
    series = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square * (1 / 1209600 + square / 47900160)))
    exact = 1 - safe.divide(0.5 * angle * jnp.cos(0.5 * angle), jnp.sin(0.5 * angle))
    exact = safe.ratio(exact, jnp.where(small, 1, square))
    return jnp.where(small, series, exact)
