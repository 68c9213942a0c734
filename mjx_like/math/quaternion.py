"""Unit quaternions (w, x, y, z) and the rotations that they stand for.

A quaternion rotates from the local to the global frame.  Source: mju_* of engine_util_spatial, MuJoCo 4.0.0.
"""

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math import safe

Array = jax.Array


def multiply(p: Array, q: Array) -> Array:
    """Return the product p q, shape (..., 4)."""
    pw, px, py, pz = jnp.unstack(p, axis=-1)
    qw, qx, qy, qz = jnp.unstack(q, axis=-1)
    return jnp.stack(
        [
            pw * qw - px * qx - py * qy - pz * qz,
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
        ],
        axis=-1,
    )


def conjugate(q: Array) -> Array:
    """Return the inverse rotation, shape (..., 4)."""
    return jnp.concatenate([q[..., :1], -q[..., 1:]], axis=-1)


def normalize(q: Array) -> Array:
    """Return q/|q|; the identity where |q| < MINVAL.

    The value is q itself where its norm is 1 but for rounding, as in MuJoCo.  Source: mju_normalize4.
    """
    unit, _ = safe.normalize(q)
    off = lax.stop_gradient(q - unit)
    return unit + lax.select(jnp.abs(off) <= MINVAL, off, lax.full_like(off, 0))


def rotate(q: Array, v: Array) -> Array:
    """Return v, shape (..., 3), rotated by q, shape (..., 4)."""
    w, u = q[..., :1], q[..., 1:]
    t = 2 * cross(u, v)
    return v + w * t + cross(u, t)


def cross(a: Array, b: Array) -> Array:
    """Return the cross product of vectors of shape (..., 3)."""
    ax, ay, az = jnp.unstack(a, axis=-1)
    bx, by, bz = jnp.unstack(b, axis=-1)
    return jnp.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def skew(v: Array) -> Array:
    """Return the matrix of the product `v x`, shape (n, 3, 3)."""
    x, y, z = v[:, 0], v[:, 1], v[:, 2]
    zero = jnp.zeros_like(x)
    return jnp.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(-1, 3, 3)


def matrix(q: Array) -> Array:
    """Return the rotation matrix, shape (..., 3, 3), of a unit quaternion."""
    w, x, y, z = jnp.unstack(q, axis=-1)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(r: Array) -> Array:
    """Return a unit quaternion of a rotation matrix, shape (3, 3); of the two, one whose largest entry is positive.

    Source: mju_mat2Quat.
    """
    xx, yy, zz = r[0, 0], r[1, 1], r[2, 2]
    wx, wy, wz = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    xy, xz, yz = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    rows = [
        [1 + xx + yy + zz, wx, wy, wz],
        [wx, 1 + xx - yy - zz, xy, xz],
        [wy, xy, 1 - xx + yy - zz, yz],
        [wz, xz, yz, 1 - xx - yy + zz],
    ]
    products = jnp.stack([jnp.stack(row) for row in rows])  # 4 q q'
    return normalize(products[jnp.argmax(jnp.diag(products))])


def from_axis_angle(axis: Array, angle: Array) -> Array:
    """Return the rotation by `angle` [rad], shape (...), about the unit vector `axis`, shape (..., 3)."""
    half = 0.5 * angle[..., None]
    return jnp.concatenate([jnp.cos(half), axis * jnp.sin(half)], axis=-1)


def from_rotation_vector(v: Array) -> Array:
    """Return exp(v/2), the rotation by |v| [rad] about v, shape (..., 3); every derivative is right at v = 0."""
    square = jnp.sum(v * v, axis=-1, keepdims=True)
    small = square < 1e-6
    angle = safe.sqrt(jnp.where(small, 1, square))
    cosine = jnp.where(small, 1 - square / 8 * (1 - square / 48), jnp.cos(0.5 * angle))
    half_sinc = jnp.where(small, 0.5 - square / 48 * (1 - square / 80), safe.ratio(jnp.sin(0.5 * angle), angle))
    return jnp.concatenate([cosine, half_sinc * v], axis=-1)


def to_rotation_vector(q: Array) -> Array:
    """Return the rotation vector [rad], shape (..., 3), of least angle; every derivative is right at the identity.

    It is zero for q = 0.  Source: mju_quat2Vel with dt = 1.
    """
    q = jnp.where(q[..., :1] < 0, -q, q)
    w, v = q[..., :1], q[..., 1:]
    square = jnp.sum(v * v, axis=-1, keepdims=True)
    small = square <= 1e-5 * w * w
    sine = safe.sqrt(jnp.where(small, 1, square))
    ratio = safe.divide(square, w * w)
    scale = jnp.where(
        small,
        safe.divide(2.0, jnp.where(small, w, 1)) * (1 - ratio / 3 + ratio * ratio / 5),
        safe.divide(2 * safe.arctan2(sine, jnp.where(small, 1, w)), sine),
    )
    return scale * v


def integrate(q: Array, omega: Array, dt: Array) -> Array:
    """Return q rotated by the local angular velocity omega [rad/s], shape (..., 3), for a time dt [s].

    The result is normalised. Exact derivatives at omega = 0.  Source: mju_quatIntegrate.
    """
    return normalize(multiply(q, from_rotation_vector(omega * dt)))


def subtract(a: Array, b: Array) -> Array:
    """Return the rotation vector [rad], in the frame of b, that leads from b to a.  Source: mju_subQuat."""
    return to_rotation_vector(multiply(conjugate(b), a))


def from_z_axis(z: Array) -> Array:
    """Return the least rotation that takes (0, 0, 1) to the direction of z.  Source: mju_quatZ2Vec."""
    z, length = safe.normalize(z)
    axis = jnp.stack([-z[..., 1], z[..., 0], jnp.zeros_like(z[..., 0])], axis=-1)
    sine = safe.norm(axis)
    flipped = jnp.zeros_like(z).at[..., 0].set(1)
    axis = jnp.where(sine[..., None] < MINVAL, flipped, safe.divide(axis, sine[..., None]))
    quat = from_axis_angle(axis, safe.arctan2(sine, z[..., 2]))
    identity = jnp.zeros_like(quat).at[..., 0].set(1)
    return jnp.where(length < MINVAL, identity, quat)
