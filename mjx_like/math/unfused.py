"""Three-vectors as tuples of components, in float64 with each product rounded before it is added.

XLA on a CPU fuses products into the sums that take them. Where the last digits decide, as between candidates that are
equal but for rounding, or where two loops must come to the same decision, that gives other results than a C program
without such instructions, and other ones in every loop. In float32 these are the functions of `vector`.
"""

import functools
import operator
from collections.abc import Sequence

import jax
import numpy as np

from mjx_like.math import safe
from mjx_like.math import vector as v

Array = jax.Array


def rounded(x: Array) -> Array:
    """Return x, rounded before it is used: a product, or a root that XLA would turn into a reciprocal root."""
    return safe.rounded(x) if x.dtype == np.float64 else x


def product(a: Array, b: Array) -> Array:
    """Return a * b, rounded."""
    return rounded(a * b)


def dot(a: v.Vector, b: v.Vector) -> Array:
    """Return the scalar product."""
    x, y, z = map(product, a, b)
    return x + y + z


def cross(a: v.Vector, b: v.Vector) -> v.Vector:
    """Return the vector product."""
    (ax, ay, az), (bx, by, bz) = a, b
    forth, back = map(product, (ay, az, ax), (bz, bx, by)), map(product, (az, ax, ay), (by, bz, bx))
    return tuple(x - y for x, y in zip(forth, back, strict=True))


def determinant(a: v.Vector, b: v.Vector, c: v.Vector) -> Array:
    """Return a . (b x c)."""
    return dot(a, cross(b, c))


def divide(a: v.Vector, s: Array) -> v.Vector:
    """Return a / s, each component by a division of its own: XLA takes the reciprocal of a divisor of several."""
    return tuple(x / s for x in a)


def along(a: v.Vector, b: v.Vector, s: Array | float) -> v.Vector:
    """Return a + s b."""
    return tuple(x + product(s, y) for x, y in zip(a, b, strict=True))


def combine(weights: Sequence[Array], points: Sequence[v.Vector]) -> v.Vector:
    """Return the sum of points times their weights, from the first to the last."""
    terms = [tuple(product(w, x) for x in point) for w, point in zip(weights, points, strict=True)]
    return tuple(functools.reduce(operator.add, axis) for axis in zip(*terms, strict=True))
