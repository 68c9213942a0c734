"""Searches of many worlds on a CPU, as one kernel for each group of them: the worlds of a group are lanes.

XLA's CPU backend makes a kernel of each loop, and a search of many short loops takes longer to call them than to run.
In one kernel (`one_kernel`) with the worlds last (`world_last`) each operation acts on all worlds of a group at once,
in the vectors of the processor, and what the search works on stays in its cache.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math.loop_rules import LOOP_RULES
from mjx_like.math.one_kernel import kernel_of
from mjx_like.math.platform import on_cpu
from mjx_like.math.world_last import map_last

Array = jax.Array

LANES = 64  # worlds of a group; XLA vectorises loops over fewer badly
_LEAST = 32  # worlds that are worth a group


def in_lanes(search: Callable[..., Any], *args: Any) -> Any | None:
    """Return what a search finds for a batch of worlds, or None where that cannot be one kernel or is not worth it.

    search: a function of one world. Worlds that are done in its loops wait for the rest of their group.
    args: pytrees, batch axis first, as the result has it.
    """
    leaves, tree = jax.tree.flatten(args)
    batch = leaves[0].shape[0]
    if not on_cpu() or batch < _LEAST:
        return None
    count = -(-batch // LANES)
    many = [_worlds_last(x, count * LANES) for x in leaves]
    part = functools.partial(lax.dynamic_slice_in_dim, slice_size=LANES, axis=-1)
    group = _of_one_group(search, tree, [part(x, 0) for x in many])
    if group is None:
        return None
    kernel, shapes = group

    def turn(k: Array, found: Any) -> Any:
        own = kernel([part(x, k * LANES) for x in many])
        return jax.tree.map(lambda x, y: lax.dynamic_update_slice_in_dim(x, y, k * LANES, -1), found, own)

    none = jax.tree.map(lambda x: jnp.zeros((*x.shape[:-1], count * LANES), x.dtype), shapes)
    found = lax.fori_loop(0, count, turn, none)
    return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0)[:batch], found)


def _worlds_last(x: Array, count: int) -> Array:
    """Return an array (batch, ...) as (..., count); the last world is there more than once."""
    x = x[np.minimum(np.arange(count), len(x) - 1)] if count > len(x) else x
    return jnp.moveaxis(x, 0, -1)


def _of_one_group(
    search: Callable[..., Any], tree: Any, given: list[Array]
) -> tuple[Callable[[list[Array]], Any], Any] | None:
    """Return the search of a group as one kernel, with the shapes of its result; arrays have its worlds last.

    tree: of the arguments; given: their leaves. Arrays without entries are no arguments or results of a kernel.
    """
    many = map_last(lambda *x: search(*tree.unflatten(x)), (True,) * len(given), LOOP_RULES)
    shapes: list[Any] = []

    def without_empty(*present: Array) -> list[Array]:
        values = iter(present)
        found = many(*(next(values) if x.size else _empty(x) for x in given))
        shapes[:] = [jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), found)]
        return [x for x in jax.tree.leaves(found) if x.size]

    kernel = kernel_of(without_empty, *(x for x in given if x.size))
    if kernel is None:
        return None

    def group(leaves: list[Array]) -> Any:
        found = iter(kernel(*(x for x in leaves if x.size)))
        return jax.tree.map(lambda x: next(found) if x.size else _empty(x), shapes[0])

    return group, shapes[0]


def _empty(x: Any) -> Array:
    return jnp.zeros(x.shape, x.dtype)
