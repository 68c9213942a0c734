"""The axis of least overlap of two boxes: a normal of a face, or square to an edge of each."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math import vector as v

Array = jax.Array
Flags = tuple[Array, Array, Array]  # a one-hot axis

_EDGE_BIAS = 1e-6  # by how much of its depth an edge axis must beat the others
_ALIASED = 0.99  # cosine above which an edge axis repeats the best face axis
_FACE_SHARE = 0.05  # by how much of its depth the face may lose against such an edge


class Rounding(NamedTuple):
    """Slacks that follow from the precision.  Source: mjBOXBOX_* of engine_collision_box.c."""

    separation: float  # of the distances, times the sum of all half sizes
    parallel: float  # squared sine below which two edges are parallel
    sign: float  # component of the axis below which two corners are level
    same: float  # squared distance of equal points, times the squared size of the face


ROUNDING = {4: Rounding(1e-6, 1e-7, 1e-5, 1e-10), 8: Rounding(1e-13, 1e-16, 1e-9, 1e-14)}


class Boxes(NamedTuple):
    """Two boxes in their own frames; the last axis counts pairs."""

    size1: Array  # half sizes, shape (3, n)
    size2: Array
    offset1: Array  # of the second box's centre, in the frame of the first, shape (3, n)
    offset2: Array  # of the first box's centre, in the frame of the second
    rotation: Array  # component i, in the frame of the first, of axis j of the second, shape (3, 3, n)


class Axis(NamedTuple):
    """The axis of largest separation: of a face (box and axis) or of an edge pair (axis of each box)."""

    separated: Array  # no contact: apart along some axis
    is_edge: Array
    near_face: Array  # whether the edge axis repeats the best face axis, or nearly
    of_first: Array  # the face belongs to the first box
    face: Flags
    edge1: Flags
    edge2: Flags
    edge_normal: v.Vector  # unit, in the frame of the first box, towards the second


class _EdgeAxes(NamedTuple):
    """Axes square to edge i of the first box and edge j of the second; arrays are [i][j][pair].

    An axis has no component along i; x and y are those along the next two axes of the first box.
    """

    x: Array
    y: Array
    reach: Array  # of the second box's centre
    gap: Array  # -inf where the edges are parallel


def largest_separation(boxes: Boxes, detect: Array, slack: Rounding) -> Axis:
    """Return the axis of largest separation; on a tie the first face counts, then the first edge pair.

    detect: distance up to which boxes are in contact, shape (n,).
    """
    limit = detect + slack.separation * jnp.sum(boxes.size1 + boxes.size2, axis=0)
    gaps = _face_gaps(boxes)
    face_gap, face_code = jnp.max(gaps, axis=0), jnp.argmax(gaps, axis=0)
    edges = _edge_axes(boxes, slack)
    edge_gaps = edges.gap.reshape(9, -1)
    best, edge = face_gap, jnp.full(face_gap.shape, -1, jnp.int32)
    for k in range(9):
        gap = edge_gaps[k]
        better = (gap - _EDGE_BIAS * jnp.abs(gap) > best) & (gap > face_gap)
        best, edge = jnp.where(better, gap, best), jnp.where(better, k, edge)
    normal = _edge_normal(edges, edge)
    face, of_first = tuple(face_code % 3 == k for k in range(3)), face_code < 3
    along2 = tuple(v.dot(normal, column(boxes.rotation, k)) for k in range(3))
    cosine = jnp.abs(jnp.where(of_first, pick(face, normal), pick(face, along2)))
    near_face = cosine > _ALIASED
    aliased = near_face & (best < face_gap + _FACE_SHARE * jnp.abs(face_gap) + MINVAL)
    return Axis(
        separated=(face_gap > limit) | (jnp.max(edge_gaps, axis=0) > limit),
        is_edge=(edge >= 0) & ~aliased,
        near_face=near_face,
        of_first=of_first,
        face=face,
        edge1=tuple(edge // 3 == k for k in range(3)),
        edge2=tuple(edge % 3 == k for k in range(3)),
        edge_normal=normal,
    )


def _face_gaps(boxes: Boxes) -> Array:
    """Return how far the boxes are apart along the normals of the faces, the first box's before the second's."""
    size1, size2, offset1, offset2, rotation = boxes
    shadow = jnp.abs(rotation)
    return jnp.concatenate(
        [
            jnp.abs(offset1) - size1 - jnp.sum(shadow * size2, axis=1),
            jnp.abs(offset2) - size2 - jnp.sum(shadow * size1[:, None], axis=0),
        ]
    )


def _edge_axes(boxes: Boxes, slack: Rounding) -> _EdgeAxes:
    size1, size2, offset1, _, rotation = boxes
    square = _after(rotation, 1) ** 2 + _after(rotation, 2) ** 2
    skew = square >= slack.parallel
    length = jnp.sqrt(jnp.where(skew, square, 1))
    x, y = safe.rescale((-_after(rotation, 2), _after(rotation, 1)), length)
    radius1 = _after(size1, 1)[:, None] * jnp.abs(x) + _after(size1, 2)[:, None] * jnp.abs(y)
    rows = x[:, :, None] * _after(rotation, 1)[:, None] + y[:, :, None] * _after(rotation, 2)[:, None]  # [i][j][k]
    radius2 = sum(
        jnp.abs(jnp.stack([rows[:, j, (j + k) % 3] for j in range(3)], axis=1)) * _after(size2, k) for k in (1, 2)
    )
    reach = x * _after(offset1, 1)[:, None] + y * _after(offset1, 2)[:, None]
    return _EdgeAxes(x, y, reach, jnp.where(skew, jnp.abs(reach) - radius1 - radius2, -jnp.inf))


def _after(x: Array, steps: int) -> Array:
    """Return an array of three axes that begins so many steps later."""
    return jnp.roll(x, -steps, axis=0)


def _edge_normal(edges: _EdgeAxes, edge: Array) -> v.Vector:
    """Return the axis of a pair of edges, 3 i + j, towards the second box, in the frame of the first; 0 for -1."""
    side = jnp.where(edges.reach < 0, -1, 1)
    zero, x, y = jnp.zeros_like(edges.x), side * edges.x, side * edges.y
    normals = jnp.stack(
        [
            jnp.stack([zero[0], x[0], y[0]]),
            jnp.stack([y[1], zero[1], x[1]]),
            jnp.stack([x[2], y[2], zero[2]]),
        ]
    )  # [i][component][j]
    chosen = (edge == np.arange(9)[:, None]).reshape(3, 1, 3, -1)
    return tuple(jnp.sum(jnp.where(chosen, normals, 0), axis=(0, 2)))


def pick(flags: Flags, values: tuple[Array, Array, Array], shift: int = 0) -> Array:
    """Return the value of the flagged axis, or of the one `shift` places after it in cyclic order."""
    x, y, z = (values[(k + shift) % 3] for k in range(3))
    return jnp.where(flags[0], x, jnp.where(flags[1], y, z))


def column(rotation: tuple, j: int) -> v.Vector:
    return rotation[0][j], rotation[1][j], rotation[2][j]
