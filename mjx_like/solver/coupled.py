"""Newton's method where rows couple trees: linear systems as a whole, or by conjugate gradients, blocks of trees in front."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math.batching import whole_batch
from mjx_like.math.linalg import cho_solve, cholesky, solve_positive
from mjx_like.math.lots import advanced, share
from mjx_like.math.platform import on_cpu
from mjx_like.solver.entries import Order, Table, in_order, largest, table_of, transposed, weighted
from mjx_like.solver.law import cost_change, curvature, force, zones
from mjx_like.solver.linesearch import derivatives_along, step_length
from mjx_like.solver.newton import Taken, ended, longest_search, overshoots
from mjx_like.solver.problem import Settings
from mjx_like.solver.tree_problem import (
    TreeProblem,
    TreeSolution,
    TreeStart,
    hessian_times,
    metric_times,
    summed_blocks,
    transposed_times,
    weights,
)
from mjx_like.tree.blocks import parts_times

Array = jax.Array

_SIZE = 128  # rows of one tree; with a fuller one products are sums by scatter
_DENSE = 320  # unknowns up to which a CPU solves linear systems at once
_MOST = 200  # iterations of one linear solve
_LEAST_LOT = 4  # worlds that are solved at a time, at the least: often few of a batch are coupled
_SHARE = 1e-3  # of the gradient that a linear solve may leave


class _Parts(NamedTuple):
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


class _State(NamedTuple):
    """Where each world stands; arrays have the batch axis first."""

    x: Array
    jar: Array
    smooth: Array  # M x - q
    decrement: Array
    done: Array
    iterations: Array


def with_table(order: Order, J: Array, kernel: Callable[[Table | None], Any]) -> Any:
    """Return the kernel's result with the tables of the trees of a batch, or with none where one is too full."""
    size = min(_SIZE, J.shape[1])
    if size == J.shape[1]:
        return kernel(table_of(order, J, size))
    held = jnp.max(largest(order)) <= size
    return lax.cond(held, lambda: kernel(table_of(order, J, size)), lambda: kernel(None))


class _Found(NamedTuple):
    solution: TreeSolution
    done: Array


def optimum(settings: Settings, p: TreeProblem, start: TreeStart, wanted: Array, rest: TreeSolution) -> TreeSolution:
    """Return the optima of the wanted worlds of a batch, lot by lot, and what `rest` has for the others."""
    order = in_order(start.touched, start.nrow, p.q.shape[1])

    def solve(fixed: tuple, s: _Found) -> _Found:
        return _Found(_optima(settings, *fixed, ~s.done), jnp.ones_like(s.done))

    lot = share(wanted.size, _LEAST_LOT)
    return advanced(solve, (p, start, order), _Found(rest, ~wanted), lot).solution


