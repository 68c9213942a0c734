"""The conjugate gradient method on the primal problem, island by island, with M as preconditioner."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math.linalg import cho_solve, cholesky, matmul
from mjx_like.solver.capacity import at_capacity
from mjx_like.solver.law import cost_change, force, state, zones
from mjx_like.solver.problem import Problem, Settings, Solution, Start, most_iterations, times, transposed_times
from mjx_like.solver.search import Line, best_step

Array = jax.Array

_ETA = 0.01  # of the lower bound of Hager and Zhang


class _State(NamedTuple):
    """Where the solve stands; the islands have one step length, one counter and one end each."""

    x: Array
    jar: Array  # J x - aref
    smooth: Array  # M x - q
    gradient: Array
    preconditioned: Array  # M^-1 gradient
    direction: Array
    done: Array
    iterations: Array


def cg(settings: Settings, p: Problem, start: Start) -> Solution:
    """Return the optimum of one world, as far as `iterations` steps and the tolerance go.

    An island ends when its cost improvement or its gradient, over the trace of its inertia, falls below the tolerance,
    or when no step improves it; it does not start where the duality gap at the start is below it.
    Source: mj_solCG; Hager and Zhang 2005.
    """
    return at_capacity(jax.vmap(functools.partial(_solve, settings)))(p, start)


def _solve(settings: Settings, p: Problem, start: Start) -> Solution:
    dof = start.islands.dof
    factor = cholesky(p.M)
    scale = 1 / jnp.maximum(times(dof, jnp.diag(p.M)), MINVAL)
    first = _initial(settings, p, start, factor, scale)
    s = first
    if settings.iterations:
        step = functools.partial(_iterate, settings, p, start, factor, scale)
        s = lax.while_loop(lambda s: jnp.any(~s.done), step, first)
    f = force(p.law, s.jar)
    return Solution(
        qacc=s.x,
        force=f,
        constraint=transposed_times(p.J, f),
        state=state(p.law, zones(p.law, s.jar)),
        iterations=jnp.max(s.iterations),
        residual=jnp.max(scale * _norm(dof, s.gradient)),
    )


def initial_acceleration(settings: Settings, p: Problem, start: Start) -> Array:
    """Return the better of the two starting points; without constraints on its island, a dof starts at the end."""
    x = start.smooth
    if settings.warmstart:
        jar, warm_jar = times(p.J, x) - p.aref, times(p.J, start.warm) - p.aref
        away = start.warm - x
        change = 0.5 * jnp.sum(away * times(p.M, away)) + cost_change(p.law, jar, warm_jar)
        tied = jnp.sum(start.islands.dof, axis=0) > 0
        x = jnp.where((change <= 0) & tied, start.warm, x)
    return x


def _initial(settings: Settings, p: Problem, start: Start, factor: Array, scale: Array) -> _State:
    dof, x = start.islands.dof, initial_acceleration(settings, p, start)
    jar, smooth = times(p.J, x) - p.aref, times(p.M, x) - p.q
    gradient = smooth - transposed_times(p.J, force(p.law, jar))
    preconditioned = cho_solve(factor, gradient)
    gap = 0.5 * scale * (times(dof, gradient * preconditioned))
    none = jnp.sum(dof, axis=1) == 0
    return _State(
        x=x,
        jar=jar,
        smooth=smooth,
        gradient=gradient,
        preconditioned=preconditioned,
        direction=-preconditioned,
        done=none | (jnp.maximum(gap, 0) < start.tolerance) | (most_iterations(settings, start.limit) <= 0),
        iterations=jnp.zeros(dof.shape[0], jnp.int32),
    )


def _iterate(settings: Settings, p: Problem, start: Start, factor: Array, scale: Array, s: _State) -> _State:
    """Return the state after one step of every island that is not done."""
    dof, row = start.islands.dof, start.islands.row
    direction = jnp.where(transposed_times(dof, (~s.done).astype(dof.dtype)) > 0, s.direction, 0)
    along, metric = times(p.J, direction), times(p.M, direction)
    length = _norm(dof, direction)
    line = Line(
        law=p.law,
        row=row,
        jar=s.jar,
        along=along,
        slope=times(dof, direction * s.smooth),
        bend=times(dof, direction * metric),
    )
    wanted = ~s.done & (length >= MINVAL)
    limit = start.tolerance * start.ls_tolerance * length / scale
    alpha, gain = best_step(line, wanted, limit, settings.ls_iterations)
    moved = alpha != 0
    each = transposed_times(dof, alpha)
    x, smooth = s.x + each * direction, s.smooth + each * metric
    jar = s.jar + transposed_times(row, alpha) * along
    gradient = smooth - transposed_times(p.J, force(p.law, jar))
    preconditioned = cho_solve(factor, gradient)
    improvement = scale * gain
    ended = ((improvement > 0) & (improvement < start.tolerance)) | (scale * _norm(dof, gradient) < start.tolerance)
    iterations = s.iterations + moved
    beta = _hager_zhang(dof, s, direction, gradient, preconditioned)
    return _State(
        x=x,
        jar=jar,
        smooth=smooth,
        gradient=gradient,
        preconditioned=preconditioned,
        direction=-preconditioned + transposed_times(dof, beta) * direction,
        done=s.done | ~moved | ended | (iterations >= most_iterations(settings, start.limit)),
        iterations=iterations,
    )


def _hager_zhang(dof: Array, s: _State, direction: Array, gradient: Array, preconditioned: Array) -> Array:
    """Return the share of the old direction in the new one, shape (nisland,); 0 where conjugacy is lost."""
    y, My = gradient - s.gradient, preconditioned - s.preconditioned
    products = jnp.stack([direction * y, y * My, y * preconditioned, direction * gradient])
    dy, yMy, yMg, dg = matmul(products, dof.T)
    lost = dy < MINVAL
    safe_dy = jnp.where(lost, 1, dy)
    share = (yMg - 2 * (yMy / safe_dy) * dg) / safe_dy
    least = -1 / jnp.maximum(MINVAL, _norm(dof, direction) * jnp.minimum(_ETA, _norm(dof, gradient)))
    return jnp.where(lost, 0, jnp.maximum(least, share))


def _norm(dof: Array, x: Array) -> Array:
    """Return the norm of `x` by island."""
    return jnp.sqrt(times(dof, x * x))
