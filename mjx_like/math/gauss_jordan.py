"""Gauss and Jordan's elimination with pivots by rows, for worlds in lanes: no world takes another way than the rest.

The row of each pivot is chosen by a vector of zeros and a one, so that no row changes its place.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

Array = jax.Array


def solve_and_again(a: Array, b: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return x with a x = b, and a function that solves with the same matrix again; shapes (n, n) and (n,).

    Each solution is improved by what is left of its right-hand side once: elimination alone loses more digits than
    LAPACK's factors do.
    """
    n = b.shape[0]
    place = jnp.arange(n)

    def turn(k: Array, s: tuple[Array, ...]) -> tuple[Array, ...]:
        table, free, chosen, columns = s
        column = lax.dynamic_index_in_dim(table, k, 1, keepdims=False)
        size = jnp.where(free > 0, jnp.abs(column), -1)
        own = (place == jnp.min(jnp.where(size == jnp.max(size), place, n))).astype(a.dtype)
        row = (own @ table) / jnp.sum(own * column)
        column = column - own  # the pivot's row becomes its share, all others lose its column
        table = table - column[:, None] * row
        put = lax.dynamic_update_index_in_dim
        return table, free - own, put(chosen, own, k, 0), put(columns, column, k, 0)

    zero, table = jnp.zeros((n, n), a.dtype), jnp.concatenate([a, b[:, None]], axis=1)
    table, _, chosen, columns = lax.fori_loop(0, n, turn, (table, jnp.ones_like(b), zero, zero))

    def once_more(b: Array) -> Array:
        def turn(k: Array, b: Array) -> Array:
            own, column = (lax.dynamic_index_in_dim(x, k, 0, keepdims=False) for x in (chosen, columns))
            share = jnp.sum(own * b) / (jnp.sum(own * column) + 1)
            return b - column * share

        return chosen @ lax.fori_loop(0, n, turn, b)

    def improved(x: Array, b: Array) -> Array:
        return x + once_more(b - a @ x)

    return improved(chosen @ table[:, n], b), lambda b: improved(once_more(b), b)
