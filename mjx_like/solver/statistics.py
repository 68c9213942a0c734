"""How a solve went, iteration by iteration."""

import jax
import jax.numpy as jnp

from mjx_like.arguments import whole_number
from mjx_like.constants import MINVAL
from mjx_like.constraint.plan import without_rows
from mjx_like.errors import InputError
from mjx_like.smooth.crb import full_m
from mjx_like.solver.implicit_gradient import SOLVERS
from mjx_like.solver.law import cost_change
from mjx_like.solver.problem import gradient, times
from mjx_like.solver.stage import task_of
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.pytree import Record, leaf, record
from mjx_like.worlds import one_world

Array = jax.Array


@record
class SolverStatistics(Record):
    """The start of a solve and each of its iterations; entries beyond the last iteration repeat it."""

    niter: Array = leaf(unit="iterations that the solve took, at most `count`")
    improvement: Array = leaf("count", unit="of the cost by the iteration, over the trace of M")
    gradient: Array = leaf("count + 1", unit="norm of the gradient over the trace of M; first: at the start")
    nactive: Array = leaf("count + 1", unit="rows whose constraint acts")
    nchange: Array = leaf("count", unit="rows whose state the iteration changed")
    qacc: Array = leaf("count + 1", "nv", unit="acceleration")


def solver_statistics(m: Model, d: Data, count: int = 10) -> SolverStatistics:
    """Return how the solver of the model goes through the rows of `d`, in up to `count` iterations, islands together.

    It solves anew, once for each number of iterations, all of them in one batch: for looking at, not for every step.
    For PGS, whose iterations are sweeps, cost and gradient are those of the primal problem too. The sweeps of noslip
    are left out. Call `forward` before.
    Reads M, qfrc_smooth, qacc_smooth, qacc_warmstart, nefc, contact and efc_*.

    Raises:
      InputError: `d` is not one world of `m`, a count below 1, or a model without constraints.
    Source: mjSolverStat of mjData.
    """
    one_world("solver_statistics", m, d, rows=True)
    count = whole_number("count", count, least=1)
    if without_rows(m):
        raise InputError("solver_statistics: the model has no constraint rows")
    task = task_of(m, d, full_m(m, d), d.qfrc_smooth, d.qacc_smooth)
    start, p = task.start, task.problem

    def solve(limit: Array):
        return SOLVERS[task.settings.solver](task.settings, p, start.replace(limit=limit))

    s = jax.vmap(solve)(jnp.arange(count + 1, dtype=jnp.int32))
    scale = 1 / jnp.maximum(jnp.trace(p.M), MINVAL)

    def saved(before: Array, after: Array) -> Array:
        away = after - before
        smooth = jnp.sum(away * (times(p.M, 0.5 * (before + after)) - p.q))
        return -scale * (smooth + cost_change(p.law, times(p.J, before) - p.aref, times(p.J, after) - p.aref))

    used = p.law.D > 0
    return SolverStatistics(
        niter=s.iterations[-1],
        improvement=jax.vmap(saved)(s.qacc[:-1], s.qacc[1:]),
        gradient=scale * jax.vmap(lambda x: jnp.linalg.norm(gradient(p, x)))(s.qacc),
        nactive=jnp.sum(used & (s.state != 0), axis=-1, dtype=jnp.int32),
        nchange=jnp.sum(used & (s.state[1:] != s.state[:-1]), axis=-1, dtype=jnp.int32),
        qacc=s.qacc,
    )
