"""A capsule against a capsule or a box: closed forms."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.closed.sphere import across, against_box, between
from mjx_like.collision.shape import Point, Shape
from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math import vector as v

Array = jax.Array

_ENDS = np.array([[-1], [1]])
PARALLEL = 1e-8  # squared sine of the angle up to which capsules touch at two points


def capsule_capsule(a: Shape, b: Shape, detect: Array) -> list[Point]:
    """Return the nearest points of two capsules; of parallel ones, both ends of the stretch side by side.

    That stretch starts at the -z end of the first capsule; parallel capsules one behind the other have its point twice.
    Source: mjc_CapsuleCapsule; the rule for parallel ones was measured on MuJoCo 4.0.0.
    """
    found = _along(a, b)
    single = (_ENDS < 0) & ~found.parallel
    place1 = jnp.where(single, found.nearest1, found.ends1)
    place2 = jnp.where(single, found.nearest2, found.ends2)
    return [_spheres_at(a, b, place1, place2)._replace(valid=found.parallel | (_ENDS < 0))]


def capsule_capsule_along(a: Shape, b: Shape, detect: Array) -> list[Point]:
    """Return the points of `capsule_capsule`, and of capsules that cross one more, for hard contact.

    It is the end of their stretch side by side that is farther from the nearest points, where that is more than a
    radius: as capsules at a small angle turn, the nearest points run along them within a step.
    """
    found = _along(a, b)
    way = jnp.abs(found.ends1 - found.nearest1)
    last = way[1] > way[0]
    far1, far2 = (jnp.where(last, ends[1], ends[0]) for ends in (found.ends1, found.ends2))
    place1 = jnp.where(found.parallel, found.ends1, jnp.stack([found.nearest1, far1]))
    place2 = jnp.where(found.parallel, found.ends2, jnp.stack([found.nearest2, far2]))
    wide = jnp.max(way, axis=0) > jnp.maximum(a.size[0], b.size[0])
    return [_spheres_at(a, b, place1, place2)._replace(valid=found.parallel | wide | (_ENDS < 0))]


def towards(a: Shape, b: Shape, point: v.Vector, share: float) -> tuple[Point, Array]:
    """Return the contact of two capsules a share of the way from the nearest points to `point`, and which are parallel.

    The way is along the axis of the first; of parallel capsules it has no one start.
    """
    found = _along(a, b)
    there = v.dot(a.axes[2], v.sub(point, a.pos))
    place1 = safe.clip(found.nearest1 + share * (there - found.nearest1), -a.size[1], a.size[1])
    beside = v.dot(b.axes[2], v.sub(v.along(a.pos, a.axes[2], place1), b.pos))
    return _spheres_at(a, b, place1, safe.clip(beside, -b.size[1], b.size[1])), found.parallel


class _Along(NamedTuple):
    """Places on the axes of two capsules, from their centres [m], shape (n,), of the two ends (2, n)."""

    parallel: Array
    nearest1: Array
    nearest2: Array
    ends1: Array  # where the stretch ends in which they are side by side
    ends2: Array


def _along(a: Shape, b: Shape) -> _Along:
    """Return where two capsules are nearest, and from where to where they are side by side."""
    axis1, axis2, half1, half2 = a.axes[2], b.axes[2], a.size[1], b.size[1]
    apart = v.sub(a.pos, b.pos)
    lean, shift1, shift2 = v.dot(axis1, axis2), -v.dot(axis1, apart), v.dot(axis2, apart)
    normal = v.cross(axis1, axis2)
    square = v.dot(normal, normal)
    parallel = square < PARALLEL
    crossing = safe.ratio(shift1 + lean * shift2, jnp.where(parallel, 1, square))
    nearest2 = safe.clip(shift2 + lean * safe.clip(crossing, -half1, half1), -half2, half2)
    nearest1 = safe.clip(shift1 + lean * nearest2, -half1, half1)

    # the stretch ends at an end of either capsule
    ends2 = _ENDS * jnp.where(lean < 0, -half2, half2)
    beyond = shift1 + lean * ends2
    ends1 = safe.clip(beyond, -half1, half1)
    ends2 = jnp.where(beyond == ends1, ends2, safe.clip(shift2 + lean * ends1, -half2, half2))
    return _Along(parallel, nearest1, nearest2, ends1, ends2)


def _spheres_at(a: Shape, b: Shape, place1: Array, place2: Array) -> Point:
    """Return the contacts of the spheres at places of two capsules."""
    center1, center2 = v.along(a.pos, a.axes[2], place1), v.along(b.pos, b.axes[2], place2)
    return between(center1, a.size[0], center2, b.size[0], across(a, b))


# The 12 edges of a box: its axis, and the signs of its two other coordinates, in the order in which MuJoCo tries them.
_EDGES = [(j, i) for j in range(3) for i in range(8) if not i & (1 << j)]
_EDGE_AXIS = np.array([[j == k for k in range(3)] for j, _ in _EDGES])  # (12, 3)
_EDGE_SIGN = np.array([[0 if j == k else (1 if i & (1 << k) else -1) for k in range(3)] for j, i in _EDGES])


def capsule_box(capsule: Shape, box: Shape, detect: Array) -> list[Point]:
    """Return the nearest point of a capsule to a box, and a second one along the capsule that also may touch.

    Both are contacts of a sphere of the capsule with the box.  Source: mjraw_CapsuleBox.
    """
    pos = v.project(box.axes, v.sub(capsule.pos, box.pos))
    axis = v.project(box.axes, capsule.axes[2])
    half = v.scale(axis, capsule.size[1])
    face = _nearest_end(pos, half, box.size)
    edge = _nearest_edge(pos, half, box.size, capsule.size[1])
    on_edge = edge.square < face.square - MINVAL
    coord = jnp.where(on_edge, edge.coord, face.coord)
    reach = detect + 2 * (capsule.size[0] + capsule.size[1] + sum(box.size))
    found = jnp.where(on_edge, edge.square, face.square) < reach

    face_step, face_has = _step_from_face(pos, half, box.size, face)
    corner_step, corner_has = _step_from_corner(axis, half, box.size, edge)
    edge_step, edge_has = _step_from_edge(axis, half, box.size, edge)
    step = jnp.where(on_edge, jnp.where(edge.at_corner, corner_step, edge_step), face_step)
    has = jnp.where(on_edge, jnp.where(edge.at_corner, corner_has, edge_has), face_has)
    center = v.along(pos, half, jnp.stack([coord, coord + step]))
    return [against_box(center, capsule.size[0], box)._replace(valid=jnp.stack([found, found & has]))]


class _Face:
    """An end of the capsule's axis over a face of the box, or inside: squared distance, end (-1 or 1), outside axes."""

    def __init__(self, square: Array, coord: Array, outside: list[Array]):
        self.square, self.coord, self.outside = square, coord, outside


