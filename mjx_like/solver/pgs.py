"""The projected Gauss-Seidel method on the dual problem, with Nesterov's momentum, island by island."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.linalg import cho_solve, cholesky
from mjx_like.solver.capacity import at_capacity, split
from mjx_like.solver.dual import Dual, dual, dual_state, on_ellipsoid, within_ellipsoid
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

Array = jax.Array

WORSE = 1e-10  # cost increase from which on a block keeps its old force
_LONGEST_STREAM = 1 << 20


class _State(NamedTuple):
    """Where the solve of one island stands."""

    force: Array
    before: Array  # forces before the extrapolation
    order: Array  # blocks of the island first
    momentum: Array  # iterations since the last restart
    iterations: Array
    done: Array


def pgs(settings: Settings, p: Problem, start: Start) -> Solution:
    """Return the optimum of one world, as far as `iterations` sweeps and the tolerance go.

    A sweep minimises over one row or one elliptic cone after the other, in a shuffled order. An island ends when a
    sweep saves less cost, over the trace of its inertia, than the tolerance.
    Source: mj_solPGS; O'Donoghue and Candes 2015.
    """
    return at_capacity(jax.vmap(functools.partial(_solve, settings)))(p, start)


def _solve(settings: Settings, p: Problem, start: Start) -> Solution:
    problem = dual(p, start.smooth)
    force = _initial(settings, p, start, problem)
    nisland = start.islands.dof.shape[0]
    scale = 1 / jnp.maximum(times(start.islands.dof, jnp.diag(p.M)), MINVAL)
    solve = functools.partial(_solve_island, settings, p, start, problem, scale)
    force, iterations = lax.fori_loop(0, nisland, solve, (force, jnp.int32(0)))
    constraint = transposed_times(p.J, force)
    qacc = start.smooth + cho_solve(cholesky(p.M), constraint)
    return Solution(
        qacc=qacc,
        force=force,
        constraint=constraint,
        state=dual_state(p.law, force),
        iterations=iterations,
        residual=jnp.linalg.norm(gradient(p, qacc)) / jnp.maximum(jnp.trace(p.M), MINVAL),
    )


def _initial(settings: Settings, p: Problem, start: Start, problem: Dual) -> Array:
    """Return the forces at the warm start if they are better than none."""
    if not settings.warmstart:
        return jnp.zeros_like(p.aref)
    f = primal_force(p.law, times(p.J, start.warm) - p.aref)
    cost = jnp.sum(f * problem.b) + 0.5 * (jnp.sum(f * times(problem.A, f)) + jnp.sum(problem.R * f * f))
    return jnp.where(cost > 0, 0, f)


def _solve_island(
    settings: Settings, p: Problem, start: Start, problem: Dual, scale: Array, island: Array, carry: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return the forces after the solve of one island, and the most iterations that any has taken."""
    force, most = carry
    nplain, ncone, ndim = split(p.law)
    mine = (p.law.D > 0) & (start.islands.row[island] > 0)
    blocks = jnp.concatenate([mine[:nplain], mine[nplain :: max(ndim, 1)] if ncone else mine[:0]])
    count = jnp.sum(blocks, dtype=jnp.int32)
    numbers = jnp.asarray(stream(min(settings.iterations * max(blocks.size - 1, 0) + 1, _LONGEST_STREAM)))

    def sweep(s: _State) -> _State:
        share = jnp.where(s.iterations > 0, (s.momentum - 1) / (s.momentum + 2), 0).astype(force.dtype)
        ahead = project(p, problem, s.force + share * (s.force - s.before))
        f = jnp.where((share > 0) & mine, ahead, s.force)
        order = shuffled(s.order, count, numbers, s.iterations * (count - 1))
        new, saved = lax.fori_loop(
            0, count, lambda i, c: _visit(p, problem, order[i], c), (f, jnp.zeros((), force.dtype))
        )
        against = (s.iterations > 0) & (jnp.sum(jnp.where(mine, (new - f) * (f - s.force), 0)) < 0)
        return _State(
            force=new,
            before=s.force,
            order=order,
            momentum=jnp.where(against, 0, s.momentum + 1),
            iterations=s.iterations + 1,
            done=scale[island] * saved < start.tolerance,
        )

    order = jnp.argsort(~blocks, stable=True).astype(jnp.int32)
    zero = jnp.int32(0)
    first = _State(force, force, order, zero, zero, count == 0)
    s = lax.while_loop(lambda s: ~s.done & (s.iterations < most_iterations(settings, start.limit)), sweep, first)
    return s.force, jnp.maximum(most, s.iterations)


