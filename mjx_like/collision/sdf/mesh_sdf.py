"""Meshes against signed distance fields: the deepest points of triangles, by steps from corner to corner.

Each triangle is searched from fixed points in it, and a pair ends with as many finds as it can have contacts, in the
order in which its tree of boxes is visited; finds that repeat an earlier one count but make no contact. The way from a
start to where it ends has no derivative: what is found is held in the mesh.
Source: mjc_MeshSDF in MuJoCo's engine_collision_sdf.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.hfield import MOST
from mjx_like.collision.sdf.geom_sdf import halton, known, sdf_points
from mjx_like.collision.shape import Point, Shape
from mjx_like.constants import MINVAL
from mjx_like.geometry.signed_distance import Field, field, held
from mjx_like.math import safe
from mjx_like.math import vector as v
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import PairGroup
from mjx_like.types.topology import Topology

Array = jax.Array
Triangle = tuple[v.Vector, v.Vector, v.Vector]

_SEARCHED = 512  # triangles of a pair that are searched, of those whose bounds reach the field
_RAISED = 0.1  # height of the point that completes the ball about a triangle, over the distance at its middle
_FLAT = 0.1  # least such height [m]: below it the circle through the corners takes the place of the ball


def field_points(m: Model, group: PairGroup, a: Shape, b: Shape) -> Point:
    """Return the points of pairs whose second geom is a signed distance field, of any type that is no plane."""
    return (mesh_points if group.types[0] == GeomType.MESH else sdf_points)(m, group, a, b)


def mesh_points(m: Model, group: PairGroup, a: Shape, b: Shape) -> Point:
    """Return the points of pairs of a mesh and a signed distance field, components of shape (slots, n).

    group: the pairs; a pair has at most three finds that differ for each of its triangles.
    """
    vertex, real = _faces(m.topology, group.geom1)
    rotation, offset = _frame(*lax.stop_gradient((a, b)))
    still, live = (field(model, GeomType.SDF, group.geom2, b.size) for model in (held(m), m))
    corners = tuple(v.unpack(lax.stop_gradient(m.mesh_vert)[rows]) for rows in vertex)
    triangle = tuple(v.add(v.combine(rotation, corner), offset) for corner in corners)
    near = real & _box_reaches(corners, rotation, offset, still) & _ball_reaches(triangle, still)
    chosen = _first(near, min(_SEARCHED, len(real)))
    near, *columns = (_rows(x, chosen) for x in (near, *(c for corner in triangle for c in corner)))
    triangle = tuple(tuple(columns[i : i + 3]) for i in (0, 3, 6))
    share, depth = _deepest(triangle, still, m.flags)
    rank = _ranks(depth, near, *_starts(triangle, still, m.flags))

    order = lax.top_k(-rank.T, group.slots)[1].T
    valid = _rows(rank, order) < MOST
    share = [_rows(s, order) for s in share]
    face = _rows(jnp.tile(chosen, (3, 1)), order)
    rows = [_rows(jnp.asarray(corner), face) for corner in vertex]
    corners = [v.unpack(m.mesh_vert.at[row].get(mode="promise_in_bounds")) for row in rows]
    point = v.add(a.pos, v.combine(a.axes, _point(share, corners)))
    within = v.project(b.axes, v.sub(point, b.pos))
    valid &= ~known(within, valid)
    within = v.select(valid, within, tuple(jnp.zeros_like(x) for x in within))
    dist = jnp.where(valid, live.distance(within), 1)
    normal = v.scale(v.normalize(v.combine(b.axes, live.gradient(within)))[0], -1)
    return Point(dist, v.along(point, normal, 0.5 * dist), normal, valid)


def _faces(t: Topology, geom: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of mesh_vert of the triangles of each geom in order, (3, nface, n), and which are real."""
    mesh = t.geom_dataid[geom]
    count, first = t.mesh_facenum[mesh], t.mesh_faceadr[mesh]
    rank = np.arange(count.max())[:, None]
    row = first + t.mesh_faceorder[first + np.minimum(rank, count - 1)]
    return np.moveaxis(t.mesh_face[row], 2, 0) + t.mesh_vertadr[mesh], rank < count


def _frame(a: Shape, b: Shape) -> tuple[Triangle, v.Vector]:
    """Return the axes of the first frames in the second, and their origin there."""
    return tuple(v.project(b.axes, axis) for axis in a.axes), v.project(b.axes, v.sub(a.pos, b.pos))


def _box_reaches(corners: Triangle, rotation: Triangle, offset: v.Vector, still: Field) -> Array:
    """Return for which triangles the ball about their box, in the frame of the mesh, reaches the surface."""
    columns = list(zip(*corners, strict=True))
    low, high = (tuple(pick(pick(p, q), r) for p, q, r in columns) for pick in (jnp.minimum, jnp.maximum))
    middle = tuple(0.5 * (p + q) for p, q in zip(low, high, strict=True))
    return still.distance(v.add(v.combine(rotation, middle), offset)) < 0.5 * v.norm(v.sub(high, low))


