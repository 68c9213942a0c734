"""A search of those rows of a table that need it: what is far costs nothing, and no row is ever left out."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math.batching import largest

Array = jax.Array

_CHUNK = 8  # rows of one iteration


def near_rows(search: Callable[[Array], tuple[Any, ...]], near: Array) -> tuple[Any, ...]:
    """Return `search(row)` of the rows that are near and zeros for the others, with a leading axis of rows.

    A few rows at a time are searched until none is left in any world of a batch, in a loop.

    search: from the number of a row, int32, to a tuple of pytrees, integers below 2^24 in size among them. Each pytree
      is a table of its own in the loop: XLA leaves out what nobody uses.
    near: shape (n,).
    """
    count = near.size
    chunk = min(_CHUNK, count)
    rank = jnp.cumsum(near, dtype=jnp.int32)
    index = jnp.where(near, rank - 1, count + chunk)
    listed = jnp.full(count + chunk, count, jnp.int32).at[index].set(np.arange(count, dtype=np.int32), mode="drop")
    shapes = jax.eval_shape(search, jax.ShapeDtypeStruct((), jnp.int32))
    dtype = jnp.result_type(*(x.dtype for x in jax.tree.leaves(shapes) if jnp.issubdtype(x.dtype, jnp.floating)))

    def one(row: Array) -> list[Array]:
        return [_packed(part, dtype) for part in search(row)]

    def iterate(state: tuple[Array, list[Array]]) -> tuple[Array, list[Array]]:
        done, tables = state
        own = lax.dynamic_slice(listed, (done,), (chunk,))
        found = jax.vmap(one)(jnp.minimum(own, count - 1))
        return done + chunk, [x.at[own].set(y, mode="drop") for x, y in zip(tables, found, strict=True)]

    most = largest(rank[-1])  # of the batch: with an end of its own, each world would copy its tables in each pass
    start = [jnp.zeros((count, sum(x.size for x in jax.tree.leaves(part))), dtype) for part in shapes]
    tables = lax.while_loop(lambda state: state[0] < most, iterate, (jnp.zeros((), jnp.int32), start))[1]
    return tuple(_unpacked(table, part) for table, part in zip(tables, shapes, strict=True))


def _packed(tree: Any, dtype: Any) -> Array:
    """Return all arrays of a pytree as one vector, so that few instructions move it."""
    return jnp.concatenate([jnp.ravel(x).astype(dtype) for x in jax.tree.leaves(tree)])


def _unpacked(table: Array, shapes: Any) -> Any:
    """Return the pytree of which each row of a table is one, with a leading axis of rows."""
    leaves, tree = jax.tree.flatten(shapes)
    columns = jnp.split(table, np.cumsum([x.size for x in leaves])[:-1], axis=1)
    return tree.unflatten([c.reshape(-1, *x.shape).astype(x.dtype) for c, x in zip(columns, leaves, strict=True)])
