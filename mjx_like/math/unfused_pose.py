"""Quaternions and rotation matrices as tuples of components, in float64 with MuJoCo's order of operations.

A sum of four terms is that of two pairs, as in MuJoCo's binaries, so that results are theirs to the last bit. Matrices
have nine components, row by row.
Source: mju_mulQuat, mju_quat2Mat, mju_rotVecQuat and mju_normalize4 of MuJoCo 4.0.0, compared bit by bit.
"""

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.math import vector as v
from mjx_like.math.unfused import dot, product, rounded

Array = jax.Array
Quaternion = tuple[Array, Array, Array, Array]
Matrix = tuple[Array, ...]  # nine

_GIVEN = 1e-12  # from 1, within which the norm of a given quaternion counts as rounding


def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """Return the product p q."""
    t = [[product(a, b) for b in q] for a in p]
    return (
        (t[0][0] - t[1][1]) - (t[2][2] + t[3][3]),
        (t[0][1] + t[1][0]) + (t[2][3] - t[3][2]),
        (t[0][2] - t[1][3]) + (t[2][0] + t[3][1]),
        (t[0][3] + t[1][2]) + (t[3][0] - t[2][1]),
    )


def matrix(q: Quaternion) -> Matrix:
    """Return the rotation matrix of a unit quaternion."""
    w, x, y, z = q
    ww, xx, yy, zz = (product(a, a) for a in q)
    wx, wy, wz = (product(w, a) for a in (x, y, z))
    xy, xz, yz = product(x, y), product(x, z), product(y, z)
    return (
        (ww - yy) + (xx - zz), 2 * (xy - wz), 2 * (xz + wy),
        2 * (xy + wz), (ww + yy) - (xx + zz), 2 * (yz - wx),
        2 * (xz - wy), 2 * (yz + wx), (ww - yy) + (zz - xx),
    )  # fmt: skip


def rotate(q: Quaternion, a: v.Vector) -> v.Vector:
    """Return a, rotated by a unit quaternion."""
    w, x, y, z = q
    ax, ay, az = a
    tx = product(w, ax) + product(y, az) - product(z, ay)
    ty = product(w, ay) + product(z, ax) - product(x, az)
    tz = product(w, az) + product(x, ay) - product(y, ax)
    return (
        ax + 2 * (product(y, tz) - product(z, ty)),
        ay + 2 * (product(z, tx) - product(x, tz)),
        az + 2 * (product(x, ty) - product(y, tx)),
    )


def transform(m: Matrix, a: v.Vector) -> v.Vector:
    """Return the matrix times a."""
    return dot(m[0:3], a), dot(m[3:6], a), dot(m[6:9], a)


def normalize(q: Quaternion, within: float = MINVAL) -> Quaternion:
    """Return q/|q|, q itself where |q| is 1 to `within`, the identity where |q| < MINVAL."""
    ww, xx, yy, zz = (product(a, a) for a in q)
    norm = rounded(jnp.sqrt((ww + xx) + (yy + zz)))
    good = norm >= MINVAL
    inverse = rounded(1 / jnp.where(good, norm, 1))
    off = jnp.abs(norm - 1) > within
    w, x, y, z = (jnp.where(off, product(a, inverse), a) for a in q)
    return jnp.where(good, w, 1), jnp.where(good, x, 0), jnp.where(good, y, 0), jnp.where(good, z, 0)


def given(q: Quaternion) -> Quaternion:
    """Return a quaternion of the model, of unit norm; MuJoCo takes what its compiler normalised as it is."""
    return normalize(q, _GIVEN)