class _Edge:
    """The nearest edge of the box: squared distance, coordinates on axis (-1..1) and edge, its axis, corner bits."""

    def __init__(self, square, coord, on_box, along, corner, at_corner):
        self.square, self.coord, self.on_box = square, coord, on_box
        self.along, self.corner, self.at_corner = along, corner, at_corner


def _nearest_end(pos: v.Vector, half: v.Vector, size: v.Vector) -> _Face:
    best = None
    for end in (-1, 1):
        tip = v.along(pos, half, end)
        beyond = [jnp.abs(t) - s for t, s in zip(tip, size, strict=True)]
        outside = [b > 0 for b in beyond]
        square = sum(jnp.where(o, b * b, 0) for o, b in zip(outside, beyond, strict=True))
        several = (outside[0] & outside[1]) | (outside[0] & outside[2]) | (outside[1] & outside[2])
        square = jnp.where(several, jnp.inf, square)
        coord = jnp.full_like(square, end)
        if best is None:
            best = _Face(square, coord, outside)
        else:
            better = square < best.square
            best = _Face(
                jnp.minimum(square, best.square),
                jnp.where(better, coord, best.coord),
                [jnp.where(better, o, p) for o, p in zip(outside, best.outside, strict=True)],
            )
    return best


def _nearest_edge(pos: v.Vector, half: v.Vector, size: v.Vector, length: Array) -> _Edge:
    dtype = length.dtype
    axis = [np.asarray(_EDGE_AXIS[:, k : k + 1], dtype) for k in range(3)]
    sign = [np.asarray(_EDGE_SIGN[:, k : k + 1], dtype) for k in range(3)]
    extent = sum(axis[k] * size[k] for k in range(3))
    along = sum(axis[k] * half[k] for k in range(3))
    offset = tuple(sign[k] * size[k] - pos[k] for k in range(3))
    edge_square, cross, axis_square = extent * extent, -extent * along, length * length
    u, w = -extent * sum(axis[k] * offset[k] for k in range(3)), v.dot(half, offset)
    det = edge_square * axis_square - cross * cross
    skew = jnp.abs(det) >= MINVAL
    free = safe.ratio(axis_square * u - cross * w, jnp.where(skew, det, 1))
    on_box = safe.clip(free, -1, 1)
    free_coord = safe.divide(w - cross * on_box, axis_square)
    coord = safe.clip(free_coord, -1, 1)
    moved = free_coord != coord
    again = safe.divide(u - cross * coord, edge_square)
    # an edge parameter that was clamped once counts as a corner, also where the second clamp moves it back inside
    corner_low = jnp.where(moved & (jnp.abs(again) > 1), again < -1, free < -1)
    corner_high = jnp.where(moved & (jnp.abs(again) > 1), again > 1, free > 1)
    on_box = jnp.where(moved, safe.clip(again, -1, 1), on_box)
    gap = tuple(offset[k] - half[k] * coord + axis[k] * extent * on_box for k in range(3))
    square = jnp.where(skew, v.dot(gap, gap), jnp.inf)

    least = jnp.min(square, axis=0)
    near = square <= least + MINVAL
    earlier = jnp.cumsum(near, axis=0) - near
    chosen = near & (earlier == 0)

    def pick(x: Array) -> Array:
        return jnp.sum(jnp.where(chosen, x, 0), axis=0)

    corner = [pick((sign[k] > 0) | ((axis[k] > 0) & corner_high)) > 0 for k in range(3)]
    return _Edge(
        square=least,
        coord=pick(coord),
        on_box=pick(on_box),
        along=[pick(axis[k]) > 0 for k in range(3)],
        corner=corner,
        at_corner=pick(corner_low | corner_high) > 0,
    )


