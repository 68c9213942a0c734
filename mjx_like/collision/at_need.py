"""Kernels of pairs, lot by lot, until the near pairs of every world of a batch are done."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.collision.shape import Point, as_shape
from mjx_like.collision.table import Kernel
from mjx_like.math.batching import mapped_batch
from mjx_like.math.linear import floats, is_float, linear_at_capacity
from mjx_like.math.lots import share
from mjx_like.math.select import rows
from mjx_like.math.tangent import changing, still

Array = jax.Array

_LOTS = 32  # of the room for pairs, unless lots get too small


class Pairs(NamedTuple):
    """Pairs of geoms, those that count first."""

    geoms: Array  # position, axes and size of each geom as `shape.as_shape` takes them, shape (ngeom, k)
    first: Array  # geoms of the pairs, shape (n,)
    second: Array
    limit: Array  # distance of interest, shape (n,) [m]


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def near_points(kernel: Kernel, lot: int, need: Array, pairs: Pairs) -> list[Point]:
    """Return the points of pairs, the first `need` of which count; all arrays in the shape of `dist`, pairs last.

    lot: pairs that are done at a time, at the least.
    """

    def batched(axes, need, pairs):
        return _in_lots(jax.vmap(functools.partial(_points, kernel), in_axes=axes[1:]), lot, need, pairs)

    return mapped_batch(batched)(need, pairs)


def _in_lots(points: Callable[[Pairs], list[Point]], least: int, need: Array, pairs: Pairs) -> list[Point]:
    """Return `points(pairs)` of the lots that hold the first `need` pairs of any world, zeros beyond them."""
    limit = pairs.limit.shape[-1]
    size = min(limit, share(limit, least, _LOTS))

    def add(k: Array, found: list[Point]) -> list[Point]:
        start = k * size  # of the last lot, what fits
        lot = [lax.dynamic_slice_in_dim(x, start, size, axis=-1) for x in pairs[1:]]
        made = points(Pairs(pairs.geoms, *lot))
        return jax.tree.map(lambda x, y: lax.dynamic_update_slice_in_dim(x, y, start, axis=-1), found, made)

    none = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(points, pairs))
    lots = (jnp.minimum(jnp.max(need), limit) + size - 1) // size
    return lax.fori_loop(0, lots, add, none)


@functools.partial(near_points.defjvp, symbolic_zeros=True)
def _near_points_jvp(kernel: Kernel, lot: int, primals, tangents):
    need, pairs = primals
    made = near_points(kernel, lot, need, pairs)
    _, changes, _ = changing(pairs, tangents[1])
    if not changes:
        return made, jax.tree.map(still, made)

    def rates(size: int, pairs, changes: list[Array]) -> list[Array]:
        values, _, with_others = changing(pairs, tangents[1])
        return jax.jvp(lambda v: floats(_padded(kernel, size, with_others(v)))[0], (values,), (changes,))[1]

    found = iter(linear_at_capacity(rates, pairs.limit.shape[-1], need, pairs, changes))
    return made, jax.tree.map(lambda x: next(found) if is_float(x) else still(x), made)


def _padded(kernel: Kernel, size: int, pairs: Pairs) -> list[Point]:
    """Return the points of the first `size` pairs, zeros up to all of them."""
    left = pairs.limit.shape[-1] - size
    made = _points(kernel, Pairs(pairs.geoms, *(x[:size] for x in pairs[1:])))
    return jax.tree.map(lambda x: jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, left)]), made)


def _points(kernel: Kernel, pairs: Pairs) -> list[Point]:
    """Return the points of all pairs."""
    first, second = (as_shape(jnp.unstack(rows(pairs.geoms, k), axis=1)) for k in (pairs.first, pairs.second))
    made = kernel(first, second, pairs.limit)
    return [jax.tree.map(lambda x, dist=p.dist: jnp.broadcast_to(x, dist.shape), p) for p in made]
