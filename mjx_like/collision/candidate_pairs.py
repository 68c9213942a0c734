"""Which pairs of geoms may touch: those that no static filter discards, in MuJoCo's order."""

import numpy as np

from mjx_like.collision.user_function import hooked_pairs
from mjx_like.types.enums import DisableBit, GeomType
from mjx_like.types.topology import Topology

_PLANE, _SDF = GeomType.PLANE, GeomType.SDF

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
    """
    none = np.zeros((0, 2), np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64)
    if without_contacts(t) or t.ngeom < 2:
        return none
    first, second = np.triu_indices(t.ngeom, 1)
    keep = _unfiltered(t, first, second)
    first, second = first[keep], second[keep]
    if t.hooks.contact_filter is not None:
        keep = [not t.hooks.contact_filter(t, int(a), int(b)) for a, b in zip(first, second, strict=True)]
        first, second = first[np.array(keep, bool)], second[np.array(keep, bool)]
    chosen = {frozenset(p) for p in zip(t.pair_geom1.tolist(), t.pair_geom2.tolist(), strict=True)}
    keep = np.array([frozenset(p) not in chosen for p in zip(first.tolist(), second.tolist(), strict=True)], bool)
    first, second = (np.concatenate([p, x[keep]]) for p, x in ((t.pair_geom1, first), (t.pair_geom2, second)))
    explicit = np.concatenate([np.arange(t.npair), np.full(keep.sum(), -1)]).astype(np.int32)

    swap = t.geom_type[first] > t.geom_type[second]
    geom = np.stack([np.where(swap, second, first), np.where(swap, first, second)], axis=1).astype(np.int32)
    signature = _signature(t, first, second)
    body = t.geom_bodyid[geom]
    tree = (np.max(t.body_geomnum[body], axis=1, initial=0) > 1) & (not t.disabled(DisableBit.MIDPHASE))
    key1 = np.where(explicit >= 0, explicit, np.where(tree, geom[:, 0], np.minimum(first, second)))
    key2 = np.where(tree, geom[:, 1], np.maximum(first, second))
    order = np.lexsort((key2, key1, explicit < 0, signature))
    hooked = hooked_pairs(t, geom)
    collide = np.array([i in hooked or tuple(p) not in NEVER for i, p in enumerate(t.geom_type[geom].tolist())], bool)
    order = order[collide[order]]
    return geom[order], explicit[order], signature[order]


def _signature(t: Topology, geom1: np.ndarray, geom2: np.ndarray) -> np.ndarray:
    body1, body2 = (t.geom_bodyid[g].astype(np.int64) for g in (geom1, geom2))
    return (np.minimum(body1, body2) << 16) + np.maximum(body1, body2)


def _unfiltered(t: Topology, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return which pairs pass contype and conaffinity, weld groups, parent-child, and excluded bodies.

    The bit masks are tested for geoms, or for bodies only where a hook takes the place of the geom test.
    Source: filterBodyPair, filterBitmask, canCollide2.
    """
    body1, body2 = t.geom_bodyid[first], t.geom_bodyid[second]
    weld1, weld2 = t.body_weldid[body1], t.body_weldid[body2]
    parent1, parent2 = (t.body_weldid[t.body_parentid[w]] for w in (weld1, weld2))
    keep = (weld1 != weld2) & ((t.body_treeid[body1] >= 0) | (t.body_treeid[body2] >= 0))
    if not t.disabled(DisableBit.FILTERPARENT):
        keep &= ~((weld1 != 0) & (weld2 != 0) & ((weld1 == parent2) | (weld2 == parent1)))
    masks = (t.geom_contype[first], t.geom_conaffinity[first], t.geom_contype[second], t.geom_conaffinity[second])
    if t.hooks.contact_filter is not None:
        masks = (t.body_contype[body1], t.body_conaffinity[body1], t.body_contype[body2], t.body_conaffinity[body2])
    keep &= ((masks[0] & masks[3]) | (masks[2] & masks[1])) != 0
    return keep & ~np.isin(_signature(t, first, second), t.exclude_signature)


def condim(t: Topology, geom: np.ndarray, explicit: np.ndarray) -> np.ndarray:
    """Return condim of each pair: of the geom of higher priority, else the larger.  Source: mj_contactParam."""
    dim, priority = t.geom_condim[geom], t.geom_priority[geom]
    first = np.where(priority[:, 0] > priority[:, 1], dim[:, 0], dim[:, 1])
    mixed = np.where(priority[:, 0] == priority[:, 1], dim.max(axis=1), first)
    own = t.pair_dim[np.maximum(explicit, 0)] if t.npair else mixed
    return np.where(explicit >= 0, own, mixed).astype(np.int32)
