"""The optimum as a differentiable function of the problem: one linear solve with the Hessian at the optimum.

At the optimum the gradient of the cost vanishes, whatever way led there. Its differential gives
d(qacc) = -H^-1 d(gradient) at fixed qacc, with H the Hessian in the zones of the optimum (at a switch between zones:
in the zone that the law picks). Forward and reverse mode follow from this one rule; neither depends on the start,
the tolerance or the number of iterations.  Source: implicit function theorem.

The acceleration carries the name `OPTIMUM`: a checkpoint that keeps it does not search again on its way back.
"""

import functools

import jax
from jax.ad_checkpoint import checkpoint_name

from mjx_like.math.linalg import solve_definite
from mjx_like.math.linear import linear_at_capacity
from mjx_like.math.rule import custom_jvp
from mjx_like.math.tangent import still
from mjx_like.solver.capacity import Kept, most, need
from mjx_like.solver.cg import cg
from mjx_like.solver.law import force
from mjx_like.solver.newton_anywhere import newton_anywhere
from mjx_like.solver.pgs import pgs
from mjx_like.solver.problem import Problem, Settings, Solution, Start, gradient, hessian_at, times, transposed_times
from mjx_like.types.enums import SolverType

Array = jax.Array

OPTIMUM = "optimum"
SOLVERS = {SolverType.NEWTON: newton_anywhere, SolverType.CG: cg, SolverType.PGS: pgs}


@functools.partial(custom_jvp, nondiff_argnums=(0,))
def optimum(settings: Settings, p: Problem, start: Start) -> Solution:
    """Return the optimum of `p`; its derivatives are those of the exact optimum, by `p` alone."""
    return SOLVERS[settings.solver](settings, p, start)


@optimum.defjvp
def _optimum_jvp(settings: Settings, primals, tangents):
    p, start = primals
    dp = tangents[0]
    s = optimum(settings, p, start)
    qacc = checkpoint_name(s.qacc, OPTIMUM)
    dqacc, dforce, dconstraint = linear_at_capacity(_rates, most(p.law), need(start.nrow, start.ncone), (p, qacc), dp)
    own, constraint = _forces(p, qacc)
    s = s.replace(qacc=qacc)
    if settings.solver != SolverType.PGS:  # whose forces are those of this acceleration only when it has converged
        s = s.replace(force=own, constraint=constraint)
    return s, Solution(
        qacc=dqacc,
        force=dforce,
        constraint=dconstraint,
        state=still(s.state),
        iterations=still(s.iterations),
        residual=still(s.residual),
    )


def _forces(p: Problem, qacc: Array) -> tuple[Array, Array]:
    """Return the forces of the rows at an acceleration, and what they add up to on the dofs."""
    f = force(p.law, times(p.J, qacc) - p.aref)
    return f, transposed_times(p.J, f)


def _rates(size: int, point: tuple[Problem, Array], dp: Problem) -> tuple[Array, Array, Array]:
    """Return the changes of acceleration, forces and their sum at an optimum that uses at most `size` rows."""
    p, qacc = point
    kept = Kept(p.law, size)
    p, dp = kept.cut_problem(p), kept.cut_problem(dp)
    _, dgradient = jax.jvp(lambda p: gradient(p, qacc), (p,), (dp,))
    dqacc = -solve_definite(hessian_at(p, qacc), dgradient)
    _, (dforce, dconstraint) = jax.jvp(_forces, (p, qacc), (dp, dqacc))
    return dqacc, kept.widen(dforce), dconstraint
