"""The muscle model: activation dynamics, force-length-velocity gain and passive force.

Source: mju_muscleDynamics, mju_muscleGain, mju_muscleBias; parameters (range0, range1, force, scale, lmin, lmax,
vmax, fpmax, fvmax).
"""

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.math import safe

Array = jax.Array


def dynamics(ctrl: Array, act: Array, prm: Array) -> Array:
    """Return the rate of the activation [1/s].

    prm: time constants up and down [s], width of the smooth switch between them, shape (n, 3 or more).
    """
    excitation, clamped = safe.clip(ctrl, 0, 1), safe.clip(act, 0, 1)
    up = prm[:, 0] * (0.5 + 1.5 * clamped)
    down = safe.ratio(prm[:, 1], 0.5 + 1.5 * clamped)
    width, change = prm[:, 2], excitation - act
    smooth = safe.clip(safe.divide(change, width) + 0.5, 0, 1)
    smooth = smooth**3 * (3 * smooth * (2 * smooth - 5) + 10)
    tau = jnp.where(width < MINVAL, jnp.where(change > 0, up, down), down + (up - down) * smooth)
    return safe.ratio(change, jnp.maximum(MINVAL, tau))


def gain(length: Array, velocity: Array, lengthrange: Array, acc0: Array, prm: Array) -> Array:
    """Return minus the active force at full activation, shape (n,) [N]."""
    rest, peak = _rest_length(lengthrange, prm), _peak_force(acc0, prm)
    lmin, lmax, vmax, fvmax = (prm[:, k] for k in (4, 5, 6, 8))
    stretch = prm[:, 0] + safe.ratio(length - lengthrange[:, 0], jnp.maximum(MINVAL, rest))
    speed = safe.ratio(velocity, jnp.maximum(MINVAL, rest * vmax))
    return -peak * _length_curve(stretch, lmin, lmax) * _velocity_curve(speed, fvmax)


def bias(length: Array, lengthrange: Array, acc0: Array, prm: Array) -> Array:
    """Return minus the passive force, shape (n,) [N]."""
    rest, peak = _rest_length(lengthrange, prm), _peak_force(acc0, prm)
    lmax, fpmax = prm[:, 5], prm[:, 7]
    stretch = prm[:, 0] + safe.ratio(length - lengthrange[:, 0], jnp.maximum(MINVAL, rest))
    middle = 0.5 * (1 + lmax)
    x = safe.ratio(stretch - 1, jnp.maximum(MINVAL, middle - 1))
    beyond = safe.ratio(stretch - middle, jnp.maximum(MINVAL, middle - 1))
    value = jnp.where(stretch <= 1, 0, jnp.where(stretch <= middle, 0.5 * x * x, 0.5 + beyond))
    return -peak * fpmax * value


def _rest_length(lengthrange: Array, prm: Array) -> Array:
    return safe.ratio(lengthrange[:, 1] - lengthrange[:, 0], jnp.maximum(MINVAL, prm[:, 1] - prm[:, 0]))


def _peak_force(acc0: Array, prm: Array) -> Array:
    return jnp.where(prm[:, 2] < 0, safe.ratio(prm[:, 3], jnp.maximum(MINVAL, acc0)), prm[:, 2])


def _length_curve(x: Array, lmin: Array, lmax: Array) -> Array:
    """Return the active force over its peak at a stretch x: quadratic pieces that meet at 1."""
    low, high = 0.5 * (lmin + 1), 0.5 * (1 + lmax)
    rise = safe.ratio(x - lmin, jnp.maximum(MINVAL, low - lmin))
    near = safe.ratio(1 - x, jnp.maximum(MINVAL, 1 - low))
    past = safe.ratio(x - 1, jnp.maximum(MINVAL, high - 1))
    fall = safe.ratio(lmax - x, jnp.maximum(MINVAL, lmax - high))
    inner = jnp.where(x <= 1, 1 - 0.5 * near * near, 1 - 0.5 * past * past)
    value = jnp.where(x <= low, 0.5 * rise * rise, jnp.where(x <= high, inner, 0.5 * fall * fall))
    return jnp.where((x >= lmin) & (x <= lmax), value, 0)


def _velocity_curve(v: Array, fvmax: Array) -> Array:
    """Return the active force over that at rest, at a speed v over the greatest; shortening is negative."""
    spare = fvmax - 1
    shortening = (v + 1) * (v + 1)
    lengthening = fvmax - safe.divide((spare - v) * (spare - v), spare, where=spare > MINVAL)
    return jnp.where(v <= -1, 0, jnp.where(v <= 0, shortening, jnp.where(v <= spare, lengthening, fvmax)))
