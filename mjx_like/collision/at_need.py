"""Kernels of pairs at the least capacity that holds the near pairs of every world of a batch."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.collision.shape import Point, as_shape
from mjx_like.collision.table import Kernel
from mjx_like.math.batching import capacities, mapped_batch, with_capacity
from mjx_like.math.linear import floats, is_float, linear_at_capacity
from mjx_like.math.select import rows
from mjx_like.math.tangent import changing, still

Array = jax.Array

_LEAST, _SECOND = 32, 8  # capacities: the least, and how many times as much the second is


class Pairs(NamedTuple):
    """Pairs of geoms, those that count first."""

    geoms: Array  # position, axes and size of each geom as `shape.as_shape` takes them, shape (ngeom, k)
    first: Array  # geoms of the pairs, shape (n,)
    second: Array
    limit: Array  # distance of interest, shape (n,) [m]


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def near_points(kernel: Kernel, need: Array, pairs: Pairs) -> list[Point]:
    """Return the points of pairs, the first `need` of which count; all arrays in the shape of `dist`, pairs last."""
    limit = pairs.limit.shape[-1]

    def batched(axes, need, pairs):
        def sized(size, pairs):
            return jax.vmap(functools.partial(_padded, kernel, size), in_axes=axes[1:])(pairs)

        return with_capacity((0, *capacities(limit, _LEAST, _SECOND)), need, sized, pairs)

    return mapped_batch(batched)(need, pairs)


@functools.partial(near_points.defjvp, symbolic_zeros=True)
def _near_points_jvp(kernel: Kernel, primals, tangents):
    need, pairs = primals
    made = near_points(kernel, need, pairs)
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
    limit = pairs.limit.shape[-1]
    if size == 0:
        shapes = jax.eval_shape(functools.partial(_padded, kernel, limit), pairs)
        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    first, second = (as_shape(jnp.unstack(rows(pairs.geoms, k[:size]), axis=1)) for k in (pairs.first, pairs.second))

    def pad(x: Array, like: Array) -> Array:
        x = jnp.broadcast_to(x, like.shape)
        return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, limit - size)])

    made = kernel(first, second, pairs.limit[:size])
    return [jax.tree.map(lambda x, dist=p.dist: pad(x, dist), p) for p in made]
