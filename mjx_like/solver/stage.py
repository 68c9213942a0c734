"""The solver stage: from constraint rows to the constrained acceleration."""

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.solver.implicit_gradient import optimum
from mjx_like.solver.law import Cone, Law, row_bounds
from mjx_like.solver.newton import Settings
from mjx_like.solver.problem import Problem, Start
from mjx_like.types.data import Data
from mjx_like.types.enums import ConeType, ConstraintType, DisableBit
from mjx_like.types.model import Model

Array = jax.Array


def solve(m: Model, d: Data) -> Data:
    """Return `d` with the acceleration and the constraint forces of the mass matrix as metric.

    Reads M, qLD, qfrc_smooth, qacc_smooth, qacc_warmstart and the rows. Writes what `solve_metric` writes.
    Source: mj_fwdConstraint.
    """
    return solve_metric(m, d, d.M, d.qLD, d.qfrc_smooth, d.qacc_smooth)


def solve_metric(m: Model, d: Data, metric: Array, factor: Array, smooth: Array, unconstrained: Array) -> Data:
    """Return `d` with the acceleration that minimises the Gauss cost of `metric` and the cost of the rows.

    Args:
      metric: shape (nv, nv), symmetric positive definite; factor: its lower Cholesky factor.
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
    problem = Problem(M=metric, q=smooth, J=d.efc_J, aref=d.efc_aref, law=row_law(m, d))
    start = Start(
        smooth=unconstrained,
        factor=factor,
        warm=d.qacc_warmstart,
        nrow=d.nefc,
        tolerance=m.opt_floats.tolerance,
    )
    s = optimum(settings, problem, jax.lax.stop_gradient(start))
    short = (s.iterations >= settings.iterations) & (s.residual > m.opt_floats.tolerance)
    return d.replace(
        qacc=s.qacc,
        efc_force=s.force,
        efc_state=s.state.astype(d.efc_state.dtype),
        qfrc_constraint=s.constraint,
        solver_niter=s.iterations,
        solver_residual=s.residual,
        unconverged=d.unconverged + short.astype(d.unconverged.dtype),
    )


def row_law(m: Model, d: Data) -> Law:
    """Return the laws of the rows.  Reads efc_type, efc_id, efc_R, efc_D, efc_frictionloss, nefc and contact."""
    low, high = row_bounds(d.efc_type, d.efc_R, d.efc_frictionloss)
    elliptic = m.flags.cone == ConeType.ELLIPTIC and max(m.plans.constraint.contact_dims, default=1) > 1
    return Law(D=d.efc_D, low=low, high=high, loss=d.efc_frictionloss, cone=_cones(m, d) if elliptic else None)


def _cones(m: Model, d: Data) -> Cone:
    """Return which rows form cones."""
    inside = d.efc_type == ConstraintType.CONTACT_ELLIPTIC
    index = jnp.where(inside, d.efc_id, 0)
    friction = jnp.where(inside[:, None], d.contact.friction.at[index].get(mode="promise_in_bounds"), 1)
    address, dim = (x.at[index].get(mode="promise_in_bounds") for x in (d.contact.efc_address, d.contact.dim))
    lane = jnp.where(inside, jnp.arange(m.njmax, dtype=jnp.int32) - address, 0)
    mu = friction[:, 0] / jnp.sqrt(jnp.maximum(m.opt_floats.impratio, MINVAL))
    scale = mu
    for i in range(5):
        scale = jnp.where(lane == i + 1, friction[:, i], scale)
    return Cone(lane=lane, dim=jnp.where(inside, dim, 0), scale=jnp.where(inside, scale, 0), mu=mu)
