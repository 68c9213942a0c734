"""Derivative of the smooth forces in the joint velocities, dense, with the sparsity of the inertia matrix."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.actuator.derivative import force_slope, velocity_dependent
from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import skew
from mjx_like.math.select import take
from mjx_like.passive.fluid import in_fluid
from mjx_like.passive.fluid_derivative import fluid_damping
from mjx_like.tree import blocks
from mjx_like.tree.inherited import dof_damping_rate, tendon_damping_rate
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def damping_matrix(m: Model, d: Data, exact: bool = False) -> Array:
    """Return minus the derivative of passive and actuator forces in qvel, shape (nv, nv).

    It is symmetric but for the blocks of bodies that float alone; with `exact` the fluid's part is as it is. Forces
    that couple dofs of different branches are left out, as in MuJoCo; so is the bias force.
    Reads qvel, ten_J, ten_velocity, and what `force_slope` and `fluid_damping` read.
    Source: mjd_smooth_vel without bias.
    """
    plan = m.plans.integrator
    total = jnp.zeros((m.nv, m.nv), d.qvel.dtype)
    rows, rates = _row_damping(m, d)
    if rows:
        jacobian, rate = jnp.concatenate(rows), jnp.concatenate(rates)
        ancestor = m.plans.tree.dof_ancestor
        total = jnp.where((ancestor + ancestor.T) > 0, matmul(jacobian.T * rate, jacobian), 0)
    if plan.dof_damped.any():
        total = total + jnp.diag(dof_damping_rate(m, d))
    if in_fluid(m):
        total = total + fluid_damping(m, d, exact)
    return total


def stored_damping(m: Model, d: Data) -> Array:
    """Return what `damping_matrix` does, stored as M is."""
    trees = m.plans.tree.trees
    if trees is None:
        return damping_matrix(m, d)
    rows, rates = _row_damping(m, d)
    total = jnp.zeros_like(d.M)
    if rows:
        total = blocks.coupled(m, jnp.concatenate(rows), jnp.concatenate(rates))
    if m.plans.integrator.dof_damped.any():
        total = blocks.added(m, total, dof_damping_rate(m, d))
    return total + blocks.stored(trees, fluid_damping(m, d, False)) if in_fluid(m) else total


def _row_damping(m: Model, d: Data) -> tuple[list[Array], list[Array]]:
    """Return Jacobian rows and damping rates of the forces that act along tendons and actuators."""
    rows, rates = [], []
    tendons = np.flatnonzero(m.plans.integrator.tendon_damped)
    if tendons.size:
        rows.append(take(d.ten_J, tendons))
        rates.append(take(tendon_damping_rate(m, d), tendons))
    outputs = velocity_dependent(m.topology)
    if outputs.size:
        rows.append(take(d.actuator_moment, outputs))
        rates.append(-force_slope(m, d, outputs))
    return rows, rates


def gyroscopic_derivative(inertia: Array, armature: Array, rotation: Array, omega: Array) -> Array:
    """Return the derivative of the bias force of free bodies in their velocity, shape (n, 6, 6).

    inertia: their blocks of the inertia matrix, shape (n, 6, 6); armature: of their dofs, shape (n, 6);
    rotation: body to world, shape (n, 3, 3); omega: angular velocity in the body frame, shape (n, 3) [rad/s].

    With A the coupling of force and rotation and I the inertia about the body's origin, the bias force is
    R (omega x R' A omega) and the bias torque omega x (I omega); neither depends on the linear velocity.
    """
    coupling = inertia[:, :3, 3:]
    about_origin = inertia[:, 3:, 3:] - jnp.eye(3, dtype=inertia.dtype) * armature[:, None, 3:]
    momentum = jnp.einsum("nji,njk,nk->ni", rotation, coupling, omega, precision="highest")
    spin = jnp.einsum("nij,nj->ni", about_origin, omega, precision="highest")
    rotated = matmul(rotation, matmul(skew(omega), jnp.swapaxes(rotation, 1, 2)))
    force = matmul(rotated, coupling) - matmul(rotation, skew(momentum))
    torque = matmul(skew(omega), about_origin) - skew(spin)
    right = jnp.concatenate([force, torque], axis=1)
    return jnp.concatenate([jnp.zeros_like(right), right], axis=2)
