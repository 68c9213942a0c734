"""Exact line search along a direction: the fallback where a full Newton step goes too far."""

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.solver.law import Law, curvature, force, zones

Array = jax.Array


def step_length(law: Law, jar: Array, slope: Array, bend: Array, direction: Array, iterations: int) -> Array:
    """Return the step along a descent direction that minimises the cost, shape (...).

    Newton's method on the derivative, which rises with the step, inside a bracket that shrinks; where a Newton step
    leaves the bracket, it is bisected, or doubled while no upper end is known.

    Args:
      jar: residuals at step 0, shape (..., nrow).
      slope, bend: first and second derivative of the Gauss cost along the direction at step 0, shape (...).
      direction: change of the residuals with the step, shape (..., nrow).
    """

    def derivatives(alpha: Array) -> tuple[Array, Array]:
        here = jar + alpha[..., None] * direction
        weight, K = curvature(law, zones(law, here), here, direction[..., None])
        first = slope + alpha * bend - jnp.sum(force(law, here) * direction, axis=-1)
        return first, bend + jnp.sum(weight * K[..., 0] ** 2, axis=-1)

    def improve(_, carry):
        alpha, low, high = carry
        first, second = derivatives(alpha)
        low, high = jnp.where(first < 0, alpha, low), jnp.where(first < 0, high, alpha)
        newton = alpha - first / jnp.maximum(second, MINVAL)
        other = jnp.where(jnp.isinf(high), 2 * jnp.maximum(alpha, 0.5), 0.5 * (low + high))
        inside = (newton > low) & (newton < high)
        return jnp.where(first == 0, alpha, jnp.where(inside, newton, other)), low, high

    one = jnp.ones_like(slope)
    return lax.fori_loop(0, iterations, improve, (one, jnp.zeros_like(one), jnp.full_like(one, jnp.inf)))[0]
