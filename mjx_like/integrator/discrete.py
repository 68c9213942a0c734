"""Dynamics in discrete time: the acceleration is the velocity change of the step over the time step.

Damping and stiffness that hold motion back join the inertia, so that springs and servos are stable at any time step:
(M + h D + h^2 K) a = f - h K v.
Source: Computation chapter, integrator `discrete`; mjd_effBuild and mjd_effShift of MuJoCo 4.0.0, by experiment.
"""

import jax
import jax.numpy as jnp

from mjx_like.actuator.derivative import force_slope, length_slope, velocity_dependent
from mjx_like.integrator.advance import advance
from mjx_like.integrator.damping import dof_damping_rate, tendon_damping_rate
from mjx_like.integrator.implicitfast import free_bias
from mjx_like.math.linalg import matmul, solve_definite, solve_unrolled
from mjx_like.math.select import place, put, take, take_last
from mjx_like.tree import spring
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, SolverType
from mjx_like.types.model import Model

Array = jax.Array


def discrete(m: Model, d: Data) -> Data:
    """Return `d` with the state one time step later; `forward` has found the acceleration of the step.

    Reads time, qpos, qvel, act, act_dot, qacc. Writes time, qpos, qvel, act, qacc_warmstart.
    """
    return advance(m, d, d.act_dot, d.qacc)


def smooth_acceleration(m: Model, d: Data) -> Array:
    """Return the acceleration of the step without constraints and without the derivative of the bias, shape (nv,)."""
    metric, shift, _ = discrete_metric(m, d)
    return solve_definite(metric, d.qfrc_smooth + shift)


def discrete_acceleration(m: Model, d: Data) -> Array:
    """Return the acceleration of the step, shape (nv,), for a model without constraints.

    Bodies that float alone take the derivative of their bias as well, in a matrix that is not symmetric.
    """
    metric, shift, gyroscopic = discrete_metric(m, d)
    force = d.qfrc_smooth + shift
    acceleration = solve_definite(metric, force)
    plan = m.plans.integrator
    if not plan.free_body.size:
        return acceleration
    dof = plan.free_dof
    cells = (dof[:, :, None] * m.nv + dof[:, None, :]).ravel()
    block = take(metric.ravel(), cells).reshape(-1, 6, 6) + m.opt.timestep * gyroscopic
    alone = solve_unrolled(block, take(force, dof.ravel()).reshape(-1, 6))
    given = take(acceleration, dof.ravel()).reshape(-1, 6)
    free = jnp.where(jnp.any(gyroscopic != 0, axis=(1, 2))[:, None], alone, given)
    return put(acceleration, [(dof, free)])


def discrete_force(m: Model, d: Data) -> Array:
    """Return the force, shape (nv,), without bias and passive forces, that `qacc` takes as the change of a step."""
    metric, shift, gyroscopic = discrete_metric(m, d)
    force = matmul(metric, d.qacc) - shift
    dof = m.plans.integrator.free_dof
    if not dof.size:
        return force
    moving = take(d.qacc, dof.ravel()).reshape(-1, 1, 6)
    turned = m.opt.timestep * jnp.sum(gyroscopic * moving, axis=2)
    return force + place(turned.ravel(), dof.ravel(), m.nv)


def discrete_metric(m: Model, d: Data) -> tuple[Array, Array, Array]:
    """Return M + h D + h^2 K, shape (nv, nv), symmetric; -h K v, shape (nv,); and the bias derivatives that join them.

    The last, shape (nfree, 6, 6), are those of bodies that float alone; zero where a tendon or an actuator with
    stiffness or damping acts on the body.
    Reads M, qpos, qvel, ten_J, ten_length, ten_velocity, actuator_moment and what the slopes of forces read.
    """
    h, free = m.opt.timestep, m.plans.integrator.free_dof
    stiffness, damping = _joints(m, d)
    metric = d.M + jnp.diag(h * (damping + h * stiffness))
    shift = -h * stiffness * d.qvel
    gyroscopic = free_bias(m, d) if free.size else jnp.zeros((0, 6, 6), metric.dtype)
    parts = [] if m.flags.solver == SolverType.PGS else [*_tendons(m, d), *_actuators(m, d)]
    if parts:
        rows, stiffness, damping = (jnp.concatenate(part) for part in zip(*parts, strict=True))
        weight = h * (damping + h * stiffness)
        metric = metric + matmul(rows.T * weight, rows)
        shift = shift - h * matmul(rows.T, stiffness * matmul(rows, d.qvel))
        acting = take_last((rows != 0) & (weight != 0)[:, None], free.ravel()).reshape(-1, *free.shape)
        gyroscopic = jnp.where(jnp.any(acting, axis=(0, 2))[:, None, None], 0, gyroscopic)
    return metric, shift, gyroscopic


def _joints(m: Model, d: Data) -> tuple[Array, Array]:
    """Return stiffness and damping of the joints by dof, shapes (nv,), not below zero."""
    stiffness = damping = jnp.zeros_like(d.qvel)
    if m.plans.passive.spring:
        x = spring.joint_extension(m, spring.joint_displacement(m, d))
        poly = take(m.jnt_stiffnesspoly, m.dof_jntid)
        stiffness = _slope(take(m.jnt_stiffness, m.dof_jntid), poly, x)
    if m.plans.integrator.dof_damped.any():
        damping = jnp.maximum(dof_damping_rate(m, d), 0)
    return stiffness, damping


def _tendons(m: Model, d: Data) -> list[tuple[Array, Array, Array]]:
    """Return Jacobian rows, stiffness and damping of the tendons, if any have some."""
    if not (m.plans.passive.tendon_spring or m.plans.integrator.tendon_damped.any()):
        return []
    stiffness = damping = jnp.zeros_like(d.ten_length)
    if m.plans.passive.tendon_spring:
        x = spring.tendon_extension(m, d)
        stiffness = jnp.where(x != 0, _slope(m.tendon_stiffness, m.tendon_stiffnesspoly, x), 0)
    if m.plans.integrator.tendon_damped.any():
        damping = jnp.maximum(tendon_damping_rate(m, d), 0)
    return [(d.ten_J, stiffness, damping)]


def _actuators(m: Model, d: Data) -> list[tuple[Array, Array, Array]]:
    """Return moments, stiffness and damping of the actuator outputs whose force depends on their motion."""
    out = velocity_dependent(m.topology)
    if m.disabled(DisableBit.ACTUATION) or not out.size:
        return []
    stiffness, damping = (jnp.maximum(-slope(m, d, out), 0) for slope in (length_slope, force_slope))
    return [(take(d.actuator_moment, out), stiffness, damping)]


def _slope(linear: Array, poly: Array, x: Array) -> Array:
    """Return the derivative of a x + b x^2 + c x^3, not below zero; poly: b and c, shape (n, 2)."""
    return jnp.maximum(linear + x * (2 * poly[:, 0] + 3 * x * poly[:, 1]), 0)
