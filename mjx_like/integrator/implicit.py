"""Euler, implicit in the velocity for all smooth forces, the bias included."""

import jax

from mjx_like.integrator.advance import advance
from mjx_like.integrator.bias_derivative import bias_derivative
from mjx_like.integrator.velocity_derivative import damping_matrix
from mjx_like.math.linalg import solve_general
from mjx_like.smooth.crb import full_m
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def implicit(m: Model, d: Data) -> Data:
    """Return `d` with the state one time step later; `forward` was called before.

    Reads time, qpos, qvel, act, act_dot, qacc, M, qfrc_smooth, qfrc_constraint and what `damping_matrix` and
    `bias_derivative` read. Writes time, qpos, qvel, act, qacc_warmstart.  Source: mj_implicit.
    """
    force = d.qfrc_smooth + d.qfrc_constraint
    return advance(m, d, d.act_dot, solve_general(implicit_metric(m, d), force) if m.nv else force)


def implicit_metric(m: Model, d: Data) -> Array:
    """Return the inertia plus the time step times minus the derivative of all smooth forces, shape (nv, nv).

    It is not symmetric. Forces that couple dofs of different branches are left out, as in MuJoCo.
    """
    return full_m(m, d) + m.opt.timestep * (damping_matrix(m, d, exact=True) + bias_derivative(m, d))
