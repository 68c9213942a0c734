"""A search of those rows of a table that need it: what is far costs nothing, and no row is ever left out."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import jaxpr_as_fun

from mjx_like.math.batching import mapped_batch
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import rows

Array = jax.Array

_LOT = 8  # rows of a lot for each world on an accelerator, which has room for them; a CPU takes one by one


def near_rows(search: Callable[[Any, Any], tuple[Any, ...]], near: Array, shared: Any, own: Any) -> tuple[Any, ...]:
    """Return `search` of the rows that are near and zeros for the others, with a leading axis of rows.

    The near rows of all worlds of a batch make one list, and are searched lot by lot: neither a row that is far nor a
    world with few near ones costs anything, and a long search delays its own lot only. Nothing here has a derivative.

    Args:
      search: from `shared` and a row of `own` to a tuple of pytrees, integers below 2^24 in size among them. Each
        pytree is a list of its own in the loop: XLA leaves out what nobody uses.
      near: shape (n,).
      shared: pytree of arrays, what all rows of a world read.
      own: pytree of arrays with a leading axis of rows.
    """

    def batched(axes, near: Array, shared: Any, own: Any) -> tuple[Any, ...]:
        leaves, tree = jax.tree.flatten((near, shared, own))
        worlds = next(x.shape[0] for x, axis in zip(leaves, tree.flatten_up_to(axes), strict=True) if axis == 0)
        count = near.shape[-1]

        def one(entry: Array) -> tuple[Any, ...]:
            world, row = entry // count, entry % count
            of_world = _map(axes[1], shared, lambda x: rows(x, world), lambda x: x)
            of_row = _map(axes[2], own, lambda x: rows(x.reshape(-1, *x.shape[2:]), entry), lambda x: rows(x, row))
            return search(of_world, of_row)

        near = jnp.broadcast_to(near, (worlds, count))
        found = _searched(one, near.ravel(), 1 if on_cpu() else min(worlds * count, _LOT * worlds))
        return jax.tree.map(lambda x: x.reshape(worlds, count, *x.shape[1:]), found)

    return mapped_batch(batched)(near, shared, own)


def _map(axes: Any, tree: Any, batched: Callable[[Array], Array], single: Callable[[Array], Array]) -> Any:
    """Return a pytree of what `batched` makes of the leaves that have a batch axis, and `single` of the others."""
    leaves, kind = jax.tree.flatten(tree)
    flat = zip(leaves, kind.flatten_up_to(axes), strict=True)
    return kind.unflatten([single(x) if axis is None else batched(x) for x, axis in flat])


def _searched(search: Callable[[Array], tuple[Any, ...]], near: Array, lot: int) -> tuple[Any, ...]:
    """Return what `near_rows` does, for the rows of all worlds; near: shape (worlds * n,)."""
    count = near.size
    rank = jnp.cumsum(near, dtype=jnp.int32)
    entry = np.arange(count, dtype=np.int32)
    place = jnp.where(near, rank - 1, count + lot + entry)  # out of bounds, and so left out
    listed = jnp.zeros(count + lot, jnp.int32).at[place].set(entry, mode="drop", unique_indices=True)
    listed = jnp.where(np.arange(count + lot) < rank[-1], listed, listed[0])
    program, shapes = jax.make_jaxpr(search, return_shape=True)(jax.ShapeDtypeStruct((), jnp.int32))  # traced once
    dtype = jnp.result_type(*(x.dtype for x in jax.tree.leaves(shapes) if jnp.issubdtype(x.dtype, jnp.floating)))

    def one(row: Array) -> list[Array]:
        found = jax.tree.unflatten(jax.tree.structure(shapes), jaxpr_as_fun(program)(row))
        return [_packed(part, dtype) for part in found]

    def iterate(state: tuple[Array, list[Array]]) -> tuple[Array, list[Array]]:
        done, lists = state
        found = _each(one, lax.dynamic_slice_in_dim(listed, done, lot))
        return done + lot, [
            lax.dynamic_update_slice_in_dim(x, y, done, axis=0) for x, y in zip(lists, found, strict=True)
        ]

    start = [jnp.zeros((count + lot, sum(x.size for x in jax.tree.leaves(part))), dtype) for part in shapes]
    lists = lax.while_loop(lambda state: state[0] < rank[-1], iterate, (jnp.zeros((), jnp.int32), start))[1]
    tables = [jnp.where(near[:, None], rows(x, jnp.maximum(rank - 1, 0)), 0) for x in lists]
    return tuple(_unpacked(table, part) for table, part in zip(tables, shapes, strict=True))


def _each(search: Callable[[Array], list[Array]], entries: Array) -> list[Array]:
    """Return what a search makes of each entry; on a CPU, where there is one, so that it can be one kernel."""
    return [x[None] for x in search(entries[0])] if on_cpu() else jax.vmap(search)(entries)


def _packed(tree: Any, dtype: Any) -> Array:
    """Return all arrays of a pytree as one vector, so that few instructions move it."""
    return jnp.concatenate([jnp.ravel(x).astype(dtype) for x in jax.tree.leaves(tree)])


def _unpacked(table: Array, shapes: Any) -> Any:
    """Return the pytree of which each row of a table is one, with a leading axis of rows."""
    leaves, tree = jax.tree.flatten(shapes)
    columns = jnp.split(table, np.cumsum([x.size for x in leaves])[:-1], axis=1)
    return tree.unflatten([c.reshape(-1, *x.shape).astype(x.dtype) for c, x in zip(columns, leaves, strict=True)])
