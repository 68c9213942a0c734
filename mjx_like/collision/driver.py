"""The collision stage: all candidate pairs by type, then the touching points compacted into the contact buffer."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision import box, convex, hfield, hook, mesh_sdf, mixing, plane_mesh, pose, speculative
from mjx_like.collision.broadphase import Near, keep_lowest, near_pairs
from mjx_like.collision.closed import CLOSED
from mjx_like.collision.mixing import PairParameters
from mjx_like.collision.shape import Point, Shape
from mjx_like.collision.surface import surface_velocity
from mjx_like.math import vector as v
from mjx_like.math.select import take
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import GeomType, WarningType
from mjx_like.types.model import Model
from mjx_like.types.plans import CollisionPlan, PairGroup
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array

_PLANE, _SPHERE, _CAPSULE = GeomType.PLANE, GeomType.SPHERE, GeomType.CAPSULE
_ELLIPSOID, _CYLINDER, _BOX, _MESH = GeomType.ELLIPSOID, GeomType.CYLINDER, GeomType.BOX, GeomType.MESH

KERNELS = CLOSED | {(_BOX, _BOX): box.box_box}


@record
class Candidates(Record):
    """All candidate points in the layout of the plan.

    Closed forms give signed distances also of pairs that are apart; the convex search only below the margin.

    `place` and `pair` are None where every possible point is a candidate: the plan has them.
    """

    active: Array = leaf("ncandidate")
    dist: Array = leaf("ncandidate", unit="m")
    pos: Array = leaf(3, "ncandidate", unit="m, world")
    normal: Array = leaf(3, "ncandidate", unit="world")
    crowded: Array | bool = leaf()  # whether bounds left pairs out that may touch
    place: Array | None = leaf("ncandidate")  # in MuJoCo's order of all possible points
    pair: Array | None = leaf("ncandidate")  # row in the plan's tables


def collision(m: Model, d: Data) -> Data:
    """Return `d` with its contacts: the deepest `nconmax` of them, in MuJoCo's order.

    Reads geom_xpos, geom_xmat; with the flag `speculative` also subtree_com, cdof, qvel.
    Writes contact, ncon, maxuse_con, warning[CONTACTFULL].  Source: mj_collision.
    """
    plan = m.plans.collision
    if plan.point_pair.size == 0 or m.nconmax == 0:
        return _without_contacts(m, d)
    parameters = mixing.pair_parameters(m)
    points = candidates(m, d.geom_xpos, d.geom_xmat, parameters.detect)
    discrete = points.active.size
    if plan.speculative is not None:
        points = _with_speculation(m, d, points, parameters)
    detected = jnp.sum(points.active, dtype=jnp.int32)
    ncon = jnp.minimum(detected, m.nconmax)
    kept = keep_lowest(points.active, points.dist, m.nconmax)
    row, pair = _rows(plan, kept, m.nconmax) if points.place is None else _placed_rows(points, kept, m.nconmax)
    ahead = None if plan.speculative is None else row >= discrete
    used = jnp.arange(m.nconmax) < ncon
    contact = _contacts(m, d.geom_xpos, d.geom_xmat, points, parameters, row, pair, used, ahead)
    full = ((detected > m.nconmax) | points.crowded).astype(d.warning.dtype)
    return d.replace(
        contact=contact,
        ncon=ncon,
        maxuse_con=jnp.maximum(d.maxuse_con, detected),
        warning=d.warning + full * _one_hot(WarningType.CONTACTFULL, d.warning),
    )


def candidates(m: Model, geom_xpos: Array, geom_xmat: Array, detect: Array) -> Candidates:
    """Return all candidate points, group by group.

    Args:
      m: the model.
      geom_xpos: shape (ngeom, 3) [m].
      geom_xmat: shape (ngeom, 3, 3).
      detect: distance below which each pair is in contact, shape (npair,) [m].
    """
    plan = m.plans.collision
    closed = plan.groups[: len(plan.groups) - (plan.convex.groups if plan.convex else 0)]
    pairs = [group.pair for group in closed]
    limits = jnp.split(take(detect, np.concatenate(pairs)), np.cumsum([p.size for p in pairs])[:-1]) if pairs else []
    near = [
        near_pairs(m, group, geom_xpos, geom_xmat, limit) if group.capacity < group.pair.size else None
        for group, limit in zip(closed, limits, strict=True)
    ]
    shapes = pose.pair_shapes(m, closed, geom_xpos, geom_xmat, near)
    columns: list[tuple[Array, ...]] = []
    for group, chosen, limit, (first, second) in zip(closed, near, limits, shapes, strict=True):
        limit = limit if chosen is None else limit[chosen.pair]
        for point in _group_points(m, group, (first, second), limit, geom_xpos, geom_xmat):
            active = point.dist <= limit
            active = active if point.valid is None else active & point.valid
            active = active if chosen is None else active & chosen.used
            floats = (point.dist, *point.pos, *point.normal)
            columns.append((active.ravel(), *(jnp.broadcast_to(x, active.shape).ravel() for x in floats)))
    columns += _convex_columns(m, geom_xpos, geom_xmat, detect)
    active, *rest = (jnp.concatenate(parts) for parts in zip(*columns, strict=True))
    points = Candidates(active, rest[0], jnp.stack(rest[1:4]), jnp.stack(rest[4:7]), False, None, None)
    near += [None] * (len(plan.groups) - len(closed))
    return points if all(x is None for x in near) else _with_places(plan, near, points)


def _group_points(
    m: Model, group: PairGroup, shapes: tuple[Shape, Shape], limit: Array, geom_xpos: Array, geom_xmat: Array
) -> list[Point]:
    """Return the candidate points of a group of pairs that have no general search."""
    if group.hook is not None:
        return [hook.hook_points(group, *shapes)]
    if group.types[0] == GeomType.HFIELD:
        return [hfield.points(m, group, geom_xpos, geom_xmat, limit)]
    if group.types[1] == GeomType.SDF and group.types[0] != _PLANE:
        return [mesh_sdf.field_points(m, group, *shapes)]
    if group.types in ((_PLANE, _MESH), (_PLANE, GeomType.SDF)):
        return plane_mesh.plane_mesh(m, group, *shapes, limit)
    return KERNELS[group.types](*shapes, limit)


def _with_places(plan: CollisionPlan, near: list[Near | None], points: Candidates) -> Candidates:
    """Return the candidates with the pair and the place in MuJoCo's order of each, and whether any were left out."""
    place_of = np.argsort(plan.point_row).astype(np.int32)  # of each possible point, in the layout of the plan
    place, pair, start = [], [], 0
    for group, chosen in zip(plan.groups, near, strict=True):
        table = place_of[start : start + group.slots * group.pair.size].reshape(group.slots, -1)
        start += table.size
        pairs = group.pair if chosen is None else jnp.asarray(group.pair.astype(np.int32))[chosen.pair]
        place.append(jnp.ravel(jnp.asarray(table) if chosen is None else jnp.asarray(table)[:, chosen.pair]))
        pair.append(jnp.tile(jnp.asarray(pairs, jnp.int32), group.slots))
    crowded = [x.found > g.capacity for g, x in zip(plan.groups, near, strict=True) if x is not None]
    return points.replace(crowded=jnp.any(jnp.stack(crowded)), place=jnp.concatenate(place), pair=jnp.concatenate(pair))


