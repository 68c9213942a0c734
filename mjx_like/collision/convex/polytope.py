"""The polytope in the Minkowski difference that EPA expands: corners, triangles with room for all that can follow.

A polytope of v corners has 2 v - 4 triangles, so rows of deleted triangles are used again.
Source: polytope2, polytope3, polytope4, attachFace in MuJoCo's engine_collision_gjk; what MuJoCo 4.0 does with a double
pyramid that is not convex, and how it rounds, from its results.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.convex.gjk import Corners, support_pairs
from mjx_like.collision.convex.simplex import affine, cross, determinant, dot, project_origin
from mjx_like.constants import MINVAL
from mjx_like.geometry.convex import Pair
from mjx_like.math import unfused
from mjx_like.math import vector as v
from mjx_like.math.select import rows

Array = jax.Array

_AROUND_SEGMENT = np.array([[0, 2, 3], [0, 4, 2], [0, 3, 4], [1, 3, 2], [1, 2, 4], [1, 4, 3]], np.int32)
_AROUND_TRIANGLE = np.array([[4, 0, 1], [4, 2, 0], [4, 1, 2], [3, 1, 0], [3, 0, 2], [3, 2, 1]], np.int32)
_SIDES = (0, 1, 2), (1, 2, 0), (2, 0, 1)  # of a triangle: its ends and the corner opposite
_AROUND_SIDE = np.array(
    [[[i, k, 3], [i, 4, k], [i, 3, 4], [j, 3, k], [j, k, 4], [j, 4, 3]] for i, j, k in _SIDES], np.int32
)  # double pyramids of the same corners, whose tips are the ends of a side
_TETRAHEDRON = np.array(
    [[0, 1, 2], [0, 3, 1], [0, 2, 3], [3, 2, 1], [0, 1, 2], [0, 1, 2]], np.int32
)  # four, and two to fill
_TURNS = np.array(
    [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]], np.int32
)  # first, second, third, last corner
FREE, CLOSED = -2, -1
_THIRD = 0.86602540378  # sine of 120 degrees, as MuJoCo has it


class Faces(NamedTuple):
    """Triangles; one row each."""

    corner: Array  # shape (nface, 3)
    plane: Array  # shape (nface, 4): foot, nearest point to the origin on the outer side [m], and its square [m^2]
    place: Array  # in the list of those that may still be expanded, from 0, or FREE or CLOSED; float32 has no order


class Polytope(NamedTuple):
    """Corners in the order of their making, and faces."""

    corners: Corners
    used: Array  # number of corners
    faces: Faces
    center: Array  # a point within, shape (3,) [m]
    sound: Array  # True where it can be expanded: it encloses the origin, within the tolerance of GJK
    seen: Array  # indices of the last support points, shape (2,)


def smallest(dtype) -> tuple[float, float]:
    """Return the least square of the distance of a face of a new polytope, for one made around a face and else."""
    return (1e-30, 1e-30) if dtype == np.float64 else (1e-10, 1e-17)


def planes(points: Array, triangles: Array, center: Array) -> Array:
    """Return the planes of triangles, shape (n, 3), among points, shape (k, 3); one of no area has square 0."""
    corner = rows(points, triangles)
    a, b, c = (v.unpack(corner[:, k]) for k in range(3))
    foot, flat = project_origin(c, b, a)
    inward = unfused.dot(foot, v.sub(a, v.unpack(center))) < 0
    foot = v.select(inward, v.scale(foot, -1), foot)
    square = jnp.where(flat, 0, unfused.dot(foot, foot))
    return jnp.concatenate([v.pack(foot), square[:, None]], axis=1)


def start(geoms: Pair, kinds, simplex: Corners, count: Array, seen, room: int) -> Polytope:
    """Return the first polytope around the `count` corners (2 to 4) that GJK ended with.

    Around a segment and around a triangle it is a double pyramid, whose tips are support points. Where the origin lies
    on one of the first faces, that triangle is taken instead. A triangle that the origin touches, within the tolerance
    of GJK, may have it outside of both pyramids.

    Args:
      geoms, kinds, seen: see `gjk.support_pair`.
      simplex: four corners.
      room: number of corners to make room for.
    """
    points = simplex.points
    third = support_pairs(geoms, kinds, _around(points[1] - points[0]), seen)
    segment = count == 2
    seen = jnp.where(segment, third.index[-1], seen)
    own = simplex.table
    five = Corners(jnp.where(segment, jnp.concatenate([own[:2], third.table]), jnp.concatenate([own, own[:1]])))
    outer = five.points
    center = jnp.where(segment, 0.5 * (points[0] + points[1]), 0.25 * jnp.sum(points, axis=0))
    triangles = jnp.where(segment, _AROUND_SEGMENT, _TETRAHEDRON)
    plane = planes(outer, triangles, center)
    real = segment | (np.arange(6) < 4)
    near_face, near = smallest(points.dtype)
    touches = real & (plane[:, 3] < jnp.where(segment, near_face, near))
    reduced = (count == 3) | jnp.any(touches)
    chosen = jnp.where(count == 3, np.arange(3), rows(triangles, jnp.argmax(touches)))

    flat, flat_triangles, flat_center, flat_sound = _double_pyramid(geoms, kinds, five.rows(chosen), seen)
    flat_plane = planes(flat.points, flat_triangles, flat_center)
    flat_sound &= jnp.all(flat_plane[:, 3] >= near_face)
    encloses = jnp.where(segment, _pierces(outer), _contains(outer[:4]))
    faces = Faces(
        jnp.where(reduced, flat_triangles, triangles),
        jnp.where(reduced, flat_plane, plane),
        jnp.where(reduced | real, np.arange(6), FREE).astype(jnp.int32),
    )
    corner, plane = (_extend(x, 2 * room - 4) for x in faces[:2])
    rest = jnp.full(2 * room - 10, FREE, jnp.int32)
    return Polytope(
        Corners(_extend(jnp.where(reduced, flat.table, five.table), room)),
        jnp.where(reduced | segment, 5, 4).astype(jnp.int32),
        Faces(corner, plane, jnp.concatenate([faces.place, rest])),
        jnp.where(reduced, flat_center, center),
        jnp.where(reduced, flat_sound, encloses),
        jnp.where(reduced, flat.index[-1], seen),
    )


def _extend(x: Array, rows: int) -> Array:
    return jnp.concatenate([x, jnp.zeros((rows - x.shape[0], *x.shape[1:]), x.dtype)])


def _unit(x: Array) -> Array:
    length = jnp.sqrt(dot(x, x))
    unit = v.pack(unfused.divide(v.unpack(x), jnp.where(length > MINVAL, length, 1)))
    return jnp.where((length > MINVAL)[..., None], unit, np.arange(3) == 0)


def _around(axis: Array) -> Array:
    """Return three unit vectors across an axis, 120 degrees apart, shape (3, 3)."""
    size = jnp.abs(axis)
    x, y = (size[0] <= size[1]) & (size[0] <= size[2]), size[1] <= size[2]
    least = jnp.where(x, 0, jnp.where(y, 1, 2))
    first = cross((np.arange(3) == least).astype(axis.dtype), axis)
    x, y, z = v.unpack(_unit(axis))
    right, up, back = (unfused.product(_THIRD, u) for u in (x, y, z))
    xy, yz, zx = (unfused.product(1.5, unfused.product(*uv)) for uv in ((x, y), (y, z), (z, x)))
    diagonal = [unfused.product(1.5, unfused.product(u, u)) - 0.5 for u in (x, y, z)]
    turn = [[diagonal[0], xy - back, zx + up], [xy + back, diagonal[1], yz - right], [zx - up, yz + right, diagonal[2]]]
    second = [unfused.dot(row, v.unpack(first)) for row in turn]
    third = [unfused.dot(row, second) for row in turn]
    return _unit(jnp.stack([first, jnp.stack(second), jnp.stack(third)]))


def _double_pyramid(geoms: Pair, kinds, base: Corners, seen) -> tuple[Corners, Array, Array, Array]:
    """Return corners, triangles and centre of the polytope around a triangle, and whether it has two pyramids.

    Where the line between its tips passes a side of the triangle, it is the double pyramid around that side.
    """
    p = base.points
    normal = cross(p[1] - p[0], p[2] - p[0])
    length = jnp.sqrt(dot(normal, normal))
    unit = _unit(normal)
    tips = support_pairs(geoms, kinds, jnp.stack([-unit, unit]), seen)
    corners = Corners(jnp.concatenate([base.table[:3], tips.table]))
    q = corners.points
    tip_within = jnp.any(_in_triangle(q[:3], q[3:]))
    volumes = _beside(q[:3], q[3], q[4])
    two = jnp.sum(volumes > 0, dtype=jnp.int32) == 2
    passed = jnp.argmax(jnp.where(two, volumes < 0, volumes > 0))
    triangles = jnp.where(_within(volumes), _AROUND_TRIANGLE, rows(_AROUND_SIDE, passed))
    return corners, triangles, jnp.sum(p[:3], axis=0) / 3, (length >= MINVAL) & ~tip_within


def _in_triangle(triangle: Array, p: Array) -> Array:
    """Return whether points, shape (n, 3), lie in a triangle, shape (3, 3)."""
    areas, whole = affine(triangle, p)
    weights = areas / jnp.where(whole == 0, 1, whole)[..., None]
    off = jnp.sum(weights[..., None] * triangle, axis=-2) - p
    return jnp.all(weights >= 0, axis=-1) & (whole != 0) & (jnp.sqrt(dot(off, off)) < MINVAL)


def _contains(tetrahedron: Array) -> Array:
    """Return whether tetrahedra, shape (..., 4, 3), have the origin strictly within.  Source: testTetra."""
    p, q, r, s = (tetrahedron[..., row, :] for row in _TURNS)
    normal = cross(q - p, r - p)
    return jnp.all(dot(normal, s - p) * jnp.sign(-dot(normal, p)) > 0, axis=-1)


def _pierces(p: Array) -> Array:
    """Return whether the line of two of five points meets the triangle of the others.  Source: rayTriangle."""
    return _within(_beside(p[2:], p[0], p[1]))


def _within(volumes: Array) -> Array:
    """Return whether a line passes all sides of a triangle on the same side; see `_beside`."""
    return jnp.all(volumes >= 0) | jnp.all(volumes <= 0)


def _beside(triangle: Array, start: Array, end: Array) -> Array:
    """Return for each side of a triangle, shape (3, 3), on which side of it a line passes, as volumes, shape (3,)."""
    side = triangle - start
    return determinant(side, jnp.roll(side, -1, axis=0), jnp.broadcast_to(end - start, side.shape))
