"""Gaussian elimination with pivots by rows, for worlds in lanes: no world takes another way than the rest.

The row of each pivot is chosen by a vector of zeros and a one, so that no row changes its place.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

Array = jax.Array


def solve_and_again(a: Array, b: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return x with a x = b, and a function that solves with the same matrix again; shapes (n, n) and (n,).

    Each solution is improved by what is left of its right-hand side once.
    """
    n = b.shape[0]
    place, put = jnp.arange(n), lax.dynamic_update_index_in_dim

    def eliminate(k: Array, s: tuple[Array, ...]) -> tuple[Array, ...]:
        table, free, chosen, shares, upper = s
        column = lax.dynamic_index_in_dim(table, k, 1, keepdims=False)
        size = jnp.where(free > 0, jnp.abs(column), -1)
        own = (place == jnp.min(jnp.where(size == jnp.max(size), place, n))).astype(a.dtype)
        row, free = own @ table, free - own
        share = free * column / jnp.sum(own * column)
        return (
            table - share[:, None] * row,
            free,
            put(chosen, own, k, 0),
            put(shares, share, k, 0),
            put(upper, row, k, 0),
        )

    zero, table = jnp.zeros((n, n), a.dtype), jnp.concatenate([a, b[:, None]], axis=1)
    first = (table, jnp.ones_like(b), zero, zero, jnp.zeros_like(table))
    _, _, chosen, shares, upper = lax.fori_loop(0, n, eliminate, first)

    def back(y: Array) -> Array:
        """Return x with U x = y, U the first columns of `upper`."""

        def turn(i: Array, x: Array) -> Array:
            k = n - 1 - i
            own, row = (place == k).astype(a.dtype), lax.dynamic_index_in_dim(upper, k, 0, keepdims=False)[:n]
            return x + own * (jnp.sum(own * y) - jnp.sum(row * x)) / jnp.sum(own * row)

        return lax.fori_loop(0, n, turn, jnp.zeros_like(b))

    def once_more(b: Array) -> Array:
        def turn(k: Array, s: tuple[Array, Array]) -> tuple[Array, Array]:
            b, y = s
            own, share = (lax.dynamic_index_in_dim(x, k, 0, keepdims=False) for x in (chosen, shares))
            value = jnp.sum(own * b)
            return b - share * value, y + (place == k) * value

        return back(lax.fori_loop(0, n, turn, (b, jnp.zeros_like(b)))[1])

    def improved(x: Array, b: Array) -> Array:
        return x + once_more(b - a @ x)

    return improved(back(upper[:, n]), b), lambda b: improved(once_more(b), b)
