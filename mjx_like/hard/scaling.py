"""Nesterov and Todd's scaling of second-order cones.

W is the symmetric matrix that takes (bound, c) where its inverse takes (eta, slide). With P = W^-2 the linearised
conditions at products of `target` are  d(bound, c) = target (eta, slide)^-1 - (bound, c) - P d(eta, slide).
Source: Nesterov and Todd 1997; Vandenberghe, The CVXOPT linear and quadratic cone program solvers, for the formulas.
"""

import jax
import jax.numpy as jnp

from mjx_like.hard.elimination import Linear
from mjx_like.hard.problem import joined
from mjx_like.math import safe

Array = jax.Array

_LEAST_DETERMINANT = 4  # rounding errors, over the square of the first component


class Scaling:
    """The scaling of cones at points inside them; shapes (ncone,) and (ncone, ndim)."""

    def __init__(self, bound: Array, c: Array, eta: Array, slide: Array):
        self._primal, self._dual = joined(bound, c), joined(eta, slide)
        size, self._size = determinant(self._primal), determinant(self._dual)
        x, e = self._primal / jnp.sqrt(size)[:, None], self._dual / jnp.sqrt(self._size)[:, None]
        middle = 2 * jnp.sqrt((1 + jnp.sum(x * e, axis=1)) / 2)
        self._first, self._rest = (x[:, 0] + e[:, 0]) / middle, (x[:, 1:] - e[:, 1:]) / middle[:, None]
        self._factor = jnp.sqrt(size / self._size)
        self._corner = self._factor * (2 * self._first**2 - 1)
        column = (2 * self._factor * self._first)[:, None] * self._rest
        eye = jnp.eye(c.shape[1], dtype=c.dtype)
        block = self._factor[:, None, None] * (2 * self._rest[:, :, None] * self._rest[:, None] + eye)
        w = column / self._corner[:, None]
        self.linear = Linear(w[:, :, None] * column[:, None] - block, w, -w, -1 / self._corner)

    def remainder(self, target: Array, correction: Array) -> tuple[Array, Array]:
        """Return g and e of `Linear` for products at `target`, shape (ncone,).

        correction: of second order, taken off, shape (ncone, 1 + ndim).
        """
        inverse = joined(self._dual[:, 0], -self._dual[:, 1:]) * (target / self._size)[:, None]
        g = inverse - self._primal - correction
        return g[:, 1:] - self.linear.w * g[:, :1], g[:, 0] / self._corner

    def second_order(self, bound: Array, c: Array, eta: Array, slide: Array) -> Array:
        """Return what the product of the changes of a step adds to its conditions, shape (ncone, 1 + ndim)."""
        a, b = self._times(joined(bound, c)), self._times(joined(eta, slide), inverse=True)
        product = joined(jnp.sum(a * b, axis=1), a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:])
        middle = self._times(self._primal)
        first = (middle[:, 0] * product[:, 0] - jnp.sum(middle[:, 1:] * product[:, 1:], axis=1)) / determinant(middle)
        rest = (product[:, 1:] - first[:, None] * middle[:, 1:]) / middle[:, :1]
        return self._times(joined(first, rest), inverse=True)

    def _times(self, x: Array, inverse: bool = False) -> Array:
        """Return W x, or W^-1 x."""
        rest = self._rest if inverse else -self._rest
        along = jnp.sum(rest * x[:, 1:], axis=1)
        turned = joined(self._first * x[:, 0] + along, x[:, 1:] + (x[:, 0] + along / (1 + self._first))[:, None] * rest)
        factor = jnp.sqrt(self._factor)
        return turned * (factor if inverse else 1 / factor)[:, None]


def determinant(x: Array) -> Array:
    """Return the square of the first component less those of the rest, shape (ncone,), above rounding."""
    size = safe.norm(x[:, 1:])
    least = _LEAST_DETERMINANT * jnp.finfo(x.dtype).eps * x[:, 0] ** 2
    return jnp.maximum((x[:, 0] - size) * (x[:, 0] + size), least)
