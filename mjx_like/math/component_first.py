"""Vectors, quaternions, rotations and poses with components on leading axes and elements on the last.

Stages that handle many elements at once use this layout: it compiles to few, long loops. A pose is an array of shape
(3, 4, n): a rotation matrix and, in the last column, a position.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe

Array = jax.Array

_SIGNS = np.array([[[-1, 1], [-1, 1]], [[-1, 1], [1, -1]], [[-1, -1], [1, 1]]])
_SKEW = np.zeros((3, 3, 3))
_SKEW[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = 1
_SKEW[[0, 2, 1], [1, 0, 2], [2, 1, 0]] = -1
_UNIT = np.eye(3)
_LAST = np.array([0, 0, 0, 1])


def multiply(p: Array, q: Array) -> Array:
    """Return the quaternion product p q, shape (4, n)."""
    i, j, k = (s[..., None].astype(q.dtype) for s in _SIGNS)
    block = q.reshape(2, 2, -1)
    parts = jnp.stack([block, i * block[:, ::-1], j * block[::-1], k * block[::-1, ::-1]])
    return jnp.sum(safe.rounded(p.reshape(4, 1, 1, -1) * parts), axis=0).reshape(4, -1)


def matrix(q: Array) -> Array:
    """Return the rotation matrices, shape (3, 3, n), of unit quaternions, shape (4, n).

    Entries that cancel, as those of turns by right angles, are zero to the last bit.  Source: mju_quat2Mat.
    """
    product = safe.rounded(q[:, None] * q[None])
    scalar, axis = product[0, 0], product[0, 1:]
    skew, unit = _SKEW[..., None].astype(q.dtype), _UNIT[..., None].astype(q.dtype)
    rotated = skew[0] * axis[0] + skew[1] * axis[1] + skew[2] * axis[2]
    scalar = scalar - product[1, 1] - product[2, 2] - product[3, 3]
    return scalar * unit + 2 * (product[1:, 1:] + rotated)


def pose(rotation: Array, position: Array) -> Array:
    """Return the pose, shape (3, 4, n), of a rotation (3, 3, n) and a position (3, n)."""
    return jnp.concatenate([rotation, position[:, None]], axis=1)


def compose(a: Array, b: Array) -> Array:
    """Return the pose a b: first b, then a; shapes (3, 4, n)."""
    last = _LAST[:, None].astype(a.dtype)
    return a[:, 0, None] * b[0] + a[:, 1, None] * b[1] + a[:, 2, None] * b[2] + a[:, 3, None] * last


def rotate(a: Array, v: Array) -> Array:
    """Return the vectors v, shape (3, n), rotated by the rotations of poses or matrices a."""
    return a[:, 0] * v[0] + a[:, 1] * v[1] + a[:, 2] * v[2]