def _span(size: Array, half: Array) -> Array:
    """Return by how much of the axis an extent of `size` is passed; very much where the axis does not move along it."""
    return safe.divide(size, jnp.abs(half), 1e10)


def _step_from_face(pos: v.Vector, half: v.Vector, size: v.Vector, face: _Face) -> tuple[Array, Array]:
    """Return the step from the nearest end to the farthest point over the same face; none from inside the box."""
    towards = -face.coord
    tip = v.along(pos, half, face.coord)
    step = jnp.full_like(face.coord, 2)
    for k in range(3):
        moves = jnp.abs(half[k]) > 0
        rate = towards * half[k]
        for side in (1, -1):
            until = safe.divide(side * size[k] - tip[k], rate, where=moves)
            usable = moves & ~face.outside[k] & (until > 0) & (until < step)
            step = jnp.where(usable, until, step)
    return towards * step, face.outside[0] | face.outside[1] | face.outside[2]


def _step_from_corner(axis: v.Vector, half: v.Vector, size: v.Vector, edge: _Edge) -> tuple[Array, Array]:
    """Return the step from a corner along the edge or the face that the capsule leans to; none if it points away."""
    bits = [(h > 0) ^ c for h, c in zip(half, edge.corner, strict=True)]
    count = sum(b.astype(jnp.int32) for b in bits)
    one = count == 1
    odd = [b == one for b in bits]  # the axis whose bit differs from the two others
    sense = jnp.where(one, 1, -1).astype(edge.coord.dtype)
    steep = sum(jnp.where(o, a * a, 0) for o, a in zip(odd, axis, strict=True)) > 0.5
    span = [_span(2 * s, h) for s, h in zip(size, half, strict=True)]
    along = sum(jnp.where(o, s, 0) for o, s in zip(odd, span, strict=True))
    over = jnp.minimum(jnp.minimum(*(jnp.where(o, jnp.inf, s) for o, s in zip(odd[:2], span[:2], strict=True))),
                       jnp.where(odd[2], jnp.inf, span[2]))  # fmt: skip
    by_edge = jnp.minimum(1 - sense * edge.coord, along)
    by_face = jnp.minimum(1 + sense * edge.coord, over)
    return sense * jnp.where(steep, by_edge, -by_face), (count == 1) | (count == 2)


def _step_from_edge(axis: v.Vector, half: v.Vector, size: v.Vector, edge: _Edge) -> tuple[Array, Array]:
    """Return the step from an edge over the face to which the capsule leans; none if both cross as a T."""
    bits = [(h > 0) ^ c for h, c in zip(half, edge.corner, strict=True)]
    lean = [jnp.abs(a) for a in axis]
    step, has = jnp.zeros_like(edge.coord), jnp.zeros_like(edge.at_corner)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        wide = lean[i] > lean[j]  # the face to follow spans axis i if so, else j
        bit = jnp.where(wide, bits[i], bits[j])
        sense = jnp.where(bit, 1, -1).astype(edge.coord.dtype)
        span = jnp.where(wide, _span(2 * size[i], half[i]), _span(2 * size[j], half[j]))
        room = jnp.where((half[k] > 0) == bit, 1 - edge.on_box, 1 + edge.on_box)
        own = jnp.minimum(jnp.minimum(1 - sense * edge.coord, span), _span(size[k] * room, half[k]))
        step = jnp.where(edge.along[k], sense * own, step)
        has = jnp.where(edge.along[k], bits[i] ^ bits[j], has)
    return step, has
