"""All candidate points of contact, pair by pair in the layout of the plan."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision import hfield, pair_pose, user_function
from mjx_like.collision.at_need import Pairs, near_points
from mjx_like.collision.broadphase import Near, box_gap, box_table, group_gap, near_pairs, nearest_boxes, refined
from mjx_like.collision.closed import plane_mesh
from mjx_like.collision.convex import convex_pair
from mjx_like.collision.sdf import mesh_sdf
from mjx_like.collision.shape import Point, Shape
from mjx_like.collision.table import PAIRS, Method
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import rows, take
from mjx_like.math.vector import Vector
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import CollisionPlan, PairGroup
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array


@record
class Candidates(Record):
    """All candidate points in the layout of the plan.

    Closed forms give signed distances also of pairs that are apart; the convex search only below the margin.

    `rank` and `pair` are None where every possible point is a candidate: the plan has them.
    """

    active: Array = leaf("ncandidate")
    dist: Array = leaf("ncandidate", unit="m")
    pos: Array = leaf(3, "ncandidate", unit="m, world")
    normal: Array = leaf(3, "ncandidate", unit="world")
    crowded: Array | bool = leaf()  # whether bounds left pairs out that may touch
    rank: Array | None = leaf("ncandidate")  # in MuJoCo's order of all possible points
    pair: Array | None = leaf("ncandidate")  # row in the plan's tables


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
        _near(m, group, limit, geom_xpos, geom_xmat) if _chosen_by_bounds(group) else None
        for group, limit in zip(closed, limits, strict=True)
    ]
    whole = [k for k, chosen in enumerate(near) if chosen is None]
    shapes = dict(zip(whole, pair_pose.pair_shapes(m, [closed[k] for k in whole], geom_xpos, geom_xmat), strict=True))
    over_fields = [k for k, group in enumerate(closed) if group.types[0] == GeomType.HFIELD]
    fields, reach = ([x[k] for k in over_fields] for x in (closed, limits))
    of_fields = dict(zip(over_fields, hfield.points(m, fields, geom_xpos, geom_xmat, reach), strict=True))
    columns: list[tuple[Array, ...]] = []
    for k, (group, chosen, limit) in enumerate(zip(closed, near, limits, strict=True)):
        if chosen is not None:
            limit = rows(limit, chosen.pair)
            made = _near_points(m, group, chosen, limit, geom_xpos, geom_xmat)
        else:
            made = [of_fields[k]] if k in of_fields else _group_points(m, group, shapes[k], limit)
        for point in made:
            active = point.dist <= limit
            active = active if point.valid is None else active & point.valid
            active = active if chosen is None else active & chosen.used
            columns.append(_columns(active, point.dist, point.pos, point.normal))
    of_convex, chosen = _convex_columns(m, geom_xpos, geom_xmat, detect)
    active, *rest = (jnp.concatenate(parts) for parts in zip(*columns, *of_convex, strict=True))
    points = Candidates(active, rest[0], jnp.stack(rest[1:4]), jnp.stack(rest[4:7]), False, None, None)
    near = [*near, chosen]
    return points if all(x is None for x in near) else _with_ranks(plan, near, points)


def _chosen_by_bounds(group: PairGroup) -> bool:
    """Return whether only the pairs of a group whose bounds are near go on to its kernel."""
    row = PAIRS.get(group.types)  # a function of the user has none
    dear = on_cpu() and row is not None and row.dear and group.pair.size > row.lot
    return dear or group.capacity < group.pair.size


def _near(m: Model, group: PairGroup, limit: Array, geom_xpos: Array, geom_xmat: Array) -> Near:
    """Return the pairs of a group whose bounds are nearest: by spheres, then by boxes if need be."""
    gap = group_gap(m, group, geom_xpos, geom_xmat) - limit
    if {GeomType.PLANE, GeomType.HFIELD} & set(group.types):
        return near_pairs(gap, group.capacity)
    geom = np.stack([group.geom1, group.geom2], axis=1).astype(np.int32)

    def by_boxes(pair: Array | np.ndarray, table: Array, limit: Array) -> Array:
        return box_gap(table, rows(geom, pair)) - rows(limit, pair)

    def own() -> tuple[Array, Array]:
        return box_table(m, geom_xpos, geom_xmat), lax.stop_gradient(limit)

    if group.types == (GeomType.BOX, GeomType.BOX):
        return nearest_boxes(gap, group.capacity, by_boxes, *own())
    gap = refined(gap, group.capacity, lambda: by_boxes(np.arange(gap.size), *own()))
    return near_pairs(gap, group.capacity)


def _near_points(
    m: Model, group: PairGroup, chosen: Near, limit: Array, geom_xpos: Array, geom_xmat: Array
) -> list[Point]:
    """Return the candidate points of the pairs of a group that bounds chose."""
    axes = slice(2, 3) if pair_pose.only_z(group) else slice(0, 3)
    table = pair_pose.geom_table(m, geom_xpos, geom_xmat, axes)
    first, second = (rows(geom.astype(np.int32), chosen.pair) for geom in (group.geom1, group.geom2))
    row = PAIRS[group.types]
    return near_points(row.kernel_of(m.hard is not None), row.lot, chosen.found, Pairs(table, first, second, limit))


def _columns(active: Array, dist: Array, pos: Vector | Array, normal: Vector | Array) -> tuple[Array, ...]:
    floats = (dist, *pos, *normal)
    return (active.ravel(), *(jnp.broadcast_to(x, active.shape).ravel() for x in floats))


def _group_points(m: Model, group: PairGroup, shapes: tuple[Shape, Shape], limit: Array) -> list[Point]:
    """Return the candidate points of a group of pairs that have a kernel of their own."""
    if group.hook is not None:
        return [user_function.hook_points(group, *shapes)]
    row = PAIRS[group.types]
    if row.method == Method.SIGNED_DISTANCE:
        return [mesh_sdf.field_points(m, group, *shapes)]
    if row.method == Method.HULL_ON_PLANE:
        return plane_mesh.plane_mesh(m, group, *shapes, limit)
    return row.kernel_of(m.hard is not None)(*shapes, limit)


def _with_ranks(plan: CollisionPlan, near: list[Near | None], points: Candidates) -> Candidates:
    """Return the candidates with the pair and the rank in MuJoCo's order of each, and whether any were left out.

    near: of each group with a closed form, then of all others together.
    """
    rank, pair, start, crowded = [], [], 0, []
    closed = len(near) - 1
    for group, chosen in zip(plan.groups, [*near[:closed], *[None] * (len(plan.groups) - closed)], strict=True):
        table = plan.point_rank[start : start + group.slots * group.pair.size].reshape(group.slots, -1)
        start += table.size
        if len(rank) >= closed and near[closed] is not None:
            continue
        pairs = group.pair.astype(np.int32)
        rank.append(jnp.ravel(table if chosen is None else rows(table.T, chosen.pair).T))
        pair.append(jnp.tile(pairs if chosen is None else rows(pairs, chosen.pair), group.slots))
        if chosen is not None:
            crowded.append(chosen.found > group.capacity)
    if near[closed] is not None:
        table, chosen = _convex_ranks(plan), near[closed].pair
        rank.append(jnp.ravel(rows(table, chosen).T))
        pair.append(jnp.tile(rows(plan.convex.pair.astype(np.int32), chosen), table.shape[1]))
        crowded.append(near[closed].found > plan.convex.capacity)
    return points.replace(crowded=jnp.any(jnp.stack(crowded)), rank=jnp.concatenate(rank), pair=jnp.concatenate(pair))


def _convex_ranks(plan: CollisionPlan) -> np.ndarray:
    """Return the ranks of the points of all pairs without a closed form, shape (n, slots); zero beyond a pair's own."""
    groups = plan.groups[-plan.convex.groups :]
    most = max(group.slots for group in groups)
    start, parts = plan.point_rank.size - sum(g.slots * g.pair.size for g in groups), []
    for group in groups:
        own = plan.point_rank[start : start + group.slots * group.pair.size].reshape(group.slots, -1)
        start += own.size
        parts.append(np.pad(own, ((0, most - group.slots), (0, 0))).T)
    return np.concatenate(parts)


def _convex_columns(
    m: Model, geom_xpos: Array, geom_xmat: Array, detect: Array
) -> tuple[list[tuple[Array, ...]], Near | None]:
    """Return the columns of the pairs without a closed form, the last groups of the layout, and which are there."""
    plan = m.plans.collision.convex
    if plan is None:
        return [], None
    points, chosen = convex_pair.convex_points(m, plan, geom_xpos, geom_xmat, take(detect, plan.pair))
    groups = m.plans.collision.groups[-plan.groups :]
    columns = []
    if chosen is not None:
        parts = [(slice(None), max(group.slots for group in groups))]
    else:
        ends = np.cumsum([group.pair.size for group in groups])
        parts = [(slice(end - group.pair.size, end), group.slots) for group, end in zip(groups, ends, strict=True)]
    for part, slots in parts:
        active = points.count[part] > np.arange(slots)[:, None]
        normal = points.normal[part].T if points.normal.ndim == 2 else points.normal[part, :slots].T
        columns.append(_columns(active, points.dist[part, :slots].T, points.pos[part, :slots].T, normal))
    return columns, chosen
