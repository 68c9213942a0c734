"""Newton's method on worlds where rows couple many trees."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math.lots import advanced, share
from mjx_like.solver.entries import Order, Table, in_order, largest, table_of
from mjx_like.solver.law import cost_change, curvature, force, zones
from mjx_like.solver.linesearch import Line, share_taken
from mjx_like.solver.newton import Taken, ended
from mjx_like.solver.problem import Settings
from mjx_like.solver.tree_problem import TreeProblem, TreeSolution, TreeStart, metric_times
from mjx_like.solver.tree_systems import LONGEST_TABLE, Parts, dot, solve_linear

Array = jax.Array

_LEAST_LOT = 4  # worlds that are solved at a time, at the least: often few of a batch are coupled
_SHARE = 1e-3  # of the gradient that a linear solve may leave


class _State(NamedTuple):
    """Where each world stands; arrays have the batch axis first."""

    x: Array
    jar: Array
    smooth: Array  # M x - q
    gradient: Array  # of the cost
    decrement: Array
    done: Array
    iterations: Array


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

    if most <= LONGEST_TABLE:
        return sized(most)
    sizes = [LONGEST_TABLE // 2] * (wanted.size > 1) + [LONGEST_TABLE]  # one world: a shorter program
    choice = sum((entries > size).astype(jnp.int32) for size in sizes)
    return lax.switch(choice, [functools.partial(sized, size) for size in (*sizes, None)])


def _minimise(settings: Settings, p: TreeProblem, start: TreeStart, wanted: Array, table: Table | None) -> TreeSolution:
    scale = 1 / jnp.maximum(jnp.sum(jnp.trace(p.M, axis1=-2, axis2=-1), axis=-1), MINVAL)
    parts = Parts(p, start.touched, table)
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
        residual=scale * jnp.sqrt(dot(s.smooth - constraint, s.smooth - constraint)),
    )


def _initial(settings: Settings, parts: Parts, start: TreeStart, scale: Array) -> _State:
    """Return the better of the two starting points; done where its gradient is below the tolerance."""
    p, x = parts.p, start.smooth
    jar, smooth = parts.times(x) - p.aref, jnp.zeros_like(x)
    if settings.warmstart:
        warm_jar, warm_smooth = parts.times(start.warm) - p.aref, metric_times(p.M, start.warm) - p.q
        change = 0.5 * dot(start.warm - x, warm_smooth) + cost_change(p.law, jar, warm_jar)
        better = change < 0
        x, smooth = (jnp.where(better[:, None, None], *y) for y in ((start.warm, x), (warm_smooth, smooth)))
        jar = jnp.where(better[:, None], warm_jar, jar)
    gradient = smooth - parts.transposed(force(p.law, jar))
    norm = scale * jnp.sqrt(dot(gradient, gradient))
    zero = jnp.zeros_like(scale)
    return _State(
        x=x,
        jar=jar,
        smooth=smooth,
        gradient=gradient,
        decrement=jnp.full_like(zero, jnp.inf),
        done=(norm < start.tolerance) | (norm == 0) | (settings.iterations <= 0),
        iterations=zero.astype(jnp.int32),
    )


def _iterate(settings: Settings, parts: Parts, tolerance: Array, scale: Array, s: _State) -> _State:
    """Return the state of all worlds after one step of Newton."""
    p = parts.p
    zone = zones(p.law, s.jar)
    weight = curvature(p.law, zone, s.jar, p.J[..., 0, :])[0]
    norm = jnp.sqrt(dot(s.gradient, s.gradient))
    wanted = jnp.maximum(jnp.minimum(_SHARE * norm, 0.1 * tolerance / scale), 1e2 * jnp.finfo(norm.dtype).eps * norm)
    asked = jnp.where(s.done[:, None, None], 0, -s.gradient)  # nobody waits for the system of a world that is done
    step, left = solve_linear(parts, weight, asked, wanted)
    along, metric = parts.times(step), metric_times(p.M, step)
    slope, bend = dot(step, s.smooth), dot(step, metric)
    decrement = -0.5 * dot(step, s.gradient)

    alpha, gain = share_taken(settings, p.law, Line(s.jar, along, slope, bend), ~s.done)
    jar, smooth = s.jar + alpha[:, None] * along, s.smooth + alpha[:, None, None] * metric
    gradient = smooth - parts.transposed(force(p.law, jar))
    taken = Taken(
        alpha=alpha,
        gain=gain,
        decrement=decrement,
        norm=jnp.sqrt(dot(gradient, gradient)),
        same=jnp.all(zones(p.law, jar) == zone, axis=-1),
        curved=scale * left >= tolerance,  # a step that conjugate gradients left unfinished is not exact
        energy=jnp.abs(dot(s.x, p.q)) + 0.5 * jnp.abs(dot(s.x, s.smooth + p.q)),
    )
    return _State(
        x=s.x + alpha[:, None, None] * step,
        jar=jar,
        smooth=smooth,
        gradient=gradient,
        decrement=decrement,
        done=ended(taken, s.decrement, tolerance, scale) | (s.iterations + 1 >= settings.iterations),
        iterations=s.iterations + 1,
    )
