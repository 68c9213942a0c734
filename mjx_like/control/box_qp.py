"""Small quadratic programs with bounds, by projected Newton."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math.linalg import cho_solve, cholesky, matmul

Array = jax.Array

_STEPS = 0.5 ** np.arange(8)  # of the line search along the projected direction
_MOST = 30


class BoxQP(NamedTuple):
    """Where a quadratic program ends."""

    x: Array  # (n,)
    free: Array  # (n,) which components are at no bound
    factor: Array  # (n, n) Cholesky factor of the Hessian's free block, the unit matrix elsewhere


def box_qp(hessian: Array, gradient: Array, low: Array, high: Array) -> BoxQP:
    """Return the minimum of gradient' x + x' hessian x / 2 with low <= x <= high.

    hessian: symmetric positive definite, shape (n, n); bounds: shape (n,), infinite for none, low <= high. Where the
    Hessian is not definite the result means nothing.
    Source: Tassa, Mansard, Todorov, Control-limited differential dynamic programming (2014), section III.B.
    """

    def objective(x: Array) -> Array:
        return jnp.vdot(gradient + 0.5 * matmul(hessian, x), x)

    def better(state: tuple[Array, ...]) -> tuple[Array, ...]:
        x, _, count = state
        free, factor = _free_block(hessian, gradient, low, high, x)
        way = -cho_solve(factor, jnp.where(free, gradient + matmul(hessian, x), 0))
        ends = jnp.clip(x + jnp.asarray(_STEPS, x.dtype)[:, None] * way, low, high)
        end = ends[jnp.argmin(jax.vmap(objective)(ends))]
        return end, objective(end) < objective(x), count + 1

    start = jnp.clip(jnp.zeros_like(gradient), low, high)
    x, _, _ = lax.while_loop(
        lambda state: state[1] & (state[2] < _MOST), better, (start, jnp.asarray(True), jnp.asarray(0))
    )
    return BoxQP(x, *_free_block(hessian, gradient, low, high, x))


def _free_block(hessian: Array, gradient: Array, low: Array, high: Array, x: Array) -> tuple[Array, Array]:
    slope = gradient + matmul(hessian, x)
    free = ~(((x <= low) & (slope > 0)) | ((x >= high) & (slope < 0)))
    block = jnp.where(free[:, None] & free, hessian, jnp.eye(len(x), dtype=x.dtype))
    return free, cholesky(block)