def _with_speculation(m: Model, d: Data, points: Candidates, parameters: PairParameters) -> Candidates:
    """Return the candidates with the contacts before an impact after them, for pairs that do not touch."""
    plan = m.plans.collision
    if points.place is None:
        order = np.argsort(plan.point_row).astype(np.int32)
        points = points.replace(place=jnp.asarray(order), pair=jnp.asarray(plan.point_pair[order].astype(np.int32)))
    touches = points.active & (points.dist < parameters.margin[points.pair])
    count = parameters.margin.size
    touching = jnp.zeros(count, bool).at[points.pair].max(touches)
    found = speculative.speculate(m, d, plan.speculative, parameters, lax.stop_gradient(touching))
    replaced = jnp.zeros(count, bool).at[plan.speculative.pair].max(found.active.any(axis=1))
    slots, pair = found.active.shape[1], plan.speculative.pair.astype(np.int32)
    # between the first discrete point of their pair and the second
    start = np.searchsorted(plan.point_pair, pair)[:, None] * 2 * slots + 1 + np.arange(slots)
    return points.replace(
        active=jnp.concatenate([points.active & ~replaced[points.pair], found.active.ravel()]),
        dist=jnp.concatenate([points.dist, jnp.repeat(found.dist, slots)]),
        pos=jnp.concatenate([points.pos, found.pos.reshape(-1, 3).T], axis=1),
        normal=jnp.concatenate([points.normal, jnp.repeat(found.normal, slots, axis=0).T], axis=1),
        place=jnp.concatenate([2 * slots * points.place, jnp.asarray(start.ravel().astype(np.int32))]),
        pair=jnp.concatenate([points.pair, jnp.asarray(np.repeat(pair, slots))]),
    )


