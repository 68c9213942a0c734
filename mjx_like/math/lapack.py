"""LAPACK's factorisations and solves of many matrices, without the dead lock of jaxlib 0.10.0 to 0.11.1 on CPUs.

There a batched call shares its matrices out to the threads of XLA's pool and waits for them, on a thread of the same
pool. As many such calls at once as there are threads wait for ever: gradients of small models did so on two cores,
within seconds. On such machines one matrix goes to LAPACK at a time, but for the solves of a step that wait for each
other anyway (`at_once`). Source: measured with jaxlib 0.10.1; release 0.11.2 leaves the sharing out.
"""

import functools
import os
import re
from collections.abc import Callable

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
from jax import lax

from mjx_like.math.batching import nested_batch, whole_batch
from mjx_like.math.platform import on_cpu
from mjx_like.math.rule import custom_jvp

Array = jax.Array

_FIRST, _MENDED = (0, 10, 0), (0, 11, 2)  # jaxlib
_MOST_THREADS = 8  # no program of ours has so many calls at once that more can all wait


def cholesky(a: Array, at_once: bool = False) -> Array:
    """Return the lower factor L of symmetric positive definite matrices, shape (..., n, n); L L' = a.

    at_once: hand over all matrices in one call, where hardly another can run beside it.
    """
    return _factor(a) if at_once or not one_at_a_time() else _cholesky(a)


def solve_triangular(factor: Array, b: Array, transposed: bool = False, at_once: bool = False) -> Array:
    """Return x with L x = b, or L' x = b; factor: lower, shape (..., n, n); b: shape (..., n, k)."""
    if at_once or not one_at_a_time():
        return _substitute(factor, b, transposed)

    def product(x: Array) -> Array:
        lower = jnp.tril(factor)
        return jnp.matmul(lower.mT if transposed else lower, x, precision="highest")

    return lax.custom_linear_solve(
        product,
        b,
        lambda _, y: _each(functools.partial(_substitute, transposed=transposed), factor, y),
        lambda _, y: _each(functools.partial(_substitute, transposed=not transposed), factor, y),
    )


def solve(a: Array, b: Array, at_once: bool = False) -> Array:
    """Return x with a x = b for a regular matrix, shapes (n, n) and (n,).

    at_once: see `cholesky`.
    """
    if not on_cpu():
        return jnp.linalg.solve(a, b)
    solved = _solved if at_once or not one_at_a_time() else functools.partial(_each, _solved)
    return lax.custom_linear_solve(
        lambda x: jnp.matmul(a, x, precision="highest"),
        b,
        lambda _, y: solved(a, y[:, None])[:, 0],
        lambda _, y: solved(a.T, y[:, None])[:, 0],
    )


