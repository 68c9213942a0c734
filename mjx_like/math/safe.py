"""Norms, divisions, roots, powers and angles with a stated derivative at their singular points.

The one home of guards. Each function sanitises its argument before the singular operation and selects after it, with
bounds of the precision at hand: for every finite input, subnormal numbers included, the derivative is finite in both
modes. Its factors are at most `quotient.steepest`, 1.8e19 in float32; a derivative steeper than that is cut there.
Searches through which no derivative passes, as those of `collision.ccd`, guard their values alone.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math.quotient import angle, limited_quotient, quotient, root

Array = jax.Array


def tiny(x: Array) -> float:
    """Return the smallest normal number of the dtype of x: what is smaller counts as zero, as a processor may have it.

    Reciprocals and roots of what is not smaller are finite.
    """
    return float(jnp.finfo(x.dtype).tiny)


def norm(x: Array, axis: int = -1, keepdims: bool = False) -> Array:
    """Return the Euclidean norm along `axis`; its derivative is x/|x|, and 0 where the square is 0 (`tiny`)."""
    return sqrt(_square(x, axis, keepdims))


def sqrt(x: Array) -> Array:
    """Return the square root of max(x, 0); 0 with derivative 0 below `tiny`."""
    positive = x >= tiny(x)
    return jnp.where(positive, root(jnp.where(positive, x, 1)), 0)


def divide(a: Array | float, b: Array, otherwise: Array | float | None = 0.0, where: Array | bool = True) -> Array:
    """Return a / b where `where` holds and |b| is at least `tiny`; elsewhere `otherwise`, which a and b do not move.

    otherwise: None for a itself. No selection follows the division then: XLA repeats one in every loop that uses it,
    and all that decides it, but a division it computes once.
    """
    a, b = _floats(a, b)
    good = (jnp.abs(b) >= tiny(b)) & where
    value = limited_quotient(*jnp.broadcast_arrays(a, jnp.where(good, b, 1)))
    return value if otherwise is None else jnp.where(good, value, otherwise)


def ratio(a: Array | float, b: Array) -> Array:
    """Return a / b for b whose square is a normal number by its origin: a mass, a size, what is at least MINVAL.

    Nothing is guarded or limited: the derivative is finite unless a / b^2 overflows.
    """
    return quotient(*jnp.broadcast_arrays(*_floats(a, b)))


def rescale(parts: tuple[Array, ...], length: Array, size: Array | None = None) -> tuple[Array, ...]:
    """Return components of vectors of norm `length`, not zero, times size / length; the size is 1 by default.

    The derivative has the factor size / length and no higher power of it.
    """
    below, factor = (length, ratio(1, length)) if size is None else (ratio(length, size), ratio(size, length))
    return tuple(quotient(*jnp.broadcast_arrays(x, below, factor)) for x in parts)


def rounded(x: Array) -> Array:
    """Return x, rounded before it is used: else XLA on a CPU fuses a product into the sum that takes it (FMA).

    For what depends on the last digit, as a choice between candidates that are equal but for rounding.
    """
    return lax.select(x == x, x, lax.full_like(x, np.nan))


def _floats(a: Array | float, b: Array | float) -> tuple[Array, Array]:
    dtype = jnp.result_type(a, b)
    return jnp.asarray(a, dtype), jnp.asarray(b, dtype)


def normalize(x: Array, axis: int = -1) -> tuple[Array, Array]:
    """Return (x/|x|, |x|); the first unit vector with zero derivative where |x| < MINVAL.

    x: shape (..., n). The norm keeps a trailing axis of size 1.  Source: mju_normalize3.
    """
    square = _square(x, axis, keepdims=True)
    good = square >= MINVAL * MINVAL
    first = jnp.asarray(np.arange(x.shape[-1]) == 0, x.dtype)
    (unit,) = rescale((x,), root(jnp.where(good, square, 1)))
    return jnp.where(good, unit, first), sqrt(square)


def _square(x: Array, axis: int, keepdims: bool) -> Array:
    """Return the squared norm along `axis`; written out where it is short, which fuses better than a reduction."""
    if x.shape[axis] > 4:
        return jnp.sum(x * x, axis=axis, keepdims=keepdims)
    parts = [lax.index_in_dim(x, i, axis, keepdims) for i in range(x.shape[axis])]
    return sum((part * part for part in parts), jnp.zeros((), x.dtype))


def power(base: Array, exponent: Array) -> Array:
    """Return base ** exponent for base >= 0 and exponent >= 1; the derivative at base = 0 is 0 in the exponent.

    In the base it is 1 where exponent = 1 and 0 above.
    """
    positive = base >= tiny(base)
    inner = jnp.where(positive, base, 1)
    value = jnp.where(positive, inner**exponent, 0)
    return value + jnp.where(positive | (exponent > 1), 0, base)


def arctan2(y: Array, x: Array) -> Array:
    """Return the angle of the point (x, y); 0 with derivative 0 where the square of its distance loses its digits."""
    somewhere = x * x + y * y >= tiny(x) / float(jnp.finfo(x.dtype).eps)
    return jnp.where(somewhere, angle(*jnp.broadcast_arrays(*_floats(y, jnp.where(somewhere, x, 1)))), 0)


def clip(x: Array, low: Array, high: Array) -> Array:
    """Return x limited to [low, high]; at a bound the derivative is 1, outside 0."""
    return jnp.where(x < low, low, jnp.where(x > high, high, x))
