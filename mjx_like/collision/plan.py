"""The plan of collision/: which geom pairs can touch, grouped by type, and the layout of their contact points."""

import numpy as np

from mjx_like.collision.candidate_pairs import candidate_pairs, condim, without_contacts
from mjx_like.collision.convex.flat_tables import make_solid, solid_of
from mjx_like.collision.hfield import MOST
from mjx_like.collision.portal import portal_contact
from mjx_like.collision.table import KEPT, PAIRS, PARTIAL, Method, pairs_by
from mjx_like.collision.user_function import HOOKED, hooked_pairs
from mjx_like.geometry.signed_distance import has_field
from mjx_like.types.enums import DisableBit, EnableBit, GeomType, ObjType
from mjx_like.types.plans import CollisionPlan, ConvexPlan, HookedPair, PairGroup, SolidPlan, SpeculativePlan
from mjx_like.types.topology import Topology

_PLANE, _SPHERE, _CAPSULE = GeomType.PLANE, GeomType.SPHERE, GeomType.CAPSULE
_ELLIPSOID, _CYLINDER, _BOX, _MESH = GeomType.ELLIPSOID, GeomType.CYLINDER, GeomType.BOX, GeomType.MESH
_SDF = GeomType.SDF

# Solids that are convex, or are taken as such.
_SOLID = (_SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH)
_FLAT = (_CYLINDER, _BOX, _MESH)
_WIDE = 256  # more than there are types of geoms
_FEW = 64  # up to this many candidate points, all have a row
_ROWS_PER_GEOM = 4
_ROWS_PER_FLAT_GEOM = 8  # of one that lies on and under others, with four points each
# where more trees than these have such geoms they may be a pile, in which a plank lies across several
_FEW_STACKED, _ROWS_IN_PILE = 8, 24
# Pairs of a group that all go on to its kernel or search; of more, at least how many, and how many for each geom of the
# group: in a pile, and of one robot, whose parts are held apart
_ALL, _LEAST_PAIRS, _PAIRS_PER_GEOM, _PAIRS_PER_GEOM_OF_ROBOT = 128, 256, 8, 2


def make_plan(t: Topology) -> CollisionPlan:
    """Return the candidate pairs in MuJoCo's order, by type, and the default capacity of the contact buffer.

    The capacity is one row for each point that can touch if these are at most 64, else 4 for each moving geom that
    can collide, or 8 where it has flat faces and meets others that have, 24 if more than 8 trees have such geoms; and
    at least 64. With hard contact there is room for the points of a pair that a solve keeps.
    """
    geom, explicit, _ = candidate_pairs(t)
    built = _built(t, geom)
    unbuilt, geom, explicit = geom[~built], geom[built], explicit[built]
    hooked = hooked_pairs(t, geom)
    groups, point_pair, point_slot = _groups(t, geom, hooked)
    row = np.lexsort((point_slot, point_pair))
    convex = _convex(t, groups)
    speculative = _speculative(t, geom, hooked)
    return CollisionPlan(
        geom=geom,
        unbuilt=unbuilt,
        explicit=explicit,
        dim=condim(t, geom, explicit),
        groups=groups,
        convex=convex,
        plane_mesh=_solid(t, groups, _PLANE, convex),
        field_mesh=_solid(t, groups, GeomType.HFIELD, convex),
        speculative=speculative,
        point_pair=point_pair[row],
        point_row=row,
        point_rank=np.argsort(row).astype(np.int32),
        default_nconmax=_default_nconmax(t, geom, groups),
    )


def _default_nconmax(t: Topology, geom: np.ndarray, groups: tuple[PairGroup, ...]) -> int:
    """Return the default capacity of the contact buffer, as `make_plan` says."""
    capacity = sum(g.pair.size * _most(t, g) for g in groups)
    if capacity > _FEW:
        return min(capacity, max(_FEW, _rows_of_geoms(t, geom)))
    keeps = t.hard_contact and any(g.types in PARTIAL for g in groups)
    return max(capacity, KEPT) if keeps else capacity


def _rows_of_geoms(t: Topology, geom: np.ndarray) -> int:
    """Return how many rows the moving geoms of some pairs get."""
    moving = np.unique(geom)
    moving = moving[t.body_treeid[t.geom_bodyid[moving]] >= 0]
    flat = np.isin(t.geom_type[geom], _FLAT).all(axis=1)
    stacked = np.isin(moving, geom[flat])
    trees = np.unique(t.body_treeid[t.geom_bodyid[moving[stacked]]])
    flat_rows = _ROWS_IN_PILE if trees.size > _FEW_STACKED else _ROWS_PER_FLAT_GEOM
    return int(np.where(stacked, flat_rows, _ROWS_PER_GEOM).sum())


