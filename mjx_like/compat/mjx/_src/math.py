"""Vectors, quaternions (w, x, y, z) and spatial vectors, under MJX's names."""

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.math import frame, quaternion, safe, spatial

Array = jax.Array
Axis = tuple[int, ...] | int | None


def safe_div(num: Array | float, den: Array | float) -> Array | float:
    """Return num / den, with MINVAL for a denominator of 0."""
    return num / (den + MINVAL * (den == 0))


def matmul_unroll(a: Array, b: Array) -> Array:
    """Return the product of two small matrices."""
    return jnp.sum(a[:, :, None] * b[None], axis=1)


def norm(x: Array, axis: Axis = None) -> Array:
    """Return the Euclidean norm along `axis`, by default of all entries; its derivative at 0 is 0."""
    return safe.sqrt(jnp.sum(x * x, axis=axis))


def normalize_with_norm(x: Array, axis: Axis = None) -> tuple[Array, Array]:
    """Return x / |x|, or 0 where x is 0, and |x|."""
    length = norm(x, axis)
    wide = length if axis is None else jnp.expand_dims(length, axis)
    return safe.divide(x, wide), length


def normalize(x: Array, axis: Axis = None) -> Array:
    """Return x / |x|, or 0 where x is 0."""
    return normalize_with_norm(x, axis)[0]


def rotate(vec: Array, quat: Array) -> Array:
    """Return a vector, shape (3,), rotated by a unit quaternion, shape (4,)."""
    if vec.ndim != 1:
        raise ValueError("vec must have no batch dimensions.")
    return quaternion.rotate(quat, vec)


def quat_inv(q: Array) -> Array:
    """Return the inverse of a unit quaternion."""
    return quaternion.conjugate(q)


def quat_sub(u: Array, v: Array) -> Array:
    """Return the rotation vector, shape (3,) [rad], that leads from v to u, in the frame of v."""
    return quaternion.subtract(u, v)


def quat_mul(u: Array, v: Array) -> Array:
    """Return the product u v."""
    return quaternion.multiply(u, v)


def quat_mul_axis(q: Array, axis: Array) -> Array:
    """Return the product of q and a vector, shape (3,), as a quaternion without real part."""
    return quaternion.multiply(q, jnp.concatenate([jnp.zeros_like(axis[..., :1]), axis], axis=-1))


def quat_to_mat(q: Array) -> Array:
    """Return the rotation matrix, shape (3, 3), of a unit quaternion."""
    return quaternion.matrix(q)


def quat_to_axis_angle(q: Array) -> tuple[Array, Array]:
    """Return the axis, shape (3,), and the angle in (-pi, pi] of a unit quaternion; no axis for the identity."""
    axis, sine = normalize_with_norm(q[1:])
    angle = 2 * safe.arctan2(sine, q[0])
    return axis, jnp.where(angle > jnp.pi, angle - 2 * jnp.pi, angle)


def axis_angle_to_quat(axis: Array, angle: Array | float) -> Array:
    """Return the rotation by `angle` [rad] about a unit vector."""
    return quaternion.from_axis_angle(axis, jnp.asarray(angle))


def quat_integrate(q: Array, v: Array, dt: Array | float) -> Array:
    """Return q rotated by the local angular velocity v [rad/s] for a time dt [s]."""
    return quaternion.integrate(q, v, dt)


def inert_mul(i: Array, v: Array) -> Array:
    """Return the product of a packed inertia, shape (10,), and a motion, shape (6,)."""
    return spatial.inertia_times(i, v)


def sign(x: Array) -> Array:
    """Return -1 where x < 0, else 1."""
    return jnp.where(x < 0, -1, 1)


def transform_motion(vel: Array, offset: Array, rotmat: Array) -> Array:
    """Return a motion, shape (6,), at a point `offset` away and in the axes of `rotmat`."""
    return spatial.to_frame(spatial.shift_motion(vel, offset), rotmat)


def motion_cross(u: Array, v: Array) -> Array:
    """Return the cross product of two motions, shape (6,)."""
    return spatial.motion_cross(u, v)


def motion_cross_force(v: Array, f: Array) -> Array:
    """Return the cross product of a motion and a force, shape (6,)."""
    return spatial.force_cross(v, f)


def orthogonals(a: Array) -> tuple[Array, Array]:
    """Return two unit vectors that stand on the unit vector a and on each other; zeros for a = 0."""
    rows = frame.from_normal(a) * jnp.any(a)
    return rows[1], rows[2]


def make_frame(a: Array) -> Array:
    """Return a right-handed frame, shape (3, 3), whose first row has the direction of a."""
    a = normalize(a)
    return jnp.stack([a, *orthogonals(a)])


def closest_segment_point(a: Array, b: Array, pt: Array) -> Array:
    """Return the point of the segment from a to b that is nearest to pt."""
    along = b - a
    return a + safe.clip(safe.divide(jnp.dot(pt - a, along), jnp.dot(along, along)), 0.0, 1.0) * along


def closest_segment_point_and_dist(a: Array, b: Array, pt: Array) -> tuple[Array, Array]:
    """Return the point of the segment from a to b that is nearest to pt, and its squared distance."""
    point = closest_segment_point(a, b, pt)
    return point, jnp.dot(pt - point, pt - point)


def closest_segment_to_segment_points(a0: Array, a1: Array, b0: Array, b1: Array) -> tuple[Array, Array]:
    """Return the nearest points of two segments: those of their lines, or else one is an end.

    Of parallel segments that overlap, many pairs are nearest; then it is the middle of a, where that is over b.
    """
    half_a, half_b = (a1 - a0) / 2, (b1 - b0) / 2
    middle = a0 + half_a
    between = middle - b0 - half_b
    aa, ab, bb = jnp.dot(half_a, half_a), jnp.dot(half_a, half_b), jnp.dot(half_b, half_b)
    to_a, to_b = jnp.dot(half_a, between), jnp.dot(half_b, between)
    share = safe.clip(safe.divide(ab * to_b - bb * to_a, aa * bb - ab * ab), -1.0, 1.0)  # 0 where parallel
    on_b = closest_segment_point(b0, b1, middle + share * half_a)
    on_a = closest_segment_point(a0, a1, on_b)
    pairs = [(on_a, on_b)]
    pairs += [(end, closest_segment_point(b0, b1, end)) for end in (a0, a1)]
    pairs += [(closest_segment_point(a0, a1, end), end) for end in (b0, b1)]
    points = jnp.stack([jnp.stack(pair) for pair in pairs])
    apart = points[:, 0] - points[:, 1]
    squares = jnp.sum(apart * apart, axis=1)
    inner = squares[0] <= jnp.min(squares) * (1 + 8 * jnp.finfo(squares.dtype).eps)
    best = points[jnp.where(inner, 0, jnp.argmin(squares))]
    return best[0], best[1]
