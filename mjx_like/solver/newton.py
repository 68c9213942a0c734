"""Newton's method on the primal problem, all worlds together."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.math.linalg import solve_positive
from mjx_like.math.lots import SMALL, advanced, lot_of
from mjx_like.math.platform import on_cpu
from mjx_like.solver.capacity import at_capacity, each_at_capacity
from mjx_like.solver.law import cost_change, curved, force, zones
from mjx_like.solver.law import state as row_state
from mjx_like.solver.linesearch import Line, share_taken
from mjx_like.solver.problem import (
    Problem,
    Settings,
    Solution,
    Start,
    hessian,
    most_iterations,
    times,
    transposed_times,
    written_out,
)

Array = jax.Array

_LEAST_WITH_CONES = 16  # capacity of large systems with elliptic cones


class _State(NamedTuple):
    """Where each world stands; arrays have the batch axis first."""

    x: Array
    jar: Array  # J x - aref
    smooth: Array  # M x - q
    gradient: Array  # of the cost
    decrement: Array
    done: Array
    iterations: Array


Fixed = tuple[Problem, Array, Array, Array | None]  # problem, tolerance, scale, limit of iterations


def newton(settings: Settings, p: Problem, start: Start) -> Solution:
    """Return the optimum of one world.

    Under `vmap` all worlds share one loop, at the least row capacity that holds all their rows; each pass advances
    a block of those that are not done, so that the slowest do not hold up the rest. Rows of elliptic cones are dear,
    and large systems with them have a loop for each capacity. A world ends when its zones are those of the last
    Hessian after a full step (the optimum is exact then), or when its cost improvement, its gradient or its Newton
    decrement, over the trace of M, falls below the tolerance; with tolerance 0, when steps improve nothing any more.
    Source: mj_solNewton.
    """

    if on_cpu() and p.law.cone is not None and p.q.shape[-1] > SMALL:
        return each_at_capacity(functools.partial(_minimise, settings), _LEAST_WITH_CONES)(p, start)
    return at_capacity(functools.partial(_minimise, settings))(p, start)


def _minimise(settings: Settings, p: Problem, start: Start, own: Array | None = None) -> Solution:
    """Return the optima of a batch; own: the worlds whose results count, None for all."""
    scale = 1 / jnp.maximum(jnp.trace(p.M, axis1=-2, axis2=-1), MINVAL)
    first = _initial(settings, p, start, scale)
    first = first if own is None else first._replace(done=first.done | ~own)

    transposed = not written_out(p.J)  # the Hessian is a product then, twice as fast if the loop has J transposed
    fixed = (_transposed(p) if transposed else p, start.tolerance, scale, start.limit)

    def iterate(fixed: Fixed, s: _State) -> _State:
        p, *rest = fixed
        return _iterate(settings, _transposed(p) if transposed else p, *rest, s)

    s = advanced(iterate, fixed, first, lot_of(*p.q.shape)) if settings.iterations else first
    f = force(p.law, s.jar)
    constraint = transposed_times(p.J, f)
    return Solution(
        qacc=s.x,
        force=f,
        constraint=constraint,
        state=row_state(p.law, zones(p.law, s.jar)),
        iterations=s.iterations,
        residual=scale * jnp.linalg.norm(s.smooth - constraint, axis=-1),
    )


def _transposed(p: Problem) -> Problem:
    return p.replace(J=jnp.swapaxes(p.J, -1, -2))


def _initial(settings: Settings, p: Problem, start: Start, scale: Array) -> _State:
    """Return the better of the two starting points; done where its gradient is below the tolerance.

    Source: warmstart of engine_forward.
    """
    x = start.smooth
    jar, smooth = times(p.J, x) - p.aref, jnp.zeros_like(x)
    if settings.warmstart:
        warm_jar, warm_smooth = times(p.J, start.warm) - p.aref, times(p.M, start.warm) - p.q
        change = 0.5 * jnp.sum((start.warm - x) * warm_smooth, axis=-1) + cost_change(p.law, jar, warm_jar)
        better = (change < 0)[:, None]
        x, jar = jnp.where(better, start.warm, x), jnp.where(better, warm_jar, jar)
        smooth = jnp.where(better, warm_smooth, smooth)
    gradient = smooth - transposed_times(p.J, force(p.law, jar))
    norm = scale * jnp.linalg.norm(gradient, axis=-1)
    zero = jnp.zeros_like(scale)
    return _State(
        x=x,
        jar=jar,
        smooth=smooth,
        gradient=gradient,
        decrement=jnp.full_like(zero, jnp.inf),
        done=(norm < start.tolerance) | (norm == 0) | (most_iterations(settings, start.limit) <= 0),
        iterations=zero.astype(jnp.int32),
    )


def _iterate(settings: Settings, p: Problem, tolerance: Array, scale: Array, limit: Array | None, s: _State) -> _State:
    """Return the state of all worlds after one Newton step."""
    zone = zones(p.law, s.jar)
    step = -solve_positive(hessian(p, zone, s.jar), s.gradient)
    along, metric = times(p.J, step), times(p.M, step)
    slope, bend = jnp.sum(step * s.smooth, axis=-1), jnp.sum(step * metric, axis=-1)

    alpha, gain = share_taken(settings, p.law, Line(s.jar, along, slope, bend), ~s.done)
    jar, smooth = s.jar + alpha[:, None] * along, s.smooth + alpha[:, None] * metric
    gradient = smooth - transposed_times(p.J, force(p.law, jar))
    same = jnp.all(zones(p.law, jar) == zone, axis=-1)
    decrement = -0.5 * jnp.sum(step * s.gradient, axis=-1)
    taken = Taken(
        alpha=alpha,
        gain=gain,
        decrement=decrement,
        norm=jnp.linalg.norm(gradient, axis=-1),
        same=same,
        curved=curved(p.law, zone),
        energy=jnp.abs(jnp.sum(s.x * p.q, axis=-1)) + 0.5 * jnp.abs(jnp.sum(s.x * (s.smooth + p.q), axis=-1)),
    )
    iterations = s.iterations + 1
    return _State(
        x=s.x + alpha[:, None] * step,
        jar=jar,
        smooth=smooth,
        gradient=gradient,
        decrement=decrement,
        done=ended(taken, s.decrement, tolerance, scale) | (iterations >= most_iterations(settings, limit)),
        iterations=iterations,
    )


class Taken(NamedTuple):
    """A Newton step that has been taken, and where it began; arrays of one shape."""

    alpha: Array  # share of the full step
    gain: Array  # change of the cost
    decrement: Array  # what the full step would lower the quadratic model of the cost by
    norm: Array  # of the gradient at its end
    same: Array  # whether the zones at its end are those of its Hessian
    curved: Array  # whether the Hessian changes within these zones
    energy: Array  # size of the terms of the Gauss cost


def ended(step: Taken, last: Array, tolerance: Array, scale: Array) -> Array:
    """Return whether a world is done after a step; last: the decrement of the step before.

    It is so where the step was exact, or lowered the cost, its gradient or the model by less than the tolerance over
    the trace of M (`scale`: its inverse), or where rounding is all that is left.
    """
    low = (scale * step.decrement < tolerance) | (scale * step.norm < tolerance)
    small = low | ((step.gain <= 0) & (-scale * step.gain < tolerance))
    exact = step.same & (step.alpha == 1) & ~step.curved & (tolerance > 0)
    eps = jnp.finfo(step.energy.dtype).eps
    stalled = step.same & (step.decrement > 0.5 * last) & (step.decrement <= 1e3 * eps * step.energy)
    return small | exact | stalled | (step.decrement <= 0)
