"""Height fields against convex geoms: one contact for each prism of the field that touches.

Each cell is two triangles, and each triangle the top of a prism that stands on the bottom of the field.
Source: mjc_ConvexHField.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.ccd import nearest
from mjx_like.collision.shape import Point
from mjx_like.geometry.convex import convex
from mjx_like.math import safe
from mjx_like.math import vector as v
from mjx_like.math.linalg import cho_solve, cholesky, matmul
from mjx_like.math.select import take
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import PairGroup

Array = jax.Array

MOST = 50  # contacts of a pair, the first ones in the order of the prisms
_LEVEL = 1e-3  # how far below the highest corner others count as level with it, in sizes of the prism
_AWAY = 1e3  # where a geom is put for prisms that it cannot touch, in sizes of the field


def points(m: Model, group: PairGroup, geom_xpos: Array, geom_xmat: Array, limit: Array) -> Point:
    """Return the points between height fields and geoms of one type; components have shape (slots, n).

    The distance has its derivative. Point and normal move with the bodies, as if fixed to them.

    Args:
      m: the model.
      group: the pairs; a slot is a prism under the geom's bounding box, row by row.
      geom_xpos: shape (ngeom, 3) [m].
      geom_xmat: shape (ngeom, 3, 3).
      limit: distance below which each pair is in contact, shape (n,) [m].
    """
    kind = GeomType(group.types[1])
    ground, ground_mat = take(geom_xpos, group.geom1), take(geom_xmat, group.geom1)
    inward = jnp.swapaxes(ground_mat, 1, 2)
    pos = jnp.sum(inward * (take(geom_xpos, group.geom2) - ground)[:, None], axis=2)
    mat = matmul(inward, take(geom_xmat, group.geom2))
    size = take(m.geom_size, group.geom2)
    field = m.geom_dataid[group.geom1]
    extent = jnp.stack([support(kind, mat[:, i], size) for i in range(3)], axis=1)
    corner, used = _prisms(m, group, field, *lax.stop_gradient((pos, extent, limit)))
    found, valid = _contacts(m, kind, corner, used, pos, mat, size, limit)
    normal, first, second, dist = lax.stop_gradient(found)

    across = jnp.sum(mat[:, None] * normal[..., None], axis=2)  # of each prism's normal, in the frame of the geom
    share = lax.stop_gradient(_shares(corner, normal, first))
    reach = jnp.sum(share * jnp.sum(corner * normal[:, :, None], axis=3), axis=2)
    gap = jnp.sum(normal * pos[:, None], axis=2) - support(kind, across, size[:, None]) - reach
    gap = dist + gap - lax.stop_gradient(gap)
    arm = lax.stop_gradient(jnp.sum(mat[:, None] * (second - pos[:, None])[..., None], axis=2))
    moved = pos[:, None] + jnp.sum(mat[:, None] * arm[:, :, None], axis=3)
    middle = 0.5 * (first + moved)
    world = ground[:, None] + jnp.sum(ground_mat[:, None] * middle[:, :, None], axis=3)
    facing = jnp.sum(ground_mat[:, None] * normal[:, :, None], axis=3)
    return Point(gap.T, v.unpack(jnp.swapaxes(world, 0, 1)), v.unpack(jnp.swapaxes(facing, 0, 1)), valid.T)


def support(kind: GeomType, direction: Array, size: Array) -> Array:
    """Return the support function of a geom about its centre, shape (...); direction: in its frame, (..., 3)."""
    x = direction * size
    if kind == GeomType.SPHERE:
        return jnp.broadcast_to(size[..., 0], direction.shape[:-1])
    if kind == GeomType.CAPSULE:
        return size[..., 0] + size[..., 1] * jnp.abs(direction[..., 2])
    if kind == GeomType.ELLIPSOID:
        return safe.norm(x)
    return size[..., 0] * safe.norm(direction[..., :2]) + size[..., 1] * jnp.abs(direction[..., 2])


def _shares(corner: Array, normal: Array, point: Array) -> Array:
    """Return weights of the corners that meet the support plane, whose mean is a point on it, shape (..., 6).

    corner: shape (..., 6, 3); normal, point: shape (..., 3). They are the smallest weights that there are.
    """
    offset = corner - point[..., None, :]
    scale = jnp.max(jnp.abs(offset), axis=(-2, -1), keepdims=True)
    height = jnp.sum(offset * normal[..., None, :], axis=-1)
    on = height >= jnp.max(height, axis=-1, keepdims=True) - _LEVEL * scale[..., 0]
    rows = jnp.concatenate([offset / scale, jnp.ones_like(offset[..., :1])], axis=-1)
    rows = jnp.where(on[..., None], rows, 0)
    slack = 1024 * jnp.finfo(rows.dtype).eps
    gram = matmul(jnp.swapaxes(rows, -1, -2), rows) + slack * jnp.eye(4, dtype=rows.dtype)
    right = jnp.broadcast_to(jnp.eye(4, dtype=rows.dtype)[3], gram.shape[:-1])
    solution = cho_solve(cholesky(gram), right)
    return jnp.sum(rows * solution[..., None, :], axis=-1)


def _prisms(m: Model, group: PairGroup, field: np.ndarray, pos: Array, extent: Array, limit: Array):
    """Return the corners of all prisms, shape (n, slots, 6, 3), and which may touch, shape (n, slots).

    pos, extent: centre and half sizes of the geom's box along the axes of the field, shape (n, 3).
    """
    nrow, ncol, start = m.hfield_nrow[field], m.hfield_ncol[field], m.hfield_adr[field]
    size = take(m.hfield_size, field)
    count = np.stack([ncol, nrow], axis=1) - 1
    step = 2 * size[:, :2] / count
    low = (pos[:, :2] - extent[:, :2] - limit[:, None] + size[:, :2]) / step
    high = (pos[:, :2] + extent[:, :2] + limit[:, None] + size[:, :2]) / step
    low, high = (lax.stop_gradient(x) for x in (low, high))
    begin = jnp.clip(jnp.floor(low), 0, count).astype(jnp.int32)
    end = jnp.clip(jnp.ceil(high), 0, count).astype(jnp.int32)

    rows, columns = group.cells
    row = begin[:, 1:] + np.repeat(np.arange(rows), 2 * columns)
    strip = np.tile(np.arange(2 * columns), rows)  # prism of its row; its corners are points strip .. strip + 2
    place = strip[:, None] + np.arange(3)
    column = begin[:, :1, None] + place // 2
    line = row[..., None] + 1 - place % 2
    index = (
        start[:, None, None]
        + jnp.minimum(line, count[:, 1, None, None]) * ncol[:, None, None]
        + jnp.minimum(column, count[:, 0, None, None])
    )
    height = m.hfield_data.at[index].get(mode="promise_in_bounds") * size[:, 2, None, None]
    x, y = (step[:, i, None, None] * at - size[:, i, None, None] for i, at in ((0, column), (1, line)))
    top = jnp.stack([x, y, height], axis=-1)
    bottom = jnp.stack([x, y, jnp.broadcast_to(-size[:, 3, None, None], x.shape)], axis=-1)
    used = (row < end[:, 1:]) & (begin[:, :1] + strip // 2 < end[:, :1])
    used &= jnp.max(height, axis=2) >= (pos[:, 2] - extent[:, 2] - limit)[:, None]
    return jnp.concatenate([bottom, top], axis=2), used


def _contacts(m: Model, kind: GeomType, corner: Array, used: Array, pos: Array, mat: Array, size: Array, limit: Array):
    """Return (normal from the prism, witness on it, witness on the geom, distance), and which of them are contacts."""
    corner, pos, mat, size, limit, step = lax.stop_gradient((corner, pos, mat, size, limit, m.hfield_size))
    away = _AWAY * jnp.max(step)
    kinds = ((int(GeomType.MESH),), (int(kind),))
    flat = jnp.zeros(3, pos.dtype)

    def one(vert, use, centre, turn, extent, cutoff):
        prism = convex(kinds[0][0], flat, jnp.eye(3, dtype=pos.dtype), flat, vert)
        prism = prism._replace(center=jnp.mean(vert, axis=0))
        geom = convex(kinds[1][0], jnp.where(use, centre, away), turn, extent)
        found = nearest(
            prism, geom, kinds, tolerance=m.opt.ccd_tolerance, iterations=m.flags.ccd_iterations, cutoff=cutoff
        )
        return found.dist, found.first, found.second

    over_prisms = jax.vmap(one, in_axes=(0, 0, None, None, None, None))
    dist, first, second = jax.vmap(over_prisms)(corner, used, pos, mat, size, jnp.maximum(limit, 0))
    normal, apart = safe.normalize(second - first)
    normal = jnp.where((dist < 0)[..., None], -normal, normal)
    valid = used & (dist < limit[:, None]) & (apart[..., 0] > 0)
    valid &= jnp.cumsum(valid, axis=1) <= MOST
    # what does not touch is put where nothing overflows
    return (jnp.where(valid[..., None], normal, np.array([0.0, 0, 1])), *(
        jnp.where(valid[..., None], x, 0) for x in (first, second)), jnp.where(valid, dist, 1)), valid  # fmt: skip
