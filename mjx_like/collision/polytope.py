"""The polytope in the Minkowski difference that EPA expands: corners, triangles with room for all that can follow.

A polytope of v corners has 2 v - 4 triangles, so rows of deleted triangles are used again.
Source: polytope2, polytope3, polytope4, attachFace in MuJoCo's engine_collision_gjk.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.gjk import Corners, support_pair
from mjx_like.collision.simplex import affine, determinant, dot, project_origin
from mjx_like.constants import MINVAL
from mjx_like.geometry.convex import Convex

Array = jax.Array

_AROUND_SEGMENT = np.array([[0, 2, 3], [0, 4, 2], [0, 3, 4], [1, 3, 2], [1, 2, 4], [1, 4, 3]])
_AROUND_TRIANGLE = np.array([[4, 0, 1], [4, 2, 0], [4, 1, 2], [3, 1, 0], [3, 0, 2], [3, 2, 1]])
_TETRAHEDRON = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [3, 2, 1], [0, 1, 2], [0, 1, 2]])  # four, and two to fill
_THIRD = 0.86602540378  # sine of 120 degrees, as MuJoCo has it


class Faces(NamedTuple):
    """Triangles; one row each."""

    corner: Array  # shape (nface, 3)
    foot: Array  # nearest point to the origin of the plane, on the outer side of the centre, shape (nface, 3) [m]
    square: Array  # its square [m^2]
    exists: Array
    open: Array  # True where the face may still be expanded


class Polytope(NamedTuple):
    """Corners in the order of their making, and faces."""

    corners: Corners
    used: Array  # number of corners
    faces: Faces
    center: Array  # a point within, shape (3,) [m]
    sound: Array  # True where it encloses the origin


def smallest(dtype) -> tuple[float, float]:
    """Return the least square of the distance of a face of a new polytope, for one made around a face and else."""
    return (1e-30, 1e-30) if dtype == np.float64 else (1e-10, 1e-17)


def faces_of(points: Array, triangles: Array, center: Array) -> Faces:
    """Return the faces of corner indices, shape (n, 3), among points, shape (k, 3); one of no area has square 0."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    foot, flat = project_origin(c, b, a)
    foot = jnp.where((dot(foot, a - center) < 0)[:, None], -foot, foot)
    square = jnp.where(flat, 0, dot(foot, foot))
    return Faces(triangles.astype(jnp.int32), foot, square, jnp.ones_like(flat), jnp.ones_like(flat))


def start(a: Convex, b: Convex, kinds, simplex: Corners, count: Array, dist: Array, seen, room: int) -> Polytope:
    """Return the first polytope around the `count` corners (2 to 4) that GJK ended with.

    Around a segment and around a triangle it is a double pyramid, whose tips are support points. Where the origin lies
    on one of the first faces, that triangle is taken instead.

    Args:
      a, b, kinds, seen: see `gjk.support_pair`.
      simplex: four corners.
      dist: distance that GJK found [m].
      room: number of corners to make room for.
    """
    around = jax.vmap(lambda d: support_pair(a, b, kinds, d, seen))
    points = simplex.points
    third = jax.tree.map(lambda x: x[:, 0], around(_around(points[1] - points[0])))
    segment = count == 2
    five = jax.tree.map(
        lambda s, t: jnp.where(segment, jnp.concatenate([s[:2], t]), jnp.concatenate([s, s[:1]])), simplex, third
    )
    outer = five.points
    center = jnp.where(segment, 0.5 * (points[0] + points[1]), 0.25 * jnp.sum(points, axis=0))
    triangles = jnp.where(segment, _AROUND_SEGMENT, _TETRAHEDRON)
    faces = faces_of(outer, triangles, center)
    real = segment | (np.arange(6) < 4)
    near_face, near = smallest(points.dtype)
    touches = real & (faces.square < jnp.where(segment, near_face, near))
    encloses = jnp.where(segment, _pierces(outer), _contains(*outer[:4]))
    reduced = (count == 3) | jnp.any(touches)
    chosen = jnp.where(count == 3, np.arange(3), triangles[jnp.argmax(touches)])
    base = five.rows(chosen)

    flat, flat_faces, flat_center, flat_sound = _double_pyramid(a, b, around, base, dist)
    corners = jax.tree.map(lambda x, y: jnp.where(reduced, x, y), flat, five)
    faces = jax.tree.map(lambda x, y: jnp.where(reduced, x, y), flat_faces, faces._replace(exists=real, open=real))
    return Polytope(
        jax.tree.map(lambda x: _extend(x, room), corners),
        jnp.where(reduced | segment, 5, 4).astype(jnp.int32),
        jax.tree.map(lambda x: _extend(x, 2 * room - 4), faces),
        jnp.where(reduced, flat_center, center),
        jnp.where(reduced, flat_sound, encloses),
    )


