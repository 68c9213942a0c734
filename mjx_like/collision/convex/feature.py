"""The faces and edges of a geom that the corners of a final face belong to.

Source: boxFace, meshFace, meshNormals, meshEdgeNormals and the like in MuJoCo's engine_collision_gjk.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.linalg import dot
from mjx_like.math.select import rows
from mjx_like.types.enums import GeomType
from mjx_like.types.plans import SolidPlan

Array = jax.Array

FACING = 0.996  # cosine of the angle between faces that count as parallel


class Tables(NamedTuple):
    """Corners and face normals of all solids, in their frames, and the tables of the plan."""

    corner: Array  # shape (ncorner, 3); of boxes and cylinders in units of their size
    normal: Array  # shape (nface, 3)
    plan: SolidPlan


class Posed(NamedTuple):
    """A geom without its points; see `geometry.convex.Convex`."""

    kind: Array
    pos: Array
    mat: Array
    size: Array
    margin: Array


class Feature(NamedTuple):
    """The faces and the edges of one geom that its corners in the final face belong to."""

    size: Array  # number of distinct corners, 1 to 3
    face: Array  # ids, shape (m,)
    facing: Array  # outward normals, shape (m, 3), world
    exists: Array  # shape (m,)
    start: Array  # start of the edges, shape (3,)
    end: Array  # their ends, shape (m, 3)
    edge: Array  # which exist, shape (m,)


def feature(tables: Tables, geom: Posed, solid: Array, index: Array, at: Array, witness: Array, out: Array) -> Feature:
    """Return the faces and edges of one geom.

    index, at: its corners in the final face, shapes (3,) and (3, 3); witness: its deepest point; out: direction in
    which it meets the other geom.
    """
    plan = tables.plan
    first, second, third = index
    size = jnp.where(
        first == second, jnp.where(second == third, 1, 2), jnp.where((third == first) | (third == second), 2, 3)
    )
    other = jnp.where(first == second, third, second)
    has_faces = solid >= 0
    start_of = rows(plan.support_start, jnp.maximum(solid, 0))
    cell = jnp.where(has_faces, start_of + jnp.maximum(index, 0), 0)
    face, *others = rows(plan.support_face, cell)
    second_too, third_too = (jnp.any(face[:, None] == around, axis=1) for around in others)
    exists = has_faces & (face >= 0) & jnp.where(first == second, third_too, second_too)
    # of more faces that two corners share, as around a flat tip, MuJoCo knows two; the third corner may lie on neither
    exists &= (jnp.cumsum(exists) <= 2) | (size == 1)
    exists &= third_too
    exists &= (jnp.cumsum(exists) <= 1) | (size < 3)
    face = jnp.maximum(face, 0)
    facing = _rotated(geom, rows(tables.normal, face))

    # a diagonal of a box belongs to no face: the face towards the other geom is taken, if one is
    boxes = tables.normal.shape[0] - 8
    sides = _rotated(geom, tables.normal[boxes : boxes + 6])
    out = lax.stop_gradient(out)
    towards = dot(sides, out) > FACING * jnp.sqrt(dot(out, out))
    lost = (geom.kind == GeomType.BOX) & ~jnp.any(exists) & jnp.any(towards)
    side = jnp.argmax(towards)
    head = lost & (np.arange(face.size) == 0)
    face = jnp.where(head, boxes + side, face)
    facing = jnp.where(head[:, None], rows(sides, side), facing)
    exists = exists | head

    ends = rows(plan.support_end, cell[0])
    far = jnp.where(has_faces, start_of + jnp.maximum(other, 0), 0)
    near, far = rows(plan.support_corner, jnp.stack([cell[0], far]))
    ends = jnp.where(size == 2, jnp.where(np.arange(ends.size) == 0, far, -1), ends)
    points = _corner(tables, geom, jnp.concatenate([near[None], jnp.maximum(ends, 0)]))
    start, end = points[0], points[1:]
    edge = has_faces & (ends >= 0)
    start, end, edge = _cylinder_side(geom, index, at, start, end, edge)
    return Feature(size, face, facing, exists, *_capsule_side(geom, witness, start, end, edge))


def _rotated(geom: Posed, local: Array) -> Array:
    """Return vectors of the frame of a geom, shape (..., 3), in the world."""
    return jnp.sum(geom.mat * local[..., None, :], axis=-1)


def _scale(geom: Posed) -> Array:
    """Return what multiplies the corners of a geom."""
    cylinder = jnp.stack([geom.size[0], geom.size[0], geom.size[1]])
    scale = jnp.where(geom.kind == GeomType.BOX, geom.size, jnp.ones_like(geom.size))
    return jnp.where(geom.kind == GeomType.CYLINDER, cylinder, scale)


def _corner(tables: Tables, geom: Posed, corner: Array) -> Array:
    return geom.pos + _rotated(geom, rows(tables.corner, corner) * _scale(geom))


def polygon_of(tables: Tables, geom: Posed, face: Array) -> tuple[Array, Array]:
    """Return the corners of a face, shape (k, 3), world, and their number."""
    return _corner(tables, geom, rows(tables.plan.face_corner, face)), rows(tables.plan.face_size, face)


def _cylinder_side(geom: Posed, index: Array, at: Array, start: Array, end: Array, edge: Array):
    """Return the edges with the line on the side of a cylinder in its stead, through its first corner."""
    axis = geom.mat[:, 2]
    offset = at[0] - geom.pos
    up = jnp.where(index[0] == 0, 1, -1).astype(axis.dtype)
    across = offset - dot(offset, axis) * axis
    square = dot(across, across)
    wide = square >= MINVAL * MINVAL
    (rim,) = safe.rescale((across,), jnp.sqrt(jnp.where(wide, square, 1)), geom.size[0])
    rim = jnp.where(wide, rim, 0) + up * geom.size[1] * axis
    rim = jnp.where(geom.margin > 0, geom.pos + rim, at[0])
    here = geom.kind == GeomType.CYLINDER
    return (
        jnp.where(here, rim, start),
        jnp.where(here, rim - 2 * up * geom.size[1] * axis, end),
        jnp.where(here, np.arange(edge.size) == 0, edge),
    )


def _capsule_side(geom: Posed, witness: Array, start: Array, end: Array, edge: Array):
    """Return the edges with the line on the side of a capsule in its stead, through its deepest point."""
    axis = geom.mat[:, 2]
    middle = witness - dot(witness - geom.pos, axis) * axis
    here = geom.kind == GeomType.CAPSULE
    return (
        jnp.where(here, middle - geom.size[1] * axis, start),
        jnp.where(here, middle + geom.size[1] * axis, end),
        jnp.where(here, np.arange(edge.size) == 0, edge),
    )
