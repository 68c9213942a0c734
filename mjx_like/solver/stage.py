"""The solver stage: from constraint rows to the constrained acceleration."""

import jax
import jax.numpy as jnp

from mjx_like.solver.implicit_gradient import optimum
from mjx_like.solver.newton import Settings
from mjx_like.solver.problem import Start
from mjx_like.solver.rows import row_layout, row_problem
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit
from mjx_like.types.model import Model

Array = jax.Array


def solve(m: Model, d: Data) -> Data:
    """Return `d` with the acceleration and the constraint forces of the mass matrix as metric.

    Reads M, qfrc_smooth, qacc_smooth, qacc_warmstart and the rows. Writes what `solve_metric` writes.
    Source: mj_fwdConstraint.
    """
    return solve_metric(m, d, d.M, d.qfrc_smooth, d.qacc_smooth)


def solve_metric(m: Model, d: Data, metric: Array, smooth: Array, unconstrained: Array) -> Data:
    """Return `d` with the acceleration that minimises the Gauss cost of `metric` and the cost of the rows.

    Args:
      metric: shape (nv, nv), symmetric positive definite.
      smooth: forces without constraints, shape (nv,) [N or N m].
      unconstrained: acceleration without constraints: metric unconstrained = smooth.

    Reads qacc_warmstart, nefc, contact and efc_*. Writes qacc, efc_force, efc_state, qfrc_constraint, solver_niter,
    solver_residual and unconverged.
    """
    if m.njmax == 0 or m.plans.constraint.default_njmax == 0:
        zero = jnp.zeros_like
        return d.replace(
            qacc=unconstrained,
            qfrc_constraint=zero(smooth),
            solver_niter=zero(d.solver_niter),
            solver_residual=zero(d.solver_residual),
        )
    settings = Settings(
        iterations=m.flags.iterations,
        ls_iterations=m.flags.ls_iterations,
        warmstart=not m.disabled(DisableBit.WARMSTART),
    )
    layout = row_layout(m, d)
    problem = row_problem(d, metric, smooth, layout)
    start = Start(
        smooth=unconstrained,
        warm=d.qacc_warmstart,
        nrow=layout.nplain,
        ncone=layout.ncone,
        tolerance=m.opt_floats.tolerance,
    )
    s = optimum(settings, problem, jax.lax.stop_gradient(start))
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
