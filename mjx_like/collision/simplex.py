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
_PLANES = np.array([[1, 2], [0, 2], [0, 1]], np.int32)  # the coordinates that remain when one is dropped


def dot(a: Array, b: Array) -> Array:
    """Return the scalar products along the last axis, of three."""
    return v.dot(v.unpack(a), v.unpack(b))


def determinant(a: Array, b: Array, c: Array) -> Array:
    """Return a . (b x c)."""
    return v.dot(v.unpack(a), v.cross(v.unpack(b), v.unpack(c)))


def nearest(simplex: Array, count: Array) -> Array:
    """Return the weights, shape (4,), of the corners of the nearest point of the first `count` of `simplex`, (4, 3)."""
    faces = simplex[_FACES]
    triangles, segment = _triangles(faces)
    on_face = _spread(triangles, _FACES, 4)
    segment = jnp.concatenate([segment, jnp.zeros(2, simplex.dtype)])
    weights = jnp.where(count == 3, on_face[3], jnp.where(count == 2, segment, np.arange(4) == 0))
    return jnp.where(count == 4, _tetrahedron(simplex, on_face), weights).astype(simplex.dtype)


def project_origin(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return the point nearest to the origin of the planes of triangles, and whether a triangle is a line."""
    a, b, c = v.unpack(a), v.unpack(b), v.unpack(c)
    normal = v.cross(v.sub(c, b), v.sub(b, a))
    square = v.dot(normal, normal)
    flat = square == 0
    return v.pack(v.scale(normal, safe.divide(v.dot(normal, b), square))), flat


def affine(a: Array, b: Array, c: Array, p: Array) -> tuple[Array, Array]:
    """Return the areas, shape (..., 3), that p cuts off the corners of triangles and their whole area, all signed.

    They are measured in the coordinate plane that shows the triangle largest. Source: triAffineCoord.
    """
    a, b, c, p = v.unpack(a), v.unpack(b), v.unpack(c), v.unpack(p)
    size = [jnp.abs(x) for x in v.cross(v.sub(b, a), v.sub(c, a))]
    x, y = (size[0] >= size[1]) & (size[0] >= size[2]), size[1] >= size[2]

    def area(u: v.Vector, w: v.Vector) -> Array:
        (ux, uy), (wx, wy) = ([jnp.where(x, s[i], jnp.where(y, s[j], s[k])) for i, j, k in _PLANES.T] for s in (u, w))
        return ux * wy - uy * wx

    to_a, to_b, to_c = v.sub(a, p), v.sub(b, p), v.sub(c, p)
    areas = jnp.stack([area(to_b, to_c), area(to_c, to_a), area(to_a, to_b)], axis=-1)
    return areas, area(v.sub(b, a), v.sub(c, a))


def _same_sign(a: Array, b: Array) -> Array:
    return ((a > 0) & (b > 0)) | ((a < 0) & (b < 0))


def _first_least(applies: Array, distance: Array) -> Array:
    """Return the index, along the last axis, of the first least distance among those that apply."""
    return jnp.argmin(jnp.where(applies, distance, jnp.inf), axis=-1)


def _spread(weights: Array, corners: np.ndarray, size: int) -> Array:
    """Return weights, shape (..., k, m), placed among `size` corners by the rows of `corners`, shape (k, m)."""
    zero = jnp.zeros_like(weights[..., 0, 0])
    rows = [
        jnp.stack([weights[..., k, row.index(i)] if i in row else zero for i in range(size)], axis=-1)
        for k, row in enumerate(corners.tolist())
    ]
    return jnp.stack(rows, axis=-2)


def _segments(a: Array, b: Array) -> Array:
    """Return the weights, shape (..., 2), of the ends of segments; the second end where the origin lies beyond."""
    along = b - a
    square = dot(along, along)
    point = b - (dot(b, along) / jnp.where(square == 0, 1, square))[..., None] * along
    span = a - b
    size = jnp.abs(span)
    last = (size[..., 2] >= size[..., 0]) & (size[..., 2] >= size[..., 1])
    axis = jnp.where(last, 2, jnp.where(size[..., 1] >= size[..., 0], 1, 0))

    def of(x: Array) -> Array:
        return jnp.where(axis == 0, x[..., 0], jnp.where(axis == 1, x[..., 1], x[..., 2]))

    whole, first, second = of(span), of(point) - of(b), of(a) - of(point)
    inside = _same_sign(whole, first) & _same_sign(whole, second)
    whole = jnp.where(inside, whole, 1)
    return jnp.stack([jnp.where(inside, first / whole, 0), jnp.where(inside, second / whole, 1)], axis=-1)


def _triangles(corners: Array) -> tuple[Array, Array]:
    """Return the weights of triangles, corners of shape (4, 3, 3), and those of the first edge of the last one."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    point, flat = project_origin(a, b, c)
    areas, whole = affine(a, b, c, point)
    same = _same_sign(whole[:, None], areas)
    inside = jnp.all(same, axis=-1)

    ends = corners[:, _EDGES]
    edge = _segments(ends[:, :, 0], ends[:, :, 1])
    foot = edge[..., :1] * ends[:, :, 0] + edge[..., 1:] * ends[:, :, 1]
    best = jnp.where(flat, 2, _first_least(~same, dot(foot, foot)))
    on_edge = _spread(edge, _EDGES, 3)
    chosen = jnp.sum(jnp.where((np.arange(3) == best[:, None])[..., None], on_edge, 0), axis=1)
    total = jnp.sum(areas, axis=-1, keepdims=True)
    return jnp.where((inside & ~flat)[:, None], areas / jnp.where(total == 0, 1, total), chosen), edge[3, 2]


def _tetrahedron(simplex: Array, on_face: Array) -> Array:
    a, b, c, d = simplex
    volumes = jnp.stack([-determinant(b, c, d), determinant(a, c, d), -determinant(a, b, d), determinant(a, b, c)])
    whole = jnp.sum(volumes)
    same = _same_sign(whole, volumes)
    feet = jnp.sum(on_face[:, :, None] * simplex[None], axis=1)
    best = _first_least(~same, dot(feet, feet))
    chosen = jnp.sum(jnp.where((np.arange(4) == best)[:, None], on_face, 0), axis=0)
    return jnp.where(jnp.all(same), volumes / jnp.where(whole == 0, 1, whole), chosen)
