"""Selection and accumulation of rows by static indices: the one place that decides how they are lowered."""

import functools
import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_batching import custom_vmap

from mjx_like.math.block_mask import BlockMask, Mask, block_product
from mjx_like.math.platform import on_cpu
from mjx_like.math.transposable import linear

Array = jax.Array


_LARGEST_PICK = 256  # up to this length, a choice of entries is a product with a constant matrix


def take(x: Array, index: np.ndarray) -> Array:
    """Return the rows `x[index]` for a static integer index, shape (k,); a slice where the index is a range."""
    index = _in_bounds(index, x.shape[0])
    if index.size and np.array_equal(index, np.arange(index[0], index[0] + index.size)):
        return x if index.size == x.shape[0] else x[int(index[0]) : int(index[0]) + index.size]
    unique = np.unique(index).size == index.size
    if not unique and not on_cpu():
        return rows(x, jnp.asarray(index))
    return x.at[index].get(mode="promise_in_bounds", unique_indices=unique, wrap_negative_indices=False)


def _in_bounds(index: np.ndarray, size: int) -> np.ndarray:
    """Return static indices as int32, negative ones counted from the end: no code has to be traced for them."""
    index = np.asarray(index, np.int32)
    return np.where(index < 0, index + size, index).astype(np.int32)


def rows(x: Array | np.ndarray, index: Array) -> Array:
    """Return `x[index]` for an index known only at run time, neither negative nor out of bounds: it is not checked."""
    x = jnp.asarray(x)
    if on_cpu() or not jnp.issubdtype(x.dtype, jnp.floating):
        return _rows(index, x)
    return linear(_rows, functools.partial(_sums, x.shape[0]), (index,), x)


def rows_or_zero(x: Array, index: Array) -> Array:
    """Return `x[index]` for an index known only at run time, not negative, and zero where it is out of bounds."""
    if on_cpu() or not jnp.issubdtype(x.dtype, jnp.floating):
        return _rows_or_zero(index, x)
    return linear(_rows_or_zero, functools.partial(_sums, x.shape[0]), (index,), x)


def _rows(index: Array, x: Array) -> Array:
    return x.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)


def _rows_or_zero(index: Array, x: Array) -> Array:
    return x.at[index].get(mode="fill", fill_value=0)


def _sums(size: int, index: Array, ct: Array) -> Array:
    """Return, for each of `size` rows, the sum of the entries of `ct` whose index names it, by comparing."""
    flat, terms = index.reshape(-1), ct.reshape(index.size, *ct.shape[index.ndim :])
    own = flat == jnp.arange(size, dtype=flat.dtype)[:, None]
    return jnp.sum(jnp.where(own.reshape(*own.shape, *(1,) * (terms.ndim - 1)), terms, 0), axis=1)


@custom_vmap
def written(table: Array, index: Array, value: Array) -> Array:
    """Return `table` with value[i] at index[i] for each i, shape (k,), all in bounds; the last counts. No derivative.

    Of one table alone it is a loop, which can be part of a kernel; a scatter for a batch.
    """

    def put(i: Array, table: Array) -> Array:
        return lax.dynamic_update_slice(table, lax.dynamic_slice(value, (i,), (1,)), (index[i],))

    return lax.fori_loop(0, index.shape[0], put, table)


@written.def_vmap
def _written(size: int, mapped: list[bool], *args: Array) -> tuple[Array, bool]:
    def put(table: Array, index: Array, value: Array) -> Array:
        return table.at[index].set(value, mode="promise_in_bounds")

    return jax.vmap(put, in_axes=tuple(0 if x else None for x in mapped), axis_size=size)(*args), True


def take_all(leaves: Sequence[Array], index: np.ndarray) -> list[Array]:
    """Return `take(x, index)` of several arrays of one length and dtype, by one gather of what they hold together."""
    widths = [math.prod(x.shape[1:]) for x in leaves]
    table = jnp.concatenate([x.reshape(x.shape[0], w) for x, w in zip(leaves, widths, strict=True)], axis=1)
    parts = jnp.split(take(table, index), np.cumsum(widths)[:-1], axis=1)
    return [part.reshape(len(index), *x.shape[1:]) for part, x in zip(parts, leaves, strict=True)]


def take_last(x: Array, index: np.ndarray) -> Array:
    """Return `x[..., index]` for a static integer index, shape (k,); a slice where the index is a range."""
    index = _in_bounds(index, x.shape[-1])
    if index.size and np.array_equal(index, np.arange(index[0], index[0] + index.size)):
        return x if index.size == x.shape[-1] else x[..., int(index[0]) : int(index[0]) + index.size]
    unique = np.unique(index).size == index.size
    if not unique and not on_cpu():
        return jnp.moveaxis(rows(jnp.moveaxis(x, -1, 0), jnp.asarray(index)), 0, -1)
    return x.at[..., index].get(mode="promise_in_bounds", unique_indices=unique, wrap_negative_indices=False)


def pick_last(x: Array, index: np.ndarray) -> Array:
    """Return `x[..., index]` as a product with a constant 0/1 matrix, where the last axis is short.

    Unlike a gather it is not fused into what follows, so that x is computed once and not again for every use; and
    its transpose is a product too. A NaN in one element reaches all of them. A gather on an accelerator.
    """
    if not on_cpu() or max(x.shape[-1], len(index)) > _LARGEST_PICK:
        return take_last(x, index)
    onehot = np.arange(x.shape[-1])[:, None] == np.asarray(index)[None, :]
    return jnp.matmul(x, jnp.asarray(onehot, x.dtype), precision="highest")


