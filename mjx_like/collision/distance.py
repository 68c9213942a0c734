"""Signed distances of geoms and the segments between their nearest points, apart from the contacts of the model."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision import distance_search
from mjx_like.collision.candidate_pairs import NEVER
from mjx_like.collision.plan import sdf_slots
from mjx_like.collision.sdf.mesh_sdf import field_points
from mjx_like.collision.shape import Shape, merged
from mjx_like.collision.table import PAIRS, Method
from mjx_like.constants import MAXVAL
from mjx_like.errors import InputError, UnsupportedError
from mjx_like.geometry.signed_distance import has_field
from mjx_like.math import vector as v
from mjx_like.math.select import take
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, GeomType, ObjType
from mjx_like.types.model import Model
from mjx_like.types.plans import PairGroup
from mjx_like.types.topology import Topology

Array = jax.Array

_PLANE, _FIELD, _SDF = GeomType.PLANE, GeomType.HFIELD, GeomType.SDF
# Those that go through MuJoCo's own search.
_SEARCHED = {kinds for kinds, row in PAIRS.items() if row.method == Method.CONVEX or not row.nearest}


def geom_distance(m: Model, d: Data, geom1: int, geom2: int, distmax: Array | float) -> tuple[Array, Array]:
    """Return (dist, fromto): the signed distance of two geoms and the segment between their nearest points.

    Args:
      geom1: a static id; the segment leads from its geom to the other.
      geom2: likewise.
      distmax: distance at which geoms count as unrelated [m]: it is then the result, and the segment zero.

    Returns:
      dist, shape () [m], negative in penetration, and fromto, two points, shape (6,) [m, world].

    Raises:
      InputError: an id that no geom has.
      UnsupportedError: a pair of types whose distance is not built yet.

    Of a height field only the first 50 prisms nearer than `distmax` count. A signed distance field is unrelated to what
    it does not overlap, but for planes, from which the distance is that of its convex hull.

    Reads geom_xpos, geom_xmat.  Source: mj_geomDistance.
    """
    for geom in (geom1, geom2):
        if not 0 <= geom < m.ngeom:
            raise InputError(f"geom {geom}: ids are 0 to {m.ngeom - 1}")
    pair = np.array([[geom1, geom2]])
    lacking = unbuilt(m.topology, pair)
    if lacking:
        raise UnsupportedError("the engine cannot compute this yet: " + "; ".join(lacking))
    dist, normal, middle = distances(m, d, pair, jnp.asarray(distmax, d.geom_xpos.dtype)[None])
    near = dist[0] < distmax
    half = 0.5 * dist[0] * normal[0]
    fromto = jnp.concatenate([middle[0] - half, middle[0] + half])
    return jnp.where(near, dist[0], distmax), jnp.where(near, fromto, 0)


def unbuilt(t: Topology, pair: np.ndarray) -> tuple[str, ...]:
    """Return the pairs of geoms, shape (n, 2), whose distance cannot be computed yet, by type and name."""
    found = []
    for geoms in pair.tolist():
        kinds = tuple(sorted(int(t.geom_type[g]) for g in geoms))
        names = " with ".join(t.names[ObjType.GEOM][g] or f"number {g}" for g in geoms)
        method = PAIRS[kinds].method if kinds in PAIRS else None
        unknown = method == Method.SIGNED_DISTANCE and any(
            t.geom_type[g] == _SDF and not has_field(t, g) for g in geoms
        )
        if (method is None and kinds not in NEVER) or unknown:
            kind = "-".join(GeomType(k).name.lower() for k in kinds)
            found.append(f"distance {kind} is not built yet: geom {names}")
    return tuple(found)


def distances(m: Model, d: Data, pair: np.ndarray, cutoff: Array) -> tuple[Array, Array, Array]:
    """Return signed distances, normals and points midway of pairs of geoms, shapes (n,), (n, 3), (n, 3).

    Args:
      pair: static geom ids, shape (n, 2); a normal leads from the first geom to the second.
      cutoff: the largest distance of interest of each pair, shape (n,) [m]: only height fields, and searches without
        `nativeccd`, ask for it.

    What is no pair of a collision is MAXVAL apart.
    Reads geom_xpos, geom_xmat.
    """
    flip = m.geom_type[pair[:, 0]] > m.geom_type[pair[:, 1]]
    ordered = np.where(flip[:, None], pair[:, ::-1], pair)
    types = m.geom_type[ordered]
    boxes = {(GeomType.BOX, GeomType.BOX)} if m.disabled(DisableBit.NATIVECCD) else set()
    searched = np.array([tuple(kinds) in _SEARCHED - boxes for kinds in types.tolist()], bool)
    rows, parts = [], []
    if searched.any():
        rows.append(np.flatnonzero(searched))
        parts.append(distance_search.convex_pairs(m, d, ordered[searched], take(cutoff, np.flatnonzero(searched))))
    for kinds in sorted({tuple(kinds) for kinds in types[~searched].tolist()}):
        mine = np.flatnonzero((types == kinds).all(axis=1))
        rows.append(mine)
        parts.append(_nearest(m, d, kinds, ordered[mine], take(cutoff, mine)))
    found = take(jnp.concatenate(parts), np.argsort(np.concatenate(rows)))
    normal = jnp.where(flip[:, None], -found[:, 1:4], found[:, 1:4])
    return found[:, 0], normal, found[:, 4:]


def _nearest(m: Model, d: Data, kinds: tuple[int, int], pair: np.ndarray, cutoff: Array) -> Array:
    """Return distance, normal and point of pairs of one type that are not searched together, shape (n, 7)."""
    if kinds in NEVER:
        return jnp.zeros((len(pair), 7), d.geom_xpos.dtype).at[:, 0].set(MAXVAL)
    row = PAIRS[kinds]
    if row.method == Method.HEIGHT_FIELD:
        return distance_search.field_pairs(m, d, pair, cutoff)
    if row.method == Method.SIGNED_DISTANCE:
        return _deepest(m, d, kinds, pair)
    if row.method == Method.HULL_ON_PLANE:
        return distance_search.plane_mesh(m, d, pair)
    shapes = (_shape(m, d, pair[:, side]) for side in (0, 1))
    points = row.kernel(*shapes, jnp.full(len(pair), jnp.inf, d.geom_xpos.dtype) if row.nearest else cutoff)
    found = merged(points)
    columns = jnp.stack([found.dist, *found.normal, *found.pos], axis=1)
    best = jnp.argmin(jnp.where(found.valid, found.dist, jnp.inf), axis=0)
    chosen = np.arange(found.dist.shape[0])[:, None] == best
    nearest = jnp.sum(jnp.where(chosen[:, None], columns, 0), axis=0).T
    return nearest if row.nearest else jnp.where(found.valid.any(axis=0)[:, None], nearest, distance_search.NOTHING)


def _deepest(m: Model, d: Data, kinds: tuple[int, int], pair: np.ndarray) -> Array:
    """Return distance, normal and point of the deepest contact of geoms with signed distance fields, shape (n, 7)."""
    slots, rows = sdf_slots(m.topology, pair), np.arange(len(pair))
    group = PairGroup(kinds, rows, pair[:, 0], pair[:, 1], slots, len(pair), (0, 0))
    found = field_points(m, group, *(_shape(m, d, pair[:, side]) for side in (0, 1)))
    best = jnp.arange(slots)[:, None] == jnp.argmin(jnp.where(found.valid, found.dist, jnp.inf), axis=0)
    columns = jnp.stack([jnp.sum(jnp.where(best, x, 0), axis=0) for x in (found.dist, *found.normal, *found.pos)])
    return jnp.where(found.valid.any(axis=0)[:, None], columns.T, distance_search.NOTHING)


def _shape(m: Model, d: Data, geom: np.ndarray) -> Shape:
    rotation = take(d.geom_xmat, geom)
    axes = tuple(v.unpack(rotation[..., i]) for i in range(3))
    return Shape(v.unpack(take(d.geom_xpos, geom)), axes, v.unpack(take(m.geom_size, geom)))
