"""Impedance and reference of constraint rows: from solref and solimp to stiffness, damping and regularisation."""

import jax
import jax.numpy as jnp

from mjx_like.constants import MAXIMP, MINIMP, MINVAL
from mjx_like.math import safe

Array = jax.Array

DEFAULT_SOLREF = (0.02, 1.0)


def valid_solref(solref: Array, timestep: Array, refsafe: bool, default: tuple[float, float]) -> Array:
    """Return solref, shape (..., 2), made valid: no mixed format, and a time constant of two steps at least.

    timestep: [s]; refsafe: whether the time constant is raised; default: replaces a mixed format.
    Source: getsolparam of engine_core_constraint.
    """
    mixed = (solref[..., :1] > 0) ^ (solref[..., 1:] > 0)
    solref = jnp.where(mixed, jnp.asarray(default, solref.dtype), solref)
    if not refsafe:
        return solref
    time = jnp.where(solref[..., 0] > 0, jnp.maximum(solref[..., 0], 2 * timestep), solref[..., 0])
    return jnp.stack([time, solref[..., 1]], axis=-1)


def stiffness_damping(solref: Array, dmax: Array) -> tuple[Array, Array]:
    """Return stiffness and damping of a valid solref, shape (..., 2), for the largest impedance, shape (...).

    Source: Modeling chapter, solver parameters; mj_makeImpedance.
    """
    first, second = solref[..., 0], solref[..., 1]
    standard = first > 0
    time, ratio = jnp.where(standard, first, 1), jnp.where(standard, second, 1)
    stiff, soft = safe.ratio(1, _least((dmax * time * ratio) ** 2)), safe.ratio(-first, _least(dmax * dmax))
    damped, free = safe.ratio(2, _least(dmax * time)), safe.ratio(-second, _least(dmax))
    k, b = jnp.where(standard, stiff, soft), jnp.where(standard, damped, free)
    return k, b


def resolved(k: Array, b: Array, imp: Array, solref: Array, timestep: Array) -> tuple[Array, Array]:
    """Return stiffness and damping of a valid solref, no stiffer than what one step removes; the damping ratio stays.

    Direct formats, with negative solref, are as they are.
    Source: Computation chapter, integrator `discrete`, and the flag refsafe; the bound by experiment.
    """
    excess = k * imp * timestep * timestep
    over = (solref[..., 0] > 0) & (excess > 1)
    excess = jnp.where(over, excess, 1)
    return safe.ratio(k, excess), safe.ratio(b, jnp.sqrt(excess))


def end_of_step(k: Array, b: Array, imp: Array, timestep: Array) -> Array:
    """Return by how much spring and damper of a row raise its inertia if they act at the end of the step, over it."""
    return 1 + timestep * (b + timestep * k * imp)


def _least(x: Array) -> Array:
    return jnp.maximum(x, MINVAL)


def valid_solimp(solimp: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Return dmin, dmax, width, midpoint and power of solimp, shape (..., 5), limited to what they may be."""
    dmin, dmax, mid = (safe.clip(solimp[..., i], MINIMP, MAXIMP) for i in (0, 1, 3))
    return dmin, dmax, jnp.maximum(solimp[..., 2], 0), mid, jnp.maximum(solimp[..., 4], 1)


def impedance(solimp: Array, violation: Array) -> tuple[Array, Array]:
    """Return the impedance and its derivative by position.

    solimp: shape (..., 5); violation: position less margin, shape (...).
    Source: Modeling chapter, solver parameters; getimpedance of engine_core_constraint.
    """
    dmin, dmax, width, mid, power = valid_solimp(solimp)
    flat = (dmin == dmax) | (width <= MINVAL)
    width = jnp.where(flat, 1, width)
    x = safe.ratio(jnp.abs(violation), width)
    inside = (x > 0) & (x < 1) & ~flat
    x_in = jnp.where(inside, x, 0.5)
    low = x_in <= mid
    # below the midpoint y = a x^p, above it 1 - y = b (1 - x)^p: the same curve seen from the other end
    base = jnp.where(low, x_in, 1 - x_in)
    pivot = jnp.where(low, mid, 1 - mid)
    part = safe.power(safe.ratio(base, pivot), power)
    y = jnp.where(low, pivot * part, 1 - pivot * part)
    slope = safe.divide(power * part * pivot, base)
    value = jnp.where(
        flat, 0.5 * (dmin + dmax), jnp.where(x >= 1, dmax, jnp.where(inside, dmin + y * (dmax - dmin), dmin))
    )
    sign = jnp.where(violation < 0, -1, 1)
    return value, jnp.where(inside, safe.ratio(slope * sign * (dmax - dmin), width), 0)


def regularization(impedance_value: Array, diagonal: Array, rise: Array | None = None) -> Array:
    """Return R, the inverse constraint mass, of an impedance and the diagonal of J M^-1 J'.

    rise: the value of `end_of_step`, by which it falls as far as the largest impedance allows; None: not at all.
    """
    R = jnp.maximum(MINVAL, safe.ratio(1 - impedance_value, impedance_value) * diagonal)
    return R if rise is None else jnp.maximum(safe.ratio(R, rise), (1 - MAXIMP) / MAXIMP * diagonal)