def _optima(settings: Settings, p: TreeProblem, start: TreeStart, order: Order, wanted: Array) -> TreeSolution:
    """Return the optima of the wanted worlds, with tables as long as they need of a few choices."""
    most = p.J.shape[1]
    entries = jnp.max(jnp.where(wanted, largest(order), 0))

    def sized(size: int | None) -> TreeSolution:
        table = None if size is None else table_of(order, p.J, size)
        return _minimise(settings, p, start, wanted, table)

    if most <= _SIZE:
        return sized(most)
    sizes = [_SIZE // 2] * (wanted.size > 1) + [_SIZE]  # one world: a shorter program
    choice = sum((entries > size).astype(jnp.int32) for size in sizes)
    return lax.switch(choice, [functools.partial(sized, size) for size in (*sizes, None)])


def _dot(a: Array, b: Array) -> Array:
    return jnp.sum(a * b, axis=(-1, -2))


def _minimise(settings: Settings, p: TreeProblem, start: TreeStart, wanted: Array, table: Table | None) -> TreeSolution:
    scale = 1 / jnp.maximum(jnp.sum(jnp.trace(p.M, axis1=-2, axis2=-1), axis=-1), MINVAL)
    parts = _Parts(p, start.touched, table)
    first = _initial(settings, parts, start, scale)
    first = first._replace(done=first.done | ~wanted)

    def iterate(fixed, s: _State) -> _State:
        return _iterate(settings, *fixed, s)

    fixed = (parts, start.tolerance, scale)
    s = advanced(iterate, fixed, first, first.done.size) if settings.iterations else first
    constraint = parts.transposed(force(p.law, s.jar))
    return TreeSolution(
        x=s.x,
        constraint=constraint,
        iterations=s.iterations,
        residual=scale * jnp.sqrt(_dot(s.smooth - constraint, s.smooth - constraint)),
    )


def _initial(settings: Settings, parts: _Parts, start: TreeStart, scale: Array) -> _State:
    """Return the better of the two starting points; done where its gradient is below the tolerance."""
    p, x = parts.p, start.smooth
    jar, smooth = parts.times(x) - p.aref, jnp.zeros_like(x)
    if settings.warmstart:
        warm_jar, warm_smooth = parts.times(start.warm) - p.aref, metric_times(p.M, start.warm) - p.q
        change = 0.5 * _dot(start.warm - x, warm_smooth) + cost_change(p.law, jar, warm_jar)
        better = change < 0
        x, smooth = (jnp.where(better[:, None, None], *y) for y in ((start.warm, x), (warm_smooth, smooth)))
        jar = jnp.where(better[:, None], warm_jar, jar)
    gradient = smooth - parts.transposed(force(p.law, jar))
    norm = scale * jnp.sqrt(_dot(gradient, gradient))
    zero = jnp.zeros_like(scale)
    return _State(
        x=x,
        jar=jar,
        smooth=smooth,
        decrement=jnp.full_like(zero, jnp.inf),
        done=(norm < start.tolerance) | (norm == 0) | (settings.iterations <= 0),
        iterations=zero.astype(jnp.int32),
    )


def _iterate(settings: Settings, parts: _Parts, tolerance: Array, scale: Array, s: _State) -> _State:
    """Return the state of all worlds after one step of Newton."""
    p = parts.p
    gradient = s.smooth - parts.transposed(force(p.law, s.jar))
    zone = zones(p.law, s.jar)
    weight = curvature(p.law, zone, s.jar, p.J[..., 0, :])[0]
    norm = jnp.sqrt(_dot(gradient, gradient))
    wanted = jnp.maximum(jnp.minimum(_SHARE * norm, 0.1 * tolerance / scale), 1e2 * jnp.finfo(norm.dtype).eps * norm)
    asked = jnp.where(s.done[:, None, None], 0, -gradient)  # nobody waits for the system of a world that is done
    step, left = solve_linear(parts, weight, asked, wanted)
    along, metric = parts.times(step), metric_times(p.M, step)
    slope, bend = _dot(step, s.smooth), _dot(step, metric)
    decrement = -0.5 * _dot(step, gradient)

    def change(alpha: Array) -> Array:
        return alpha * slope + 0.5 * alpha * alpha * bend + cost_change(p.law, s.jar, s.jar + alpha[:, None] * along)

    one = jnp.ones_like(slope)
    full = change(one)
    trips = overshoots(full, slope, bend) & ~s.done

    def search() -> tuple[Array, Array]:
        derivatives = derivatives_along(p.law, s.jar, slope, bend, along)
        alpha = step_length(derivatives, one, trips, longest_search(settings))
        return alpha, change(alpha)

    alpha, gain = lax.cond(jnp.any(trips), search, lambda: (one, full))
    jar = s.jar + alpha[:, None] * along
    taken = Taken(
        alpha=alpha,
        gain=gain,
        decrement=decrement,
        norm=norm,
        same=jnp.all(zones(p.law, jar) == zone, axis=-1),
        curved=scale * left >= tolerance,  # a step that conjugate gradients left unfinished is not exact
        energy=jnp.abs(_dot(s.x, p.q)) + 0.5 * jnp.abs(_dot(s.x, s.smooth + p.q)),
    )
    return _State(
        x=s.x + alpha[:, None, None] * step,
        jar=jar,
        smooth=s.smooth + alpha[:, None, None] * metric,
        decrement=decrement,
        done=ended(taken, s.decrement, tolerance, scale) | (s.iterations + 1 >= settings.iterations),
        iterations=s.iterations + 1,
    )


class _Search(NamedTuple):
    """Conjugate gradients of a batch."""

    x: Array
    residual: Array
    direction: Array
    product: Array  # residual' P^-1 residual
    count: Array


def _whole(parts: _Parts, weight: Array) -> Array:
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


def solve_linear(parts: _Parts, weight: Array, b: Array, wanted: Array) -> tuple[Array, Array]:
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
        return (_dot(s.residual, s.residual) > wanted * wanted) & (s.product > 0)

    def improve(s: _Search) -> _Search:
        image = times(s.direction)
        bend = _dot(s.direction, image)
        going = open_(s) & (bend > 0)
        alpha = jnp.where(going, s.product / jnp.where(bend > 0, bend, 1), 0)[:, None, None]
        residual = s.residual - alpha * image
        ahead = front(residual)
        product = jnp.where(going, _dot(residual, ahead), s.product)
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
    first = _Search(x, residual, ahead, _dot(residual, ahead), jnp.int32(0))
    s = lax.while_loop(lambda s: (s.count < _MOST) & jnp.any(open_(s)), improve, first)
    return s.x, jnp.sqrt(_dot(s.residual, s.residual))


def solve_hessian(p: TreeProblem, start: TreeStart, x: Array, b: Array) -> Array:
    """Return H^-1 b of one world, shape (ntree, k), with the Hessian H at x; differentiable in b, and in p and x."""
    weight = weights(p, start.touched, x)

    def batched(p: TreeProblem, start: TreeStart, weight: Array, b: Array) -> Array:
        touched, ties = start.touched, jnp.any(start.touched[..., 1] >= 0)
        sides = [functools.partial(in_order, x, start.nrow, b.shape[1]) for x in (touched, touched[..., :1])]
        order = lax.cond(ties, *sides)

        def kernel(table: Table | None) -> Array:
            wanted = 1e2 * jnp.finfo(b.dtype).eps * jnp.sqrt(_dot(b, b))
            return solve_linear(_Parts(p, start.touched, table), weight, b, wanted)[0]

        return with_table(order, p.J, kernel)

    def solve(_, y: Array) -> Array:
        return whole_batch(batched)(p, start, weight, y)

    return lax.custom_linear_solve(lambda v: hessian_times(p, start.touched, weight, v), b, solve, symmetric=True)
