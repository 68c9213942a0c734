"""The point of a simplex nearest to the origin, by signed volumes, in MuJoCo's order of comparisons.

Source: subdistance, S1D, S2D, S3D, projectOriginPlane in MuJoCo's engine_collision_gjk; Montanari et al., "Improving
the GJK algorithm for faster and more reliable distance queries between convex objects", 2017.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.math import vector as v

Array = jax.Array

_FACES = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], np.int32)  # of a tetrahedron, opposite to each corner
_EDGES = np.array([[1, 2], [0, 2], [0, 1]], np.int32)  # of a triangle, opposite to each corner
_BEFORE = np.tri(3, k=-1, dtype=bool)
_OUTWARD = np.array([-1.0, 1.0, -1.0, 1.0])  # how the faces turn


def dot(a: Array, b: Array) -> Array:
    """Return the scalar products along the last axis, of three."""
    return jnp.sum(a * b, axis=-1)


def cross(a: Array, b: Array) -> Array:
    """Return the vector products along the last axis, of three; by components, which is the fastest in a loop."""
    return v.pack(v.cross(v.unpack(a), v.unpack(b)))


def determinant(a: Array, b: Array, c: Array) -> Array:
    """Return a . (b x c)."""
    return dot(a, cross(b, c))


def nearest(simplex: Array, count: Array) -> Array:
    """Return the weights, shape (4,), of the corners of the nearest point of the first `count` of `simplex`, (4, 3)."""
    faces = simplex[_FACES]
    triangles, segment = _triangles(faces)
    on_face = _spread(triangles, _FACES, 4)
    segment = jnp.concatenate([segment, jnp.zeros(2, simplex.dtype)])
    weights = jnp.where(count == 3, on_face[3], jnp.where(count == 2, segment, np.arange(4) == 0))
    return jnp.where(count == 4, _tetrahedron(simplex, faces, on_face), weights).astype(simplex.dtype)


def project_origin(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return the point nearest to the origin of the planes of triangles, and whether a triangle is a line."""
    normal = cross(c - b, b - a)
    square = dot(normal, normal)
    return normal * safe.divide(dot(normal, b), square)[..., None], square == 0


def affine(triangle: Array, p: Array) -> tuple[Array, Array]:
    """Return the areas, shape (..., 3), that p cuts off the corners of triangles and their whole area, all signed.

    They are measured in the coordinate plane that shows the triangle largest. Source: triAffineCoord.

    triangle: corners, shape (..., 3, 3).
    """
    off = triangle - p[..., None, :]
    areas = cross(off[..., np.array([1, 2, 0], np.int32), :], off[..., np.array([2, 0, 1], np.int32), :])
    side = triangle[..., 1:, :] - triangle[..., :1, :]
    whole = cross(side[..., 0, :], side[..., 1, :])
    largest = _largest(jnp.abs(whole), _BEFORE)
    return _of(largest[..., None, :], areas), _of(largest, whole)


def _largest(size: Array, beats: np.ndarray) -> Array:
    """Return where the largest of three components is, shape (..., 3); beats: [i, j] whether j wins of equal ones."""
    mine, other = size[..., None], size[..., None, :]
    return jnp.all(jnp.where(beats, mine > other, mine >= other), axis=-1)


def _of(where: Array, x: Array) -> Array:
    """Return the component of x where `where` holds."""
    return jnp.sum(jnp.where(where, x, 0), axis=-1)


def _same_sign(a: Array, b: Array) -> Array:
    return ((a > 0) & (b > 0)) | ((a < 0) & (b < 0))


def _first_least(applies: Array, distance: Array) -> Array:
    """Return the index, along the last axis, of the first least distance among those that apply."""
    return jnp.argmin(jnp.where(applies, distance, jnp.inf), axis=-1)


def _spread(weights: Array, corners: np.ndarray, size: int) -> Array:
    """Return weights, shape (..., k, m), placed among `size` corners by the rows of `corners`, shape (k, m)."""
    return jnp.sum(jnp.where(corners[:, :, None] == np.arange(size), weights[..., None], 0), axis=-2)


def _segments(a: Array, b: Array) -> Array:
    """Return the weights, shape (..., 2), of the ends of segments; the second end where the origin lies beyond."""
    along = b - a
    square = dot(along, along)
    point = b - (dot(b, along) / jnp.where(square == 0, 1, square))[..., None] * along
    longest = _largest(jnp.abs(along), _BEFORE.T)  # the last of equal ones
    whole, first, second = (_of(longest, x) for x in (-along, point - b, a - point))
    inside = _same_sign(whole, first) & _same_sign(whole, second)
    whole = jnp.where(inside, whole, 1)[..., None]
    end = np.arange(2)
    return jnp.where(inside[..., None], jnp.where(end == 0, first[..., None], second[..., None]) / whole, end)


def _triangles(corners: Array) -> tuple[Array, Array]:
    """Return the weights of triangles, corners of shape (4, 3, 3), and those of the first edge of the last one."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    point, flat = project_origin(a, b, c)
    areas, whole = affine(corners, point)
    same = _same_sign(whole[:, None], areas)
    inside = jnp.all(same, axis=-1)

    ends = corners[:, _EDGES]
    edge = _segments(ends[:, :, 0], ends[:, :, 1])
    foot = jnp.sum(edge[..., None] * ends, axis=2)
    best = jnp.where(flat, 2, _first_least(~same, dot(foot, foot)))
    on_edge = _spread(edge, _EDGES, 3)
    chosen = jnp.sum(jnp.where((np.arange(3) == best[:, None])[..., None], on_edge, 0), axis=1)
    total = jnp.sum(areas, axis=-1, keepdims=True)
    return jnp.where((inside & ~flat)[:, None], areas / jnp.where(total == 0, 1, total), chosen), edge[3, 2]


def _tetrahedron(simplex: Array, faces: Array, on_face: Array) -> Array:
    volumes = determinant(faces[:, 0], faces[:, 1], faces[:, 2]) * _OUTWARD.astype(simplex.dtype)
    whole = jnp.sum(volumes)
    same = _same_sign(whole, volumes)
    feet = jnp.sum(on_face[:, :, None] * simplex[None], axis=1)
    best = _first_least(~same, dot(feet, feet))
    chosen = jnp.sum(jnp.where((np.arange(4) == best)[:, None], on_face, 0), axis=0)
    return jnp.where(jnp.all(same), volumes / jnp.where(whole == 0, 1, whole), chosen)