def _convex_columns(m: Model, geom_xpos: Array, geom_xmat: Array, detect: Array) -> list[tuple[Array, ...]]:
    """Return the columns of the pairs without a closed form: the last groups of the layout."""
    plan = m.plans.collision.convex
    if plan is None:
        return []
    points = convex.convex_points(m, plan, geom_xpos, geom_xmat, take(detect, plan.pair))
    columns, begin = [], 0
    for group in m.plans.collision.groups[-plan.groups :]:
        rows = slice(begin, begin + group.pair.size)
        begin += group.pair.size
        for slot in range(group.slots):
            normal = points.normal[rows] if points.normal.ndim == 2 else points.normal[rows, slot]
            values = (points.dist[rows, slot], *points.pos[rows, slot].T, *normal.T)
            columns.append((points.count[rows] > slot, *values))
    return columns


def _rows(plan: CollisionPlan, kept: Array, capacity: int) -> tuple[Array, Array]:
    """Return where the kept points stand in the layout, in MuJoCo's order, and their pairs, both shape (capacity,).

    Beyond the kept ones stands the size of the layout.
    """
    size = plan.point_row.size
    order = np.argsort(plan.point_row).astype(np.int32)
    first = jnp.sort(jnp.where(kept, order, size))[:capacity]
    first = jnp.concatenate([first, jnp.full(max(capacity - size, 0), size, jnp.int32)])
    row = jnp.asarray(np.append(plan.point_row, size).astype(np.int32))[first]
    pair_of_row = np.zeros(size + 1, np.int32)
    pair_of_row[plan.point_row] = plan.point_pair
    return row, jnp.asarray(pair_of_row)[row]


def _placed_rows(points: Candidates, kept: Array, capacity: int) -> tuple[Array, Array]:
    """Return what `_rows` does, where bounds chose the candidates at run time."""
    size = points.active.size
    key, order = jnp.where(kept, points.place, np.iinfo(np.int32).max), jnp.arange(size, dtype=jnp.int32)
    key, order = lax.sort((key, order), num_keys=1)
    row = jnp.where(key < np.iinfo(np.int32).max, order, size)[:capacity]
    row = jnp.concatenate([row, jnp.full(max(capacity - size, 0), size, jnp.int32)])
    return row, points.pair.at[row].get(mode="fill", fill_value=0)


