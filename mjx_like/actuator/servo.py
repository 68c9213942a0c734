"""What controllers share: inputs, the limit of a setpoint's rate, the integral that does not wind up."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.math.select import take
from mjx_like.types.model import Model
from mjx_like.types.plans import ControllerGroup

Array = jax.Array

_NAMES = ("pos", "vel", "ff", "voltage")


def inputs(g: ControllerGroup, ctrl: Array) -> dict[str, Array]:
    """Return every input by name, shape (k,); 0 where the controllers do not have it.  ctrl: shape (nu,)."""
    none = jnp.zeros(g.ids.size, ctrl.dtype)
    return {name: take(ctrl, g.inputs[name]) if name in g.inputs else none for name in _NAMES}


def slewed(m: Model, setpoint: Array, before: Array, limit: Array) -> Array:
    """Return the setpoint, at most `limit` times the time step away from the one before."""
    reach = limit * m.opt.timestep
    return safe.clip(setpoint, before - reach, before + reach)


def integral_rate(error: Array, state: Array, limit: Array) -> Array:
    """Return the rate of an integral: the error, but not outwards at or beyond its limit; limit 0: none."""
    inward = jnp.where(state >= limit, jnp.minimum(error, 0), jnp.where(state <= -limit, jnp.maximum(error, 0), error))
    return jnp.where(limit > 0, inward, error)


def bounded_integral(state: Array, after: Array, rate: Array, limit: Array) -> Array:
    """Return an integral one step later within its limit; one that is held there stays, whatever its state was.

    limit 0: none.
    """
    held = (jnp.abs(state) >= limit) & (rate == 0)
    bound = jnp.where(state < 0, -limit, limit)
    return jnp.where(limit > 0, jnp.where(held, bound, safe.clip(after, -limit, limit)), after)


def limited(m: Model, ids: np.ndarray, act: Array) -> Array:
    """Return activations, shape (k, ...), within the ranges of their actuators."""
    if not m.actuator_actlimited[ids].any():
        return act
    shape = (len(ids), *(1,) * (act.ndim - 1))
    low, high = (x.reshape(shape) for x in take(m.actuator_actrange, ids).T)
    return jnp.where(m.actuator_actlimited[ids].reshape(shape), safe.clip(act, low, high), act)
