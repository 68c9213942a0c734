"""Euler, implicit in the velocity for all smooth forces but the bias; for free bodies also for the bias."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.integrator.advance import advance
from mjx_like.integrator.velocity_derivative import damping_matrix, gyroscopic_derivative, stored_damping
from mjx_like.math.linalg import solve_definite, solve_unrolled
from mjx_like.math.select import put, scatter, take
from mjx_like.smooth.crb import full_m
from mjx_like.tree.blocks import solve
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def implicitfast(m: Model, d: Data) -> Data:
    """Return `d` with the state one time step later; `forward` was called before.

    Reads time, qpos, qvel, act, act_dot, qacc, M, xmat, qfrc_smooth, qfrc_constraint, ten_J, ten_velocity,
    actuator_moment. Writes time, qpos, qvel, act, qacc_warmstart.  Source: mj_implicit.
    """
    return advance(m, d, d.act_dot, implicit_acceleration(m, d))


def implicit_acceleration(m: Model, d: Data) -> Array:
    """Return the acceleration of the step with velocity-dependent forces taken at its end, shape (nv,)."""
    plan = m.plans.integrator
    metric = d.M + m.opt.timestep * stored_damping(m, d)
    force = d.qfrc_smooth + d.qfrc_constraint
    if not plan.free_body.size:
        return solve(m, metric, force)
    if m.plans.tree.trees is not None:
        free = free_acceleration(m, d, metric, take(force, plan.free_dof.ravel()).reshape(-1, 6))
        return put(solve(m, metric, force), [(plan.free_dof, free)])
    others = np.setdiff1d(np.arange(m.nv), plan.free_dof)
    block = take(take(metric, others).T, others)
    acceleration = solve_definite(block, take(force, others))
    free = free_acceleration(m, d, metric, take(force, plan.free_dof.ravel()).reshape(-1, 6))
    order = np.argsort(np.concatenate([others, plan.free_dof.ravel()]))
    return take(jnp.concatenate([acceleration, free.ravel()]), order)


def free_acceleration(m: Model, d: Data, metric: Array, force: Array) -> Array:
    """Return the acceleration of bodies that float alone, bias included in the implicit terms, shape (n, 6).

    metric: inertia and damping of the whole model, stored as M is; force: on those bodies, shape (n, 6).
    """
    block = take(metric.ravel(), _free_cells(m)).reshape(-1, 6, 6) + m.opt.timestep * free_bias(m, d)
    return solve_unrolled(block, force)


def implicitfast_metric(m: Model, d: Data) -> Array:
    """Return the matrix, shape (nv, nv), that takes the acceleration of the step to the force; not symmetric.

    Inertia plus time step times damping, and for bodies that float alone times the derivative of the bias as well.
    """
    metric = full_m(m, d) + m.opt.timestep * damping_matrix(m, d)
    if not m.plans.integrator.free_body.size:
        return metric
    bias = m.opt.timestep * free_bias(m, d)
    return metric + scatter(bias.ravel(), _cells(m.plans.integrator.free_dof, m.nv), m.nv * m.nv).reshape(m.nv, m.nv)


def free_bias(m: Model, d: Data) -> Array:
    """Return the derivative of the bias of the bodies that float alone in their velocity, shape (n, 6, 6)."""
    plan = m.plans.integrator
    return gyroscopic_derivative(
        inertia=take(d.M.ravel(), _free_cells(m)).reshape(-1, 6, 6),
        armature=take(m.dof_armature, plan.free_dof.ravel()).reshape(-1, 6),
        rotation=take(d.xmat, plan.free_body),
        omega=take(d.qvel, plan.free_dof[:, 3:].ravel()).reshape(-1, 3),
    )


def _free_cells(m: Model) -> np.ndarray:
    """Return the positions of the blocks of free bodies in a matrix that is stored as M is, flat."""
    dof = m.plans.integrator.free_dof
    if m.plans.tree.trees is None:
        return _cells(dof, m.nv)
    return (dof[:, :, None] * m.topology.ncolM + np.arange(6)).ravel()


def _cells(dof: np.ndarray, size: int) -> np.ndarray:
    """Return the positions of the blocks of some dofs, shape (n, 6), in a flat square matrix."""
    return (dof[:, :, None] * size + dof[:, None, :]).ravel()
