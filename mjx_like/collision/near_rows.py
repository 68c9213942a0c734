"""A search of those rows of a table that need it: what is far costs nothing, and no row is ever left out."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Array = jax.Array

_CHUNK = 8  # rows of one iteration


def near_rows(search: Callable[[Array], Any], near: Array) -> Any:
    """Return `search(row)` of the rows that are near and zeros for the others, with a leading axis of rows.

    A few rows at a time are searched until none is left, in a loop.

    search: from the number of a row, int32, to a pytree of arrays, integers below 2^24 in size among them.
    near: shape (n,).
    """
    count = near.size
    chunk = min(_CHUNK, count)
    rank = jnp.cumsum(near, dtype=jnp.int32)
    index = jnp.where(near, rank - 1, count + chunk)
    listed = jnp.full(count + chunk, count, jnp.int32).at[index].set(np.arange(count, dtype=np.int32), mode="drop")
    leaves, tree = jax.tree.flatten(jax.eval_shape(search, jax.ShapeDtypeStruct((), jnp.int32)))
    dtype = jnp.result_type(*(x.dtype for x in leaves if jnp.issubdtype(x.dtype, jnp.floating)))
    ends = np.cumsum([x.size for x in leaves])

    def one(row: Array) -> Array:  # as one vector, so that few instructions move it
        return jnp.concatenate([jnp.ravel(x).astype(dtype) for x in jax.tree.leaves(search(row))])

    def iterate(state: tuple[Array, Array]) -> tuple[Array, Array]:
        done, table = state
        own = lax.dynamic_slice(listed, (done,), (chunk,))
        return done + chunk, table.at[own].set(jax.vmap(one)(jnp.minimum(own, count - 1)), mode="drop")

    start = jnp.zeros((), jnp.int32), jnp.zeros((count, int(ends[-1])), dtype)
    table = lax.while_loop(lambda s: s[0] < rank[-1], iterate, start)[1]
    columns = jnp.split(table, ends[:-1], axis=1)
    return tree.unflatten([c.reshape(count, *x.shape).astype(x.dtype) for c, x in zip(columns, leaves, strict=True)])
