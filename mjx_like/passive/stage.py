"""Passive forces: springs, dampers, gravity compensation, fluid, cables, and the user's hook."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.linalg import matmul
from mjx_like.math.select import take
from mjx_like.passive.adhesion import adhesion_force
from mjx_like.passive.cable import cable_force
from mjx_like.passive.fluid import fluid_force, in_fluid
from mjx_like.tree import spring
from mjx_like.tree.inherited import dof_damping, tendon_damping
from mjx_like.tree.jacobian import joint_force, spatial_force
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def passive(m: Model, d: Data) -> Data:
    """Return d with the passive forces; all are zero where springs and dampers are both disabled.

    Reads qpos, qvel, plastic, ten_length, ten_velocity, ten_J, xipos, ximat, geom_xpos, geom_xmat, cvel, subtree_com,
    cdof, contact. Writes qfrc_spring, qfrc_damper, qfrc_gravcomp, qfrc_fluid, qfrc_adhesion, qfrc_passive.
    Source: mj_passive.
    """
    plan, zero = m.plans.passive, jnp.zeros_like(d.qvel)
    springs, dampers = spring_force(m, d), damper_force(m, d)
    gravcomp = gravity_compensation(m, d) if plan.gravcomp else zero
    fluid = fluid_force(m, d) if in_fluid(m) else zero
    adhesion = adhesion_force(m, d) if plan.adhesion and m.nconmax else zero
    total = springs + dampers + fluid + jnp.where(plan.passive_gravcomp, gravcomp, 0)
    if plan.cable_dof.size:
        total = total + cable_force(m, d)
    if plan.adhesion:
        total = total + adhesion
    d = d.replace(
        qfrc_spring=springs,
        qfrc_damper=dampers,
        qfrc_gravcomp=gravcomp,
        qfrc_fluid=fluid,
        qfrc_adhesion=adhesion,
        qfrc_passive=total,
    )
    if plan.active and m.hooks.passive is not None:
        d = d.replace(qfrc_passive=total + m.hooks.passive(m, d))
    return d


def spring_force(m: Model, d: Data) -> Array:
    """Return the forces of joint and tendon springs, shape (nv,) [N or N m].  Source: mj_springdamper."""
    force = jnp.zeros_like(d.qvel)
    if m.plans.passive.spring:
        displacement = spring.joint_displacement(m, d)
        force = force - displacement * _joint_stiffness(m, displacement)
    if m.plans.passive.tendon_spring:
        x = spring.tendon_extension(m, d)
        factor = spring.polynomial_factor(m.tendon_stiffness, m.tendon_stiffnesspoly, x)
        force = force - matmul(d.ten_J.T, x * factor)
    return force


def damper_force(m: Model, d: Data) -> Array:
    """Return the forces of joint and tendon dampers, shape (nv,) [N or N m].  Source: mj_springdamper."""
    force = jnp.zeros_like(d.qvel)
    if m.plans.passive.damper:
        force = force - _drag(dof_damping(m), d.qvel)
    if m.plans.passive.tendon_damper:
        force = force - matmul(d.ten_J.T, _drag(tendon_damping(m), d.ten_velocity))
    return force


def gravity_compensation(m: Model, d: Data) -> Array:
    """Return the joint forces, shape (nv,), that hold the compensated part of each body's weight.

    Source: mj_gravcomp.
    """
    lift = -m.opt.gravity * (m.body_mass * m.body_gravcomp)[:, None]
    return joint_force(m, d, spatial_force(m, d, np.arange(m.nbody), d.xipos, lift, jnp.zeros_like(lift)))


def _joint_stiffness(m: Model, displacement: Array) -> Array:
    """Return the force of each dof's spring over its displacement, shape (nv,)."""
    linear = take(m.jnt_stiffness, m.dof_jntid)
    if not m.has["jnt_stiffnesspoly"].any():
        return linear
    extension = spring.joint_extension(m, displacement)
    return spring.polynomial_factor(linear, take(m.jnt_stiffnesspoly, m.dof_jntid), extension)


def _drag(damping: Array, velocity: Array) -> Array:
    """Return a v + b v|v| + c v^3; damping: (a, b, c), shape (n, 3)."""
    return velocity * spring.polynomial_factor(damping[:, 0], damping[:, 1:], jnp.abs(velocity))
