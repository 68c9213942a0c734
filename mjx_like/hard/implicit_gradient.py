"""The solution as a differentiable function of the problem: one linear system with the conditions at the solution.

The conditions hold there whatever way led there, so that derivatives depend neither on the start nor on the number of
iterations, and they are those at the same gap and slip. One rule gives forward and reverse mode and higher orders.
Source: Dojo paper, section on gradients; implicit function theorem.
"""

import functools

import jax

from mjx_like.hard.attempts import attempts
from mjx_like.hard.augmented import explicit_in_derivative, system_of
from mjx_like.hard.components import parts
from mjx_like.hard.elimination import Free, free_pairs, of_product, remainder_of_product
from mjx_like.hard.interior_point import Found
from mjx_like.hard.newton import Start
from mjx_like.hard.problem import (
    Point,
    Problem,
    changes,
    contact_bound,
    rates,
    residuals,
    with_masses,
    without_friction,
)
from mjx_like.math import lapack
from mjx_like.math.rule import custom_jvp
from mjx_like.math.tangent import still

Array = jax.Array


@functools.partial(custom_jvp, nondiff_argnums=(0,))
def solution(iterations: int, p: Problem, nu: Array, start: Start) -> Found:
    """Return the point of the central path; nu, start: as in `attempts`."""
    return attempts(iterations, p, nu, start)


@solution.defjvp
def _rule(iterations: int, primals, tangents):
    p, *begin = primals
    found = solution(iterations, p, *jax.lax.stop_gradient(begin))
    rates = _rates(without_friction(p, found.failed), found.best, tangents[0])
    return found, Found(rates, *(still(x) for x in found[1:]))


def _rates(p: Problem, z: Point, dp: Problem) -> Point:
    """Return the change of the solution with the problem."""
    _, r = jax.jvp(lambda p: residuals(p, z), (p,), (dp,))
    at = rates(p, z.nu)
    cones = (
        (contact_bound(p, z.gamma), parts(z.c), at.contact, z.eta),
        (p.bound, parts(z.loss_c), at.loss, z.loss_eta),
    )
    p = with_masses(p)
    system = system_of(p, z, *(of_product(*cone) for cone in cones), explicit_in_derivative(p))
    free = [remainder_of_product(*cone, parts(rest)) for cone, rest in zip(cones, (r.cone, r.loss), strict=True)]
    f = Free(r.s, free_pairs(z, r.s, r.pair), *free[0], *free[1])
    x = lapack.solve(system.matrix(), system.side(r.motion, f))
    return system.step(f, x, changes(p, x[: p.b.shape[0]]))
