"""Dynamics in discrete time: the acceleration is the velocity change of the step over the time step.

Damping and stiffness that hold motion back join the inertia, so that springs and servos are stable at any time step:
(M + h D + h^2 K) a = f - h K v.
Source: Computation chapter, integrator `discrete`; mjd_effBuild and mjd_effShift of MuJoCo 4.0.0, by experiment.
"""

import jax
import jax.numpy as jnp

from mjx_like.actuator.derivative import force_slope, length_slope, velocity_dependent
from mjx_like.constraint.adhesion import row_owners
from mjx_like.constraint.exact_diagonal import exact_diagonal
from mjx_like.constraint.plan import without_rows
from mjx_like.constraint.stage import reference_constraint
from mjx_like.integrator.advance import advance
from mjx_like.integrator.implicitfast import free_bias
from mjx_like.math import safe
from mjx_like.math.linalg import cholesky, matmul, solve_definite, solve_unrolled
from mjx_like.math.select import put, scatter, take, take_last
from mjx_like.passive.fluid import in_fluid
from mjx_like.passive.fluid_derivative import fluid_drag
from mjx_like.smooth.crb import full_m
from mjx_like.solver.stage import solve_metric
from mjx_like.tree import spring
from mjx_like.tree.blocks import full_j
from mjx_like.tree.inherited import dof_damping_rate, tendon_damping_rate
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, EnableBit, SolverType
from mjx_like.types.model import Model

Array = jax.Array


def discrete(m: Model, d: Data) -> Data:
    """Return `d` with the state one time step later; `forward` has found the acceleration of the step.

    Reads time, qpos, qvel, act, act_dot, qacc. Writes time, qpos, qvel, act, qacc_warmstart.
    """
    return advance(m, d, d.act_dot, d.qacc)


def rebounding(m: Model, d: Data) -> Data:
    """Return what `discrete` does, after `forward` has found the mean velocity of the step as well: `qvel_mean`."""
    return advance(m, d, d.act_dot, d.qacc, d.qvel_mean)


def smooth_acceleration(m: Model, d: Data) -> Array:
    """Return the acceleration of the step without constraints and without the derivative of the bias, shape (nv,)."""
    metric, shift, _ = discrete_metric(m, d)
    return solve_definite(metric, d.qfrc_smooth + shift)


def discrete_constraint(m: Model, d: Data) -> Data:
    """Return `d` with the acceleration of the step and the constraint forces.

    Bodies that float alone, without constraint rows, take the derivative of their bias as well, in a matrix that is
    not symmetric.
    Reads qfrc_smooth, qacc_smooth, what `discrete_metric` and `solve_metric` read. Writes what `solve_metric` writes.
    """
    metric, shift, gyroscopic = discrete_metric(m, d)
    factored = with_diagonal(m, d, metric) if m.flags.noslip_iterations > 0 else None
    d = solve_metric(m, d, metric, d.qfrc_smooth + shift, d.qacc_smooth, factored)
    plan = m.plans.integrator
    if not plan.free_body.size:
        return d
    dof = plan.free_dof
    cells = (dof[:, :, None] * m.nv + dof[:, None, :]).ravel()
    block = take(metric.ravel(), cells).reshape(-1, 6, 6) + m.opt.timestep * gyroscopic
    alone = solve_unrolled(block, take(d.qfrc_smooth + shift, dof.ravel()).reshape(-1, 6))
    given = take(d.qacc, dof.ravel()).reshape(-1, 6)
    free = jnp.where(jnp.any(gyroscopic != 0, axis=(1, 2))[:, None], alone, given)
    return d.replace(qacc=put(d.qacc, [(dof, free)]))


def discrete_force(m: Model, d: Data) -> Array:
    """Return the force, shape (nv,), without bias and passive forces, that `qacc` takes as the change of a step."""
    metric, shift, gyroscopic = discrete_metric(m, d)
    force = matmul(metric, d.qacc) - shift
    dof = m.plans.integrator.free_dof
    if not dof.size:
        return force
    moving = take(d.qacc, dof.ravel()).reshape(-1, 1, 6)
    rotated = m.opt.timestep * jnp.sum(gyroscopic * moving, axis=2)
    return force + scatter(rotated.ravel(), dof.ravel(), m.nv)


