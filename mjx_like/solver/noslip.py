"""Forces of friction solved again without regularisation, at the normal forces that the solver found.

A sweep minimises 1/2 f'A f + f'b over one friction row after the other: rows with friction loss within their bounds,
pairs of opposite edges of a pyramid at a fixed sum, tangents of an elliptic cone within its section. The derivative is
that of the point where a sweep changes nothing any more, whether or not it was reached.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math import lapack, safe
from mjx_like.math.batching import capacities, largest, whole_batch, with_capacity
from mjx_like.math.linalg import matmul
from mjx_like.math.linear import linear_at_capacity
from mjx_like.math.rule import custom_jvp
from mjx_like.solver.capacity import Kept, most, need, split
from mjx_like.solver.dual import Dual, dual, response, within_ellipsoid
from mjx_like.solver.problem import Islands, Problem, times
from mjx_like.solver.sweep import WORSE

Array = jax.Array

_LEAST_DIAGONAL = 1e-10


class Task(NamedTuple):
    """What the forces depend on; rows stand as in the solver's problem."""

    problem: Problem  # its metric may be another than the solver's
    unconstrained: Array  # acceleration without constraints, (nv,)
    force: Array  # (nrow,) that the solver found


class Frame(NamedTuple):
    """What they do not depend on continuously."""

    nrow: Array  # rows in use: those from here on are zero
    ncone: Array  # likewise cones
    pair: Array  # (nrow,) 1 where the row is the first of two opposite edges of a pyramid
    islands: Islands
    scale: Array  # (nisland,) one over the trace of the inertia
    tolerance: Array


class _Sweep(NamedTuple):
    force: Array
    saved: Array  # cost saved by this sweep, by island
    live: Array  # islands that are not done, 0 or 1
    iterations: Array


@functools.partial(custom_jvp, nondiff_argnums=(0,))
def noslip(iterations: int, task: Task, frame: Frame) -> tuple[Array, Array]:
    """Return the forces after at most `iterations` sweeps, shape (nrow,), and the number of sweeps.

    An island ends when a sweep saves less cost, times its scale, than the tolerance. A batch works on as many rows as
    its worlds need.  Source: mj_solNoSlip.
    """

    def sized(size: int, task: Task, frame: Frame) -> tuple[Array, Array]:
        kept = Kept(task.problem.law, size)
        force, count = jax.vmap(lambda t, f: _swept(iterations, _cut(kept, t), _cut_frame(kept, f)))(task, frame)
        return jax.vmap(kept.widen)(force), count

    def batched(task: Task, frame: Frame) -> tuple[Array, Array]:
        return with_capacity(capacities(most(task.problem.law)), need(frame.nrow, frame.ncone), sized, task, frame)

    return whole_batch(batched)(task, frame)


@noslip.defjvp
def _noslip_jvp(iterations: int, primals, tangents):
    task, frame = primals
    force, count = noslip(iterations, task, frame)

    def rate(size: int, args: tuple[Task, Frame, Array], change: Task) -> Array:
        kept = Kept(args[0].problem.law, size)
        task, frame, force = _cut(kept, args[0]), _cut_frame(kept, args[1]), kept.cut(args[2])
        frozen = lax.stop_gradient(force)
        jacobian = jax.jacfwd(lambda f: _conditions(task, frame, frozen, f))(force)
        _, rate = jax.jvp(lambda t: _conditions(t, frame, frozen, force), (task,), (_cut(kept, change),))
        return kept.widen(-_solve(jacobian, rate))

    wanted = need(frame.nrow, frame.ncone)
    moved = linear_at_capacity(rate, most(task.problem.law), wanted, (task, frame, force), tangents[0])
    return (force, count), (moved, np.zeros((), jax.dtypes.float0))


def _cut(kept: Kept, task: Task) -> Task:
    """Return a task, or a change of one, of the rows that are kept."""
    return Task(kept.cut_problem(task.problem), task.unconstrained, kept.cut(task.force))


def _cut_frame(kept: Kept, frame: Frame) -> Frame:
    islands = frame.islands.replace(row=jax.vmap(kept.cut)(frame.islands.row))
    return frame._replace(pair=kept.cut(frame.pair), islands=islands)


