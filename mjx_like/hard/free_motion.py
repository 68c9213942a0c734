"""The motion of a step without contacts, by the model's integrator, linear in the velocity at its end."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from mjx_like.hard.rows import Motion, motion
from mjx_like.integrator.table import conditions, implicit_metric, step_metric
from mjx_like.math import lapack
from mjx_like.math.linalg import matmul, solve_general
from mjx_like.smooth.crb import full_m
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.variational.midpoint import Problem, linearised
from mjx_like.variational.root import solution
from mjx_like.variational.step import ITERATIONS

Array = jax.Array


def free_motion(m: Model, d: Data) -> tuple[Array, Callable[[Array], Motion]]:
    """Return the velocity at the end of a step without contacts, to start from, and the motion about any velocity.

    The motion of the variational integrator is linearised there; others are linear. The velocity, shape (nv,), does not
    carry derivatives but for the variational integrator.
    Reads qvel, qfrc_smooth, qacc_smooth, the rows, and what the integrator's metric or its conditions read.
    """
    p = conditions(m, d)
    if p is None:
        own = motion(m, d, step_metric(m, d))
        return (_start(own, d.qacc_smooth) if m.nv else own.b), lambda nu: own
    springs = motion(m, d.replace(qfrc_smooth=jnp.zeros_like(d.qvel)), jnp.zeros_like(full_m(m, d)))
    p = p._replace(metric=p.metric + springs.A, known=p.known + springs.b)
    free = solution(m.topology, ITERATIONS, p, d.qvel) if m.nv else d.qvel
    return lapack.after(free, d.qacc_smooth), lambda nu: _about(m, p, springs, nu)


def free_velocity(m: Model, d: Data) -> Array:
    """Return the velocity at the end of a step of a model without rows, shape (nv,).

    Reads what `free_motion` reads.
    """
    if m.nv == 0:
        return d.qvel
    if conditions(m, d) is None and implicit_metric(m, d) is None:
        return d.qvel + m.opt_floats.timestep * d.qacc_smooth
    free, motion_about = free_motion(m, d)
    own = motion_about(free)
    return lapack.solve(own.A, own.b)


def _start(own: Motion, before: Array) -> Array:
    A, b = jax.lax.stop_gradient((lapack.after(own.A, before), own.b))
    return solve_general(A, b, at_once=True)


def _about(m: Model, p: Problem, springs: Motion, nu: Array) -> Motion:
    slope, rest = linearised(m.topology, p, nu)
    return springs._replace(A=slope, b=matmul(slope, nu) - rest)