def _contacts(
    m: Model,
    geom_xpos: Array,
    geom_xmat: Array,
    points: Candidates,
    parameters,
    row: Array,
    pair: Array,
    used: Array,
    ahead: Array | None,
) -> Contact:
    """Return the contacts; ahead: which of them are speculative, shape (nconmax,), None where none is."""
    plan = m.plans.collision
    table = jnp.concatenate([points.dist[None], points.pos, points.normal])
    table = table.at[:, row].get(mode="fill", fill_value=0)
    dist, pos, normal = table[0], tuple(table[1:4]), tuple(table[4:7])
    normal = (jnp.where(used, normal[0], 1), normal[1], normal[2])
    columns = [
        parameters.margin[:, None],
        parameters.friction,
        parameters.solref,
        parameters.solreffriction,
        parameters.solimp,
    ]
    if parameters.adhesion is not None:
        columns.append(parameters.adhesion[:, None])
    inherited = jnp.concatenate(columns, axis=1)[pair]
    ids = jnp.asarray(np.concatenate([plan.geom, plan.dim[:, None]], axis=1))[pair]
    point, frame = v.pack(pos), _frame(normal, _tangent(m, geom_xmat, pair, ahead))
    pushes = dist < inherited[:, 0]
    surfacevel = jnp.zeros_like(point)
    if m.has["geom_surfacevel"].any():
        surfacevel = surface_velocity(m, geom_xpos, geom_xmat, jnp.where(used[:, None], ids[:, :2], 0), point, frame)
    return Contact(
        dist=jnp.where(used, dist, 1),
        pos=point,
        frame=frame,
        includemargin=jnp.where(used, inherited[:, 0], 0),
        friction=inherited[:, 1:6],
        solref=inherited[:, 6:8],
        solreffriction=inherited[:, 8:10],
        solimp=inherited[:, 10:15],
        adhesion=jnp.where(used, inherited[:, 15], 0) if parameters.adhesion is not None else jnp.zeros_like(dist),
        surfacevel=jnp.where(used[:, None], surfacevel, 0),
        dim=jnp.where(used, ids[:, 2], 0),
        exclude=jnp.where(used & (pushes if ahead is None else pushes | ahead), 0, 1).astype(jnp.int32),
        geom=jnp.where(used[:, None], ids[:, :2], -1),
        efc_address=jnp.full(m.nconmax, -1, jnp.int32),
    )


def _tangent(m: Model, geom_xmat: Array, pair: Array, ahead: Array | None) -> v.Vector | None:
    """Return the direction that the first tangent follows: the axis of a capsule on a plane, else zero."""
    plan = m.plans.collision
    special = np.all(m.geom_type[plan.geom] == (_PLANE, _CAPSULE), axis=1)
    if not special.any():
        return None
    axis = geom_xmat[..., 2][jnp.asarray(plan.geom[:, 1])[pair]]
    follows = jnp.asarray(special)[pair] if ahead is None else jnp.asarray(special)[pair] & ~ahead
    return v.unpack(jnp.where(follows[:, None], axis, 0))


def _frame(normal: v.Vector, tangent: v.Vector | None) -> Array:
    """Return the frame of rows (normal, tangents), shape (n, 3, 3); the first tangent follows `tangent` unless short.

    Else it follows the y axis, or z where the normal is within 60 degrees of y.  Source: mju_makeFrame.
    """
    flat = jnp.abs(normal[1]) < 0.5
    zero, one = jnp.zeros_like(normal[0]), jnp.ones_like(normal[0])
    guess = (zero, jnp.where(flat, one, zero), jnp.where(flat, zero, one))
    if tangent is not None:
        guess = v.select(v.dot(tangent, tangent) < 0.25, guess, tangent)
    first, _ = v.normalize(v.along(guess, normal, -v.dot(guess, normal)))
    return jnp.stack([v.pack(normal), v.pack(first), v.pack(v.cross(normal, first))], axis=-2)


def _without_contacts(m: Model, d: Data) -> Data:
    contact = d.contact.replace(
        dist=jnp.ones_like(d.contact.dist),
        includemargin=jnp.zeros_like(d.contact.includemargin),
        geom=jnp.full_like(d.contact.geom, -1),
        exclude=jnp.ones_like(d.contact.exclude),
        efc_address=jnp.full_like(d.contact.efc_address, -1),
    )
    return d.replace(contact=contact, ncon=jnp.zeros_like(d.ncon))


def _one_hot(index: int, like: Array) -> Array:
    return jnp.asarray(np.arange(like.shape[0]) == index, like.dtype)
