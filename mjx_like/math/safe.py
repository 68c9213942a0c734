"""Norms, divisions, roots and powers with a stated derivative at their singular points.

Each sanitises its argument before the singular function and selects after it, so neither the value nor any
derivative is ever NaN.
"""

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL

Array = jax.Array


def norm(x: Array, axis: int = -1, keepdims: bool = False) -> Array:
    """Return the Euclidean norm along `axis`; its derivative is x/|x|, and 0 at x = 0."""
    return sqrt(_square(x, axis, keepdims))


def sqrt(x: Array) -> Array:
    """Return the square root of max(x, 0); its derivative is 0 where x <= 0."""
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1)), 0)


def divide(a: Array, b: Array, otherwise: Array | float = 0.0) -> Array:
    """Return a / b, and `otherwise` with zero derivative where b = 0."""
    good = b != 0
    return jnp.where(good, a / jnp.where(good, b, 1), otherwise)


def normalize(x: Array, axis: int = -1) -> tuple[Array, Array]:
    """Return (x/|x|, |x|); the first unit vector with zero derivative where |x| < MINVAL.

    x: shape (..., n). The norm keeps a trailing axis of size 1.  Source: mju_normalize3.
    """
    square = _square(x, axis, keepdims=True)
    good = square >= MINVAL * MINVAL
    first = jnp.zeros(x.shape[-1], x.dtype).at[0].set(1)
    # the square decides, so that the root has one use and becomes part of the loop that needs it
    return jnp.where(good, x * (1 / jnp.sqrt(jnp.where(good, square, 1))), first), sqrt(square)


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
    positive = base > 0
    inner = jnp.where(positive, base, 1)
    value = jnp.where(positive, inner**exponent, 0)
    return value + jnp.where(positive | (exponent > 1), 0, base)


def clip(x: Array, low: Array, high: Array) -> Array:
    """Return x limited to [low, high]; at a bound the derivative is 1, outside 0."""
    return jnp.where(x < low, low, jnp.where(x > high, high, x))


def sinc(x: Array) -> Array:
    """Return sin(x)/x, by its series near 0, with every derivative right there."""
    small = jnp.abs(x) < 1e-3
    inner = jnp.where(small, 1, x)
    square = x * x
    return jnp.where(small, 1 - square / 6 * (1 - square / 20 * (1 - square / 42)), jnp.sin(inner) / inner)