def hold(x: Array) -> Array:
    """Return x, computed once rather than again in each loop over worlds that uses it: for functions of the Model."""
    return pick_last(x, np.arange(x.shape[-1]))


def segment_sum(x: Array, index: np.ndarray, size: int) -> Array:
    """Return, for each of `size` segments, the sum of the rows of `x` whose static `index` names it.

    x: shape (k, ...); returns shape (size, ...). A product with a constant 0/1 matrix, so that no scatter is made.
    """
    index = np.asarray(index)
    mask = (np.arange(size)[:, None] == index[None, :]).astype(np.float32)
    flat = x.reshape(x.shape[0], math.prod(x.shape[1:]))
    return jnp.matmul(mask.astype(x.dtype), flat, precision="highest").reshape((size, *x.shape[1:]))


def precedes(value: Array) -> Array:
    """Return whether entry j comes before entry i in ascending order, at [i, j], shape (n, n); on a tie, the first."""
    order = np.arange(value.shape[0])
    return (value < value[:, None]) | ((value == value[:, None]) & (order < order[:, None]))


def sum_of_lower(value: Array, weight: Array) -> Array:
    """Return, for each entry, the sum of the weights of those that come before it in ascending order; int32."""
    if on_cpu():
        return jnp.sum(jnp.where(precedes(value), weight, 0), axis=1, dtype=jnp.int32)
    order = jnp.argsort(value, stable=True)
    sorted_weight = rows(weight, order)
    return rows(running_total(sorted_weight) - sorted_weight, jnp.argsort(order))


def search(ascending: Array, value: Array, side: str) -> Array:
    """Return what `jnp.searchsorted` does, as int32; without a loop on an accelerator, which waits in each round."""
    method = "scan" if on_cpu() else "scan_unrolled"
    return jnp.searchsorted(ascending, value, side=side, method=method).astype(jnp.int32)


_LONGEST_SUM = 32  # up to this length, a sum is one loop of XLA's CPU backend; longer ones are two


def total(x: Array) -> Array:
    """Return the sum over the last axis; long ones as a product, which makes fewer loops."""
    size = x.shape[-1]
    return (
        jnp.sum(x, axis=-1)
        if size <= _LONGEST_SUM or not on_cpu()
        else jnp.matmul(x, np.ones(size, x.dtype), precision="highest")
    )


_LARGEST_TRIANGLE = 256  # up to this length, sums are a product with a constant triangle: fewer loops than a scan


def running_total(count: Array) -> Array:
    """Return the running totals of counts or flags, shape (n,), as int32; exact up to 2^24."""
    size = count.shape[0]
    if size > _LARGEST_TRIANGLE or not on_cpu():
        return jnp.cumsum(count, dtype=jnp.int32)
    triangle = jnp.asarray(np.tri(size).T, jnp.float32)
    return jnp.matmul(count.astype(jnp.float32), triangle, precision="highest").astype(jnp.int32)


def scatter(x: Array, index: np.ndarray, size: int) -> Array:
    """Return zeros of shape (size, ...) with the rows of `x` at the static, distinct positions `index`."""
    index = np.asarray(index)
    inverse = np.full(size, index.size)
    inverse[index] = np.arange(index.size)
    return take(jnp.concatenate([x, jnp.zeros((1, *x.shape[1:]), x.dtype)]), inverse)


def put(x: Array, parts: Sequence[tuple[np.ndarray, Array]]) -> Array:
    """Return x, shape (size,), with other values at static, distinct positions: parts are (positions, values)."""
    parts = [(np.ravel(index), jnp.ravel(values)) for index, values in parts if np.size(index)]
    if not parts:
        return x
    index = np.concatenate([own for own, _ in parts])
    source = index.size + np.arange(x.shape[0])
    source[index] = np.arange(index.size)
    values = jnp.concatenate([values for _, values in parts]).astype(x.dtype)
    if source.max(initial=-1) >= index.size:
        values = jnp.concatenate([values, x])
    return take(values, source)


def combine(matrix: Mask, x: Array) -> Array:
    """Return matrix @ x for a static matrix, shape (k, n), and rows x, shape (n, ...), in the dtype of x."""
    flat = x.reshape(x.shape[0], math.prod(x.shape[1:]))
    if isinstance(matrix, BlockMask):
        product = block_product(matrix, flat)
    elif not on_cpu():
        product = jnp.sum(jnp.asarray(matrix, x.dtype)[:, :, None] * flat, axis=1)
    else:
        product = jnp.matmul(jnp.asarray(matrix, x.dtype), flat, precision="highest")
    return product.reshape((matrix.shape[0], *x.shape[1:]))


def combine_last(x: Array, matrix: Mask) -> Array:
    """Return the sums over the last axis of x, shape (..., n), that the rows of a static matrix, (k, n), weigh."""
    if isinstance(matrix, BlockMask):
        flat = x.reshape(-1, x.shape[-1])
        return block_product(matrix, flat.T).T.reshape(*x.shape[:-1], matrix.shape[0])
    if not on_cpu():
        return jnp.sum(x[..., None, :] * jnp.asarray(matrix, x.dtype), axis=-1)
    return jnp.matmul(x, jnp.asarray(matrix.T, x.dtype), precision="highest")
