"""Nesterov and Todd's scaling of second-order cones.

W is the symmetric matrix that takes (bound, c) where its inverse takes (eta, slide). With P = W^-2 the linearised
conditions at products of `target` are  d(bound, c) = target (eta, slide)^-1 - (bound, c) - P d(eta, slide).
Vectors are tuples of their components, arrays of one shape.
Source: Nesterov and Todd 1997; Vandenberghe, The CVXOPT linear and quadratic cone program solvers, for the formulas.
"""

import jax
import jax.numpy as jnp

from mjx_like.hard.components import Parts, added, dot, scaled
from mjx_like.hard.elimination import Linear

Array = jax.Array

_LEAST_DETERMINANT = 4  # rounding errors, over the square of the first component


class Scaling:
    """The scaling of cones at points inside them."""

    def __init__(self, bound: Array, c: Parts, eta: Array, slide: Parts):
        self._primal, self._dual = (bound, *c), (eta, *slide)
        size, self._size = determinant(self._primal), determinant(self._dual)
        x, e = scaled(1 / jnp.sqrt(size), self._primal), scaled(1 / jnp.sqrt(self._size), self._dual)
        half = 1 / (2 * jnp.sqrt((1 + dot(x, e)) / 2))
        self._first, self._rest = (x[0] + e[0]) * half, scaled(half, added(x[1:], scaled(-1, e[1:])))
        self._factor = jnp.sqrt(size / self._size)
        self._corner = self._factor * (2 * self._first**2 - 1)
        column = scaled(2 * self._factor * self._first, self._rest)
        w = scaled(1 / self._corner, column)

        def entry(i: int, j: int) -> Array:
            block = self._factor * (2 * self._rest[i] * self._rest[j] + (i == j))
            return w[i] * column[j] - block

        axes = range(len(c))
        W = tuple(tuple(entry(i, j) for j in axes) for i in axes)
        self.linear = Linear(W, w, scaled(-1, w), -1 / self._corner)

    @property
    def toward_zero(self) -> Parts:
        """The right-hand side of the conditions for products of zero."""
        return scaled(-1, self._primal)

    @property
    def inverse(self) -> Parts:
        """What products of 1 add to it: the inverse of (eta, slide)."""
        first, *rest = scaled(1 / self._size, self._dual)
        return first, *scaled(-1, rest)

    def remainder(self, side: Parts) -> tuple[Parts, Array]:
        """Return g and e of `Linear` for a right-hand side."""
        return added(side[1:], scaled(-side[0], self.linear.w)), side[0] / self._corner

    def second_order(self, bound: Array, c: Parts, eta: Array, slide: Parts) -> Parts:
        """Return what the product of the changes of a step adds to its conditions."""
        a, b = self._times((bound, *c)), self._times((eta, *slide), inverse=True)
        product = (dot(a, b), *added(scaled(a[0], b[1:]), scaled(b[0], a[1:])))
        middle = self._times(self._primal)
        first = (middle[0] * product[0] - dot(middle[1:], product[1:])) / determinant(middle)
        rest = scaled(1 / middle[0], added(product[1:], scaled(-first, middle[1:])))
        return self._times((first, *rest), inverse=True)

    def _times(self, x: Parts, inverse: bool = False) -> Parts:
        """Return W x, or W^-1 x."""
        rest = self._rest if inverse else scaled(-1, self._rest)
        along = dot(rest, x[1:])
        turned = (self._first * x[0] + along, *added(x[1:], scaled(x[0] + along / (1 + self._first), rest)))
        factor = jnp.sqrt(self._factor)
        return scaled(factor if inverse else 1 / factor, turned)


def determinant(x: Parts) -> Array:
    """Return the square of the first component less those of the rest, above rounding."""
    size = jnp.sqrt(dot(x[1:], x[1:]))
    least = _LEAST_DETERMINANT * jnp.finfo(x[0].dtype).eps * x[0] ** 2
    return jnp.maximum((x[0] - size) * (x[0] + size), least)
