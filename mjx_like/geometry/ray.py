"""Where a ray first meets a shape: distance and outward normal, one kernel per shape.

Every kernel takes the ray in the frame of the shape, `point` and `vector` of shape (..., 3), and `size`, shape
(..., 3) [m], with equal or broadcasting leading axes. It returns the distance in units of |vector|, shape (...), -1
where the ray misses, and the outward unit normal at the hit, shape (..., 3). A ray from inside meets the far side.
Distances have the derivative of the side that is hit, and zero derivative on a miss.
Source: mju_rayGeom of MuJoCo 4.0.0.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.types.enums import GeomType

Array = jax.Array


def plane(point: Array, vector: Array, size: Array) -> tuple[Array, Array]:
    """Meet a plane z = 0 from above, within the rectangle of half sizes `size[:2]` where those are positive."""
    facing = vector[..., 2] <= -MINVAL
    dist = safe.ratio(-point[..., 2], jnp.where(facing, vector[..., 2], -1))
    hit = point[..., :2] + dist[..., None] * vector[..., :2]
    inside = jnp.all((size[..., :2] <= 0) | (jnp.abs(hit) <= size[..., :2]), axis=-1)
    dist = jnp.where(facing & (dist >= 0) & inside, dist, -1)
    return dist, jnp.broadcast_to(jnp.array([0, 0, 1], point.dtype), dist.shape + (3,))


def sphere(point: Array, vector: Array, size: Array) -> tuple[Array, Array]:
    """Meet a sphere of radius `size[0]`."""
    roots, real = _roots(vector, point, size[..., 0] ** 2)
    dist, _ = _nearest(roots, real & (roots >= 0))
    return dist, safe.normalize(point + dist[..., None] * vector)[0]


def capsule(point: Array, vector: Array, size: Array) -> tuple[Array, Array]:
    """Meet a capsule along z of radius `size[0]` and half length `size[1]`."""
    radius, half = size[..., 0], size[..., 1:2]
    flat = jnp.array([1, 1, 0], point.dtype)
    side, real = _roots(vector * flat, point * flat, radius**2)
    on_side = _first_only(side, real) & (jnp.abs(_height(point, vector, side)) <= half)
    ends, on_end = [], []
    for sign in (1, -1):
        centre = jnp.array([0, 0, sign], point.dtype) * half
        end, real = _roots(vector, point - centre, radius**2)
        ends.append(end)
        on_end.append(real & (end >= 0) & (sign * _height(point, vector, end) >= half))
    dist, _ = _nearest(jnp.concatenate([side, *ends], axis=-1), jnp.concatenate([on_side, *on_end], axis=-1))
    hit = point + dist[..., None] * vector
    along = safe.clip(hit[..., 2:], -half, half)
    return dist, safe.normalize(jnp.concatenate([hit[..., :2], hit[..., 2:] - along], axis=-1))[0]


def ellipsoid(point: Array, vector: Array, size: Array) -> tuple[Array, Array]:
    """Meet an ellipsoid of half axes `size`."""
    inverse = safe.divide(jnp.ones_like(size), size)
    roots, real = _roots(vector * inverse, point * inverse, jnp.ones_like(size[..., 0]))
    dist, _ = _nearest(roots, real & (roots >= 0))
    return dist, safe.normalize((point + dist[..., None] * vector) * inverse * inverse)[0]


def cylinder(point: Array, vector: Array, size: Array) -> tuple[Array, Array]:
    """Meet a cylinder along z of radius `size[0]` and half length `size[1]`."""
    radius, half = size[..., 0], size[..., 1:2]
    flat = jnp.array([1, 1, 0], point.dtype)
    side, real = _roots(vector * flat, point * flat, radius**2)
    on_side = _first_only(side, real) & (jnp.abs(_height(point, vector, side)) <= half)
    steep = jnp.abs(vector[..., 2:]) > MINVAL
    ends = safe.ratio(np.array([-1.0, 1.0]) * half - point[..., 2:], jnp.where(steep, vector[..., 2:], 1))
    across = point[..., None, :2] + ends[..., None] * vector[..., None, :2]
    on_end = steep & (ends >= 0) & (jnp.sum(across * across, axis=-1) <= radius[..., None] ** 2)
    dist, face = _nearest(jnp.concatenate([ends, side], axis=-1), jnp.concatenate([on_end, on_side], axis=-1))
    radial, _ = safe.normalize((point + dist[..., None] * vector) * flat)
    end_normal = jnp.array([[0, 0, -1], [0, 0, 1], [0, 0, 0], [0, 0, 0]], point.dtype)[face]
    return dist, jnp.where(face[..., None] < 2, end_normal, radial)


def box(point: Array, vector: Array, size: Array) -> tuple[Array, Array]:
    """Meet a box of half sizes `size`."""
    steep = jnp.abs(vector) > MINVAL
    slope = jnp.where(steep, vector, 1)
    dist = jnp.stack([safe.ratio(-size - point, slope), safe.ratio(size - point, slope)], axis=-2)
    hit = point[..., None, None, :] + dist[..., None] * vector[..., None, None, :]
    own = np.eye(3, dtype=bool)
    inside = jnp.all(own | (jnp.abs(hit) <= size[..., None, None, :]), axis=-1)
    valid = steep[..., None, :] & (dist >= 0) & inside
    nearest, face = _nearest(dist.reshape(*dist.shape[:-2], 6), valid.reshape(*valid.shape[:-2], 6))
    return nearest, jnp.concatenate([-np.eye(3), np.eye(3)]).astype(point.dtype)[face]


RAY: dict[GeomType, Callable] = {
    GeomType.PLANE: plane,
    GeomType.SPHERE: sphere,
    GeomType.CAPSULE: capsule,
    GeomType.ELLIPSOID: ellipsoid,
    GeomType.CYLINDER: cylinder,
    GeomType.BOX: box,
}


def _roots(slope: Array, start: Array, square: Array) -> tuple[Array, Array]:
    """Return both x with |start + x slope|^2 = square, shape (..., 2), and whether they are real, shape (..., 1)."""
    a, b = jnp.sum(slope * slope, axis=-1), jnp.sum(slope * start, axis=-1)
    c = jnp.sum(start * start, axis=-1) - square
    discriminant = b * b - a * c
    real = discriminant >= MINVAL
    root = jnp.sqrt(jnp.where(real, discriminant, 1))
    return jnp.stack([safe.divide(x, a, where=real) for x in (-b - root, -b + root)], axis=-1), real[..., None]


def _first_only(roots: Array, real: Array) -> Array:
    """Return which of two ordered roots is the first that is not negative, shape (..., 2)."""
    ahead = real & (roots >= 0)
    return ahead & ~jnp.concatenate([jnp.zeros_like(ahead[..., :1]), ahead[..., :1]], axis=-1)


def _height(point: Array, vector: Array, dist: Array) -> Array:
    return point[..., 2:] + dist * vector[..., 2:]


def _nearest(dist: Array, valid: Array) -> tuple[Array, Array]:
    """Return the least valid distance, -1 if there is none, and its position on the last axis, each shape (...)."""
    guarded = jnp.where(valid, dist, jnp.inf)
    best = jnp.min(guarded, axis=-1)
    return jnp.where(jnp.isfinite(best), best, -1), jnp.argmin(guarded, axis=-1)
