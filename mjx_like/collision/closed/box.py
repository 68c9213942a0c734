"""A box against a box: the axis of least overlap, then the clipped face or the nearest points of two edges."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.closed.clip import clip_polygon
from mjx_like.collision.shape import Point, Shape
from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math import vector as v

Array = jax.Array
Flags = tuple[Array, Array, Array]  # a one-hot axis

_SLOTS = 8
_FIRST_OF_TRIAL, _SECOND_OF_TRIAL = (np.array(x, bool)[:, None] for x in ((0, 0, 1, 1), (0, 1, 0, 1)))
_EDGE_BIAS = 1e-6  # by how much of its depth an edge axis must beat the others
_ALIASED = 0.99  # cosine above which an edge axis repeats the best face axis
_SIDES = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])  # of a rectangle, in the order in which they cut
_FACE_SHARE = 0.05  # by how much of its depth the face may lose against such an edge


class _Rounding(NamedTuple):
    """Slacks that follow from the precision.  Source: mjBOXBOX_* of engine_collision_box.c."""

    separation: float  # of the distances, times the sum of all half sizes
    parallel: float  # squared sine below which two edges are parallel
    sign: float  # component of the axis below which two corners are level
    same: float  # squared distance of equal points, times the squared size of the face


_ROUNDING = {4: _Rounding(1e-6, 1e-7, 1e-5, 1e-10), 8: _Rounding(1e-13, 1e-16, 1e-9, 1e-14)}


class _Axis(NamedTuple):
    """The axis of largest separation: of a face (box and axis) or of an edge pair (axis of each box)."""

    separated: Array  # no contact: apart along some axis
    is_edge: Array
    of_first: Array  # the face belongs to the first box
    face: Flags
    edge1: Flags
    edge2: Flags
    edge_normal: v.Vector  # unit, in the frame of the first box, towards the second


def box_box(a: Shape, b: Shape, detect: Array) -> list[Point]:
    """Return up to 8 points: the corners of the clipped incident face, or one between two edges.

    Source: mjc_BoxBox.
    """
    slack = _ROUNDING[a.size[0].dtype.itemsize]
    apart = v.sub(b.pos, a.pos)
    offset1, offset2 = v.project(a.axes, apart), v.scale(v.project(b.axes, apart), -1)
    axes1, axes2 = (jnp.stack([jnp.stack(p) for p in x.axes]) for x in (a, b))
    rotation = jnp.einsum("icn,jcn->ijn", axes1, axes2, precision="highest")  # component i of axis j of the second
    sizes = (jnp.stack(x.size) for x in (a, b))
    axis = _largest_separation(*sizes, jnp.stack(offset1), jnp.stack(offset2), rotation, detect, slack)
    face = _face_points(a, b, offset1, offset2, rotation, axis, detect, slack)
    edge = _edge_point(a, b, offset1, rotation, axis, slack)
    limit = detect + slack.separation * (sum(a.size) + sum(b.size))
    first = np.arange(_SLOTS)[:, None] == 0
    by_edge = first & axis.is_edge
    valid = jnp.where(axis.is_edge, first & (edge.dist <= limit), face.valid)
    return [
        Point(
            jnp.where(by_edge, edge.dist, face.dist),
            v.select(by_edge, edge.pos, face.pos),
            v.select(axis.is_edge, edge.normal, face.normal),
            valid & ~axis.separated,
        )
    ]


def _pick(flags: Flags, values: tuple[Array, Array, Array], shift: int = 0) -> Array:
    """Return the value of the flagged axis, or of the one `shift` places after it in cyclic order."""
    x, y, z = (values[(k + shift) % 3] for k in range(3))
    return jnp.where(flags[0], x, jnp.where(flags[1], y, z))


def _column(rotation: tuple, j: int) -> v.Vector:
    return rotation[0][j], rotation[1][j], rotation[2][j]


def _largest_separation(size1: Array, size2: Array, offset1, offset2, rotation, detect, slack: _Rounding) -> _Axis:
    """Return the axis of largest separation of boxes; sizes and offsets: shape (3, n), turn: shape (3, 3, n).

    On a tie, the first face counts, then the first edge pair.
    """
    limit = detect + slack.separation * jnp.sum(size1 + size2, axis=0)
    shadow = jnp.abs(rotation)
    gaps = jnp.concatenate(
        [
            jnp.abs(offset1) - size1 - jnp.sum(shadow * size2, axis=1),
            jnp.abs(offset2) - size2 - jnp.sum(shadow * size1[:, None], axis=0),
        ]
    )
    face_gap, face_code = jnp.max(gaps, axis=0), jnp.argmax(gaps, axis=0)

    def after(x: Array, steps: int, axis: int = 0) -> Array:
        return jnp.roll(x, -steps, axis=axis)

    square = after(rotation, 1) ** 2 + after(rotation, 2) ** 2
    skew = square >= slack.parallel
    length = jnp.sqrt(jnp.where(skew, square, 1))
    x, y = safe.rescale((-after(rotation, 2), after(rotation, 1)), length)  # components i + 1 and i + 2 of the normal
    radius1 = after(size1, 1)[:, None] * jnp.abs(x) + after(size1, 2)[:, None] * jnp.abs(y)
    rows = x[:, :, None] * after(rotation, 1)[:, None] + y[:, :, None] * after(rotation, 2)[:, None]  # [i][j][k]
    radius2 = sum(
        jnp.abs(jnp.stack([rows[:, j, (j + k) % 3] for j in range(3)], axis=1)) * after(size2, k) for k in (1, 2)
    )
    reach = x * after(offset1, 1)[:, None] + y * after(offset1, 2)[:, None]
    edge_gaps = jnp.where(skew, jnp.abs(reach) - radius1 - radius2, -jnp.inf).reshape(9, -1)
    separated = (face_gap > limit) | (jnp.max(edge_gaps, axis=0) > limit)
    best, edge = face_gap, jnp.full(face_gap.shape, -1, jnp.int32)
    for k in range(9):
        gap = edge_gaps[k]
        better = (gap - _EDGE_BIAS * jnp.abs(gap) > best) & (gap > face_gap)
        best, edge = jnp.where(better, gap, best), jnp.where(better, k, edge)
    side = jnp.where(reach < 0, -1, 1)
    zero = jnp.zeros_like(x)
    x, y = side * x, side * y
    normals = jnp.stack(
        [
            jnp.stack([zero[0], x[0], y[0]]),
            jnp.stack([y[1], zero[1], x[1]]),
            jnp.stack([x[2], y[2], zero[2]]),
        ]
    )  # [i][component][j]
    chosen = (edge == np.arange(9)[:, None]).reshape(3, 1, 3, -1)
    normal = tuple(jnp.sum(jnp.where(chosen, normals, 0), axis=(0, 2)))

    face = tuple(face_code % 3 == k for k in range(3))
    of_first = face_code < 3
    along2 = tuple(v.dot(normal, _column(rotation, k)) for k in range(3))
    cosine = jnp.abs(jnp.where(of_first, _pick(face, normal), _pick(face, along2)))
    aliased = (cosine > _ALIASED) & (best < face_gap + _FACE_SHARE * jnp.abs(face_gap) + MINVAL)
    return _Axis(
        separated=separated,
        is_edge=(edge >= 0) & ~aliased,
        of_first=of_first,
        face=face,
        edge1=tuple(edge // 3 == k for k in range(3)),
        edge2=tuple(edge % 3 == k for k in range(3)),
        edge_normal=normal,
    )


def _edge_point(a: Shape, b: Shape, offset: v.Vector, rotation: tuple, axis: _Axis, slack: _Rounding) -> Point:
    """Return the point midway between the nearest points of the two edges that support the axis.

    Where the axis is level with a face, both edges of that face are tried.
    """
    normal = axis.edge_normal
    normal2 = tuple(v.dot(normal, _column(rotation, k)) for k in range(3))
    half1, half2 = _pick(axis.edge1, a.size), _pick(axis.edge2, b.size)
    direction = tuple(_pick(axis.edge2, rotation[k]) for k in range(3))
    lean = _pick(axis.edge1, direction)
    square = 1 - lean * lean
    skew = square >= MINVAL

    # each corner of the first edge's face with each of the second's: four trials on an axis
    corner1 = _corners(axis.edge1, a.size, normal, 1, slack.sign, _FIRST_OF_TRIAL)
    corner2 = _corners(axis.edge2, b.size, normal2, -1, slack.sign, _SECOND_OF_TRIAL)
    start2 = v.add(offset, tuple(v.dot(row, corner2) for row in rotation))
    between = v.sub(start2, corner1)
    on1, on2 = _pick(axis.edge1, between), v.dot(direction, between)
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


def _face_points(a, b, offset1, offset2, rotation, axis: _Axis, detect, slack: _Rounding) -> Point:
    """Return the corners of the incident face clipped to the reference face, in the winding order of the former."""
    first, face = axis.of_first, axis.face
    size, size_in = v.select(first, a.size, b.size), v.select(first, b.size, a.size)
    center, offset = v.select(first, a.pos, b.pos), v.select(first, offset1, offset2)
    # inner[c][k]: component c, in the reference frame, of axis k of the incident box
    inner = tuple(tuple(jnp.where(first, rotation[c][k], rotation[k][c]) for k in range(3)) for c in range(3))
    side = jnp.where(_pick(face, offset) >= 0, 1, -1)

    facing = tuple(_pick(face, tuple(inner[c][k] for c in range(3))) for k in range(3))
    steep = [jnp.abs(f) for f in facing]
    second_best = steep[1] > steep[0]
    third_best = steep[2] > jnp.maximum(steep[0], steep[1])
    incident = (~second_best & ~third_best, second_best & ~third_best, third_best)
    sense = jnp.where(side * _pick(incident, facing) > 0, -1, 1)

    def incident_axis(shift: int) -> v.Vector:
        return tuple(_pick(incident, inner[c], shift) * _pick(incident, size_in, shift) for c in range(3))

    middle = v.along(offset, incident_axis(0), sense)
    edges = incident_axis(1), incident_axis(2)

    def in_face(x: v.Vector) -> v.Vector:
        return _pick(face, x, 1), _pick(face, x, 2), side * _pick(face, x)

    middle, along1, along2 = (in_face(x) for x in (middle, *edges))
    height = _pick(face, size)
    middle = (middle[0], middle[1], middle[2] - height)
    sign1, sign2 = (np.array(s, np.int32)[:, None] for s in ((1, -1, -1, 1), (1, 1, -1, -1)))
    quad = jnp.stack([m + sign1 * p + sign2 * q for m, p, q in zip(middle, along1, along2, strict=True)])
    limit1, limit2 = _pick(face, size, 1), _pick(face, size, 2)
    limits = jnp.stack([limit1, limit1, limit2, limit2])
    polygon, count = clip_polygon(quad, _SLOTS, _SIDES, limits)

    x_axis, y_axis, z_axis = (
        tuple(
            _pick(face, tuple(jnp.where(first, a.axes[k][c], b.axes[k][c]) for k in range(3)), shift) for c in range(3)
        )
        for shift in (1, 2, 0)
    )
    normal = v.scale(z_axis, jnp.where(first, side, -side))
    radius = slack.same * (limit1 * limit1 + limit2 * limit2)
    x, y, z = polygon
    gap = x[:, None] - x, y[:, None] - y
    same = gap[0] * gap[0] + gap[1] * gap[1] < radius
    found, new = (np.arange(_SLOTS)[:, None] < count) & (z <= detect), []
    for k in range(_SLOTS):  # one that an earlier corner repeats is left out
        new.append(found[k] & ~sum((taken & same[k, q] for q, taken in enumerate(new)), jnp.zeros_like(found[k])))
    pos = v.along(v.along(v.along(center, x_axis, x), y_axis, y), z_axis, side * (height + 0.5 * z))
    return Point(z, pos, normal, jnp.stack(new))
