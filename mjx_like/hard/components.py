"""Vectors as tuples of their components, arrays of one shape: many vectors at once, one for each entry.

What is written so is the same for arrays of all rows of a world as for a block of rows within a kernel.
"""

from typing import Any

import jax

Array = jax.Array
Parts = tuple[Any, ...]


def parts(x: Array) -> Parts:
    """Return the components of vectors along the last axis."""
    return tuple(x[..., i] for i in range(x.shape[-1]))


def dot(a: Parts, b: Parts) -> Any:
    """Return the scalar product; 0.0 for vectors without components."""
    return sum((x * y for x, y in zip(a[1:], b[1:], strict=True)), a[0] * b[0]) if a else 0.0


def scaled(factor: Any, x: Parts) -> Parts:
    """Return a multiple of a vector."""
    return tuple(factor * v for v in x)


def added(a: Parts, b: Parts) -> Parts:
    """Return the sum of two vectors."""
    return tuple(x + y for x, y in zip(a, b, strict=True))