def _swept(iterations: int, task: Task, frame: Frame) -> tuple[Array, Array]:
    """Return the forces of one world after the sweeps, and their number."""
    row, problem = frame.islands.row, dual(task.problem, task.unconstrained, response(task.problem))
    nplain, ncone, _ = split(task.problem.law)
    plain, cones = (jnp.minimum(largest(x), most) for x, most in ((frame.nrow, nplain), (frame.ncone, ncone)))
    regular = times(row, 0.5 * problem.R * task.force**2)

    def sweep(s: _Sweep) -> _Sweep:
        first = jnp.where(s.iterations == 0, regular, 0)
        force, saved = s.force, first
        if nplain:
            force, saved = lax.fori_loop(0, plain, functools.partial(_row, problem, frame, s.live), (force, saved))
        if ncone:
            visit = functools.partial(_cone, problem, frame, s.live, nplain)
            force, saved = lax.fori_loop(0, cones, visit, (force, saved))
        live = s.live * (frame.scale * saved >= frame.tolerance)
        return _Sweep(force, saved, live, s.iterations + 1)

    live = (jnp.sum(row, axis=1) > 0).astype(task.force.dtype)
    first = _Sweep(task.force, jnp.zeros_like(live), live, jnp.int32(0))
    s = lax.while_loop(lambda s: jnp.any(s.live > 0) & (s.iterations < iterations), sweep, first)
    return s.force, s.iterations


def _solve(jacobian: Array, rate: Array) -> Array:
    """Return x with jacobian x = rate, shape (nrow,); one of many where contacts that stick share a force in any way.

    All of them give the same acceleration. A ridge makes the matrix regular, what it takes off is added again.
    """
    size = jnp.max(jnp.abs(jacobian), axis=1)
    scale = safe.divide(1, size, 1)
    matrix, target = jacobian * scale[:, None], rate * scale
    regular = matrix + float(jnp.finfo(rate.dtype).eps) ** (2 / 3) * np.eye(rate.size, dtype=rate.dtype)
    x = jnp.zeros_like(rate)
    for _ in range(3):
        x = x + lapack.solve(regular, target - matmul(matrix, x[:, None])[:, 0])
    return x


