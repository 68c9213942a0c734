"""Several contact points for two geoms that touch with a face and a face, or an edge and a face.

The corners of the final face of EPA (or simplex of GJK) tell which faces and edges may touch. Faces within 0.0895 rad
of each other, or an edge within 0.0889 rad of a face, are clipped; of more than four corners the widest four remain.
Source: multicontact, polygonClip and what they call in MuJoCo's engine_collision_gjk.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex.ccd import Nearest
from mjx_like.collision.convex.feature import FACING, Feature, Posed, Tables, feature, polygon_of
from mjx_like.collision.convex.polygon import clip, widest
from mjx_like.constants import MINVAL
from mjx_like.geometry.convex import Convex
from mjx_like.math import safe
from mjx_like.math.linalg import dot
from mjx_like.math.select import rows
from mjx_like.types.enums import GeomType

Array = jax.Array

_LEVEL = 0.0888  # sine of that between an edge and a face
_ALIKE = 0.98  # cosine between the normals of a flat contact and of its deepest point: what is level leans by 5 degrees
_ROUNDINGS = 64  # by which points that are as deep may differ
SLOTS = 4


class Manifold(NamedTuple):
    """Contact points of a pair."""

    dist: Array  # signed distance, margins taken off, shape (SLOTS,) [m]
    pos: Array  # shape (SLOTS, 3) [m], world
    normal: Array  # from the first geom to the second, shape (3,), world
    count: Array  # number of points; 0 where there is no flat contact


def manifold(tables: Tables, a: Convex, b: Convex, solid: Array, found: Nearest) -> Manifold:
    """Return the points of a flat contact.

    Args:
      tables: see `Tables`.
      a, b: the geoms; margins included.
      solid: entries of both in `SolidPlan.support_start`, -1 for a capsule, shape (2,).
      found: nearest points, where dist < 0.
    """
    flat = _meeting(tables, a, b, solid, found)
    pos = 0.5 * (flat.base + flat.other) + 0.5 * (flat.off[0] - flat.off[1]) * flat.outward
    return Manifold(flat.dist, pos, flat.outward, jnp.where(found.known, flat.count, 0))


def with_deepest(flat: Manifold, one: Manifold) -> Manifold:
    """Return the points with the deepest, the first of `one`, in the place of the nearest to it, if none is as deep.

    For hard contact, where no point may go in. The polygon of a cylinder's cap has its corners on the rim, and none of
    them may be where the cap leans; of more than four corners the deepest may be left out.
    """
    used = np.arange(SLOTS) < flat.count
    gap = lax.stop_gradient(flat.pos - one.pos[0])
    square = jnp.where(used, dot(gap, gap), jnp.inf)
    size = jnp.sqrt(jnp.max(jnp.where(used, square, 0)))
    noise = _ROUNDINGS * jnp.finfo(size.dtype).eps * size
    deeper = one.dist[0] < jnp.min(jnp.where(used, flat.dist, jnp.inf)) - noise
    here = deeper & used & (np.arange(SLOTS) == lax.argmin(square, 0, jnp.int32))
    return flat._replace(
        dist=jnp.where(here, one.dist[0], flat.dist), pos=jnp.where(here[:, None], one.pos[0], flat.pos)
    )


def alike(flat: Manifold, one: Manifold) -> Array:
    """Return whether the normal of a flat contact is about that of the deepest point, `one`.

    For hard contact, where else a point would be pushed where it does not go out: a face and a rim, or a line, may be
    level beside where geoms touch.
    """
    return dot(flat.normal, one.normal) > _ALIKE


def ends(
    tables: Tables, a: Convex, b: Convex, solid: Array, found: Nearest, normal: Array, reach: Array, plane: Array
) -> tuple[Array, Array]:
    """Return the points on both geoms where geoms that are apart face each other, shape (2, SLOTS, 3), and how many.

    Both are grown until they overlap; the layers are taken off along the normal.

    Args:
      tables, a, b, solid: see `manifold`; no margins.
      found: nearest points, apart.
      normal: from the first geom to the second, shape (3,).
      reach: points farther than that count no more [m].
      plane: whether the first geom is a plane with this normal. The face of the other that looks most at it counts,
        however it leans; of what lies on it with a line, that line.
    """
    layer = 0.5 * reach * normal
    a, b = (geom._replace(margin=reach) for geom in (a, b))
    found = found._replace(first=found.first + layer, second=found.second - layer)
    flat = _meeting(tables, a, b, solid, found)
    first = jnp.where(flat.by_first, flat.other, flat.base) + flat.off[0] * flat.outward
    second = jnp.where(flat.by_first, flat.base, flat.other) - flat.off[1] * flat.outward
    pair = jnp.stack([first - layer, second + layer])
    corners, count = _over_plane(tables, a.pos, b, solid[1], found, normal, reach)
    height = dot(corners - a.pos, normal)
    over = jnp.stack([corners - height[:, None] * normal, corners])
    return jnp.where(plane, over, pair), jnp.where(plane, count, flat.count)


def _over_plane(tables: Tables, origin: Array, b: Convex, solid: Array, found: Nearest, normal: Array, reach: Array):
    """Return the corners of the face, or the ends of the line, of a geom that look at a plane, and their number."""
    posed = Posed(b.kind, b.pos, b.mat, b.size, b.margin)
    at = found.corners.second
    own = feature(tables, posed, solid, found.corners.index[:, 1], at, found.second, -normal)
    face = jnp.argmin(jnp.where(own.exists, dot(own.facing, normal), 1))
    polygon, size = polygon_of(tables, posed, rows(own.face, face))
    run = own.end[0] - own.start
    length = jnp.sqrt(jnp.maximum(dot(run, run), MINVAL * MINVAL))
    capsule = b.kind == GeomType.CAPSULE
    line = (capsule | (b.kind == GeomType.CYLINDER)) & (jnp.abs(dot(run, normal)) < _LEVEL * length)
    two = jnp.stack([own.start, own.end[0]]) + jnp.where(capsule, 0.5 * reach * normal, 0)
    two = jnp.concatenate([two, jnp.broadcast_to(two[:1], (polygon.shape[0] - 2, 3))])
    polygon = jnp.where(line, two, polygon)
    size = jnp.where(line, 2, jnp.where(jnp.any(own.exists), size, 0))
    near = (dot(polygon - origin, normal) <= reach) & (np.arange(polygon.shape[0]) < size)
    polygon, size = _keep(polygon, near)
    chosen, size = widest(polygon, size, line, SLOTS)
    return rows(polygon, chosen), size


class _Meeting(NamedTuple):
    """Where two flat features meet."""

    base: Array  # points of the one that clips, shape (SLOTS, 3)
    other: Array
    dist: Array  # shape (SLOTS,)
    outward: Array  # normal, from the first geom to the second
    count: Array
    by_first: Array  # whether the second geom clips
    off: tuple[Array, Array]  # layers of both geoms


def _meeting(tables: Tables, a: Convex, b: Convex, solid: Array, found: Nearest) -> _Meeting:
    """Return where flat features of two geoms that overlap, by their layers or without, meet."""
    span = found.second - found.first
    posed = [Posed(g.kind, g.pos, g.mat, g.size, g.margin) for g in (a, b)]
    both = jax.tree.map(lambda x, y: jnp.stack([x, y]), *posed)
    index, at = found.corners.index.T, jnp.stack([found.corners.first, found.corners.second])
    features = jax.vmap(lambda *x: feature(tables, *x))(
        both, solid, index, at, jnp.stack([found.first, found.second]), jnp.stack([-span, span])
    )
    one, two = (jax.tree.map(lambda x, k=k: x[k], features) for k in (0, 1))
    m = _matched(one, two, lax.stop_gradient(span))
    polygons, counts = jax.vmap(lambda g, face: polygon_of(tables, g, face))(
        both, jnp.stack([rows(one.face, m.face1), rows(two.face, m.face2)])
    )
    (polygon1, polygon2), (count1, count2) = polygons, counts
    normal1, normal2 = rows(one.facing, m.face1), rows(two.facing, m.face2)
    line1, line2 = (jnp.stack([f.start, rows(f.end, k)]) for f, k in ((one, m.edge1), (two, m.edge2)))
    pad = polygon1.shape[0] - 2
    line1, line2 = (jnp.concatenate([x, jnp.broadcast_to(x[:1], (pad, 3))]) for x in (line1, line2))

    edge = m.by_first | m.by_second
    base = jnp.where(m.by_first, polygon2, polygon1)
    base_count = jnp.where(m.by_first, count2, count1)
    normal = jnp.where(m.by_first, normal2, normal1)
    subject = jnp.where(m.by_first, line1, jnp.where(m.by_second, line2, polygon2))
    subject_count = jnp.where(edge, 2, count2)
    along = jnp.where(edge, -normal, normal2)
    off1, off2 = (jnp.where(g.kind == GeomType.CAPSULE, 0, 0.5 * jnp.maximum(g.margin, 0)) for g in (a, b))
    margin = off1 + off2

    corners, count = clip(base, base_count, normal, subject, subject_count)
    below = dot(corners - base[0], normal) <= margin
    corners, count = _keep(corners, below & (np.arange(corners.shape[0]) < count))
    chosen, count = widest(corners, count, edge, SLOTS)
    corners = rows(corners, chosen)
    height = dot(corners - base[0], normal)
    on_base = corners - height[:, None] * normal
    dist = -height * dot(normal, along)
    other = on_base - dist[:, None] * along
    outward = jnp.where(m.by_second, normal1, -normal2)
    count = jnp.where(m.faces | edge, count, 0)
    return _Meeting(on_base, other, dist - margin, outward, count, m.by_first, (off1, off2))


class _Match(NamedTuple):
    """Which features of two geoms meet: a face and a face, an edge and a face, or none."""

    faces: Array  # whether two faces do
    by_first: Array  # whether an edge of the first geom and a face of the second do
    by_second: Array
    face1: Array  # of the faces and edges that a feature lists
    face2: Array
    edge1: Array
    edge2: Array


def _matched(one: Feature, two: Feature, span: Array) -> _Match:
    """Return which features meet; span: from the first geom's nearest point to the second's, shape (3,)."""
    slack = _LEVEL * jnp.sqrt(dot(span, span))
    meet = one.exists & (dot(one.facing, span) < -slack)
    meet = meet[:, None] & (two.exists & (dot(two.facing, span) > slack))
    lean = jnp.where(meet, dot(one.facing[:, None], two.facing[None]), 1)
    best = lax.argmin(lean.ravel(), 0, jnp.int32)
    faces = rows(lean.ravel(), best) < -FACING
    face1, face2 = best // lean.shape[1], best % lean.shape[1]

    by_first = ~faces & (one.size < 3) & jnp.any(two.exists) & ((one.size <= two.size) | ~jnp.any(one.exists))
    edge1, face2e, level1 = _edge_on_face(one, two, span)
    edge2, face1e, level2 = _edge_on_face(two, one, -span)
    by_first = by_first & level1
    by_second = ~faces & ~by_first & (two.size < 3) & level2
    face1, face2 = jnp.where(by_second, face1e, face1), jnp.where(by_first, face2e, face2)
    return _Match(faces, by_first, by_second, face1, face2, edge1, edge2)


def _edge_on_face(own: Feature, other: Feature, towards: Array) -> tuple[Array, Array, Array]:
    """Return the first pair of an edge and a face of the other geom that are level, and whether there is one."""
    run = lax.stop_gradient(own.end - own.start)
    length = safe.norm(run, keepdims=True)
    run = safe.divide(run, length, np.arange(3) == 0, where=length >= MINVAL)
    level = jnp.abs(dot(other.facing[:, None], run[None])) < _LEVEL
    level &= (other.exists & (dot(other.facing, towards) > MINVAL))[:, None] & own.edge
    first = lax.argmax(level.ravel(), 0, jnp.int32)
    return first % level.shape[1], first // level.shape[1], jnp.any(level)


def _keep(corners: Array, keep: Array) -> tuple[Array, Array]:
    """Return the corners to keep, moved to the front, and their number."""
    rank = jnp.sum(np.tri(keep.size, k=-1, dtype=bool) & keep, axis=1, dtype=jnp.int32)
    chosen = (rank == np.arange(keep.size)[:, None]) & keep
    return jnp.sum(jnp.where(chosen[:, :, None], corners, 0), axis=1), jnp.sum(keep, dtype=jnp.int32)


def single(found: Nearest) -> Manifold:
    """Return the nearest points as the only ones."""
    first = np.arange(SLOTS) == 0
    span = found.first - found.second
    length = jnp.sqrt(dot(span, span))
    normal = safe.divide(span, length, np.arange(3) == 0, where=length >= MINVAL)
    pos = jnp.where(first[:, None], 0.5 * (found.first + found.second), 0)
    return Manifold(jnp.where(first, found.dist, 0), pos, normal, jnp.ones((), jnp.int32))
