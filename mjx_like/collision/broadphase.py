"""Which pairs of a large group are near enough to be worth their kernel: those whose bounds meet."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math.batching import largest
from mjx_like.math.lists import at_need, first_set, keep_lowest, positions
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import rows, take
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import PairGroup
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array

_MANY = 2048  # pairs of boxes from which on a list of the near ones takes less time than the bounds of all
_SLACK = 16  # of bounding boxes, in units of rounding


@record
class Near(Record):
    """The pairs of one group that go on to its kernel."""

    pair: Array = leaf("capacity")  # row in the group; rows beyond the used ones name any pair
    used: Array = leaf("capacity")
    found: Array = leaf()  # how many bounds meet; those beyond the capacity are left out, the farthest first


def near_pairs(gap: Array, capacity: int) -> Near:
    """Return at most `capacity` of the pairs whose bounds are near enough, in their order.

    gap: shape (n,) [m], lower bound of the distance less that below which the pair is in contact: near where <= 0.

    Nothing here has a derivative.
    """
    gap = lax.stop_gradient(gap)
    meets = gap <= 0
    found = jnp.sum(meets, dtype=jnp.int32)
    first = positions(keep_lowest(meets, gap, capacity), capacity)
    return Near(jnp.minimum(first, gap.size - 1), first < gap.size, found)


def refined(gap: Array, capacity: int, finer: Callable[[], Array]) -> Array:
    """Return lower bounds of distances, shape (n,): better ones where more than `capacity` are not above zero.

    finer: makes other bounds, of which the larger counts; it runs only when some world of a batch needs it.

    Nothing here has a derivative.
    """
    gap = lax.stop_gradient(gap)
    if gap.size <= capacity:
        return gap
    # of the whole batch: in a loop that each world enters, XLA would take out what all its rounds would share
    crowded = largest(jnp.sum(gap <= 0, dtype=jnp.int32)) > capacity
    return lax.cond(crowded, lambda: jnp.maximum(gap, lax.stop_gradient(finer())), lambda: gap)


def nearest_boxes(gap: Array, capacity: int, finer: Callable[..., Array], *args: Any) -> Near:
    """Return what `near_pairs` does with better bounds; on a CPU those of many pairs are made of the near ones alone.

    gap: as in `near_pairs`. finer: (rows of the group, *args) -> other bounds, of which the larger counts.
    """
    gap, args = lax.stop_gradient((gap, args))
    if gap.size < _MANY or not on_cpu():
        return near_pairs(jnp.maximum(gap, finer(np.arange(gap.size), *args)), capacity)

    def listed(size: int, total: Array, gap: Array, *args: Any) -> Near:
        place, room = first_set(size, total), min(size, capacity)
        pair = jnp.minimum(place, gap.size - 1)
        better = jnp.where(place < gap.size, jnp.maximum(rows(gap, pair), finer(pair, *args)), jnp.inf)
        meets = better <= 0
        kept = first_set(room, jnp.cumsum(keep_lowest(meets, better, room), dtype=jnp.int32))
        left = (0, capacity - room)
        return Near(
            pair=jnp.pad(rows(pair, jnp.minimum(kept, size - 1)), left),
            used=jnp.pad(kept < size, left),
            found=jnp.sum(meets, dtype=jnp.int32),
        )

    total = jnp.cumsum(gap <= 0, dtype=jnp.int32)
    sizes = (capacity, gap.size) if capacity < gap.size else (gap.size,)
    return at_need(listed, sizes, total[-1], total, gap, *args)


def group_gap(m: Model, group: PairGroup, geom_xpos: Array, geom_xmat: Array) -> Array:
    """Return a lower bound of the distance of each pair of a group, shape (n,) [m]; a height field has none.

    Args:
      m: the model; reads geom_rbound and geom_size.
      group: the group.
      geom_xpos: shape (ngeom, 3) [m], world.
      geom_xmat: shape (ngeom, 3, 3).

    Source: mj_filterSphere for the bounds.
    """
    first, second = group.geom1, group.geom2
    if GeomType.HFIELD in group.types:
        return jnp.full(first.size, -jnp.inf, geom_xpos.dtype)
    if group.types[0] == GeomType.PLANE:
        apart = geom_xpos[second] - geom_xpos[first]
        return jnp.sum(apart * geom_xmat[first, :, 2], axis=1) - m.geom_rbound[second]
    return sphere_gap(m, first, second, geom_xpos)


def sphere_gap(m: Model, first: np.ndarray, second: np.ndarray, geom_xpos: Array) -> Array:
    """Return the distances of the bounding spheres of geoms, shape (n,) [m]; below zero where they overlap."""
    apart = take(geom_xpos, second) - take(geom_xpos, first)
    return jnp.sqrt(jnp.sum(apart * apart, axis=1)) - take(m.geom_rbound, first) - take(m.geom_rbound, second)


def box_table(m: Model, geom_xpos: Array, geom_xmat: Array) -> Array:
    """Return what `box_gap` reads of each geom, shape (ngeom, 18): position, axes and bounding box."""
    return lax.stop_gradient(jnp.concatenate([geom_xpos, geom_xmat.reshape(-1, 9), m.geom_aabb], axis=1))


def box_gap(table: Array, geom: Array) -> Array:
    """Return lower bounds of the distances of geoms by their bounding boxes, less what rounding can take, shape (n,).

    table: as `box_table` returns it. geom: pairs, shape (n, 2). Nothing here has a derivative.
    """
    sides = [rows(table, own) for own in geom.T]
    turned = [side[:, 3:12].reshape(-1, 3, 3) for side in sides]
    center = [
        side[:, :3] + jnp.sum(mat * side[:, None, 12:15], axis=2) for side, mat in zip(sides, turned, strict=True)
    ]
    apart = center[1] - center[0]
    reach = [jnp.sum(jnp.abs(side[:, :3]) + jnp.abs(c), axis=1) for side, c in zip(sides, center, strict=True)]
    return between_boxes(apart, *turned, *(side[:, 15:] for side in sides)) - _slack(*reach)


def _slack(first: Array, second: Array) -> Array:
    """Return what rounding can take from gaps along axes; of both geoms the sum of the coordinates' sizes, (n,) [m]."""
    return _SLACK * jnp.finfo(first.dtype).eps * (2 * first + second)


def between_boxes(apart: Array, first: Array, second: Array, size1: Array, size2: Array) -> Array:
    """Return the largest gap of boxes along the axes of either, shape (n,) [m]; below zero where there is none.

    apart: from centre to centre, shape (n, 3); first, second: rotations, shape (n, 3, 3); size1, size2: half sizes.
    """
    cosine = jnp.abs(jnp.sum(first[:, :, :, None] * second[:, :, None, :], axis=1))
    gap1 = jnp.abs(jnp.sum(apart[:, :, None] * first, axis=1)) - size1 - jnp.sum(cosine * size2[:, None, :], axis=2)
    gap2 = jnp.abs(jnp.sum(apart[:, :, None] * second, axis=1)) - size2 - jnp.sum(cosine * size1[:, :, None], axis=1)
    return jnp.maximum(jnp.max(gap1, axis=1), jnp.max(gap2, axis=1))
