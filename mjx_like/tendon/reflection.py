"""Where a path that touches a circle from within is reflected."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math import safe
from mjx_like.math.rule import custom_jvp

Array = jax.Array

_TOLERANCE = 1e-6  # of MuJoCo's search, in the residual [rad]
_STEPS = 20


@custom_jvp
def reflection_angle(ratio1: Array, ratio2: Array, total: Array) -> Array:
    """Return the angle that both pieces of a path make with the radius where they meet on a circle [rad].

    Args:
      ratio1: radius over the distance of the first end from the centre, below 1, shape (n,); `ratio2`: of the second.
      total: angle between the ends as seen from the centre, shape (n,) [rad].

    Newton's method starts at a right angle and stops where MuJoCo's does. Derivatives are those of the exact solution.
    Source: wrap_inside in engine_util_misc.c.
    """
    size = jnp.broadcast_shapes(ratio1.shape, ratio2.shape, total.shape)

    def searching(state: tuple[Array, Array]) -> Array:
        return jnp.any(jnp.abs(state[1]) > _TOLERANCE)

    def advance(state: tuple[Array, Array]) -> tuple[Array, Array]:
        phi, residual = state
        moved = jnp.where(jnp.abs(residual) > _TOLERANCE, phi - residual / _slope(phi, ratio1, ratio2), phi)
        return moved, _residual(moved, ratio1, ratio2, total)

    def bounded(state):
        return advance(state[:2]) + (state[2] + 1,)

    phi = jnp.full(size, np.pi / 2, total.dtype)
    start = phi, _residual(phi, ratio1, ratio2, total), 0
    return lax.while_loop(lambda state: (state[2] < _STEPS) & searching(state[:2]), bounded, start)[0]


@reflection_angle.defjvp
def _reflection_angle_jvp(primals, tangents):
    ratio1, ratio2, total = primals
    phi = reflection_angle(*primals)
    sine = jnp.sin(phi)
    change = tangents[2]
    for ratio, tangent in zip((ratio1, ratio2), tangents, strict=False):
        change = change + safe.ratio(sine, jnp.sqrt(1 - (ratio * sine) ** 2)) * tangent
    return phi, -safe.ratio(change, _slope(phi, ratio1, ratio2))


def _residual(phi: Array, ratio1: Array, ratio2: Array, total: Array) -> Array:
    sine = jnp.sin(phi)
    return jnp.arcsin(ratio1 * sine) + jnp.arcsin(ratio2 * sine) - 2 * phi + total


def _slope(phi: Array, ratio1: Array, ratio2: Array) -> Array:
    sine, cosine = jnp.sin(phi), jnp.cos(phi)
    parts = (safe.ratio(ratio * cosine, jnp.sqrt(1 - (ratio * sine) ** 2)) for ratio in (ratio1, ratio2))
    return sum(parts) - 2