def _ball_reaches(triangle: Triangle, still: Field) -> Array:
    """Return for which triangles the ball through their corners and a point over their middle reaches the surface.

    Source: triangleIntersect.
    """
    p, q, r = triangle
    middle = v.scale(v.add(v.add(p, q), r), 1 / 3)
    gap = still.distance(middle)
    normal, double = v.normalize(v.cross(v.sub(q, p), v.sub(r, p)))
    sides = v.norm(v.sub(q, p)), v.norm(v.sub(r, q)), v.norm(v.sub(p, r))
    circle = sides[0] * sides[1] * sides[2] / (4 * jnp.maximum(0.5 * double, MINVAL))

    top = v.along(middle, normal, _RAISED * gap)
    p, q, r = (v.sub(corner, top) for corner in triangle)
    across = v.cross(q, r), v.cross(r, p), v.cross(p, q)
    parts = (v.scale(side, v.dot(corner, corner)) for side, corner in zip(across, (p, q, r), strict=True))
    volume = 2 * v.dot(p, across[0])
    center = tuple(safe.divide(sum(c), volume) for c in zip(*parts, strict=True))
    ball = jnp.where(jnp.abs(volume) < MINVAL, gap < sides[0], still.distance(v.add(center, top)) < v.norm(center))
    return jnp.where(jnp.abs(_RAISED * gap) < _FLAT, gap < circle, ball)


def _point(share: tuple[Array, ...], triangle: Triangle) -> v.Vector:
    return tuple(sum(s * corner[k] for s, corner in zip(share, triangle, strict=True)) for k in range(3))


def _lowest(triangle: Triangle, slope: v.Vector) -> tuple[Array, Array, Array]:
    """Return which corner lies furthest down a slope; the first of equal ones."""
    first, second, third = (v.dot(corner, slope) for corner in triangle)
    best = (first <= second) & (first <= third), (second < first) & (second <= third)
    return *best, ~(best[0] | best[1])


def _deepest(triangle: Triangle, still: Field, flags) -> tuple[tuple[Array, Array, Array], Array]:
    """Return the shares of the corners in the points found from each corner, and the distances there, (3 nface, n).

    The first step of a search goes to a corner, whatever its start.  Source: stepFrankWolfe.
    """
    triangle = tuple(tuple(jnp.tile(c, (3, 1)) for c in corner) for corner in triangle)
    count = triangle[0][0].shape[0] // 3
    start = tuple(jnp.zeros_like(triangle[0][0]) + np.repeat(np.eye(3)[k], count)[:, None] for k in range(3))

    def step(number, share):
        corner = _lowest(triangle, still.gradient(_point(share, triangle)))
        way = 2 / (number + 2).astype(share[0].dtype)
        return tuple(s + way * (c - s) for s, c in zip(share, corner, strict=True))

    share = lax.fori_loop(1, flags.sdf_iterations, step, start)
    return share, still.distance(_point(share, triangle))


def _starts(triangle: Triangle, still: Field, flags) -> tuple[Array, ...]:
    """Return from which starts a search goes to each corner first, three of shape (nstart, nface, n)."""
    u, w = (np.array([halton(i + 1, base) for i in range(flags.sdf_initpoints)]) for base in (2, 3))
    u, w = np.where(u + w > 1, 1 - u, u), np.where(u + w > 1, 1 - w, w)
    share = tuple(x[:, None, None].astype(triangle[0][0].dtype) for x in (1 - u - w, u, w))
    return _lowest(triangle, still.gradient(_point(share, triangle)))


def _ranks(depth: Array, near: Array, *chosen: Array) -> Array:
    """Return how many finds come before the first one from each corner of each triangle, (3 nface, n), many for none.

    depth: of the finds, shape (3 nface, n); near: triangles that are searched; chosen: as from `_starts`.
    """
    deep = (depth < 0).reshape(3, *near.shape) & near
    finds = sum(jnp.where(c, d, False).astype(jnp.int32) for c, d in zip(chosen, deep, strict=True))
    within = jnp.cumsum(finds, axis=0) - finds
    total = jnp.sum(finds, axis=0)
    before = jnp.cumsum(total, axis=0) - total
    none = jnp.iinfo(jnp.int32).max // 2
    first = [jnp.min(jnp.where(c & d, within, none), axis=0) for c, d in zip(chosen, deep, strict=True)]
    return jnp.concatenate([jnp.minimum(before + x, none) for x in first])


def _first(mask: Array, count: int) -> Array:
    """Return the rows of the first true values of each column, in order, shape (count, n); false ones after them."""
    return jnp.sort(lax.top_k(mask.T.astype(jnp.int32), count)[1], axis=1).T


def _rows(x: Array, index: Array) -> Array:
    """Return x[index[i, j], j]."""
    return jnp.take_along_axis(x, index, axis=0, mode="promise_in_bounds")
