"""The projected Gauss-Seidel method on the dual problem, with Nesterov's momentum, island by island."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.lots import advanced, share
from mjx_like.solver.capacity import at_capacity, split
from mjx_like.solver.dual import Dual, Response, dual, dual_state, on_ellipsoid, response
from mjx_like.solver.law import force as primal_force
from mjx_like.solver.problem import (
    Problem,
    Settings,
    Solution,
    Start,
    gradient,
    most_iterations,
    times,
    transposed_times,
)
from mjx_like.solver.shuffle import shuffled, stream
from mjx_like.solver.sweep import parts, swept

Array = jax.Array

_LONGEST_STREAM = 1 << 20
# a sweep is many short kernels: its lots are larger than those of other loops, and its matrix is better small
_LEAST_LOT, _LEAST_CAPACITY, _SECOND_CAPACITY = 64, 16, 4


class _Fixed(NamedTuple):
    """What the sweeps of a world go by; a block is a row without a cone, or a cone."""

    problem: Dual
    row: Array  # (nisland, nrow) rows in use of each island, bool
    order: Array  # (nisland, nblock) blocks of each island first, then nblock
    count: Array  # (nisland,) number of its blocks
    scale: Array  # (nisland,) one over the trace of its inertia
    tolerance: Array
    limit: Array  # sweeps of an island


class _State(NamedTuple):
    """Where the solve of a world stands."""

    force: Array
    before: Array  # forces before the extrapolation
    order: Array  # blocks of the island first
    momentum: Array  # sweeps since the last restart
    island: Array  # the number of islands when all are done
    sweeps: Array  # of this island
    most: Array  # sweeps of any island
    done: Array


def pgs(settings: Settings, p: Problem, start: Start) -> Solution:
    """Return the optimum of one world, as far as `iterations` sweeps and the tolerance go.

    A sweep minimises over one row or one elliptic cone after the other, in a shuffled order. An island ends when a
    sweep saves less cost, over the trace of its inertia, than the tolerance. Under `vmap` each pass makes a sweep in
    a lot of the worlds that are not done.
    Source: mj_solPGS; O'Donoghue and Candes 2015.
    """
    return at_capacity(functools.partial(_minimise, settings), _LEAST_CAPACITY, _SECOND_CAPACITY)(p, start)


def _minimise(settings: Settings, p: Problem, start: Start) -> Solution:
    responses = jax.vmap(functools.partial(response, at_once=True))(p)
    fixed = jax.vmap(functools.partial(_fixed, settings))(p, start, responses)
    first = jax.vmap(functools.partial(_first, settings))(p, start, fixed)
    batch, _, nblock = fixed.order.shape
    numbers = jnp.asarray(stream(min(settings.iterations * max(nblock - 1, 0) + 1, _LONGEST_STREAM)))
    s = advanced(functools.partial(_sweep, numbers), fixed, first, share(batch, _LEAST_LOT))
    return jax.vmap(_solution)(p, start, responses, s)


def _fixed(settings: Settings, p: Problem, start: Start, response: Response) -> _Fixed:
    nplain, ncone, ndim = split(p.law)
    row = (p.law.D > 0) & (start.islands.row > 0)
    block = jnp.concatenate([row[:, :nplain], row[:, nplain :: max(ndim, 1)] if ncone else row[:, :0]], axis=1)
    place = np.arange(block.shape[1])[:, None]
    return _Fixed(
        problem=dual(p, start.smooth, response),
        row=row,
        order=jnp.sum(jnp.cumsum(block, axis=1)[:, None] <= place, axis=2, dtype=jnp.int32),
        count=jnp.sum(block, axis=1, dtype=jnp.int32),
        scale=1 / jnp.maximum(times(start.islands.dof, jnp.diag(p.M)), MINVAL),
        tolerance=start.tolerance,
        limit=jnp.asarray(most_iterations(settings, start.limit), jnp.int32),
    )


def _first(settings: Settings, p: Problem, start: Start, fixed: _Fixed) -> _State:
    force = _initial(settings, p, start, fixed.problem)
    zero = jnp.int32(0)
    state = _State(force, force, fixed.order[0], zero, jnp.int32(-1), zero, zero, jnp.zeros((), bool))
    return _next_island(fixed, state)


def _solution(p: Problem, start: Start, response: Response, s: _State) -> Solution:
    qacc = start.smooth + response.acceleration(s.force, at_once=True)
    return Solution(
        qacc=qacc,
        force=s.force,
        constraint=transposed_times(p.J, s.force),
        state=dual_state(p.law, s.force),
        iterations=s.most,
        residual=jnp.linalg.norm(gradient(p, qacc)) / jnp.maximum(jnp.trace(p.M), MINVAL),
    )


def _initial(settings: Settings, p: Problem, start: Start, problem: Dual) -> Array:
    """Return the forces at the warm start if they are better than none."""
    if not settings.warmstart:
        return jnp.zeros_like(p.aref)
    f = primal_force(p.law, times(p.J, start.warm) - p.aref)
    cost = jnp.sum(f * problem.b) + 0.5 * (jnp.sum(f * times(problem.A, f)) + jnp.sum(problem.R * f * f))
    return jnp.where(cost > 0, 0, f)


def _next_island(fixed: _Fixed, s: _State) -> _State:
    """Return the state of one world at the start of its next island that has rows; done where there is none."""
    nisland = fixed.count.size
    number = jnp.arange(nisland, dtype=jnp.int32)
    island = jnp.min(jnp.where((number > s.island) & (fixed.count > 0), number, nisland))
    done = (island == nisland) | (fixed.limit <= 0)
    zero = jnp.int32(0)
    order = fixed.order[jnp.minimum(island, nisland - 1)]
    return s._replace(before=s.force, order=order, momentum=zero, island=island, sweeps=zero, done=done)


def _sweep(numbers: Array, fixed: _Fixed, s: _State) -> _State:
    """Return the state of a batch of worlds, none of which is done, after one sweep of the island that each is at."""
    start, mine, count = jax.vmap(_extrapolated)(fixed, s)
    order = shuffled(s.order.T, count, numbers, s.sweeps * (count - 1))
    new, saved = swept(fixed.problem, order, count, start)
    return jax.vmap(_after)(fixed, s._replace(order=order.T), start, new, mine, saved)


def _extrapolated(fixed: _Fixed, s: _State) -> tuple[Array, Array, Array]:
    """Return the forces that a sweep of one world starts from, the rows of its island and the number of its blocks."""
    mine, count = fixed.row[s.island], fixed.count[s.island]
    share = jnp.where(s.sweeps > 0, (s.momentum - 1) / (s.momentum + 2), 0).astype(s.force.dtype)
    ahead = _projected(fixed.problem, s.force + share * (s.force - s.before))
    return jnp.where((share > 0) & mine, ahead, s.force), mine, count


def _after(fixed: _Fixed, s: _State, start: Array, new: Array, mine: Array, saved: Array) -> _State:
    """Return the state of one world after a sweep that went from `start` to `new`."""
    against = (s.sweeps > 0) & (jnp.sum(jnp.where(mine, (new - start) * (start - s.force), 0)) < 0)
    sweeps = s.sweeps + 1
    after = s._replace(
        force=new,
        before=s.force,
        momentum=jnp.where(against, 0, s.momentum + 1),
        sweeps=sweeps,
        most=jnp.maximum(s.most, sweeps),
    )
    ended = (fixed.scale[s.island] * saved < fixed.tolerance) | (sweeps >= fixed.limit)
    return jax.tree.map(functools.partial(jnp.where, ended), _next_island(fixed, after), after)


def _projected(problem: Dual, force: Array) -> Array:
    """Return the forces within their bounds and cones: normals raised to 0, then tangents scaled to the surface."""
    nplain, ncone, ndim = parts(problem)
    plain = safe.clip(force[:nplain], problem.low[:nplain], problem.high[:nplain])
    if not ncone:
        return plain
    cones = force[nplain:].reshape(ncone, ndim)
    normal, tangents = cones[:, 0], cones[:, 1:]
    outside = jnp.sum(safe.divide(tangents, problem.friction) ** 2, axis=1) > normal * normal
    tangents = jnp.where(outside[:, None], on_ellipsoid(tangents, problem.friction, normal), tangents)
    cones = jnp.where((normal < 0)[:, None], 0, jnp.concatenate([normal[:, None], tangents], axis=1))
    return jnp.concatenate([plain, cones.ravel()])
