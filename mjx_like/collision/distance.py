"""Signed distances of geoms and the segments between their nearest points, apart from the contacts of the model."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision import exact
from mjx_like.collision.closed import CLOSED, Kernel
from mjx_like.collision.shape import Shape
from mjx_like.constants import MAXVAL
from mjx_like.errors import InputError, UnsupportedError
from mjx_like.math import vector as v
from mjx_like.math.select import take
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType, ObjType
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array

_PLANE, _SPHERE, _CAPSULE = GeomType.PLANE, GeomType.SPHERE, GeomType.CAPSULE
_ELLIPSOID, _CYLINDER, _BOX = GeomType.ELLIPSOID, GeomType.CYLINDER, GeomType.BOX

# Closed forms, and for the other pairs a search for the single nearest point.
DISTANCE: dict[tuple[int, int], Kernel] = {
    **CLOSED,
    **{
        pair: exact.kernel(*pair)
        for pair in (
            (_SPHERE, _ELLIPSOID), (_CAPSULE, _ELLIPSOID), (_CAPSULE, _CYLINDER), (_ELLIPSOID, _ELLIPSOID),
            (_ELLIPSOID, _CYLINDER), (_ELLIPSOID, _BOX), (_CYLINDER, _CYLINDER), (_CYLINDER, _BOX), (_BOX, _BOX),
        )
    },
}  # fmt: skip
_APART = {(_PLANE, _PLANE)}  # as far as can be, always


def geom_distance(m: Model, d: Data, geom1: int, geom2: int, distmax: Array | float) -> tuple[Array, Array]:
    """Return (dist, fromto): the signed distance of two geoms and the segment between their nearest points.

    Args:
      geom1, geom2: static ids; the segment leads from the first to the second.
      distmax: distance at which geoms count as unrelated [m]: it is then the result, and the segment zero.

    Returns:
      dist, shape () [m], negative in penetration, and fromto, two points, shape (6,) [m, world].

    Raises:
      InputError: an id that no geom has.
      UnsupportedError: a pair of types whose distance is not built yet.

    Reads geom_xpos, geom_xmat.  Source: mj_geomDistance.
    """
    for geom in (geom1, geom2):
        if not 0 <= geom < m.ngeom:
            raise InputError(f"geom {geom}: ids are 0 to {m.ngeom - 1}")
    pair = np.array([[geom1, geom2]])
    lacking = unbuilt(m.topology, pair)
    if lacking:
        raise UnsupportedError("the engine cannot compute this yet: " + "; ".join(lacking))
    dist, normal, middle = distances(m, d, pair)
    near = dist[0] < distmax
    half = 0.5 * dist[0] * normal[0]
    fromto = jnp.concatenate([middle[0] - half, middle[0] + half])
    return jnp.where(near, dist[0], distmax), jnp.where(near, fromto, 0)


def unbuilt(t: Topology, pair: np.ndarray) -> tuple[str, ...]:
    """Return the pairs of geoms, shape (n, 2), whose distance cannot be computed yet, by type and name."""
    found = []
    for geoms in pair.tolist():
        kinds = tuple(sorted(int(t.geom_type[g]) for g in geoms))
        if kinds not in DISTANCE and kinds not in _APART:
            names = (t.names[ObjType.GEOM][g] or f"number {g}" for g in geoms)
            kind = "-".join(GeomType(k).name.lower() for k in kinds)
            found.append(f"distance {kind} is not built yet: geom {' with '.join(names)}")
    return tuple(found)


def distances(m: Model, d: Data, pair: np.ndarray) -> tuple[Array, Array, Array]:
    """Return signed distances, normals and points midway of pairs of geoms, shapes (n,), (n, 3), (n, 3).

    pair: static geom ids, shape (n, 2); a normal leads from the first geom to the second. Planes are MAXVAL apart.
    Reads geom_xpos, geom_xmat.
    """
    flip = m.geom_type[pair[:, 0]] > m.geom_type[pair[:, 1]]
    ordered = np.where(flip[:, None], pair[:, ::-1], pair)
    types = m.geom_type[ordered]
    rows, parts = [], []
    for kinds in {tuple(kinds) for kinds in types.tolist()}:
        mine = np.flatnonzero((types == kinds).all(axis=1))
        rows.append(mine)
        parts.append(_nearest(m, d, kinds, ordered[mine]))
    found = take(jnp.concatenate(parts, axis=1).T, np.argsort(np.concatenate(rows)))
    normal = jnp.where(flip[:, None], -found[:, 1:4], found[:, 1:4])
    return found[:, 0], normal, found[:, 4:]


def _nearest(m: Model, d: Data, kinds: tuple[int, int], pair: np.ndarray) -> Array:
    """Return distance, normal and point of pairs of one type, shape (7, n)."""
    if kinds in _APART:
        return jnp.zeros((7, len(pair)), d.geom_xpos.dtype).at[0].set(MAXVAL)
    first, second = (_shape(m, d, pair[:, side]) for side in (0, 1))
    points = DISTANCE[kinds](first, second, jnp.full(len(pair), jnp.inf, d.geom_xpos.dtype))
    shape = points[0].dist.shape
    columns = jnp.stack([jnp.stack([jnp.broadcast_to(x, shape) for x in (p.dist, *p.normal, *p.pos)]) for p in points])
    valid = jnp.stack([jnp.ones(shape, bool) if p.valid is None else p.valid for p in points])
    best = jnp.argmin(jnp.where(valid, columns[:, 0], jnp.inf), axis=0)
    chosen = np.arange(len(points))[:, None] == best
    return jnp.sum(jnp.where(chosen[:, None], columns, 0), axis=0)


def _shape(m: Model, d: Data, geom: np.ndarray) -> Shape:
    rotation = take(d.geom_xmat, geom)
    axes = tuple(v.unpack(rotation[..., i]) for i in range(3))
    return Shape(v.unpack(take(d.geom_xpos, geom)), axes, v.unpack(take(m.geom_size, geom)))