def _row(problem: Dual, frame: Frame, live: Array, i: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return forces and saved costs after the step at a row with friction loss, or at a pair of edges."""
    force, saved = carry
    other = jnp.minimum(i + 1, force.size - 1)
    loss, pair, island = problem.high[i] < jnp.inf, frame.pair[i] > 0, frame.islands.row[:, i] * live
    slope = problem.b[i] + jnp.sum(problem.A[i] * force)
    diagonal = problem.A[i, i]
    slipped = jnp.clip(force[i] - slope / jnp.maximum(diagonal, MINVAL), problem.low[i], problem.high[i])
    delta = slipped - force[i]
    gain = -(0.5 * delta * delta * jnp.maximum(diagonal, MINVAL) + delta * slope)
    # a pair: force mid + y on the one, mid - y on the other
    slope2 = problem.b[other] + jnp.sum(problem.A[other] * force)
    a, b = jnp.maximum(diagonal, _LEAST_DIAGONAL), jnp.maximum(problem.A[other, other], _LEAST_DIAGONAL)
    cross = problem.A[i, other]
    middle, half = 0.5 * (force[i] + force[other]), 0.5 * (force[i] - force[other])
    bend = a + b - 2 * cross
    step = -(slope - slope2) / jnp.where(bend < MINVAL, 1, bend)
    y = jnp.where(bend < MINVAL, 0, jnp.clip(half + step, -middle, middle))
    change = 0.5 * bend * (y - half) ** 2 + (y - half) * (slope - slope2)
    y, pair_gain = jnp.where(change > WORSE, half, y), jnp.where(change > WORSE, 0, -change)

    acts = (jnp.sum(island) > 0) & (loss | pair)
    first = jnp.where(loss, slipped, middle + y)
    force = force.at[other].set(jnp.where(acts & ~loss, middle - y, force[other]))
    force = force.at[i].set(jnp.where(acts, first, force[i]))
    return force, saved + island * jnp.where(loss, gain, jnp.where(pair, pair_gain, 0))


def _cone(
    problem: Dual, frame: Frame, live: Array, nplain: int, cone: Array, carry: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return forces and saved costs after the step at the tangents of an elliptic cone."""
    force, saved = carry
    friction = problem.friction[cone]
    ndim = friction.size
    start = nplain + cone * (ndim + 1) + 1
    zero, island = jnp.zeros_like(start), frame.islands.row[:, start - 1] * live
    rows = lax.dynamic_slice(problem.A, (start, zero), (ndim, force.size))
    A = lax.dynamic_slice(rows, (zero, start), (ndim, ndim))
    A = jnp.where(np.eye(ndim) > 0, jnp.maximum(A, _LEAST_DIAGONAL), A)
    old, slope = lax.dynamic_slice(force, (start,), (ndim,)), lax.dynamic_slice(problem.b, (start,), (ndim,))
    slope, normal = slope + times(rows, force), force[start - 1]
    new = jnp.where(normal < MINVAL, 0, within_ellipsoid(A, slope - times(A, old), friction, normal))
    delta = new - old
    change = 0.5 * jnp.sum(delta * times(A, delta)) + jnp.sum(delta * slope)
    keep = (change > WORSE) | (jnp.sum(island) == 0) | jnp.all(friction == 0)
    force = lax.dynamic_update_slice(force, jnp.where(keep, old, new), (start,))
    return force, saved - island * jnp.where(keep, 0, change)


def _conditions(task: Task, frame: Frame, at: Array, force: Array) -> Array:
    """Return what vanishes where a sweep changes nothing, shape (nrow,): one equation for each row.

    at: the forces that decide which bounds are active.
    """
    problem, n = dual(task.problem, task.unconstrained, response(task.problem)), force.size
    slope = problem.b + matmul(problem.A, force[:, None])[:, 0]
    fixed = force - task.force
    loss, first = problem.high < jnp.inf, frame.pair > 0
    bound = jnp.where(at >= problem.high, problem.high, problem.low)
    active = (at >= problem.high) | (at <= problem.low)
    out = jnp.where(loss, jnp.where(active, force - jnp.where(loss, bound, 0), slope), fixed)
    second = jnp.concatenate([jnp.zeros(1, bool), first[:-1]])
    following = jnp.minimum(np.arange(n) + 1, n - 1)
    before = np.maximum(np.arange(n) - 1, 0)
    total = fixed + fixed[following]
    balance = jnp.where(at <= 0, force, jnp.where(at[before] <= 0, force[before], slope - slope[before]))
    out = jnp.where(first, total, jnp.where(second, balance, out))
    ncone, ndim = problem.friction.shape
    if not ncone:
        return out
    nplain = n - ncone * (ndim + 1)
    cones = _cone_conditions(problem.friction, *(x[nplain:].reshape(ncone, ndim + 1) for x in (slope, force, at)))
    normals = fixed[nplain:].reshape(ncone, ndim + 1)[:, :1]
    return jnp.concatenate([out[:nplain], jnp.concatenate([normals, cones], axis=1).ravel()])


def _cone_conditions(friction: Array, slope: Array, force: Array, at: Array) -> Array:
    """Return the equations of the tangents of cones, shape (ncone, ndim).

    Inside the section the slope vanishes; on its edge the slope is normal to it, and the force on it.
    """
    slack = 1 - 1e3 * jnp.finfo(force.dtype).eps
    slope, normal, v = slope[:, 1:], force[:, :1], force[:, 1:]
    edge = jnp.sum(safe.divide(at[:, 1:], friction) ** 2, axis=1, keepdims=True) >= slack * at[:, :1] ** 2
    none = (at[:, :1] < MINVAL) | (friction == 0)
    normal = jnp.where(at[:, :1] < MINVAL, 1, normal)
    outward = safe.divide(safe.divide(v, friction * friction), normal * normal)
    work = jnp.sum(slope * v, axis=1, keepdims=True)
    excess = safe.divide(jnp.sum(safe.divide(v, friction) ** 2, axis=1, keepdims=True), normal * normal) - 1
    on_edge = slope - work * outward + excess * outward * lax.stop_gradient(normal * normal)
    return jnp.where(none, v, jnp.where(edge, on_edge, slope))
