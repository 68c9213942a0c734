"""The solver stage: from constraint rows to the constrained acceleration."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.constraint.plan import without_rows
from mjx_like.math.linalg import cho_solve, cholesky
from mjx_like.smooth.crb import full_m
from mjx_like.solver.by_tree import by_tree, solve_by_tree
from mjx_like.solver.dual import dual_state
from mjx_like.solver.implicit_gradient import optimum
from mjx_like.solver.islands import islands
from mjx_like.solver.noslip import Frame, Task, noslip
from mjx_like.solver.problem import Islands, Problem, Settings, Solution, Start, times, transposed_times
from mjx_like.solver.rows import ConeLayout, PlainLayout, row_layout, row_problem
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType, DisableBit, SolverType
from mjx_like.types.model import Model

Array = jax.Array


def solve(m: Model, d: Data) -> Data:
    """Return `d` with the acceleration and the constraint forces of the mass matrix as metric.

    Reads M, qfrc_smooth, qacc_smooth, qacc_warmstart and the rows. Writes what `solve_metric` writes.
    Source: mj_fwdConstraint.
    """
    if by_tree(m) and not without_rows(m):
        return solve_by_tree(m, d)
    return solve_metric(m, d, full_m(m, d), d.qfrc_smooth, d.qacc_smooth)


def solve_metric(
    m: Model, d: Data, metric: Array, smooth: Array, unconstrained: Array, approximate: Array | None = None
) -> Data:
    """Return `d` with the acceleration that minimises the Gauss cost of `metric` and the cost of the rows.

    Args:
      metric: shape (nv, nv), symmetric positive definite.
      smooth: forces without constraints, shape (nv,) [N or N m].
      unconstrained: acceleration without constraints: metric unconstrained = smooth.
      approximate: what stands for the metric in the sweeps of noslip; None: the metric itself.

    Reads qacc_warmstart, nefc, contact and efc_*. Writes qacc, efc_force, efc_state, qfrc_constraint, solver_niter,
    solver_residual and unconverged.
    """
    if without_rows(m):
        zero = jnp.zeros_like
        return d.replace(
            qacc=unconstrained,
            qfrc_constraint=zero(smooth),
            solver_niter=zero(d.solver_niter),
            solver_residual=zero(d.solver_residual),
        )
    settings, problem, start, layout, by_island = task_of(m, d, metric, smooth, unconstrained)
    s = optimum(settings, problem, jax.lax.stop_gradient(start))
    if m.flags.noslip_iterations > 0:
        swept = problem if approximate is None else problem.replace(M=approximate)
        task = Task(swept, unconstrained, s.force)
        s = without_slip(m, problem, task, s, _frame(m, d, metric, layout, by_island))
    short = (s.iterations >= settings.iterations) & (s.residual > m.opt_floats.tolerance)
    used = jnp.arange(m.njmax) < d.nefc
    return d.replace(
        qacc=s.qacc,
        efc_force=layout.to_rows(s.force),
        efc_state=jnp.where(used, layout.to_rows(s.state), 0).astype(d.efc_state.dtype),
        qfrc_constraint=s.constraint,
        solver_niter=s.iterations,
        solver_residual=s.residual,
        unconverged=d.unconverged + short.astype(d.unconverged.dtype),
    )


class SolverTask(NamedTuple):
    """What the rows of Data ask of the solver; by_island: None where neither solver nor noslip goes by islands."""

    settings: Settings
    problem: Problem
    start: Start
    layout: PlainLayout | ConeLayout
    by_island: Islands | None


def task_of(m: Model, d: Data, metric: Array, smooth: Array, unconstrained: Array) -> SolverTask:
    """Return what to solve; arguments as of `solve_metric`."""
    settings = Settings(
        iterations=m.flags.iterations,
        ls_iterations=m.flags.ls_iterations,
        warmstart=not m.disabled(DisableBit.WARMSTART),
        solver=SolverType(m.flags.solver),
    )
    layout = row_layout(m, d)
    start = Start(
        smooth=unconstrained,
        warm=d.qacc_warmstart,
        nrow=layout.nplain,
        ncone=layout.ncone,
        tolerance=m.opt_floats.tolerance,
    )
    newton = settings.solver == SolverType.NEWTON
    by_island = None if newton and m.flags.noslip_iterations <= 0 else islands(m, d, metric, layout)
    if not newton:
        start = start.replace(ls_tolerance=m.opt_floats.ls_tolerance, islands=by_island)
    return SolverTask(settings, row_problem(m, d, metric, smooth, layout), start, layout, by_island)


def without_slip(m: Model, p: Problem, task: Task, s: Solution, frame: Frame) -> Solution:
    """Return the solution with the forces of friction solved again without regularisation, and the acceleration."""
    force, sweeps = noslip(m.flags.noslip_iterations, task, frame)
    constraint = transposed_times(p.J, force)
    return s.replace(
        qacc=task.unconstrained + cho_solve(cholesky(p.M), constraint),
        force=force,
        constraint=constraint,
        state=dual_state(p.law, force),
        iterations=s.iterations + sweeps,
    )


def _frame(m: Model, d: Data, metric: Array, layout: PlainLayout | ConeLayout, by_island: Islands) -> Frame:
    """Return what the sweeps depend on besides the dual problem.  Reads efc_type, efc_id and contact."""
    d, metric = jax.lax.stop_gradient((d, metric))
    row = jnp.arange(m.njmax, dtype=jnp.int32)
    edge = d.efc_type == int(ConstraintType.CONTACT_PYRAMIDAL)
    if m.plans.constraint.contact_dims:
        edge = edge & ((row - d.contact.efc_address[jnp.where(edge, d.efc_id, 0)]) & 1 == 0)
    return Frame(
        nrow=layout.nplain,
        ncone=layout.ncone,
        pair=layout.from_rows(edge.astype(metric.dtype)),
        islands=by_island,
        scale=1 / jnp.maximum(times(by_island.dof, jnp.diag(metric)), MINVAL),
        tolerance=jax.lax.stop_gradient(m.opt_floats.noslip_tolerance),
    )
