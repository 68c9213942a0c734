"""Elimination with pivots by rows, for worlds in lanes: no world takes another way than the rest.

The row of each pivot is chosen by a vector of zeros and a one, so that no row changes its place.
"""

import jax
import jax.numpy as jnp
from jax import lax

Array = jax.Array


def solve(a: Array, b: Array) -> Array:
    """Return x with a x = b, shapes (n, n) and (n,).

    Rows are eliminated below each pivot alone and unknowns found backward: to eliminate them above as well loses, in
    single precision, digits that a stiff system has not to spare.
    """
    n = b.shape[0]
    place, put = jnp.arange(n), lax.dynamic_update_index_in_dim

    def eliminate(k: Array, s: tuple[Array, ...]) -> tuple[Array, ...]:
        table, free, upper = s
        column = lax.dynamic_index_in_dim(table, k, 1, keepdims=False)
        size = jnp.where(free > 0, jnp.abs(column), -1)
        own = (place == jnp.min(jnp.where(size == jnp.max(size), place, n))).astype(a.dtype)
        row, free = own @ table, free - own
        share = free * column / jnp.sum(own * column)
        return table - share[:, None] * row, free, put(upper, row, k, 0)

    table = jnp.concatenate([a, b[:, None]], axis=1)
    *_, upper = lax.fori_loop(0, n, eliminate, (table, jnp.ones_like(b), jnp.zeros_like(table)))

    def backward(i: Array, x: Array) -> Array:
        k = n - 1 - i
        row = lax.dynamic_index_in_dim(upper, k, 0, keepdims=False)
        own = (place == k).astype(a.dtype)
        return x + own * (row[n] - jnp.sum(row[:n] * x)) / jnp.sum(own * row[:n])

    return lax.fori_loop(0, n, backward, jnp.zeros_like(b))
