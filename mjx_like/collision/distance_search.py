"""Distances and nearest points of geoms without a closed form: by the search for convex geoms, fields prism by prism.

Values are those of MuJoCo's search; derivatives are those of the `follow_one` of each search, and of `follow_prism`.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex import ccd
from mjx_like.collision.convex.ccd import Nearest
from mjx_like.collision.convex.derivative import follow_one
from mjx_like.collision.convex.facet_derivative import follow_prism
from mjx_like.collision.convex.flat_tables import hull_vertices
from mjx_like.collision.hfield import MOST, prism_corners
from mjx_like.collision.portal import portal_contact
from mjx_like.constants import MAXVAL
from mjx_like.geometry.convex import CORNERED, Convex, convex, support
from mjx_like.math import safe
from mjx_like.math.rule import custom_jvp
from mjx_like.math.select import take
from mjx_like.math.tangent import rate
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, GeomType
from mjx_like.types.model import Model

Array = jax.Array

_CUTOFF = 1e10  # beyond it the search gives up [m]
_CHUNK = 4  # prisms of one iteration
_AWAY = 1e3  # where the geom is put for prisms that it cannot touch, in sizes of the field, so that nothing overflows
_MESHES = (GeomType.MESH, GeomType.SDF)
_FAR = 1e30  # no prism is as far
NOTHING = MAXVAL * (np.arange(7) == 0)  # what is not near


class _Hit(NamedTuple):
    """What a search ended with."""

    values: Array  # distance, normal and point midway, shape (7,)
    nearest: Nearest
    along: Array  # the direction in which the features that touch are held, shape (3,)
    near: Array  # whether the distance is below the limit


def convex_pairs(m: Model, d: Data, pair: np.ndarray, cutoff: Array) -> Array:
    """Return distance, normal and point midway of pairs of convex geoms, shape (n, 7).

    Without `nativeccd` a distance is MAXVAL where it is not below `cutoff`, shape (n,).
    pair: geom ids, shape (n, 2), the smaller type first.  Source: mj_geomDistance, mj_geomDistanceCCD.
    """
    types = m.geom_type[pair]
    kinds = tuple(tuple(sorted(set(types[:, side].tolist()))) for side in (0, 1))
    discrete = np.isin(types, CORNERED).all(axis=1)
    refined = m.disabled(DisableBit.NATIVECCD)
    search = _search(m, kinds)

    def one(first: Convex, second: Convex, finite: Array, limit: Array) -> Array:
        found = search(first, second, finite, limit if refined else _CUTOFF)
        out = _followed(portal_contact.follow_one if refined else follow_one, first, second, found)
        return jnp.where(found.near, out, NOTHING) if refined else out

    return jax.vmap(one)(*(convex_geoms(m, d, pair[:, side]) for side in (0, 1)), discrete, lax.stop_gradient(cutoff))


def _search(m: Model, kinds):
    """Return the search of the pipeline that the flags choose: (a, b, discrete, limit) -> _Hit; see `ccd.nearest`."""
    options = {"tolerance": m.opt.ccd_tolerance, "iterations": m.flags.ccd_iterations}

    def native(a: Convex, b: Convex, discrete: Array, limit: Array | float) -> _Hit:
        found = ccd.nearest(a, b, kinds, cutoff=limit, discrete=discrete, **options)
        values = jnp.concatenate([found.dist[None], _normal(found), 0.5 * (found.first + found.second)])
        return _Hit(values, found, _normal(found), found.dist < limit)

    def refined(a: Convex, b: Convex, _: Array, limit: Array) -> _Hit:
        (dist, pos, normal), along, near, found = portal_contact.deepest(a, b, kinds, limit=limit, **options)
        found = jax.tree.map(lambda x: jnp.where(near, x, jnp.zeros_like(x)), found)
        return _Hit(
            jnp.concatenate([dist[None], normal, pos]), found, jnp.where(near, along, np.array([0.0, 0, 1])), near
        )

    return refined if m.disabled(DisableBit.NATIVECCD) else native


def plane_mesh(m: Model, d: Data, pair: np.ndarray) -> Array:
    """Return distance, normal and point midway of planes and the lowest points of meshes, shape (n, 7)."""
    normal = take(d.geom_xmat, pair[:, 0])[..., 2]
    mesh = convex_geoms(m, d, pair[:, 1])
    world = mesh.pos[:, None] + jnp.sum(mesh.mat[:, None] * mesh.vert[:, :, None], axis=3)
    height = jnp.sum((world - take(d.geom_xpos, pair[:, 0])[:, None]) * normal[:, None], axis=2)
    lowest = jnp.argmin(height, axis=1)[:, None]
    dist = jnp.take_along_axis(height, lowest, axis=1)
    point = jnp.take_along_axis(world, lowest[..., None], axis=1)[:, 0] - 0.5 * dist * normal
    return jnp.concatenate([dist, normal, point], axis=1)


def field_pairs(m: Model, d: Data, pair: np.ndarray, cutoff: Array) -> Array:
    """Return distance, normal and point midway of height fields and convex geoms, shape (n, 7).

    The first prisms nearer than `cutoff`, shape (n,), count, in the order of the field, up to `MOST`; a distance is
    MAXVAL where there is none.
    """
    kinds = (int(GeomType.HFIELD),), tuple(sorted(set(m.geom_type[pair[:, 1]].tolist())))
    field = m.geom_dataid[pair[:, 0]]
    table = [jnp.asarray(np.asarray(x)[field], jnp.int32) for x in (m.hfield_adr, m.hfield_nrow, m.hfield_ncol)]
    ground, iterate = take(d.geom_xpos, pair[:, 0]), take(d.geom_xmat, pair[:, 0])
    discrete = np.isin(m.geom_type[pair[:, 1]], CORNERED)

    refined = m.disabled(DisableBit.NATIVECCD)
    search = _search(m, kinds)

    def one(start, nrow, ncol, size, ground, iterate, geom, finite, limit):
        pos = iterate.T @ (geom.pos - ground)
        geom = geom._replace(pos=pos, center=pos, mat=iterate.T @ geom.mat)
        prism = lambda line: _prism(m, start, nrow, ncol, size, *line)  # noqa: E731
        found, line, dist = _nearest_prism(
            prism, geom, kinds, nrow, ncol, size, limit, lambda a, b, limit: search(a, b, finite, limit)
        )
        out = _followed(portal_contact.follow_one if refined else follow_prism, prism(line), geom, found)
        point = ground + iterate @ out[4:]
        return jnp.where(dist < _FAR, jnp.concatenate([out[:1], iterate @ out[1:4], point]), NOTHING)

    size = take(m.hfield_size, field)
    return jax.vmap(one)(
        *table, size, ground, iterate, convex_geoms(m, d, pair[:, 1]), discrete, lax.stop_gradient(cutoff)
    )


def _nearest_prism(prism, geom: Convex, kinds, nrow, ncol, size, limit, search) -> tuple[_Hit, Array, Array]:
    """Return what the search found for the nearest prism, its row, its index there, the distance; no derivative.

    Source: mjc_ConvexHField.
    """
    geom, size = lax.stop_gradient((geom, size))
    seen = jnp.full((), -1, jnp.int32)
    ends = [[support(geom, kinds[1], s * e, seen).point @ e for e in np.eye(3, dtype=size.dtype)] for s in (-1.0, 1.0)]
    least, most = jnp.stack(ends[0]), jnp.stack(ends[1])
    limit = jnp.maximum(limit, 0)
    count = jnp.stack([ncol, nrow]) - 1
    step = 2 * size[:2] / count
    begin, end = (
        jnp.clip(f((x[:2] + s * limit + size[:2]) / step), 0, count).astype(jnp.int32)
        for f, x, s in ((jnp.floor, least, -1), (jnp.ceil, most, 1))
    )
    width = 2 * (end[0] - begin[0])
    total = jnp.where(jnp.all(end > begin) & (most[2] >= -size[3] - limit), width * (end[1] - begin[1]), 0)
    away = _AWAY * jnp.max(size)

    def one(k):
        line = begin[1] + k // jnp.maximum(width, 1), 2 * begin[0] + k % jnp.maximum(width, 1)
        solid = lax.stop_gradient(prism(line))
        use = (k < total) & (jnp.max(solid.vert[:, 2]) >= least[2] - limit)
        moved = geom._replace(pos=jnp.where(use, geom.pos, away), center=jnp.where(use, geom.center, away))
        found = search(solid, moved, limit)
        return jnp.where(use & found.near, found.values[0], _FAR), found, jnp.stack(line)

    def iterate(state):
        k, hits, best = state
        dist, found, line = jax.vmap(one)(k + np.arange(_CHUNK, dtype=np.int32))
        hit = dist < _FAR
        dist = jnp.where(hits + jnp.cumsum(hit, dtype=jnp.int32) <= MOST, dist, _FAR)
        first = jnp.argmin(dist)
        new = jax.tree.map(lambda x: x[first], (found, line, dist))
        better = new[2] < best[2]
        best = jax.tree.map(lambda x, y: jnp.where(better, x, y), new, best)
        return k + _CHUNK, hits + jnp.sum(hit, dtype=jnp.int32), best

    zero = jnp.zeros((), jnp.int32)
    shapes = jax.eval_shape(one, zero)
    blank = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), (shapes[1], shapes[2]))
    start = zero, zero, (*blank, jnp.full((), _FAR, size.dtype))
    return lax.while_loop(lambda s: (s[0] < total) & (s[1] < MOST), iterate, start)[2]


def _prism(m: Model, start, nrow, ncol, size, row, strip) -> Convex:
    """Return a prism of a height field in its frame, by its row and its index in the row."""
    corner = strip + np.arange(3, dtype=np.int32)
    vert = prism_corners(m, start, nrow, ncol, size, corner // 2, row + 1 - corner % 2)
    flat, eye = jnp.zeros(3, vert.dtype), jnp.eye(3, dtype=vert.dtype)
    return convex(GeomType.HFIELD, flat, eye, flat, vert)._replace(center=jnp.mean(vert, axis=0))


@functools.partial(custom_jvp, nondiff_argnums=(0,))
def _followed(follow, first: Convex, second: Convex, found: _Hit) -> Array:
    """Return distance, normal and point midway, shape (7,): as found, with derivatives by the geoms."""
    return found.values


@functools.partial(_followed.defjvp, symbolic_zeros=True)
def _followed_jvp(follow, primals, tangents):
    *_, found = primals
    dist, point, normal = rate(
        lambda geoms: follow(*geoms, found.nearest, found.along), tuple(primals[:2]), tuple(tangents[:2])
    )
    return _followed(follow, *primals), jnp.concatenate([dist[None], normal, point])


def _normal(found: Nearest) -> Array:
    span = found.second - found.first
    normal, apart = safe.normalize(jnp.where(found.dist < 0, -span, span))
    return jnp.where(apart[0] > 0, normal, np.arange(3) == 2)


def convex_geoms(m: Model, d: Data, geom: np.ndarray) -> Convex:
    """Return the records of geoms, one row each; the hulls of meshes are filled up with their first points."""
    t = m.topology
    kind = t.geom_type[geom].astype(np.int32)
    hulls = {
        mesh: t.mesh_vertadr[mesh] + hull_vertices(t, mesh) for mesh in t.geom_dataid[geom[np.isin(kind, _MESHES)]]
    }
    width = max((hull.size for hull in hulls.values()), default=1)
    pos, mat, size = (take(x, geom) for x in (d.geom_xpos, d.geom_xmat, m.geom_size))
    vert = jnp.zeros((geom.size, 1, 3), pos.dtype)
    if hulls:
        rows = {mesh: np.append(hull, np.full(width - hull.size, hull[0])) for mesh, hull in hulls.items()}
        index = [
            rows[i] if k in _MESHES else np.zeros(width, int) for i, k in zip(t.geom_dataid[geom], kind, strict=True)
        ]
        vert = take(m.mesh_vert, np.ravel(index)).reshape(geom.size, width, 3)
    return Convex(jnp.asarray(kind), pos, mat, size, vert, pos, jnp.zeros(geom.size, pos.dtype))
