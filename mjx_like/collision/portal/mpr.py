"""Penetration of two convex geoms by Minkowski portal refinement: the iterates of MuJoCo's libccd pipeline.

A portal is a triangle of support points through which the ray from the centre of the Minkowski difference to the
origin passes. It is found first, then pushed outwards until the origin lies behind it, then on to the surface. The
depth is the distance of the last portal: along the ray, not the least one, as the search of `ccd` finds it.
Source: Snethen, XenoCollide (Game Programming Gems 7, 2008); ccdMPRPenetration in libccd.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex.gjk import Corners, support_pair
from mjx_like.geometry.convex import Pair
from mjx_like.math.linalg import cross, dot

Array = jax.Array

_FIRST, _SECOND, _THIRD, _REFINE, _PUSH, _MISS, _SEGMENT, _FACE = range(8)  # what the next support point is for; ends
_TURNS = 1000  # of refinement, which has no bound of its own


class Portal(NamedTuple):
    """Where the search ended."""

    depth: Array  # [m]; 0 where the geoms are apart
    direction: Array  # of the depth, unit vector from the first geom to the second, shape (3,); 0 where there is none
    pos: Array  # shape (3,) [m], world
    first: Array  # point of the first geom at the depth, shape (3,) [m], world
    second: Array
    corners: Corners  # of the portal, three
    seen: Array  # indices of the last support points, shape (2,)


class _State(NamedTuple):
    stage: Array
    corners: Corners
    direction: Array
    seen: Array
    step: Array


def penetration(geoms: Pair, kinds, *, tolerance: Array, iterations: int, seen: Array) -> Portal:
    """Return depth, direction and position; no derivative passes.

    Arguments: see `gjk.distance`; seen: indices of earlier support points, shape (2,), -1 for none.
    """
    eps = np.finfo(geoms.pos.dtype).eps
    center = geoms.center[0] - geoms.center[1]
    inside = jnp.all(jnp.abs(center) < eps)
    center = center + jnp.where(inside & (np.arange(3) == 0), 10 * eps, 0)

    def body(s: _State) -> _State:
        new = support_pair(geoms, kinds, s.direction, s.seen, middle=True)
        point, (v1, v2, v3) = new.points, s.corners.points
        height = dot(point, s.direction)
        gain = height - jnp.max(dot(s.corners.points, s.direction))
        flat = gain < tolerance + eps
        pushing, refining, third = s.stage == _PUSH, s.stage == _REFINE, s.stage == _THIRD
        miss = jnp.where(refining, (height <= -eps) | flat, (height < eps) & ~pushing)
        end = pushing & (flat | (s.step > iterations))

        beyond2 = dot(cross(v1, point), center) <= -eps
        beyond1 = dot(cross(point, v2), center) <= -eps
        slot = jnp.where(beyond2, 1, jnp.where(beyond1, 0, 2))
        slot = jnp.where(third, slot, jnp.minimum(s.stage, 1))
        across = cross(point, center)
        along1, along2, along3 = (dot(corner, across) > 0 for corner in (v1, v2, v3))
        widened = jnp.where(along1, jnp.where(along2, 0, 2), jnp.where(along3, 1, 0))
        slot = jnp.where(refining | pushing, widened, slot)
        corners = s.corners.put(slot, new)

        whole = (third & (slot == 2)) | refining | pushing
        v1, v2, v3 = corners.points
        # the side of the first two corners that looks away from the centre is out
        rotated = (s.stage == _SECOND) & (dot(cross(v1 - center, v2 - center), center) > 0)
        corners = Corners(jnp.where(rotated, corners.table[np.array([1, 0, 2])], corners.table))
        v1, v2, v3 = corners.points
        only = s.stage == _FIRST
        one = jnp.where(only, center, jnp.where(whole, v2 - v1, v1 - center))
        two = jnp.where(only, v1, jnp.where(whole, v3 - v1, v2 - center))
        normal = cross(one, two)
        square = dot(normal, normal)
        line = only & (square < eps)
        direction = normal / jnp.sqrt(jnp.where(square > 0, square, 1))

        behind = dot(direction, v1) > -eps
        stage = jnp.where(whole, jnp.where(pushing | behind, _PUSH, _REFINE), jnp.minimum(s.stage + 1, _THIRD))
        stage = jnp.where(line, _SEGMENT, stage)
        stage = jnp.where(miss | (refining & (s.step > _TURNS)), _MISS, jnp.where(end, _FACE, stage))
        held = miss | end
        return _State(
            stage.astype(jnp.int32),
            Corners(jnp.where(held, s.corners.table, corners.table)),
            jnp.where(held, s.direction, direction),
            new.index,
            jnp.where(stage == s.stage, s.step + 1, 0),
        )

    zero = jnp.zeros((), jnp.int32)
    ahead = -center / jnp.sqrt(dot(center, center))
    start = _State(zero, Corners(jnp.zeros((3, 8), center.dtype)), ahead, seen, zero)
    return _result(lax.while_loop(lambda s: s.stage < _MISS, body, start), geoms, center, eps)


def _result(s: _State, geoms: Pair, center: Array, eps: float) -> Portal:
    points, face = s.corners.points, s.stage == _FACE
    weights = jnp.where(face, nearest_of_triangle(points, eps), np.array([1.0, 0, 0]))
    both = jnp.sum(weights[:, None] * s.corners.table[:, :6], axis=0)
    span = jnp.sum(weights[:, None] * points, axis=0)
    depth = jnp.sqrt(dot(span, span))
    touches = (s.stage > _MISS) & (depth >= eps)
    middle = 0.5 * (s.corners.first + s.corners.second)
    pos = jnp.where(face, _position(s, middle, 0.5 * (geoms.center[0] + geoms.center[1]), center, eps), middle[0])
    return Portal(
        jnp.where(touches, depth, 0),
        jnp.where(touches, span / jnp.where(touches, depth, 1), 0),
        pos,
        both[:3],
        both[3:],
        s.corners,
        s.seen,
    )


def _position(s: _State, middle: Array, start: Array, center: Array, eps: float) -> Array:
    """Return where the origin lies in the tetrahedron of centre and portal, taken to both geoms.  Source: findPos."""
    v1, v2, v3 = s.corners.points
    share = jnp.stack([
        dot(cross(v1, v2), v3), dot(cross(v3, v2), center), dot(cross(center, v1), v3),
        dot(cross(v2, v1), center),
    ])  # fmt: skip
    flat = jnp.sum(share) < eps
    out = s.direction
    plane = jnp.stack([dot(cross(*pair), out) for pair in ((v2, v3), (v3, v1), (v1, v2))])
    share = jnp.where(flat, jnp.concatenate([jnp.zeros(1, plane.dtype), plane]), share)
    whole = jnp.sum(share)
    share = share / jnp.where(whole == 0, 1, whole)
    return share[0] * start + jnp.sum(share[1:, None] * middle, axis=0)


def nearest_of_triangle(points: Array, eps: float) -> Array:
    """Return the weights of the corners in the point of a triangle nearest to the origin.

    Source: ccdVec3PointTriDist2.
    """
    x, y, z = points
    d1, d2 = y - x, z - x
    vv, ww, rr = dot(d1, d1), dot(d2, d2), dot(d1, d2)
    p, q = dot(x, d1), dot(x, d2)
    det = ww * vv - rr * rr
    s = (q * rr - ww * p) / jnp.where(det == 0, 1, det)
    t = (-s * rr - q) / jnp.where(ww == 0, 1, ww)
    within = (det != 0) & (s > -eps) & (t > -eps) & (s + t < 1 + eps)
    on_face = jnp.stack([1 - s - t, s, t])

    ends = np.array([[0, 1], [0, 2], [1, 2]])
    begin, run = points[ends[:, 0]], points[ends[:, 1]] - points[ends[:, 0]]
    square = dot(run, run)
    part = jnp.clip(-dot(begin, run) / jnp.where(square > 0, square, 1), 0, 1)
    at = begin + part[:, None] * run
    best = jnp.argmin(dot(at, at))
    chosen = np.arange(3) == jnp.asarray(ends)[best][:, None]
    on_edge = jnp.where(chosen[0], 1 - part[best], 0) + jnp.where(chosen[1], part[best], 0)
    return jnp.where(within, on_face, on_edge)