def project(p: Problem, problem: Dual, force: Array) -> Array:
    """Return the forces within their bounds and cones: normals raised to 0, then tangents scaled to the surface."""
    nplain, ncone, ndim = split(p.law)
    plain = safe.clip(force[:nplain], problem.low[:nplain], problem.high[:nplain])
    if not ncone:
        return plain
    cones = force[nplain:].reshape(ncone, ndim)
    normal, tangents = cones[:, 0], cones[:, 1:]
    outside = jnp.sum(safe.divide(tangents, problem.friction) ** 2, axis=1) > normal * normal
    tangents = jnp.where(outside[:, None], on_ellipsoid(tangents, problem.friction, normal), tangents)
    cones = jnp.where((normal < 0)[:, None], 0, jnp.concatenate([normal[:, None], tangents], axis=1))
    return jnp.concatenate([plain, cones.ravel()])


def _visit(p: Problem, problem: Dual, block: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return forces and saved cost after the minimisation over one block: a row, or a cone."""
    nplain, ncone, _ = split(p.law)
    if not ncone:
        return _visit_row(problem, block, carry)
    if not nplain:
        return _visit_cone(p, problem, block, carry)
    return lax.cond(
        block < nplain,
        lambda: _visit_row(problem, jnp.minimum(block, nplain - 1), carry),
        lambda: _visit_cone(p, problem, jnp.maximum(block - nplain, 0), carry),
    )


def _visit_row(problem: Dual, row: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
    force, saved = carry
    a, old = problem.A[row], force[row]
    curvature = a[row] + problem.R[row]
    slope = problem.b[row] + jnp.sum(a * force) + problem.R[row] * old
    new = jnp.clip(old - slope / curvature, problem.low[row], problem.high[row])
    change = 0.5 * curvature * (new - old) ** 2 + slope * (new - old)
    keep = change > WORSE
    return force.at[row].set(jnp.where(keep, old, new)), saved - jnp.where(keep, 0, change)


def _visit_cone(p: Problem, problem: Dual, cone: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return what `_visit` does for a cone: along the ray through its force, then across at a fixed normal."""
    force, saved = carry
    nplain, _, ndim = split(p.law)
    start, friction = nplain + cone * ndim, problem.friction[cone]
    zero = jnp.zeros_like(start)
    old, R = (lax.dynamic_slice(x, (start,), (ndim,)) for x in (force, problem.R))
    rows = lax.dynamic_slice(problem.A, (start, zero), (ndim, force.size))
    A = lax.dynamic_slice(rows, (zero, start), (ndim, ndim)) + jnp.diag(R)
    slope = lax.dynamic_slice(problem.b, (start,), (ndim,)) + times(rows, force) + R * old
    # the ray; from the tip of the cone, the normal alone
    bend = jnp.sum(old * times(A, old))
    along = -jnp.sum(old * slope) / jnp.where(bend >= MINVAL, bend, 1)
    along = jnp.where(old[0] + along * old[0] < 0, -1, along)
    ray = jnp.where(bend >= MINVAL, old * (1 + along), old)
    tip = jnp.where(jnp.arange(ndim) == 0, jnp.maximum(old[0] - slope[0] / A[0, 0], 0), 0)
    new = jnp.where(old[0] < MINVAL, tip, ray)
    # across
    across = A[1:, 1:]
    target = slope[1:] - times(across, old[1:]) + A[1:, 0] * (new[0] - old[0])
    tangents = within_ellipsoid(across, target, friction, new[0])
    new = jnp.concatenate([new[:1], jnp.where(new[0] < MINVAL, 0, tangents)])
    delta = new - old
    change = 0.5 * jnp.sum(delta * times(A, delta)) + jnp.sum(delta * slope)
    keep = change > WORSE
    new = jnp.where(keep, old, new)
    return lax.dynamic_update_slice(force, new, (start,)), saved - jnp.where(keep, 0, change)