def _extend(x: Array, rows: int) -> Array:
    return jnp.concatenate([x, jnp.zeros((rows - x.shape[0], *x.shape[1:]), x.dtype)])


def _unit(x: Array) -> Array:
    length = jnp.sqrt(dot(x, x))[..., None]
    return jnp.where(length > MINVAL, x / jnp.where(length > MINVAL, length, 1), np.arange(3) == 0)


def _around(axis: Array) -> Array:
    """Return three unit vectors across an axis, 120 degrees apart, shape (3, 3)."""
    size = jnp.abs(axis)
    x, y = (size[0] <= size[1]) & (size[0] <= size[2]), size[1] <= size[2]
    least = jnp.where(x, 0, jnp.where(y, 1, 2))
    first = jnp.cross((np.arange(3) == least).astype(axis.dtype), axis)
    unit = _unit(axis)

    def turn(v: Array) -> Array:
        return -0.5 * v + _THIRD * jnp.cross(unit, v) + 1.5 * dot(unit, v) * unit

    second = turn(first)
    return _unit(jnp.stack([first, second, turn(second)]))


def _double_pyramid(a: Convex, b: Convex, around, base: Corners, dist: Array) -> tuple[Corners, Faces, Array, Array]:
    """Return corners, faces and centre of the polytope around a triangle, and whether it holds the origin."""
    p = base.points
    normal = jnp.cross(p[1] - p[0], p[2] - p[0])
    length = jnp.sqrt(dot(normal, normal))
    unit = _unit(normal)
    tips = jax.tree.map(lambda x: x[:, 0], around(jnp.stack([-unit, unit])))
    corners = jax.tree.map(lambda x, y: jnp.concatenate([x[:3], y]), base, tips)
    q = corners.points
    center = jnp.sum(p[:3], axis=0) / 3
    faces = faces_of(q, jnp.asarray(_AROUND_TRIANGLE, jnp.int32), center)
    tip_within = _in_triangle(*q[:3], q[3]) | _in_triangle(*q[:3], q[4])
    held = _contains(*q[:4]) | _contains(*q[:3], q[4])
    at_origin = dist <= (10 * MINVAL if p.dtype == np.float64 else 1e-5)
    sound = (length >= MINVAL) & ~tip_within & (at_origin | held)
    return corners, faces, center, sound & jnp.all(faces.square >= smallest(p.dtype)[0])


def _in_triangle(a: Array, b: Array, c: Array, p: Array) -> Array:
    areas, whole = affine(a, b, c, p)
    weights = areas / jnp.where(whole == 0, 1, whole)
    off = weights[0] * a + weights[1] * b + weights[2] * c - p
    return jnp.all(weights >= 0) & (whole != 0) & (jnp.sqrt(dot(off, off)) < MINVAL)


def _contains(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return whether a tetrahedron has the origin strictly within.  Source: testTetra."""

    def same_side(p, q, r, s):
        normal = jnp.cross(q - p, r - p)
        return dot(normal, s - p) * jnp.sign(dot(normal, -p)) > 0

    return same_side(a, b, c, d) & same_side(b, c, d, a) & same_side(c, d, a, b) & same_side(d, a, b, c)


def _pierces(p: Array) -> Array:
    """Return whether the line of two of five points meets the triangle of the others.  Source: rayTriangle."""
    along, x, y, z = p[1] - p[0], p[2] - p[0], p[3] - p[0], p[4] - p[0]
    volumes = jnp.stack([determinant(x, y, along), determinant(y, z, along), determinant(z, x, along)])
    return jnp.all(volumes >= 0) | jnp.all(volumes <= 0)
