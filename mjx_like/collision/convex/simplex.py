"""The point of a simplex nearest to the origin, by signed volumes, in MuJoCo's order of comparisons.

Source: subdistance, S1D, S2D, S3D, projectOriginPlane in MuJoCo's engine_collision_gjk; Montanari et al., "Improving
the GJK algorithm for faster and more reliable distance queries between convex objects", 2017.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.math import vector as v

Array = jax.Array

_FACES = (1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)  # of a tetrahedron, opposite to each corner
_OUTWARD = -1.0, 1.0, -1.0, 1.0  # how they turn


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
    """Return the weights, shape (4,), of the corners of the nearest point of the first `count` of `simplex`, (4, 3).

    It works on components alone, so that XLA makes one loop over a batch of searches of it.
    """
    corner = [v.unpack(x) for x in jnp.unstack(simplex)]
    faces = jax.vmap(lambda x: jnp.stack(_triangle([v.unpack(y) for y in jnp.unstack(x)])))(simplex[np.array(_FACES)])
    zero = jnp.zeros_like(corner[0][0])
    on_face = [_spread(face, list(jnp.unstack(faces[k])), zero) for k, face in enumerate(_FACES)]
    inside = _tetrahedron(corner, on_face)
    first = _segment(corner[0], corner[1]).weights
    on_edge, at_corner = (*first, zero, zero), (zero + 1, zero, zero, zero)
    weights = [
        jnp.where(count == 4, solid, jnp.where(count == 3, face, jnp.where(count == 2, edge, point)))
        for solid, face, edge, point in zip(inside, on_face[3], on_edge, at_corner, strict=True)
    ]
    return jnp.stack(weights).astype(simplex.dtype)


def project_origin(a: v.Vector, b: v.Vector, c: v.Vector) -> tuple[v.Vector, Array]:
    """Return the point nearest to the origin of the planes of triangles, and whether a triangle is a line."""
    normal = v.cross(v.sub(c, b), v.sub(b, a))
    square = v.dot(normal, normal)
    return v.scale(normal, safe.divide(v.dot(normal, b), square)), square == 0


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
    turned = v.cross(v.sub(b, a), v.sub(c, a))
    largest = _first_largest(turned)
    areas = [_component(largest, v.cross(off[(k + 1) % 3], off[(k + 2) % 3])) for k in range(3)]
    return areas, _component(largest, turned)


def _same_sign(a: Array, b: Array) -> Array:
    return ((a > 0) & (b > 0)) | ((a < 0) & (b < 0))


class _Segment(NamedTuple):
    """The point of a segment nearest to the origin."""

    weights: tuple[Array, Array]  # of its ends; the second end where the origin lies beyond
    square: Array  # of its distance


def _segment(a: v.Vector, b: v.Vector) -> _Segment:
    along = v.sub(b, a)
    square = v.dot(along, along)
    point = v.along(b, along, -(v.dot(b, along) / jnp.where(square == 0, 1, square)))
    longest = _last_largest(along)
    backward = v.scale(along, -1)
    whole, first, second = (_component(longest, x) for x in (backward, v.sub(point, b), v.sub(a, point)))
    inside = _same_sign(whole, first) & _same_sign(whole, second)
    whole = jnp.where(inside, whole, 1)
    weights = jnp.where(inside, first / whole, 0), jnp.where(inside, second / whole, 1)
    foot = v.add(v.scale(a, weights[0]), v.scale(b, weights[1]))
    return _Segment(weights, v.dot(foot, foot))


def _triangle(corner: list[v.Vector]) -> list[Array]:
    """Return the weights of the corners of the point of a triangle nearest to the origin."""
    a, b, c = corner
    edges = [_segment(b, c), _segment(a, c), _segment(a, b)]
    point, flat = project_origin(*corner)
    areas, whole = _areas(corner, point)
    same = [_same_sign(whole, area) for area in areas]
    inside = same[0] & same[1] & same[2] & ~flat
    first, second, _ = _first_least([jnp.where(s, jnp.inf, e.square) for s, e in zip(same, edges, strict=True)])
    total = areas[0] + areas[1] + areas[2]
    total = jnp.where(total == 0, 1, total)
    zero = jnp.zeros_like(whole)
    on_edge = [  # weights of each corner on each edge
        (zero, edges[1].weights[0], edges[2].weights[0]),
        (edges[0].weights[0], zero, edges[2].weights[1]),
        (edges[0].weights[1], edges[1].weights[1], zero),
    ]
    return [
        jnp.where(inside, area / total, jnp.where(first & ~flat, x, jnp.where(second & ~flat, y, z)))
        for area, (x, y, z) in zip(areas, on_edge, strict=True)
    ]


def _spread(face: tuple[int, int, int], weights: list[Array], zero: Array) -> list[Array]:
    """Return the weights of the corners of a face among those of the tetrahedron."""
    return [weights[face.index(k)] if k in face else zero for k in range(4)]


def _tetrahedron(corner: list[v.Vector], on_face: list[list[Array]]) -> list[Array]:
    """Return the weights where the simplex has four corners; on_face: those of the nearest point of each face."""
    volumes = [
        turn * v.dot(corner[i], v.cross(corner[j], corner[k])) for turn, (i, j, k) in zip(_OUTWARD, _FACES, strict=True)
    ]
    whole = volumes[0] + volumes[1] + volumes[2] + volumes[3]
    same = [_same_sign(whole, volume) for volume in volumes]
    feet = [functools.reduce(v.add, map(v.scale, corner, weights)) for weights in on_face]
    best = _first_least([jnp.where(s, jnp.inf, v.dot(foot, foot)) for s, foot in zip(same, feet, strict=True)])
    within, whole = same[0] & same[1] & same[2] & same[3], jnp.where(whole == 0, 1, whole)
    out = []
    for k, volume in enumerate(volumes):
        chosen = on_face[3][k]
        for face in (2, 1, 0):
            chosen = jnp.where(best[face], on_face[face][k], chosen)
        out.append(jnp.where(within, volume / whole, chosen))
    return out


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