def solve_and_again(a: Array, b: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return x with a x = b, and a function that solves with the same matrix again; shapes (n, n) and (n,).

    For a search, which has no derivatives: all matrices are handed over in one call.
    """
    if not on_cpu():
        return jnp.linalg.solve(a, b), functools.partial(jnp.linalg.solve, a)
    n, number = b.shape[0], jnp.arange(b.shape[0], dtype=a.dtype)
    table = _factored(a, jnp.stack([b, number], axis=1))
    lower = jnp.tril(table[:, :n], -1)

    def again(b: Array) -> Array:
        order = table[:, n + 1] + jnp.sum(lower * table[:, n + 1], axis=1)  # P number, as L (L^-1 P number)
        rows = b[jnp.round(order).astype(jnp.int32)][:, None]
        half = lax.linalg.triangular_solve(lower, rows, left_side=True, lower=True, unit_diagonal=True)
        return _upper_solve(table[:, :n], half)[:, 0]

    return _upper_solve(table[:, :n], table[:, n : n + 1])[:, 0], again


def one_at_a_time() -> bool:
    """Return whether batched calls of LAPACK may wait for each other for ever here."""
    version = tuple(int(x) for x in re.findall(r"\d+", jaxlib.__version__)[:3])
    # a pool of one thread shares nothing out
    few = 1 < len(os.sched_getaffinity(0)) <= _MOST_THREADS if hasattr(os, "sched_getaffinity") else True
    return _FIRST <= version < _MENDED and few and jax.default_backend() == "cpu"


def after(x: Array, before: Array) -> Array:
    """Return x, but not before `before`, shape (n,), is known, where calls may wait for each other.

    Calls `at_once` that do not need each other's results are put in order by this, a call's matrices among its needs.
    """
    return x + 0 * lax.stop_gradient(before[0]) if one_at_a_time() else x


def _factor(a: Array) -> Array:
    # LAPACK takes columns first: handing it the transpose of a symmetric matrix spares a copy
    return lax.linalg.cholesky(a.mT, symmetrize_input=False)


def _substitute(factor: Array, b: Array, transposed: bool) -> Array:
    return lax.linalg.triangular_solve(factor, b, left_side=True, lower=True, transpose_a=transposed)


def _solved(a: Array, b: Array) -> Array:
    """Return x with a x = b, shapes (..., n, n) and (..., n, k)."""
    n = a.shape[-1]
    table = _factored(a, b)
    return _upper_solve(table[..., :n], table[..., n:])


def _factored(a: Array, b: Array) -> Array:
    """Return U and below it L of P a = L U, and L^-1 P b beside them, shape (..., n, n + k).

    So the permutation P is not needed, which JAX finds in a loop over the rows that takes twice as long as the factors.
    """
    return lax.linalg.lu(jnp.concatenate([a, b], axis=-1))[0]


def _upper_solve(factor: Array, b: Array) -> Array:
    return lax.linalg.triangular_solve(factor, b, left_side=True, lower=False)


@custom_jvp
def _cholesky(a: Array) -> Array:
    return _over_leading_axes(whole_batch(lambda many: _in_turn(_factor, many)), a)


@_cholesky.defjvp
def _cholesky_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """Return L and L (lower half of L^-1 da L^-T)."""
    factor, change = _cholesky(*primals), tangents[0]
    inner = solve_triangular(factor, solve_triangular(factor, change).mT).mT
    n = factor.shape[-1]
    half = (np.tri(n) - 0.5 * np.eye(n)).astype(factor.dtype)
    return factor, jnp.matmul(factor, half * inner, precision="highest")


def _each(function: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
    """Return `function` of matrices, (..., n, n), and right-hand sides, (..., n, k), one matrix after the other."""

    def kernel(levels, a, b):
        own, free = _axes_of(levels)
        count, (n, k) = len(levels), b.shape[-2:]
        # axes of b alone are columns of one call; an axis of a alone repeats b
        b = jnp.expand_dims(b, [axis for axis, (_, of_b) in enumerate(reversed(levels)) if of_b is None])
        sizes = a.shape[: len(own)]
        lead = [sizes[own.index(axis)] if axis in own else b.shape[axis] for axis in range(count)]
        b = jnp.moveaxis(jnp.broadcast_to(b, (*lead, n, k)), (*own, count, *free), range(count + 1))
        wide = b.reshape(*([int(np.prod(sizes))] if own else []), n, int(np.prod(b.shape[len(own) + 1 :])))
        x = _in_turn(function, a.reshape(len(wide), n, n), wide) if own else function(a, wide)
        return jnp.moveaxis(x.reshape(b.shape), range(count + 1), (*own, count, *free))

    return _over_leading_axes(nested_batch(kernel), a, b)


def _axes_of(levels: tuple[tuple[int | None, int | None], ...]) -> tuple[list[int], list[int]]:
    """Return which axes matrices have, and which only their right-hand sides, the outermost first."""
    own = [axis for axis, (of_a, _) in enumerate(reversed(levels)) if of_a is not None]
    return own, [axis for axis in range(len(levels)) if axis not in own]


def _over_leading_axes(function, *args: Array) -> Array:
    for _ in range(args[0].ndim - 2):
        function = jax.vmap(function)
    return function(*args)


def _in_turn(function, *args: Array) -> Array:
    """Return the function of each world, one after the other; args: worlds first."""
    if args[0].shape[0] == 1:
        return function(*(x[0] for x in args))[None]
    return lax.map(lambda one: function(*one), args)
