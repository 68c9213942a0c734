"""The point of a simplex nearest to the origin, by signed volumes, in MuJoCo's order of operations and comparisons.

Source: subdistance, S1D, S2D, S3D, projectOriginPlane in MuJoCo's engine_collision_gjk; Montanari et al., "Improving
the GJK algorithm for faster and more reliable distance queries between convex objects", 2017.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe, unfused
from mjx_like.math import vector as v

Array = jax.Array

_FACES = (1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)  # of a tetrahedron, opposite to each corner
_OUTWARD = -1.0, 1.0, -1.0, 1.0  # how they turn


def dot(a: Array, b: Array) -> Array:
    """Return the scalar products along the last axis, of three."""
    return unfused.dot(v.unpack(a), v.unpack(b))


def cross(a: Array, b: Array) -> Array:
    """Return the vector products along the last axis, of three."""
    return v.pack(unfused.cross(v.unpack(a), v.unpack(b)))


def determinant(a: Array, b: Array, c: Array) -> Array:
    """Return a . (b x c)."""
    return dot(a, cross(b, c))


def mean(weights: Array, points: Array) -> Array:
    """Return the sum of rows times their weights, from the first to the last."""
    return jnp.sum(unfused.product(weights[:, None], points), axis=0)


class _Point(NamedTuple):
    """The point of a simplex nearest to the origin."""

    weights: list[Array]  # of the corners; of several that are as near, the first
    foot: v.Vector  # that point: where it lies inside a side or a face, the foot of the perpendicular


def nearest(simplex: Array, count: Array) -> tuple[Array, Array]:
    """Return the nearest point of the first `count` corners of a simplex: their weights, shape (4,), and itself, (3,).

    simplex: shape (4, 3). It works on components alone, so that XLA makes one loop over a batch of searches of it.
    """
    corner = [v.unpack(x) for x in jnp.unstack(simplex)]

    def of_face(face: Array) -> Array:
        found = _triangle([v.unpack(y) for y in jnp.unstack(face)])
        return jnp.stack([*found.weights, *found.foot])

    faces = [list(jnp.unstack(x)) for x in jnp.unstack(jax.vmap(of_face)(simplex[np.array(_FACES)]))]
    zero = jnp.zeros_like(corner[0][0])
    on_face = [_Point(_spread(face, x[:3], zero), tuple(x[3:])) for face, x in zip(_FACES, faces, strict=True)]
    edge = _segment(corner[0], corner[1])
    of_count = (
        _Point([zero + 1, zero, zero, zero], corner[0]),
        _Point([*edge.weights, zero, zero], edge.foot),
        on_face[3],
        _tetrahedron(corner, on_face),
    )
    each = zip(*([*x.weights, *x.foot] for x in of_count), strict=True)
    chosen = [
        jnp.where(count == 4, x4, jnp.where(count == 3, x3, jnp.where(count == 2, x2, x1))) for x1, x2, x3, x4 in each
    ]
    return jnp.stack(chosen[:4]).astype(simplex.dtype), jnp.stack(chosen[4:]).astype(simplex.dtype)


def project_origin(a: v.Vector, b: v.Vector, c: v.Vector) -> tuple[v.Vector, Array]:
    """Return the point nearest to the origin of the planes of triangles, and whether a triangle is a line.

    In float64 the normal of a small triangle is that at its last corner, as in MuJoCo.
    """
    normal = unfused.cross(v.sub(c, b), v.sub(b, a))
    square = unfused.dot(normal, normal)
    flat, pivot = square == 0, b
    if square.dtype == np.float64:
        small = square <= MINVAL
        normal = v.select(small, unfused.cross(v.sub(c, a), v.sub(c, b)), normal)
        square, pivot = unfused.dot(normal, normal), v.select(small, c, b)
    return v.scale(normal, safe.divide(unfused.dot(normal, pivot), square)), flat


def affine(triangle: Array, p: Array) -> tuple[Array, Array]:
    """Return the areas, shape (..., 3), that p cuts off the corners of triangles and their whole area, all signed.

    They are measured in the coordinate plane that shows the triangle largest. Source: triAffineCoord.

    triangle: corners, shape (..., 3, 3).
    """
    areas, whole = _areas([v.unpack(triangle[..., k, :]) for k in range(3)], v.unpack(p))
    return jnp.stack(areas, axis=-1), whole


def _areas(corner: list[v.Vector], p: v.Vector) -> tuple[list[Array], Array]:
    """Return what `affine` does, by components."""
    a, b, c = corner
    off = [v.sub(x, p) for x in corner]
    turned = unfused.cross(v.sub(b, a), v.sub(c, a))
    largest = _first_largest(turned)
    areas = [_component(largest, unfused.cross(off[(k + 1) % 3], off[(k + 2) % 3])) for k in range(3)]
    return areas, _component(largest, turned)


def _same_sign(a: Array, b: Array) -> Array:
    return ((a > 0) & (b > 0)) | ((a < 0) & (b < 0))


def _segment(a: v.Vector, b: v.Vector) -> _Point:
    """Return the point of a segment nearest to the origin; the second end where the origin lies beyond."""
    along = v.sub(b, a)
    square = unfused.dot(along, along)
    point = unfused.along(b, along, -(unfused.dot(b, along) / jnp.where(square == 0, 1, square)))
    longest = _last_largest(along)
    backward = v.scale(along, -1)
    whole, first, second = (_component(longest, x) for x in (backward, v.sub(point, b), v.sub(a, point)))
    inside = _same_sign(whole, first) & _same_sign(whole, second)
    whole = jnp.where(inside, whole, 1)
    weights = [jnp.where(inside, first / whole, 0), jnp.where(inside, second / whole, 1)]
    return _Point(weights, v.select(inside, point, b))


def _square(weights: list[Array], corner: Sequence[v.Vector]) -> Array:
    """Return the square of the length of the sum of corners times their weights."""
    mean = unfused.combine(weights, corner)
    return unfused.dot(mean, mean)


def _triangle(corner: list[v.Vector]) -> _Point:
    """Return the point of a triangle nearest to the origin."""
    a, b, c = corner
    sides = (b, c), (a, c), (a, b)
    edges = [_segment(*side) for side in sides]
    point, flat = project_origin(*corner)
    areas, whole = _areas(corner, point)
    same = [_same_sign(whole, area) & ~flat for area in areas]
    inside = same[0] & same[1] & same[2]
    squares = [_square(edge.weights, side) for edge, side in zip(edges, sides, strict=True)]
    first, second, _ = _first_least([jnp.where(s, jnp.inf, x) for s, x in zip(same, squares, strict=True)])
    total = areas[0] + areas[1] + areas[2]
    total = jnp.where(total == 0, 1, total)
    zero = jnp.zeros_like(whole)
    on_edge = [  # weights of each corner on each edge
        (zero, edges[1].weights[0], edges[2].weights[0]),
        (edges[0].weights[0], zero, edges[2].weights[1]),
        (edges[0].weights[1], edges[1].weights[1], zero),
    ]

    def chosen(of_face: Array, x: Array, y: Array, z: Array) -> Array:
        return jnp.where(inside, of_face, jnp.where(first, x, jnp.where(second, y, z)))

    weights = [chosen(area / total, *own) for area, own in zip(areas, on_edge, strict=True)]
    return _Point(weights, tuple(map(chosen, point, *(edge.foot for edge in edges))))


def _spread(face: tuple[int, int, int], weights: list[Array], zero: Array) -> list[Array]:
    """Return the weights of the corners of a face among those of the tetrahedron."""
    return [weights[face.index(k)] if k in face else zero for k in range(4)]


def _tetrahedron(corner: list[v.Vector], on_face: list[_Point]) -> _Point:
    """Return the point where the simplex has four corners; on_face: the nearest points of its faces."""
    volumes = [
        turn * unfused.determinant(corner[i], corner[j], corner[k])
        for turn, (i, j, k) in zip(_OUTWARD, _FACES, strict=True)
    ]
    whole = volumes[0] + volumes[1] + volumes[2] + volumes[3]
    same = [_same_sign(whole, volume) for volume in volumes]
    squares = [_square(face.weights, corner) for face in on_face]
    best = _first_least([jnp.where(s, jnp.inf, x) for s, x in zip(same, squares, strict=True)])
    within, whole = same[0] & same[1] & same[2] & same[3], jnp.where(whole == 0, 1, whole)
    inner = [volume / whole for volume in volumes]
    of_inner = _Point(inner, unfused.combine(inner, corner))

    def chosen(of_solid: Array, *of_faces: Array) -> Array:
        out = of_faces[3]
        for k in (2, 1, 0):
            out = jnp.where(best[k], of_faces[k], out)
        return jnp.where(within, of_solid, out)

    weights = [chosen(*each) for each in zip(inner, *(face.weights for face in on_face), strict=True)]
    return _Point(weights, tuple(map(chosen, of_inner.foot, *(face.foot for face in on_face))))


def _first_least(values: list[Array]) -> list[Array]:
    """Return whether each of some values is the first least one."""
    least = functools.reduce(jnp.minimum, values)
    out, found = [], jnp.zeros_like(least, bool)
    for value in values:
        out.append((value == least) & ~found)
        found = found | (value == least)
    return out


def _first_largest(x: v.Vector) -> tuple[Array, Array]:
    """Return whether the first and the second component are the largest in size, the first of equal ones."""
    a, b, c = (jnp.abs(y) for y in x)
    first = (a >= b) & (a >= c)
    return first, ~first & (b >= c)


def _last_largest(x: v.Vector) -> tuple[Array, Array]:
    """Return the same, but the last of equal ones."""
    a, b, c = (jnp.abs(y) for y in x)
    first = (a > b) & (a > c)
    return first, ~first & (b > c)


def _component(where: tuple[Array, Array], x: v.Vector) -> Array:
    """Return the component of x that `_first_largest` or `_last_largest` names."""
    return jnp.where(where[0], x[0], jnp.where(where[1], x[1], x[2]))
