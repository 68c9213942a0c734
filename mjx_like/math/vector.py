"""Three-vectors as tuples of components: purely elementwise code, which XLA fuses into one loop over the elements.

Kernels over many pairs use it instead of a trailing axis of 3, whose sums would break the fusion.
"""

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.math import safe

Array = jax.Array
Vector = tuple[Array, Array, Array]


def unpack(x: Array) -> Vector:
    """Return the components of x, shape (..., 3)."""
    return jnp.unstack(x, axis=-1)


def pack(a: Vector) -> Array:
    """Return the array of shape (..., 3) of a vector."""
    return jnp.stack(a, axis=-1)


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def sub(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scale(a: Vector, s: Array | float) -> Vector:
    """Return s a."""
    return s * a[0], s * a[1], s * a[2]


def along(a: Vector, b: Vector, s: Array | float) -> Vector:
    """Return a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


def dot(a: Vector, b: Vector) -> Array:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def norm(a: Vector) -> Array:
    """Return |a|; its derivative is 0 at a = 0."""
    return safe.sqrt(dot(a, a))


def select(condition: Array, a: Vector, b: Vector) -> Vector:
    """Return a where `condition` holds, else b."""
    return tuple(jnp.where(condition, p, q) for p, q in zip(a, b, strict=True))


def normalize(a: Vector, otherwise: Vector | None = None) -> tuple[Vector, Array]:
    """Return (a/|a|, |a|); `otherwise`, by default (1, 0, 0), with zero derivative where |a| < MINVAL."""
    length = norm(a)
    good = length >= MINVAL
    if otherwise is None:
        one, zero = jnp.ones_like(length), jnp.zeros_like(length)
        otherwise = (one, zero, zero)
    return select(good, safe.rescale(a, jnp.where(good, length, 1)), otherwise), length


def combine(axes: tuple[Vector, Vector, Vector], a: Vector) -> Vector:
    """Return the vector with coordinates `a` along `axes`: a rotation matrix, given by its columns, times a."""
    return along(along(scale(axes[0], a[0]), axes[1], a[1]), axes[2], a[2])


def project(axes: tuple[Vector, Vector, Vector], a: Vector) -> Vector:
    """Return the coordinates of `a` along `axes`: the transpose of a rotation matrix, given by its columns, times a."""
    return dot(axes[0], a), dot(axes[1], a), dot(axes[2], a)
