"""A sweep of the projected Gauss-Seidel method: the dual problem is minimised over one block after the other.

A block is a row without a cone, or a cone.
"""

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.solver.dual import Dual, within_ellipsoid
from mjx_like.solver.problem import times

Array = jax.Array

WORSE = 1e-10  # cost increase from which on a block keeps its old force


def parts(problem: Dual) -> tuple[int, int, int]:
    """Return the number of rows without a cone, of cones and of rows in a cone."""
    ncone, ntangent = problem.friction.shape[-2:]
    ndim = ntangent + 1 if ncone else 0
    return problem.b.shape[-1] - ncone * ndim, ncone, ndim


def swept(problem: Dual, order: Array, count: Array, force: Array) -> tuple[Array, Array]:
    """Return the forces of a batch of worlds after a sweep, and the cost that it saves.

    problem, force: batch axis first; order: shape (nblock, batch), blocks in the order of their visits; count: shape
    (batch,), how many are visited.
    """
    if not parts(problem)[1]:
        return _rows_in_order(problem, order, count, force)

    def visit(i: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        return jax.vmap(_visit)(problem, order[i], i < count, carry)

    return lax.fori_loop(0, jnp.max(count), visit, (force, jnp.zeros_like(force[:, 0])))


def _rows_in_order(problem: Dual, order: Array, count: Array, force: Array) -> tuple[Array, Array]:
    """Return what `swept` does where there is no cone."""
    world, row = jnp.arange(count.size), jnp.arange(force.shape[1])
    A = problem.A + jnp.where(row[:, None] == row, problem.R[:, None], 0)
    curvature = jnp.diagonal(A, axis1=1, axis2=2)
    b, curvature, low, high = (x[world, order] for x in (problem.b, curvature, problem.low, problem.high))

    def visit(i: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        force, saved = carry
        old = force[world, order[i]]
        slope = b[i] + jnp.sum(A[world, order[i]] * force, axis=1)
        new = jnp.clip(old - slope / curvature[i], low[i], high[i])
        gain = -0.5 * curvature[i] * (new - old) ** 2 - slope * (new - old)
        keep = (gain < -WORSE) | (i >= count)
        at = row == jnp.where(keep, -1, order[i])[:, None]
        return jnp.where(at, new[:, None], force), saved + jnp.where(keep, 0, gain)

    return lax.fori_loop(0, jnp.max(count), visit, (force, jnp.zeros_like(force[:, 0])))


def _visit(problem: Dual, block: Array, live: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return forces and saved cost after the minimisation over one block of one world that has cones, if it is live."""
    force, saved = carry
    nplain = parts(problem)[0]
    if not nplain:
        new, gain = _visit_cone(problem, block, force)
    else:
        row, cone = jnp.minimum(block, nplain - 1), jnp.maximum(block - nplain, 0)
        new, gain = lax.cond(
            block < nplain, lambda: _visit_row(problem, row, force), lambda: _visit_cone(problem, cone, force)
        )
    keep = (gain < -WORSE) | ~live
    return jnp.where(keep, force, new), saved + jnp.where(keep, 0, gain)


def _visit_row(problem: Dual, row: Array, force: Array) -> tuple[Array, Array]:
    """Return the forces after the minimisation over a row, and what it saves."""
    at = jnp.arange(force.size) == row
    a = problem.A[row]
    b, R, low, high = jnp.stack([problem.b, problem.R, problem.low, problem.high], axis=1)[row]
    old, curvature = jnp.sum(jnp.where(at, force, 0)), jnp.sum(jnp.where(at, a, 0)) + R
    slope = b + jnp.sum(a * force) + R * old
    new = jnp.clip(old - slope / curvature, low, high)
    gain = -0.5 * curvature * (new - old) ** 2 - slope * (new - old)
    return jnp.where(at, new, force), gain


def _visit_cone(problem: Dual, cone: Array, force: Array) -> tuple[Array, Array]:
    """Return the forces after the minimisation over a cone, and what it saves.

    It goes along the ray through the force of the cone, then across at a fixed normal.
    """
    nplain, ncone, ndim = parts(problem)

    def mine(x: Array) -> Array:
        return x[nplain:].reshape(ncone, ndim, *x.shape[1:])[cone]

    old, R, rows, friction = mine(force), mine(problem.R), mine(problem.A), problem.friction[cone]
    A = rows[:, nplain:].reshape(ndim, ncone, ndim)[:, cone] + jnp.diag(R)
    slope = mine(problem.b) + times(rows, force) + R * old
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
    gain = -0.5 * jnp.sum(delta * times(A, delta)) - jnp.sum(delta * slope)
    at = (jnp.arange(ncone) == cone)[:, None]
    cones = jnp.where(at, new, force[nplain:].reshape(ncone, ndim))
    return jnp.concatenate([force[:nplain], cones.ravel()]), gain
