"""Penetration of two convex geoms by the expanding polytope: the iterates of MuJoCo's nativeccd, step for step.

Each step takes the face nearest to the origin, finds the support point w along its normal, and replaces all faces that
w sees by faces from w to the edge of the hole. The distance of the nearest face is a lower bound of the depth, that of
w along its normal an upper one. Geoms with corners end where w is a corner that the polytope has. MuJoCo does not
number the corners of the prisms of height fields: there the search ends where the corner of the other geom occurs in
the polytope, often before the nearest face is found, with a face within the Minkowski difference: too small a depth.
Where rounding spoils the polytope MuJoCo finds nothing; here the face counts if the two bounds have met to half the
digits by then, as under a tolerance that rounding cannot reach.
Source: epa, horizon, epaWitness in MuJoCo's engine_collision_gjk.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex.gjk import Corners, support_pair
from mjx_like.collision.convex.horizon import first_nearest, horizon, ordered, places
from mjx_like.collision.convex.polytope import CLOSED, FREE, Faces, Polytope, planes
from mjx_like.collision.convex.simplex import affine, dot, mean
from mjx_like.geometry.convex import Pair
from mjx_like.math import unfused
from mjx_like.math import vector as v
from mjx_like.math.select import rows

Array = jax.Array


class Penetration(NamedTuple):
    """The face of the polytope that stands for the surface nearest to the origin."""

    depth: Array  # [m]
    first: Array  # witness points, shape (3,) [m], world
    second: Array
    corners: Corners  # of the face, three
    found: Array  # False where rounding has spoilt the polytope before the bounds met


class _State(NamedTuple):
    corners: Corners
    used: Array
    faces: Faces
    upper: Array
    nearest: Array  # corners of the nearest face, shape (3,)
    plane: Array  # its foot and square, shape (4,)
    found: Array
    step: Array
    done: Array
    seen: Array


class _Rules(NamedTuple):
    """When a corner ends the search."""

    tolerance: Array  # of the depth [m]
    sharp: Array  # whether a corner that the polytope has ends it
    clearance: float  # above the plane of a face that a corner sees
    told: Array  # of which geoms corners are told apart, shape (2,)
    iterations: int


def penetration(geoms: Pair, kinds, polytope: Polytope, *, tolerance: Array, iterations: int,
                discrete: Array, numbered: Array | bool = True) -> Penetration:  # fmt: skip
    """Return depth, witness points and final face; nothing is found where the polytope is not sound.

    numbered: whether the corners of the first geom count where a known corner ends the search of discrete geoms.
    Other arguments: see `gjk.distance` and `polytope.start`; no derivative passes.
    """
    double = polytope.center.dtype == np.float64
    sharp = discrete & jnp.all(geoms.margin == 0)
    tolerance = jnp.where(sharp, 1e-15 if double else 1e-7, tolerance)
    told = jnp.stack([jnp.asarray(numbered), jnp.ones((), bool)])
    rules = _Rules(tolerance, sharp, 1e-15 if double else 1e-10, told, iterations)
    begun, sound = polytope.faces, polytope.sound
    upper, zero = jnp.asarray(jnp.inf, polytope.center.dtype), jnp.zeros((), jnp.int32)
    start = _State(
        polytope.corners,
        polytope.used,
        begun,
        upper,
        begun.corner[0],
        begun.plane[0],
        sound,
        zero,
        ~sound,
        polytope.seen,
    )
    expand = functools.partial(_expanded, geoms, kinds, polytope.center, rules)
    last = lax.while_loop(lambda s: ~s.done, expand, start)
    corners, foot = last.corners.rows(last.nearest), last.plane[:3]
    areas = jnp.unstack(affine(corners.points, foot)[0])
    whole = areas[0] + areas[1] + areas[2]
    weights = v.pack(unfused.divide(areas, jnp.where(whole == 0, 1, whole)))
    both = mean(weights, corners.table[:, :6])
    return Penetration(jnp.sqrt(last.plane[3]), both[:3], both[3:], corners, last.found)


def _expanded(geoms: Pair, kinds, center: Array, rules: _Rules, s: _State) -> _State:
    """Return the state after one more corner, or the same polytope at the end."""
    room = s.corners.table.shape[0]
    faces = s.faces
    squares = jnp.where(faces.place >= 0, faces.plane[:, 3], jnp.inf)
    face = first_nearest(faces.place, squares)
    stuck = rows(squares, face) > jnp.minimum(s.upper * s.upper, jnp.finfo(squares.dtype).max)
    nearest, plane = (
        jnp.where(stuck, s.nearest, rows(faces.corner, face)),
        jnp.where(stuck, s.plane, rows(faces.plane, face)),
    )
    lower = jnp.sqrt(plane[3])
    safe_lower = jnp.where(lower == 0, 1, lower)

    new = support_pair(geoms, kinds, v.pack(unfused.divide(v.unpack(plane[:3]), safe_lower)), s.seen)
    point = new.points
    height = dot(plane[:3], point) / safe_lower
    upper = jnp.where(stuck, s.upper, jnp.minimum(s.upper, height))
    known = (np.arange(room) < s.used) & jnp.all((s.corners.table[:, 6:] == new.table[6:]) | ~rules.told, axis=1)
    end = stuck | (lower == 0) | (height - lower < rules.tolerance) | (rules.sharp & jnp.any(known))

    sees = (faces.place != FREE) & (dot(faces.plane[:, :3], point) - faces.plane[:, 3] > rules.clearance)
    sees |= np.arange(sees.size) == face
    edges, count, rank = horizon(faces.corner, sees, face, faces.place == FREE, room, in_order=ordered(squares))
    corners = s.corners.put(s.used, new)
    fan = (sees, face, edges, count, rank, plane[3], upper)
    patched, flat = _patch(faces, s.used, corners.points, center, *fan)
    spoilt = ~end & ((count < 3) | flat)
    met = upper - lower <= jnp.sqrt(jnp.finfo(upper.dtype).eps) * upper
    go = ~end & ~spoilt
    return _State(
        *jax.tree.map(lambda x, y: jnp.where(go, x, y), (corners, s.used + 1, patched), (s.corners, s.used, faces)),
        upper,
        nearest,
        plane,
        s.found & (~spoilt | met),
        s.step + 1,
        ~go | ~jnp.any(patched.place >= 0) | (s.step + 1 >= rules.iterations),
        new.index,
    )


def _patch(
    old: Faces, newest: Array, points: Array, center: Array, sees: Array, first: Array, edges: Array, count: Array,
    rank: Array, lower: Array, upper: Array,
) -> tuple[Faces, Array]:  # fmt: skip
    """Return the faces with those that are seen replaced by a fan from the newest corner, and whether one has no area.

    New faces take the free rows, in the order of the edges; see `horizon.horizon`.
    """
    room = edges.shape[0]
    fresh = ((old.place == FREE) | sees) & (rank < count)
    edge = rows(edges, jnp.clip(rank, 0, room - 1))
    triangle = jnp.stack([jnp.broadcast_to(newest, edge.shape), edge // room, edge % room], axis=1)
    plane = planes(points, triangle, center)
    square = plane[:, 3]
    flat = jnp.any(fresh & (square == 0))
    is_open = fresh & (square >= lower) & (square <= upper * upper)
    place, last = old.place, jnp.zeros_like(old.place)
    if ordered(square):
        place, listed = places(old.place, sees, first)
        last = listed - 1 + jnp.cumsum(is_open, dtype=jnp.int32)
    place = jnp.where(fresh, jnp.where(is_open, last, CLOSED), jnp.where(sees, FREE, place))
    new = fresh[:, None]
    return Faces(
        jnp.where(new, triangle, old.corner), jnp.where(new, plane, old.plane), place.astype(jnp.int32)
    ), flat  # fmt: skip
