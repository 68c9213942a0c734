"""Linear systems of models with many trees: as a whole, or by conjugate gradients with the blocks of trees in front."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math.batching import whole_batch
from mjx_like.math.linalg import cho_solve, cholesky, solve_positive
from mjx_like.math.platform import on_cpu
from mjx_like.solver.entries import Order, Table, in_order, largest, table_of, transposed, weighted
from mjx_like.solver.tree_problem import (
    TreeProblem,
    TreeStart,
    hessian_times,
    metric_times,
    summed_blocks,
    transposed_times,
    weights,
)
from mjx_like.tree.blocks import parts_times

Array = jax.Array

LONGEST_TABLE = 128  # rows of one tree; with a fuller one products are sums by scatter
_DENSE = 320  # unknowns up to which a CPU solves systems at once
_MOST = 200  # iterations of one linear solve


class Parts(NamedTuple):
    """What products with J take: rows, their trees, and the table of each tree; None where one is too full."""

    p: TreeProblem
    touched: Array
    table: Table | None

    def times(self, x: Array) -> Array:
        return jax.vmap(parts_times)(self.p.J, self.touched, x)

    def transposed(self, f: Array) -> Array:
        if self.table is not None:
            return transposed(self.table, f)
        product = functools.partial(transposed_times, ntree=self.p.q.shape[1])
        return jax.vmap(product)(self.p.J, self.touched, f)

    def blocks(self, weight: Array) -> Array:
        if self.table is not None:
            return self.p.M + weighted(self.table, weight)
        return self.p.M + jax.vmap(summed_blocks, in_axes=(0, 0, 0, None))(
            self.p.J, self.touched, weight, self.p.q.shape[1]
        )


def with_table(order: Order, J: Array, kernel: Callable[[Table | None], Any]) -> Any:
    """Return the kernel's result with the tables of the trees of a batch, or with none where one is too full."""
    size = min(LONGEST_TABLE, J.shape[1])
    if size == J.shape[1]:
        return kernel(table_of(order, J, size))
    held = jnp.max(largest(order)) <= size
    return lax.cond(held, lambda: kernel(table_of(order, J, size)), lambda: kernel(None))


def dot(a: Array, b: Array) -> Array:
    """Return the dot product of vectors of all dofs, by tree, of each world; shape (batch,)."""
    return jnp.sum(a * b, axis=(-1, -2))


class _Search(NamedTuple):
    """Conjugate gradients of a batch."""

    x: Array
    residual: Array
    direction: Array
    product: Array  # residual' P^-1 residual
    count: Array


def _whole(parts: Parts, weight: Array) -> Array:
    """Return the Hessian as one matrix, shape (batch, n, n)."""
    J, (ntree, k) = parts.p.J, parts.p.q.shape[1:]

    def world(own: Array, J: Array, touched: Array, weight: Array) -> Array:
        tied = touched[:, 1] >= 0
        both = (weight[:, None] * J[:, 0])[:, :, None] * J[:, 1, None, :]
        first, second = (jnp.where(tied, touched[:, side], ntree) for side in range(2))
        out = jnp.zeros((ntree, ntree, k, k), J.dtype).at[first, second].add(both, mode="drop")
        out = out + out.transpose(1, 0, 3, 2)
        every = np.arange(ntree)
        return out.at[every, every].add(own, unique_indices=True).transpose(0, 2, 1, 3).reshape(ntree * k, ntree * k)

    return jax.vmap(world)(parts.blocks(weight), J, parts.touched, weight)


def solve_linear(parts: Parts, weight: Array, b: Array, wanted: Array) -> tuple[Array, Array]:
    """Return x with H x = b, shape (batch, ntree, k), and the norm of what is left; wanted: norm to fall below.

    H is the Hessian with the curvatures `weight` of the rows. Where no row touches two trees, the first x is exact.
    On a CPU small systems are solved at once, of which nothing is left but rounding.
    """
    ntree, k = b.shape[1:]
    if on_cpu() and ntree * k <= _DENSE:
        x = solve_positive(_whole(parts, weight), b.reshape(-1, ntree * k)).reshape(b.shape)
        return x, jnp.zeros_like(wanted)
    factor = cholesky(parts.blocks(weight), at_once=True)

    def front(x: Array) -> Array:
        return cho_solve(factor, x, at_once=True)

    def times(x: Array) -> Array:
        return metric_times(parts.p.M, x) + parts.transposed(weight * parts.times(x))

    def open_(s: _Search) -> Array:
        return (dot(s.residual, s.residual) > wanted * wanted) & (s.product > 0)

    def improve(s: _Search) -> _Search:
        image = times(s.direction)
        bend = dot(s.direction, image)
        going = open_(s) & (bend > 0)
        alpha = jnp.where(going, s.product / jnp.where(bend > 0, bend, 1), 0)[:, None, None]
        residual = s.residual - alpha * image
        ahead = front(residual)
        product = jnp.where(going, dot(residual, ahead), s.product)
        beta = jnp.where(going, product / jnp.where(s.product > 0, s.product, 1), 0)[:, None, None]
        return _Search(
            x=s.x + alpha * s.direction,
            residual=residual,
            direction=jnp.where(going[:, None, None], ahead + beta * s.direction, s.direction),
            product=jnp.where(bend > 0, product, 0),
            count=s.count + 1,
        )

    x = front(b)
    residual = b - times(x)
    ahead = front(residual)
    first = _Search(x, residual, ahead, dot(residual, ahead), jnp.int32(0))
    s = lax.while_loop(lambda s: (s.count < _MOST) & jnp.any(open_(s)), improve, first)
    return s.x, jnp.sqrt(dot(s.residual, s.residual))


def solve_hessian(p: TreeProblem, start: TreeStart, x: Array, b: Array) -> Array:
    """Return H^-1 b of one world, shape (ntree, k), with the Hessian H at x; differentiable in b, and in p and x."""
    weight = weights(p, start.touched, x)

    def batched(p: TreeProblem, start: TreeStart, weight: Array, b: Array) -> Array:
        touched, ties = start.touched, jnp.any(start.touched[..., 1] >= 0)
        sides = [functools.partial(in_order, x, start.nrow, b.shape[1]) for x in (touched, touched[..., :1])]
        order = lax.cond(ties, *sides)

        def kernel(table: Table | None) -> Array:
            wanted = 1e2 * jnp.finfo(b.dtype).eps * jnp.sqrt(dot(b, b))
            return solve_linear(Parts(p, start.touched, table), weight, b, wanted)[0]

        return with_table(order, p.J, kernel)

    def solve(_, y: Array) -> Array:
        return whole_batch(batched)(p, start, weight, y)

    return lax.custom_linear_solve(lambda v: hessian_times(p, start.touched, weight, v), b, solve, symmetric=True)