def discrete_metric(m: Model, d: Data) -> tuple[Array, Array, Array]:
    """Return M + h D + h^2 K, shape (nv, nv), symmetric; -h K v, shape (nv,); and the bias derivatives that join them.

    The last, shape (nfree, 6, 6), are those of bodies that float alone; zero where a constraint row, or a tendon or
    an actuator with stiffness or damping acts on the body.
    Reads M, efc_J, qpos, qvel, ten_J, ten_length, ten_velocity, actuator_moment and what the slopes of forces read.
    """
    h, free = m.opt.timestep, m.plans.integrator.free_dof
    metric, shift = backbone(m, d), -h * _joints(m, d)[0] * d.qvel
    gyroscopic = _unless(m, full_j(m, d) != 0, free_bias(m, d)) if free.size else jnp.zeros((0, 6, 6), metric.dtype)
    parts = [] if m.flags.solver == SolverType.PGS else [*_tendons(m, d), *_actuators(m, d)]
    if parts:
        rows, stiffness, damping = (jnp.concatenate(part) for part in zip(*parts, strict=True))
        weight = h * (damping + h * stiffness)
        metric = metric + matmul(rows.T * weight, rows)
        shift = shift - h * matmul(rows.T, stiffness * matmul(rows, d.qvel))
        gyroscopic = _unless(m, (rows != 0) & (weight != 0)[:, None], gyroscopic)
    return metric, shift, gyroscopic


def _unless(m: Model, acting: Array, blocks: Array) -> Array:
    """Return the blocks of free bodies, zero where a row acts on the body; acting: row on dof, shape (n, nv)."""
    free = m.plans.integrator.free_dof
    if not free.size:
        return blocks
    touched = take_last(acting, free.ravel()).reshape(-1, *free.shape)
    return jnp.where(jnp.any(touched, axis=(0, 2))[:, None, None], 0, blocks)


def backbone(m: Model, d: Data) -> Array:
    """Return the part of the metric without tendons and actuators, shape (nv, nv).

    Reads M, qpos, qvel, and in a fluid what `fluid_drag` reads.
    """
    stiffness, damping = _joints(m, d)
    h = m.opt.timestep
    metric = full_m(m, d) + jnp.diag(h * (damping + h * stiffness))
    return metric + h * fluid_drag(m, d) if in_fluid(m) else metric


def with_diagonal(m: Model, d: Data, metric: Array) -> Array:
    """Return what MuJoCo factors in place of the metric, shape (nv, nv): the backbone, the metric on the diagonal.

    Source: mjd_effPrec, by experiment.
    """
    part = backbone(m, d)
    return part + jnp.diag(jnp.diag(metric - part))


def constraint_inertia(m: Model, d: Data) -> Data:
    """Return `d` with the rows regularised by the inertia of the step.

    With the flag diagexact it is the diagonal of J N^-1 J' with the N of `with_diagonal`. Without, the approximation
    changes by J diag(N)^-1 J' over J diag(M)^-1 J' with the whole metric N; all rows of a contact follow its first.
    `efc_diagA` still holds the approximation then, where MuJoCo's holds what it has become.
    Reads M, contact, nefc, efc_*, cvel and what `discrete_metric` reads. Writes efc_R, efc_D; with adhesion efc_aref,
    with diagexact efc_diagA.  Source: by experiment.
    """
    if without_rows(m):
        return d
    metric = discrete_metric(m, d)[0]
    if m.enabled(EnableBit.DIAGEXACT):
        d = exact_diagonal(m, d, cholesky(with_diagonal(m, d, metric)))
    else:
        J, imp = full_j(m, d), d.efc_KBIP[:, 2]
        rest, moving = (jnp.sum(safe.ratio(J * J, jnp.diag(x)), axis=1) for x in (full_m(m, d), metric))
        ratio = safe.divide(moving, rest)
        if m.plans.constraint.contact_dims:
            contact, edge, _ = row_owners(m, d)
            first = jnp.where(edge >= 0, d.contact.efc_address[contact], 0)
            ratio = jnp.where(edge >= 0, ratio[first], ratio)
        R = safe.divide((1 - imp) * ratio * d.efc_diagA, imp)
        d = d.replace(efc_R=R, efc_D=safe.divide(jnp.ones_like(R), R))
    return reference_constraint(m, d) if m.adhesive else d


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