def unsupported(t: Topology) -> tuple[str, ...]:
    """Return what the engine cannot collide yet, by type pair with the first geoms that need it; the plan is there."""
    out = []
    lacking: dict[tuple[int, int], list[str]] = {}
    for a, b in t.plans.collision.unbuilt.tolist():
        pair = (int(t.geom_type[a]), int(t.geom_type[b]))
        lacking.setdefault(pair, []).append(f"{_name(t, a)} with {_name(t, b)}")
    for (a, b), pairs in lacking.items():
        more = f" and {len(pairs) - 2} more" if len(pairs) > 2 else ""
        kind = f"{GeomType(a).name.lower()}-{GeomType(b).name.lower()}"
        out.append(f"collision {kind} is not built yet: geom {', '.join(pairs[:2])}{more}")
    if not without_contacts(t):
        for f in range(t.nflex):
            if t.flex_contype[f] or t.flex_conaffinity[f]:
                out.append(f"flex '{t.names[ObjType.FLEX][f]}': collision is not built yet")
    return tuple(out)


def _name(t: Topology, geom: int) -> str:
    name = t.names[ObjType.GEOM][geom]
    return f"'{name}'" if name else f"number {geom}"


def _built(t: Topology, geom: np.ndarray) -> np.ndarray:
    """Return which pairs, shape (n, 2), the engine or a function of the user collides."""
    out = np.zeros(len(geom), bool)
    for kind, rows in _by_kind(t.geom_type[geom]).items():
        pair = PAIRS.get(kind)
        if pair is None:
            continue
        out[rows] = _have_fields(t, geom[rows]) if pair.method == Method.SIGNED_DISTANCE else True
    out[list(hooked_pairs(t, geom))] = True
    return out


