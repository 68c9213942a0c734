"""The solution of a step as a differentiable function of its problem: one linear system at the solution.

Derivatives depend neither on the start nor on the number of Newton steps. One rule gives forward and reverse mode and
higher orders.  Source: implicit function theorem.
"""

import functools

import jax
from jax import lax

from mjx_like.math import lapack
from mjx_like.math.rule import custom_jvp
from mjx_like.types.topology import Topology
from mjx_like.variational.midpoint import Problem, linearised, residual

Array = jax.Array


@functools.partial(custom_jvp, nondiff_argnums=(0, 1))
def solution(t: Topology, iterations: int, p: Problem, start: Array) -> Array:
    """Return the velocity nu with no residual, shape (nv,), after so many steps of Newton's method from `start`."""

    def newton(_, nu):
        slope, rest = linearised(t, p, nu)
        return nu - lapack.solve(slope, rest)

    return lax.fori_loop(0, iterations, newton, start)


@solution.defjvp
def _solution_jvp(t: Topology, iterations: int, primals, tangents):
    p, start = primals
    nu = solution(t, iterations, p, lax.stop_gradient(start))
    slope, _ = linearised(t, p, nu)
    _, change = jax.jvp(lambda p: residual(t, p, nu), (p,), (tangents[0],))
    return nu, -lapack.solve(slope, change)
