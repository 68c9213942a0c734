"""Penetration of two convex geoms by the expanding polytope: the iterates of MuJoCo's nativeccd, step for step.

Each step takes the face nearest to the origin, finds the support point w along its normal, and replaces all faces that
w sees by faces from w to the edge of the hole. The distance of the nearest face is a lower bound of the depth, that of
w along its normal an upper one.
Source: epa, horizon, epaWitness in MuJoCo's engine_collision_gjk.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.gjk import Corners, support_pair
from mjx_like.collision.polytope import Polytope, faces_of
from mjx_like.collision.simplex import affine, dot
from mjx_like.geometry.convex import Convex

Array = jax.Array


class Penetration(NamedTuple):
    """The face of the polytope that stands for the surface nearest to the origin."""

    depth: Array  # [m]
    first: Array  # witness points, shape (3,) [m], world
    second: Array
    corners: Corners  # of the face, three
    found: Array  # False where rounding has spoilt the polytope


class _State(NamedTuple):
    polytope: Polytope
    upper: Array
    nearest: "_Face"
    found: Array
    step: Array
    done: Array
    seen: tuple[Array, Array]


class _Face(NamedTuple):
    corners: Corners
    foot: Array
    square: Array


def penetration(a: Convex, b: Convex, kinds, polytope: Polytope, seen, *, tolerance: Array, iterations: int,
                discrete: Array) -> Penetration:  # fmt: skip
    """Return depth, witness points and final face; nothing is found where the polytope is not sound.

    Arguments: see `gjk.distance` and `polytope.start`; no derivative passes.
    """
    room = polytope.corners.index1.shape[0]
    double = polytope.center.dtype == np.float64
    sharp = discrete & (a.margin == 0) & (b.margin == 0)
    tolerance = jnp.where(sharp, 1e-15 if double else 1e-7, tolerance)
    clearance = 1e-15 if double else 1e-10

    def body(s: _State) -> _State:
        p = s.polytope
        squares = jnp.where(p.faces.exists & p.faces.open, p.faces.square, jnp.inf)
        face = jnp.argmin(squares)
        stuck = squares[face] > jnp.minimum(s.upper * s.upper, jnp.finfo(squares.dtype).max)
        nearest = _select(~stuck, _face(p, face), s.nearest)
        lower = jnp.sqrt(nearest.square)
        safe_lower = jnp.where(lower == 0, 1, lower)

        new = support_pair(a, b, kinds, nearest.foot / safe_lower, s.seen)
        point = new.points[0]
        height = dot(nearest.foot, point) / safe_lower
        upper = jnp.where(stuck, s.upper, jnp.minimum(s.upper, height))
        known = (np.arange(room) < p.used) & (p.corners.index1 == new.index1) & (p.corners.index2 == new.index2)
        end = stuck | (lower == 0) | (height - lower < tolerance) | (sharp & jnp.any(known))

        sees = p.faces.exists & (dot(p.faces.foot, point) - p.faces.square > clearance)
        sees |= np.arange(sees.size) == face
        edges, count = _horizon(p.faces.corner, sees, room)
        corners = p.corners.put(p.used, new)
        faces, flat = _patch(p, corners.points, sees, edges, count, nearest.square, upper)
        broken = ~end & ((count < 3) | flat)
        go = ~end & ~broken
        polytope = p._replace(
            corners=_select(go, corners, p.corners),
            used=p.used + go.astype(jnp.int32),
            faces=_select(go, faces, p.faces),
        )
        done = ~go | ~jnp.any(faces.exists & faces.open) | (s.step + 1 >= iterations)
        indices = new.index1[0], new.index2[0]
        return _State(polytope, upper, nearest, s.found & ~broken, s.step + 1, done, indices)

    zero = jnp.zeros((), jnp.int32)
    upper = jnp.asarray(jnp.inf, polytope.center.dtype)
    start = _State(polytope, upper, _face(polytope, zero), polytope.sound, zero, ~polytope.sound, seen)
    last = lax.while_loop(lambda s: ~s.done, body, start)
    corners, foot, square = last.nearest
    weights, whole = affine(*corners.points, foot)
    weights = (weights / jnp.where(whole == 0, 1, whole))[:, None]
    first, second = jnp.sum(weights * corners.first, axis=0), jnp.sum(weights * corners.second, axis=0)
    return Penetration(jnp.sqrt(square), first, second, corners, last.found)


def _select(condition: Array, a, b):
    """Return the record `a` where `condition` holds for its rows or as a whole, else `b`."""

    def leaf(x: Array, y: Array) -> Array:
        mask = condition[:, None] if condition.ndim == 1 and x.ndim == 2 else condition
        return jnp.where(mask, x, y)

    return jax.tree.map(leaf, a, b)


def _face(p: Polytope, face: Array) -> _Face:
    return _Face(p.corners.rows(p.faces.corner[face]), p.faces.foot[face], p.faces.square[face])


def _horizon(corner: Array, sees: Array, room: int) -> tuple[Array, Array]:
    """Return the directed edges, first * room + second, around the faces that are seen, and their number.

    An edge is on the border where the face on its other side is not seen; there its reverse does not occur.
    """
    start, end = corner, corner[:, np.array([1, 2, 0])]
    key = jnp.where(sees[:, None], start * room + end, room * room)
    seen = jnp.zeros(room * room + 1, bool).at[key.ravel()].set(True, mode="promise_in_bounds")
    border = (sees[:, None] & ~seen[end * room + start]).ravel()
    rank = jnp.cumsum(border, dtype=jnp.int32)
    place = jnp.where(border, jnp.minimum(rank - 1, room), room)
    edges = jnp.zeros(room + 1, jnp.int32).at[place].set(key.ravel(), mode="promise_in_bounds")
    return edges[:room], rank[-1]


def _patch(p: Polytope, points: Array, sees: Array, edges: Array, count: Array, lower: Array, upper: Array):
    """Return the faces with those that are seen replaced by a fan from the newest corner, and whether one has no area.

    New faces take the free rows, in the order of the edges.
    """
    room = edges.shape[0]
    free = ~p.faces.exists | sees
    rank = jnp.cumsum(free, dtype=jnp.int32) - 1
    fresh = free & (rank < count)
    edge = edges[jnp.minimum(rank, room - 1)]
    triangle = jnp.stack([jnp.broadcast_to(p.used, edge.shape), edge // room, edge % room], axis=1)
    made = faces_of(points, triangle, p.center)
    flat = jnp.any(fresh & (made.square == 0))
    opens = (made.square >= lower) & (made.square <= upper * upper)
    kept = p.faces.exists & ~sees
    return _select(fresh, made._replace(open=opens), p.faces._replace(exists=kept)), flat
