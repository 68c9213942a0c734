"""Height fields against convex geoms: one contact for each prism of the field that touches.

Each cell is two triangles, and each triangle the top of a prism that stands on the bottom of the field.
Source: mjc_ConvexHField.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex import pose_slopes
from mjx_like.collision.convex.ccd import nearest
from mjx_like.collision.convex.derivative import follow_one, held
from mjx_like.collision.convex.facet_derivative import follow_prism
from mjx_like.collision.convex.pose_slopes import Moving, Slopes
from mjx_like.collision.near_rows import near_rows
from mjx_like.collision.portal import portal_contact
from mjx_like.collision.shape import Point
from mjx_like.geometry.convex import CORNERED, Convex, convex
from mjx_like.math import safe
from mjx_like.math import vector as v
from mjx_like.math.linalg import matmul
from mjx_like.math.one_kernel import one_kernel
from mjx_like.math.rule import custom_jvp
from mjx_like.math.select import take
from mjx_like.math.tangent import rate, still
from mjx_like.types.enums import DisableBit, GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import PairGroup

Array = jax.Array

MOST = 50  # contacts of a pair, the first ones in the order of the prisms


class _Scene(NamedTuple):
    """The prisms and geoms of a group, in the frame of the field: a row for each prism under each geom."""

    corner: Array  # of the prism, shape (rows, 6, 3) [m]
    used: Array  # whether they may touch, shape (rows,)
    limit: Array  # distance below which they are in contact, shape (rows,) [m]
    kind: np.ndarray  # of the geom, shape (rows,)
    geom: tuple[Array, ...]  # position, rotation, size and points, each with an axis of rows


def points(m: Model, groups: list[PairGroup], geom_xpos: Array, geom_xmat: Array, limits: list[Array]) -> list[Point]:
    """Return the points between height fields and geoms, group by group; components have shape (slots, n).

    Args:
      m: the model.
      groups: the pairs of each type; a slot is a prism under the geom's bounding box, row by row.
      geom_xpos: shape (ngeom, 3) [m].
      geom_xmat: shape (ngeom, 3, 3).
      limits: distance below which each pair is in contact, shape (n,) [m].
    """
    scenes = [_scene(m, g, geom_xpos, geom_xmat, limit) for g, limit in zip(groups, limits, strict=True)]
    found: list = [None] * len(groups)
    for meshes in (False, True):  # one search for all types, but meshes have points, and would give all as many
        own = [k for k, g in enumerate(groups) if (g.types[1] == GeomType.MESH) == meshes]
        for k, touched in zip(own, _touched(m, [scenes[k] for k in own]) if own else [], strict=True):
            found[k] = _in_world(groups[k], touched, geom_xpos, geom_xmat)
    return found


def _scene(m: Model, group: PairGroup, geom_xpos: Array, geom_xmat: Array, limit: Array) -> _Scene:
    kind = GeomType(group.types[1])
    ground, ground_mat = take(geom_xpos, group.geom1), take(geom_xmat, group.geom1)
    inward = jnp.swapaxes(ground_mat, 1, 2)
    pos = jnp.sum(inward * (take(geom_xpos, group.geom2) - ground)[:, None], axis=2)
    mat = matmul(inward, take(geom_xmat, group.geom2))
    size = take(m.geom_size, group.geom2)
    vert = _vertices(m, group)
    low, high = (
        jnp.stack([sign * support(kind, sign * mat[:, i], size, vert) for i in range(3)], axis=1) for sign in (-1, 1)
    )
    field = m.geom_dataid[group.geom1]
    corner, used = _prisms(m, group, field, *lax.stop_gradient((pos + low, pos + high, limit)))

    def each(x: Array) -> Array:
        return jnp.repeat(x, group.slots, axis=0)

    kinds = np.full(used.size, kind, np.int32)
    return _Scene(corner.reshape(-1, 6, 3), used.ravel(), each(limit), kinds, tuple(map(each, (pos, mat, size, vert))))


def _touched(m: Model, scenes: list[_Scene]) -> list[tuple[Array, ...]]:
    """Return distance, point and normal of each prism and whether it touches, for the rows of each scene."""
    whole = jax.tree.map(lambda *x: jnp.concatenate(x), *(scene._replace(kind=()) for scene in scenes))
    kind = np.concatenate([scene.kind for scene in scenes])
    limit, tolerance = lax.stop_gradient((jnp.maximum(whole.limit, 0), jnp.asarray(m.opt.ccd_tolerance)))
    result, valid, _ = _touch(m, kind)((whole.corner, whole.geom), whole.used, limit, tolerance)
    ends = np.cumsum([scene.kind.size for scene in scenes])[:-1]
    return list(zip(*(jnp.split(x, ends) for x in (*result, valid)), strict=True))


def _in_world(group: PairGroup, touched: tuple[Array, ...], geom_xpos: Array, geom_xmat: Array) -> Point:
    """Return the points of a group in the world, the first `MOST` of each pair."""
    dist, point, normal, valid = (x.reshape(group.geom1.size, group.slots, *x.shape[1:]) for x in touched)
    valid &= jnp.cumsum(valid, axis=1) <= MOST
    ground, ground_mat = take(geom_xpos, group.geom1), take(geom_xmat, group.geom1)
    world = ground[:, None] + jnp.sum(ground_mat[:, None] * point[:, :, None], axis=3)
    facing = jnp.sum(ground_mat[:, None] * normal[:, :, None], axis=3)
    return Point(dist.T, v.unpack(jnp.swapaxes(world, 0, 1)), v.unpack(jnp.swapaxes(facing, 0, 1)), valid.T)


def _vertices(m: Model, group: PairGroup) -> Array:
    """Return the hull of each geom that is a mesh, the rest repeating its first point, shape (n, k, 3)."""
    if group.types[1] != GeomType.MESH:
        return jnp.zeros((group.geom2.size, 1, 3), m.geom_size.dtype)
    solid = m.plans.collision.field_mesh
    hull = solid.hull[solid.set_of_mesh[m.geom_dataid[group.geom2]]]
    return take(m.mesh_vert, hull.ravel()).reshape(*hull.shape, 3)


def support(kind: GeomType, direction: Array, size: Array, vert: Array) -> Array:
    """Return the support function of a geom about its centre, shape (...); direction: in its frame, (..., 3).

    vert: the points of a mesh, shape (..., k, 3).
    """
    x = direction * size
    if kind == GeomType.MESH:
        return jnp.max(jnp.sum(vert * direction[..., None, :], axis=-1), axis=-1)
    if kind == GeomType.BOX:
        return jnp.sum(jnp.abs(x), axis=-1)
    if kind == GeomType.SPHERE:
        return jnp.broadcast_to(size[..., 0], direction.shape[:-1])
    if kind == GeomType.CAPSULE:
        return size[..., 0] + size[..., 1] * jnp.abs(direction[..., 2])
    if kind == GeomType.ELLIPSOID:
        return safe.norm(x)
    return size[..., 0] * safe.norm(direction[..., :2]) + size[..., 1] * jnp.abs(direction[..., 2])


def _prisms(m: Model, group: PairGroup, field: np.ndarray, least: Array, most: Array, limit: Array):
    """Return the corners of all prisms, shape (n, slots, 6, 3), and which may touch, shape (n, slots).

    least, most: corners of the geom's box along the axes of the field, shape (n, 3).
    """
    nrow, ncol, start = m.hfield_nrow[field], m.hfield_ncol[field], m.hfield_adr[field]
    size = take(m.hfield_size, field)
    extent, least, most, limit = lax.stop_gradient((size[:, :2], least, most, limit))
    count = np.stack([ncol, nrow], axis=1) - 1
    step = 2 * extent / count
    low = (least[:, :2] - limit[:, None] + extent) / step
    high = (most[:, :2] + limit[:, None] + extent) / step
    begin = jnp.clip(jnp.floor(low), 0, count).astype(jnp.int32)
    end = jnp.clip(jnp.ceil(high), 0, count).astype(jnp.int32)

    lines, columns = group.cells
    row = begin[:, 1:] + np.repeat(np.arange(lines), 2 * columns)
    strip = np.tile(np.arange(2 * columns), lines)  # prism of its row; its corners are points strip .. strip + 2
    vertex = strip[:, None] + np.arange(3)
    column = begin[:, :1, None] + vertex // 2
    line = row[..., None] + 1 - vertex % 2
    corner = prism_corners(m, *(x[:, None] for x in (start, nrow, ncol, size)), column, line)
    used = (row < end[:, 1:]) & (begin[:, :1] + strip // 2 < end[:, :1])
    used &= jnp.max(corner[..., 3:, 2], axis=2) >= (least[:, 2] - limit)[:, None]
    return corner, used


def prism_corners(m: Model, start, nrow, ncol, size: Array, column: Array, line: Array) -> Array:
    """Return the corners of prisms in the frame of their field, those of the bottom first, shape (..., 6, 3) [m].

    Args:
      start, nrow, ncol: first datum, rows and columns of the fields, shape (...).
      size: MuJoCo's hfield_size, shape (..., 4) [m].
      column, line: the data at the corners of the top, shape (..., 3); at most the last of the field.
    """
    start, nrow, ncol = (x[..., None] for x in (start, nrow, ncol))
    size = size[..., None, :]
    index = start + jnp.minimum(line, nrow - 1) * ncol + jnp.minimum(column, ncol - 1)
    height = m.hfield_data.at[index].get(mode="promise_in_bounds") * size[..., 2]
    step = 2 * size[..., 0] / (ncol - 1), 2 * size[..., 1] / (nrow - 1)
    x, y = (step[i] * at - size[..., i] for i, at in ((0, column), (1, line)))
    top = jnp.stack([x, y, height], axis=-1)
    bottom = jnp.stack([x, y, jnp.broadcast_to(-size[..., 3], x.shape)], axis=-1)
    return jnp.concatenate([bottom, top], axis=-2)


def _touch(m: Model, kind: np.ndarray):
    """Return the function that searches each row of prisms and geoms; its derivatives are those of `follow_one`.

    From (corners of the prisms, geoms), whether they may touch, the limits and the tolerance it gives (distance, point,
    normal), whether they touch, and what was found. Rows that cannot touch are not searched.

    kind: the type of the geom of each row.
    """
    refined = m.disabled(DisableBit.NATIVECCD)
    kinds = tuple(sorted(set(kind.tolist())))
    both, above = ((int(GeomType.HFIELD),), kinds), np.array([0.0, 0, 1])
    cornered = [own in CORNERED for own in kinds]

    def search(prism, geom, **options):
        if refined:
            return portal_contact.deepest(prism, geom, both, **options)
        discrete = jnp.isin(geom.kind, np.array(CORNERED)) if len(set(cornered)) > 1 else cornered[0]
        return _nearest(prism, geom, both, discrete=discrete, **options)

    @custom_jvp
    def touch(shape, used, cutoff, tolerance):
        def searched(tolerance, of_row):
            own, limit, kind = of_row
            prism, geom = _solids(kind, *own, 0.0 if refined else limit)
            options = {"limit": limit, "tolerance": tolerance, "iterations": m.flags.ccd_iterations}
            values, along, hit, found = one_kernel(lambda *both: search(*both, **options))(prism, geom)
            return (values, hit), (along, found)

        ((dist, point, normal), hit), (along, found) = near_rows(searched, used, tolerance, (shape, cutoff, kind))
        first, second, point = (jnp.where(hit[:, None], x, 0) for x in (found.first, found.second, point))
        normal, along = (jnp.where(hit[:, None], x, above) for x in (normal, along))
        dist, depth = (jnp.where(hit, x, 1) for x in (dist, found.dist))
        return (dist, point, normal), hit, (found._replace(dist=depth, first=first, second=second), along)

    @functools.partial(touch.defjvp, symbolic_zeros=True)
    def derivative(primals, tangents):
        result, valid, features = held(touch(*primals))
        margin = jnp.zeros_like(primals[2]) if refined else primals[2]
        moved = rates(primals[0], tangents[0], valid, (kind, margin, features))
        return (result, valid, features), (tuple(moved), *jax.tree.map(still, (valid, features)))

    def follow(shape, kind, margin, features) -> Moving:
        own = portal_contact.follow_one if refined else follow_prism if any(cornered) else follow_one
        return Moving(*own(*_solids(kind, *shape, margin), *features))

    def rates(shape, tangents, valid: Array, held) -> Moving:
        """Return the tangents of distance, point and normal, zero where nothing touches."""
        (pos, mat, *_), of_geom = shape[1], tangents[1]
        if not pose_slopes.suffice((shape[0], shape[1][2:]), (tangents[0], of_geom[2:])):
            moved = rate(lambda x: jax.vmap(follow)(x, *held), shape, tangents)
            return jax.tree.map(lambda x: jnp.where(valid.reshape(-1, *(1,) * (x.ndim - 1)), x, 0), moved)
        slopes = pose_slopes.slopes(by_motion, (), shape, held, valid)
        return pose_slopes.along(slopes, pose_slopes.motions(pos, mat, *of_geom[:2]))

    def by_motion(_, shape, held) -> Slopes:
        vert, (pos, mat, *rest) = shape
        return pose_slopes.by_motion(lambda *pose: follow((vert, (*pose, *rest)), *held), pos, mat)

    return touch


def _solids(kind: Array, vert: Array, geom: tuple[Array, ...], margin: Array) -> tuple[Convex, Convex]:
    """Return a prism and a geom as convex solids in the frame of the field."""
    flat, eye = jnp.zeros(3, vert.dtype), jnp.eye(3, dtype=vert.dtype)
    prism = convex(GeomType.HFIELD, flat, eye, flat, vert, margin)
    return prism._replace(center=jnp.mean(vert, axis=0)), convex(kind, *geom, margin)


def _nearest(prism: Convex, geom: Convex, kinds, *, limit: Array, **options):
    """Return what `portal_contact.deepest` does, of solids that have the margin."""
    found = nearest(prism, geom, kinds, **options)
    normal, apart = safe.normalize(found.first - found.second)
    values = limit + found.dist, 0.5 * (found.first + found.second), normal
    return values, normal, (found.dist < 0) & (apart[0] > 0), found
