"""Which rows touch which tree: the parts of the constraint Jacobian in the order of the trees.

A row has two entries, one for each tree that it can touch. In the table of a tree stand the entries that touch it, so
that J' f is a product for each tree, without a scatter.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.math.batching import doubled, with_capacity
from mjx_like.math.select import rows

Array = jax.Array


class Order(NamedTuple):
    """The entries of all worlds by tree; batch axis first."""

    entry: Array  # (batch, 2 nrow) entries, those of tree 0 first, those of none last
    start: Array  # (batch, ntree + 1) where each tree begins


def in_order(touched: Array, nrow: Array, ntree: int) -> Order:
    """Return the order of the entries.

    touched: trees of each row, shape (batch, nrow, 2), -1 for none, or (batch, nrow, 1) for entries of the first alone;
    nrow: rows in use, shape (batch,).
    """
    most, sides = touched.shape[1:]

    def sized(size: int, touched: Array) -> Order:
        key = touched[:, :size].reshape(touched.shape[0], -1)
        number = 2 // sides * jnp.arange(sides * size, dtype=jnp.int32)
        packed = jnp.sort(jnp.where(key < 0, ntree, key) * (2 * size) + number, axis=1)
        entry = packed % (2 * size)
        begin = 2 * size * jnp.arange(ntree + 1, dtype=jnp.int32)
        start = jax.vmap(lambda own: jnp.searchsorted(own, begin))(packed).astype(jnp.int32)
        return Order(jnp.pad(entry, ((0, 0), (0, 2 * most - entry.shape[1]))), start)

    return with_capacity(doubled(most), nrow, sized, touched)


def largest(order: Order) -> Array:
    """Return how many entries the fullest tree of each world has, shape (batch,)."""
    return jnp.max(order.start[:, 1:] - order.start[:, :-1], axis=1)


class Table(NamedTuple):
    """The entries of each tree at a capacity; shapes (batch, ntree, size, ...)."""

    row: Array  # row of each entry, nrow beyond
    J: Array  # (..., k), zero beyond


def table_of(order: Order, J: Array, size: int) -> Table:
    """Return the table of entries; J: shape (batch, nrow, 2, k); size: at least `largest`."""
    place = order.start[:, :-1, None] + jnp.arange(size, dtype=jnp.int32)
    valid = place < order.start[:, 1:, None]
    nrow = J.shape[1]

    def world(entry: Array, place: Array, valid: Array, J: Array) -> Table:
        own = rows(entry, jnp.where(valid, place, 0))
        part = rows(J.reshape(2 * nrow, -1), own)
        return Table(jnp.where(valid, own >> 1, nrow), jnp.where(valid[..., None], part, 0))

    return jax.vmap(world)(order.entry, place, valid, J)


def of_entries(table: Table, x: Array) -> Array:
    """Return what stands at the rows of the entries, shape (batch, ntree, size, ...); x: shape (batch, nrow, ...)."""

    def world(row: Array, x: Array) -> Array:
        return rows(jnp.concatenate([x, jnp.zeros((1, *x.shape[1:]), x.dtype)]), row)

    return jax.vmap(world)(table.row, x)


def transposed(table: Table, f: Array) -> Array:
    """Return J' f, shape (batch, ntree, k); f: shape (batch, nrow)."""
    return jnp.einsum("btr,btrk->btk", of_entries(table, f), table.J, precision="highest")


def weighted(table: Table, weight: Array) -> Array:
    """Return the blocks of J' diag(weight) J of each tree, shape (batch, ntree, k, k)."""
    scaled = of_entries(table, weight)[..., None] * table.J
    return lax.dot_general(table.J, scaled, (((2,), (2,)), ((0, 1), (0, 1))), precision="highest")