def _by_kind(types: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """Return the rows of each pair of types that occurs; types: shape (n, 2)."""
    types = types.reshape(-1, 2)
    code = types[:, 0].astype(np.int32) * _WIDE + types[:, 1]
    return {divmod(int(c), _WIDE): np.flatnonzero(code == c) for c in np.unique(code)}


def _have_fields(t: Topology, geom: np.ndarray) -> np.ndarray:
    """Return for which pairs, shape (n, 2), all geoms that are signed distance fields have one."""
    field = np.array([t.geom_type[g] != _SDF or has_field(t, g) for g in range(t.ngeom)], bool)
    return field[geom].all(axis=1)


def _groups(
    t: Topology, geom: np.ndarray, hooked: dict[int, HookedPair]
) -> tuple[tuple[PairGroup, ...], np.ndarray, np.ndarray]:
    """Return the groups by type pair, hooked pairs first, and pair and slot of every possible point in their layout."""
    groups, point_pair, point_slot = [], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    types = t.geom_type[geom]
    for row, hook in hooked.items():
        types[row], rows = HOOKED, np.array([row])
        groups.append(PairGroup(HOOKED, rows, geom[rows, 0], geom[rows, 1], hook.count, 1, hook=hook))
        point_pair.append(np.full(hook.count, row))
        point_slot.append(np.arange(hook.count))
    own = _by_kind(types)
    for kind, pair in sorted(PAIRS.items(), key=lambda item: item[1].method):
        rows = own.get(kind)
        if rows is not None:
            # the other methods look for near pairs themselves, or have few
            capacity = _pair_capacity(t, geom[rows]) if pair.method == Method.KERNEL else rows.size
            cells, slots = (0, 0), points_of(t, kind)[0]
            if pair.method == Method.HEIGHT_FIELD:
                field = np.searchsorted(np.flatnonzero(t.geom_type == GeomType.HFIELD), geom[rows, 0])
                cells = tuple(int(n) for n in t.hfield_cells[field, geom[rows, 1]].max(axis=0))
                slots = 2 * cells[0] * cells[1]
            elif pair.method == Method.SIGNED_DISTANCE:
                slots = sdf_slots(t, geom[rows])
            groups.append(PairGroup(kind, rows, geom[rows, 0], geom[rows, 1], slots, capacity, cells))
            point_pair.append(np.tile(rows, slots))
            point_slot.append(np.repeat(np.arange(slots), rows.size))
    return tuple(groups), np.concatenate(point_pair), np.concatenate(point_slot)


def sdf_slots(t: Topology, geom: np.ndarray) -> int:
    """Return how many points each pair of one type with a signed distance field gets; geom: shape (n, 2)."""
    if t.geom_type[geom[0, 0]] != _MESH:
        return t.flags.sdf_initpoints
    return min(MOST, 3 * int(t.mesh_facenum[t.geom_dataid[geom[:, 0]]].max()))


def points_of(t: Topology, kind: tuple[int, int]) -> tuple[int, int]:
    """Return slots and most of a pair of types, for the search of convex shapes that the flags choose."""
    row = PAIRS[kind]
    several = row.method == Method.CONVEX and row.slots > 1 and t.disabled(DisableBit.NATIVECCD)
    return (portal_contact.SLOTS, portal_contact.SLOTS) if several else (row.slots, row.most)


def _most(t: Topology, group: PairGroup) -> int:
    """Return how many points of one pair can be contacts at once."""
    return (points_of(t, group.types)[1] if group.types in PAIRS else 0) or min(group.slots, MOST)


def _pair_capacity(t: Topology, geom: np.ndarray) -> int:
    """Return how many of some pairs, shape (n, 2), go on to their kernel or search."""
    if len(geom) <= _ALL:
        return len(geom)
    root = t.body_rootid[t.geom_bodyid[geom]]
    own = root[:, 0] == root[:, 1]
    parts = (geom[own], _PAIRS_PER_GEOM_OF_ROBOT), (geom[~own], _PAIRS_PER_GEOM)
    most = sum(min(len(part), per_geom * np.unique(part).size) for part, per_geom in parts)
    return min(len(geom), max(_LEAST_PAIRS, most))


def _convex(t: Topology, groups: tuple[PairGroup, ...]) -> ConvexPlan | None:
    """Return the pairs of the groups without a closed form, in the order of the groups."""
    groups = [group for group in groups if group.types in pairs_by(Method.CONVEX)]
    if not groups:
        return None
    geom = np.concatenate([np.stack([group.geom1, group.geom2], axis=1) for group in groups])
    kinds = tuple(tuple(sorted(set(t.geom_type[geom[:, k]].tolist()))) for k in (0, 1))
    solid = make_solid(t, _meshes(t, geom))
    return ConvexPlan(
        geom=geom,
        pair=np.concatenate([group.pair for group in groups]),
        kinds=kinds,
        groups=len(groups),
        solid=solid,
        solid_id=solid_of(t, geom, solid),
        several=np.concatenate([np.full(group.pair.size, group.slots > 1) for group in groups]),
        capacity=_pair_capacity(t, geom),
    )


def _speculative(t: Topology, geom: np.ndarray, hooked: dict[int, HookedPair]) -> SpeculativePlan | None:
    """Return the pairs of convex geoms and planes, where the flag asks for contacts before they touch."""
    kind = t.geom_type[geom].reshape(-1, 2)
    pair = np.flatnonzero(np.isin(kind, (_PLANE, *_SOLID)).all(axis=1))
    pair = pair[~np.isin(pair, list(hooked))]
    if not t.enabled(EnableBit.SPECULATIVE) or not pair.size:
        return None
    geom, kind = geom[pair], kind[pair]
    solid = make_solid(t, _meshes(t, geom))
    first = kind[:, 0]
    bits = t.geom_contype, t.geom_conaffinity
    blocks = t.geom_bodyid[geom][:, :, None] != t.geom_bodyid
    meets = (bits[0][geom][:, :, None] & bits[1]) | (bits[1][geom][:, :, None] & bits[0])
    wide = np.isin(kind, (_PLANE, _CAPSULE, *_FLAT)).all(axis=1) & (kind != _CAPSULE).any(axis=1)
    return SpeculativePlan(
        geom=geom,
        pair=pair,
        kinds=(tuple(sorted(set(first[first != _PLANE].tolist()))), tuple(sorted(set(kind[:, 1].tolist())))),
        solid=solid,
        solid_id=solid_of(t, geom, solid),
        several=wide,
        blocks=(blocks & (meets != 0)).all(axis=1),
    )


def _solid(t: Topology, groups: tuple[PairGroup, ...], kind: GeomType, convex: ConvexPlan | None) -> SolidPlan | None:
    """Return the tables of the meshes that can touch another type; those of `convex` if they are of the same meshes."""
    geom = [group.geom2 for group in groups if group.types in ((kind, _MESH), (kind, _SDF))]
    if not geom:
        return None
    meshes = _meshes(t, np.concatenate(geom))
    return convex.solid if convex and _meshes(t, convex.geom) == meshes else make_solid(t, meshes)


def _meshes(t: Topology, geom: np.ndarray) -> list[int]:
    """Return the meshes that some geoms have, in ascending order."""
    return sorted(set(t.geom_dataid[geom[np.isin(t.geom_type[geom], (_MESH, _SDF))]].tolist()))
