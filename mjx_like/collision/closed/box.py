"""A box against a box: along the axis of least overlap (`box_axis`), the clipped face, or a point between edges."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.closed.box_axis import (
    ROUNDING,
    Axis,
    Boxes,
    Flags,
    Rounding,
    column,
    largest_separation,
    pick,
)
from mjx_like.collision.closed.clip import clip_polygon
from mjx_like.collision.shape import Point, Shape
from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math import vector as v

Array = jax.Array

_SLOTS = 8
_FIRST_OF_TRIAL, _SECOND_OF_TRIAL = (np.array(x, bool)[:, None] for x in ((0, 0, 1, 1), (0, 1, 0, 1)))
_SIDES = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])  # of a rectangle, in the order in which they cut


def box_box(a: Shape, b: Shape, detect: Array) -> list[Point]:
    """Return up to 8 points: the corners of the clipped incident face, or one between two edges.

    Source: mjc_BoxBox.
    """
    return _points(a, b, detect, whole_face=False)


def box_box_whole(a: Shape, b: Shape, detect: Array) -> list[Point]:
    """Return the points of `box_box`, for hard contact: between edges near a level face, those of the whole face.

    The one point between two edges leaves others free to go in: where an edge lies over a face, so near that both ends
    of it can meet the face in a step, which end counts would alternate from solve to solve.
    """
    return _points(a, b, detect, whole_face=True)


def _points(a: Shape, b: Shape, detect: Array, whole_face: bool) -> list[Point]:
    slack = ROUNDING[a.size[0].dtype.itemsize]
    apart = v.sub(b.pos, a.pos)
    offset1, offset2 = v.project(a.axes, apart), v.scale(v.project(b.axes, apart), -1)
    axes1, axes2 = (jnp.stack([jnp.stack(p) for p in x.axes]) for x in (a, b))
    rotation = jnp.einsum("icn,jcn->ijn", axes1, axes2, precision="highest")  # component i of axis j of the second
    sizes = (jnp.stack(x.size) for x in (a, b))
    axis = largest_separation(Boxes(*sizes, jnp.stack(offset1), jnp.stack(offset2), rotation), detect, slack)
    face = _face_points(a, b, offset1, offset2, rotation, axis, detect, slack)
    edge = _edge_point(a, b, offset1, rotation, axis, slack)
    limit = detect + slack.separation * (sum(a.size) + sum(b.size))
    first = np.arange(_SLOTS)[:, None] == 0
    is_edge = axis.is_edge
    if whole_face:
        is_edge &= ~(axis.near_face & jnp.any(face.valid, axis=0))
    by_edge = first & is_edge
    valid = jnp.where(is_edge, first & (edge.dist <= limit), face.valid)
    return [
        Point(
            jnp.where(by_edge, edge.dist, face.dist),
            v.select(by_edge, edge.pos, face.pos),
            v.select(is_edge, edge.normal, face.normal),
            valid & ~axis.separated,
        )
    ]


def _edge_point(a: Shape, b: Shape, offset: v.Vector, rotation: tuple, axis: Axis, slack: Rounding) -> Point:
    """Return the point midway between the nearest points of the two edges that support the axis.

    Where the axis is level with a face, both edges of that face are tried.
    """
    normal = axis.edge_normal
    normal2 = tuple(v.dot(normal, column(rotation, k)) for k in range(3))
    half1, half2 = pick(axis.edge1, a.size), pick(axis.edge2, b.size)
    direction = tuple(pick(axis.edge2, rotation[k]) for k in range(3))
    lean = pick(axis.edge1, direction)
    square = 1 - lean * lean
    skew = square >= MINVAL

    # each corner of the first edge's face with each of the second's: four trials on an axis
    corner1 = _corners(axis.edge1, a.size, normal, 1, slack.sign, _FIRST_OF_TRIAL)
    corner2 = _corners(axis.edge2, b.size, normal2, -1, slack.sign, _SECOND_OF_TRIAL)
    start2 = v.add(offset, tuple(v.dot(row, corner2) for row in rotation))
    between = v.sub(start2, corner1)
    on1, on2 = pick(axis.edge1, between), v.dot(direction, between)
    coord = safe.divide(on1 - lean * on2, square, where=skew)
    coord2 = jnp.clip(lean * jnp.clip(coord, -half1, half1) - on2, -half2, half2)
    place1 = jnp.clip(on1 + lean * coord2, -half1, half1)
    trials1 = tuple(c + jnp.where(f, place1, 0) for c, f in zip(corner1, axis.edge1, strict=True))
    trials2 = v.along(start2, direction, coord2)
    gap = v.sub(trials2, trials1)
    nearest = np.arange(4)[:, None] == jnp.argmin(v.dot(gap, gap), axis=0)
    point1, point2 = (tuple(jnp.sum(jnp.where(nearest, c, 0), axis=0) for c in t) for t in (trials1, trials2))
    middle = v.scale(v.add(point1, point2), 0.5)
    return Point(
        v.dot(v.sub(point2, point1), normal),
        v.add(a.pos, v.combine(a.axes, middle)),
        v.combine(a.axes, normal),
    )


def _corners(flags: Flags, size: v.Vector, along: v.Vector, outward: int, slack: float, other: np.ndarray) -> v.Vector:
    """Return the corner of a box that an edge starts from in each trial: the outermost, or the other of its face."""
    sided = (jnp.where(x >= 0, outward * s, -outward * s) for x, s in zip(along, size, strict=True))
    corner = [jnp.where(f, 0, s) for f, s in zip(flags, sided, strict=True)]
    level = [(jnp.abs(x) < slack) & ~f for x, f in zip(along, flags, strict=True)]
    return tuple(jnp.where(other & e, -c, c) for e, c in zip(level, corner, strict=True))


def _face_points(a, b, offset1, offset2, rotation, axis: Axis, detect, slack: Rounding) -> Point:
    """Return the corners of the incident face clipped to the reference face, in the winding order of the former."""
    first, face = axis.of_first, axis.face
    size, offset = v.select(first, a.size, b.size), v.select(first, offset1, offset2)
    side = jnp.where(pick(face, offset) >= 0, 1, -1)
    height = pick(face, size)

    def in_face(x: v.Vector) -> v.Vector:
        return pick(face, x, 1), pick(face, x, 2), side * pick(face, x)

    middle, along1, along2 = (in_face(x) for x in _incident_face(a, b, offset, rotation, axis, side))
    middle = (middle[0], middle[1], middle[2] - height)
    sign1, sign2 = (np.array(s, np.int32)[:, None] for s in ((1, -1, -1, 1), (1, 1, -1, -1)))
    quad = jnp.stack([m + sign1 * p + sign2 * q for m, p, q in zip(middle, along1, along2, strict=True)])
    limit1, limit2 = pick(face, size, 1), pick(face, size, 2)
    (x, y, z), count = clip_polygon(quad, _SLOTS, _SIDES, jnp.stack([limit1, limit1, limit2, limit2]))

    def axis_of_face(shift: int) -> v.Vector:
        return tuple(
            pick(face, tuple(jnp.where(first, a.axes[k][c], b.axes[k][c]) for k in range(3)), shift) for c in range(3)
        )

    x_axis, y_axis, z_axis = (axis_of_face(shift) for shift in (1, 2, 0))
    center = v.select(first, a.pos, b.pos)
    pos = v.along(v.along(v.along(center, x_axis, x), y_axis, y), z_axis, side * (height + 0.5 * z))
    found = (np.arange(_SLOTS)[:, None] < count) & (z <= detect)
    valid = _first_of_equal(found, x, y, slack.same * (limit1 * limit1 + limit2 * limit2))
    return Point(z, pos, v.scale(z_axis, jnp.where(first, side, -side)), valid)


def _incident_face(a, b, offset: v.Vector, rotation, axis: Axis, side: Array) -> tuple[v.Vector, v.Vector, v.Vector]:
    """Return the centre of the face that most looks at the reference face, and halves of its edges.

    Vectors are in the frame of the reference box; offset: of the other box's centre. side: of the reference face.
    """
    size = v.select(axis.of_first, b.size, a.size)
    # inner[c][k]: component c of axis k of the incident box
    inner = tuple(tuple(jnp.where(axis.of_first, rotation[c][k], rotation[k][c]) for k in range(3)) for c in range(3))
    facing = tuple(pick(axis.face, tuple(inner[c][k] for c in range(3))) for k in range(3))
    steep = [jnp.abs(f) for f in facing]
    second_best = steep[1] > steep[0]
    third_best = steep[2] > jnp.maximum(steep[0], steep[1])
    incident = (~second_best & ~third_best, second_best & ~third_best, third_best)
    sense = jnp.where(side * pick(incident, facing) > 0, -1, 1)

    def half_axis(shift: int) -> v.Vector:
        return tuple(pick(incident, inner[c], shift) * pick(incident, size, shift) for c in range(3))

    return v.along(offset, half_axis(0), sense), half_axis(1), half_axis(2)


def _first_of_equal(found: Array, x: Array, y: Array, radius: Array) -> Array:
    """Return which of the corners found do not repeat an earlier one; radius: squared distance of equal ones."""
    gap = x[:, None] - x, y[:, None] - y
    same = gap[0] * gap[0] + gap[1] * gap[1] < radius
    new: list[Array] = []
    for k in range(_SLOTS):
        new.append(found[k] & ~sum((taken & same[k, q] for q, taken in enumerate(new)), jnp.zeros_like(found[k])))
    return jnp.stack(new)
