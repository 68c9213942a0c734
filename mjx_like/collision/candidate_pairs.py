"""Which pairs of geoms may touch: those that no static filter discards, in MuJoCo's order."""

import numpy as np

from mjx_like.collision.user_function import hooked_pairs
from mjx_like.errors import ModelError, shown
from mjx_like.types.enums import DisableBit, GeomType, ObjType
from mjx_like.types.topology import Topology

_PLANE, _SDF = GeomType.PLANE, GeomType.SDF

MAX_PAIRS = 2_000_000
_MOST_EXAMINED = 30_000_000  # pairs of geoms of bodies that may touch
_BLOCK = 4_000_000  # pairs of bodies that are filtered at once

# Type pairs that MuJoCo never collides.
NEVER = {
    (_PLANE, _PLANE), (_PLANE, GeomType.HFIELD), (GeomType.HFIELD, GeomType.HFIELD), (GeomType.HFIELD, _SDF),
}  # fmt: skip


def without_contacts(t: Topology) -> bool:
    return t.disabled(DisableBit.CONSTRAINT | DisableBit.CONTACT)


def candidate_pairs(t: Topology) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the geom pairs that no static filter discards, their <pair> ids or -1, and body signatures; in order.

    MuJoCo walks body pairs by signature; within one, <pair> elements come first, then the geoms: sorted by
    (smaller type, other) where the bounding volume trees are searched, else in the order of their ids.

    Source: mj_collision, mj_broadphase, filterCollisionPair, contactcompare.

    Raises:
      ModelError: more than MAX_PAIRS.
    """
    none = np.zeros((0, 2), np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64)
    if without_contacts(t) or t.ngeom < 2:
        return none
    first, second = _geoms_of_pairs(t, *_body_pairs(t))
    keep = _share_bits(t, first, second)
    first, second = first[keep], second[keep]
    if t.hooks.contact_filter is not None:
        keep = [not t.hooks.contact_filter(t, int(a), int(b)) for a, b in zip(first, second, strict=True)]
        first, second = first[np.array(keep, bool)], second[np.array(keep, bool)]
    if first.size > MAX_PAIRS:
        raise _too_many(t, first, second)
    keep = ~np.isin(_unordered(t, first, second), _unordered(t, t.pair_geom1, t.pair_geom2))
    first, second = (np.concatenate([p, x[keep]]) for p, x in ((t.pair_geom1, first), (t.pair_geom2, second)))
    explicit = np.concatenate([np.arange(t.npair), np.full(keep.sum(), -1)]).astype(np.int32)

    swap = t.geom_type[first] > t.geom_type[second]
    geom = np.stack([np.where(swap, second, first), np.where(swap, first, second)], axis=1).astype(np.int32)
    body = t.geom_bodyid[geom]
    signature = _signature(*body.T)
    tree = (np.max(t.body_geomnum[body], axis=1, initial=0) > 1) & (not t.disabled(DisableBit.MIDPHASE))
    key1 = np.where(explicit >= 0, explicit, np.where(tree, geom[:, 0], np.minimum(first, second)))
    key2 = np.where(tree, geom[:, 1], np.maximum(first, second))
    order = np.lexsort((key2, key1, explicit < 0, signature))
    hooked = hooked_pairs(t, geom)
    kinds = t.geom_type[geom] @ (len(GeomType), 1)
    collide = ~np.isin(kinds, [a * len(GeomType) + b for a, b in NEVER])
    collide[list(hooked)] = True
    order = order[collide[order]]
    return geom[order], explicit[order], signature[order]


def _signature(body1: np.ndarray, body2: np.ndarray) -> np.ndarray:
    return (np.minimum(body1, body2).astype(np.int64) << 16) + np.maximum(body1, body2)


def _unordered(t: Topology, geom1: np.ndarray, geom2: np.ndarray) -> np.ndarray:
    """Return a number for each pair of geoms, the same in both orders."""
    return np.minimum(geom1, geom2).astype(np.int64) * t.ngeom + np.maximum(geom1, geom2)


def _body_pairs(t: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of bodies with geoms that pass weld groups, parent-child, bit masks and excluded bodies.

    They are taken in blocks, and none is of two bodies that cannot move.
    Source: filterBodyPair, canCollide2.
    """
    bodies = np.flatnonzero(t.body_geomnum > 0)
    movable = t.body_treeid[bodies] >= 0
    moving, resting = bodies[movable], bodies[~movable]
    found = []
    rows = max(1, _BLOCK // max(1, bodies.size))
    for start in range(0, moving.size, rows):
        block = moving[start : start + rows]
        others = np.concatenate([moving[start:], resting])
        first, second = np.repeat(block, others.size), np.tile(others, block.size)
        once = (t.body_treeid[second] < 0) | (first < second)
        keep = once & _bodies_collide(t, first, second)
        found.append((np.minimum(first[keep], second[keep]), np.maximum(first[keep], second[keep])))
    none = np.zeros(0, np.int64)
    return tuple(np.concatenate(part) for part in zip((none, none), *found, strict=True))


def _bodies_collide(t: Topology, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    weld1, weld2 = t.body_weldid[first], t.body_weldid[second]
    parent1, parent2 = (t.body_weldid[t.body_parentid[w]] for w in (weld1, weld2))
    keep = weld1 != weld2
    if not t.disabled(DisableBit.FILTERPARENT):
        keep &= ~((weld1 != 0) & (weld2 != 0) & ((weld1 == parent2) | (weld2 == parent1)))
    keep &= _share(t.body_contype, t.body_conaffinity, first, second)
    return keep & ~np.isin(_signature(first, second), t.exclude_signature)


def _geoms_of_pairs(t: Topology, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of geoms of pairs of bodies; geoms are ordered by body.

    Raises:
      ModelError: more pairs than can be looked at.
    """
    each = t.body_geomnum[first].astype(np.int64) * t.body_geomnum[second]
    if each.sum() > _MOST_EXAMINED:
        raise _too_many(t, t.body_geomadr[first], t.body_geomadr[second], each)
    pair = np.repeat(np.arange(each.size), each)
    index = np.arange(pair.size) - np.repeat(np.cumsum(each) - each, each)
    width = t.body_geomnum[second][pair]
    return t.body_geomadr[first][pair] + index // width, t.body_geomadr[second][pair] + index % width


def _share_bits(t: Topology, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return which pairs of geoms pass contype and conaffinity; a hook takes the place of this test.

    Source: filterBitmask.
    """
    if t.hooks.contact_filter is not None:
        return np.ones(first.size, bool)
    return _share(t.geom_contype, t.geom_conaffinity, first, second)


def _share(contype: np.ndarray, conaffinity: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return ((contype[first] & conaffinity[second]) | (contype[second] & conaffinity[first])) != 0


def _too_many(t: Topology, first: np.ndarray, second: np.ndarray, each: np.ndarray | None = None) -> ModelError:
    """Return the error of a model with too many pairs; it names the geom that is in most of them."""
    weight = np.ones(first.size) if each is None else each
    geom = int(np.argmax(np.bincount(first, weight, t.ngeom) + np.bincount(second, weight, t.ngeom)))
    name = t.names[ObjType.GEOM][geom] or f"number {geom}"
    return ModelError(
        f"{int(weight.sum())} pairs of geoms may touch, most of them with geom {shown(name)}; at most {MAX_PAIRS} are "
        "allowed: set contype and conaffinity, or exclude bodies"
    )


def condim(t: Topology, geom: np.ndarray, explicit: np.ndarray) -> np.ndarray:
    """Return condim of each pair: of the geom of higher priority, else the larger.  Source: mj_contactParam."""
    dim, priority = t.geom_condim[geom], t.geom_priority[geom]
    first = np.where(priority[:, 0] > priority[:, 1], dim[:, 0], dim[:, 1])
    mixed = np.where(priority[:, 0] == priority[:, 1], dim.max(axis=1), first)
    own = t.pair_dim[np.maximum(explicit, 0)] if t.npair else mixed
    return np.where(explicit >= 0, own, mixed).astype(np.int32)
