"""All candidate points of contact, pair by pair in the layout of the plan."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision import hfield, pair_pose, user_function
from mjx_like.collision.at_need import near_points
from mjx_like.collision.broadphase import Near, near_pairs
from mjx_like.collision.closed import plane_mesh
from mjx_like.collision.convex import convex_pair
from mjx_like.collision.sdf import mesh_sdf
from mjx_like.collision.shape import Point, Shape
from mjx_like.collision.table import PAIRS, Method
from mjx_like.math.select import take
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
        near_pairs(m, group, geom_xpos, geom_xmat, limit) if group.capacity < group.pair.size else None
        for group, limit in zip(closed, limits, strict=True)
    ]
    shapes = pair_pose.pair_shapes(m, closed, geom_xpos, geom_xmat, near)
    over_fields = [k for k, group in enumerate(closed) if group.types[0] == GeomType.HFIELD]
    fields, reach = ([x[k] for k in over_fields] for x in (closed, limits))
    of_fields = dict(zip(over_fields, hfield.points(m, fields, geom_xpos, geom_xmat, reach), strict=True))
    columns: list[tuple[Array, ...]] = []
    for k, (group, chosen, limit, pair) in enumerate(zip(closed, near, limits, shapes, strict=True)):
        limit = limit if chosen is None else limit[chosen.pair]
        if chosen is not None:
            made = near_points(PAIRS[group.types].kernel, chosen.found, (*pair, limit))
        else:
            made = [of_fields[k]] if k in of_fields else _group_points(m, group, pair, limit)
        for point in made:
            active = point.dist <= limit
            active = active if point.valid is None else active & point.valid
            active = active if chosen is None else active & chosen.used
            floats = (point.dist, *point.pos, *point.normal)
            columns.append((active.ravel(), *(jnp.broadcast_to(x, active.shape).ravel() for x in floats)))
    columns += _convex_columns(m, geom_xpos, geom_xmat, detect)
    active, *rest = (jnp.concatenate(parts) for parts in zip(*columns, strict=True))
    points = Candidates(active, rest[0], jnp.stack(rest[1:4]), jnp.stack(rest[4:7]), False, None, None)
    near += [None] * (len(plan.groups) - len(closed))
    return points if all(x is None for x in near) else _with_ranks(plan, near, points)


def _group_points(m: Model, group: PairGroup, shapes: tuple[Shape, Shape], limit: Array) -> list[Point]:
    """Return the candidate points of a group of pairs that have a kernel of their own."""
    if group.hook is not None:
        return [user_function.hook_points(group, *shapes)]
    row = PAIRS[group.types]
    if row.method == Method.SIGNED_DISTANCE:
        return [mesh_sdf.field_points(m, group, *shapes)]
    if row.method == Method.HULL_ON_PLANE:
        return plane_mesh.plane_mesh(m, group, *shapes, limit)
    return row.kernel(*shapes, limit)


def _with_ranks(plan: CollisionPlan, near: list[Near | None], points: Candidates) -> Candidates:
    """Return the candidates with the pair and the rank in MuJoCo's order of each, and whether any were left out."""
    rank, pair, start = [], [], 0
    for group, chosen in zip(plan.groups, near, strict=True):
        table = plan.point_rank[start : start + group.slots * group.pair.size].reshape(group.slots, -1)
        start += table.size
        pairs = group.pair if chosen is None else jnp.asarray(group.pair.astype(np.int32))[chosen.pair]
        rank.append(jnp.ravel(jnp.asarray(table) if chosen is None else jnp.asarray(table)[:, chosen.pair]))
        pair.append(jnp.tile(jnp.asarray(pairs, jnp.int32), group.slots))
    crowded = [x.found > g.capacity for g, x in zip(plan.groups, near, strict=True) if x is not None]
    return points.replace(crowded=jnp.any(jnp.stack(crowded)), rank=jnp.concatenate(rank), pair=jnp.concatenate(pair))


def _convex_columns(m: Model, geom_xpos: Array, geom_xmat: Array, detect: Array) -> list[tuple[Array, ...]]:
    """Return the columns of the pairs without a closed form: the last groups of the layout."""
    plan = m.plans.collision.convex
    if plan is None:
        return []
    points = convex_pair.convex_points(m, plan, geom_xpos, geom_xmat, take(detect, plan.pair))
    columns, begin = [], 0
    for group in m.plans.collision.groups[-plan.groups :]:
        rows = slice(begin, begin + group.pair.size)
        begin += group.pair.size
        for slot in range(group.slots):
            normal = points.normal[rows] if points.normal.ndim == 2 else points.normal[rows, slot]
            values = (points.dist[rows, slot], *points.pos[rows, slot].T, *normal.T)
            columns.append((points.count[rows] > slot, *values))
    return columns
