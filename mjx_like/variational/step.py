"""The conditions of one step of the variational integrator, from a Model and its Data.

The state stays (qpos, qvel): qvel is the mean velocity over the step that led to qpos, so that the pose before is
qpos (-) h qvel. Forces act as impulses at qpos. Those that depend on the velocity are taken at qvel, half a step early,
and lower the order to one; a drag for their derivative does not. So does the armature of spatial tendons, by its bias.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion
from mjx_like.math.linalg import matmul
from mjx_like.math.select import take
from mjx_like.smooth.xfrc import xfrc_accumulate
from mjx_like.tendon.stage import tendon_bias
from mjx_like.tree.inherited import dof_armature, has_armature, tendon_armature
from mjx_like.tree.jacobian import joint_force, spatial_force
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit
from mjx_like.types.model import Model
from mjx_like.variational.displacement import pose
from mjx_like.variational.midpoint import Inertia, Problem, joint_momentum
from mjx_like.variational.root import solution

Array = jax.Array

ITERATIONS = 5


def variational_velocity(
    m: Model, d: Data, force: Array, drag: Array | None = None, iterations: int = ITERATIONS
) -> Array:
    """Return the mean velocity nu over the next step, shape (nv,) [m/s or rad/s].

    force, drag: as `step_problem` has them. iterations: steps of Newton's method, from qvel.
    Reads qvel and what `step_problem` reads.
    """
    return solution(m.topology, iterations, step_problem(m, d, force, drag), d.qvel) if m.nv else d.qvel


def step_problem(m: Model, d: Data, force: Array, drag: Array | None = None) -> Problem:
    """Return the conditions of the next step, for `residual` and `linearised`.

    force: on joint coordinates at qpos and qvel, gravity and the motion of bodies left out, shape (nv,) [N or N m].
    drag: shape (nv, nv), the force is less drag (nu - qvel): half of minus its derivative in the velocity for its value
    at the mean of both velocities, all of it for that at the end.
    Reads qvel and what `bodies`, `gravity` and `rotors` read.
    """
    b, metric = bodies(m, d), rotors(m, d)
    impulse = b.h * (force + gravity(m, d))
    metric = metric if drag is None else metric + b.h * drag
    before = joint_momentum(m.topology, b, -b.h * d.qvel)
    return Problem(b, metric, matmul(metric, d.qvel) - before + impulse)


def bodies(m: Model, d: Data) -> Inertia:
    """Return the bodies at their present pose.

    Reads cdof, xanchor, xipos, ximat, subtree_com.
    """
    return Inertia(m.opt_floats.timestep, pose(m, d), m.body_mass, m.body_inertia)


def joint_forces(m: Model, d: Data) -> Array:
    """Return the smooth forces on joint coordinates without gravity and the motion of bodies, shape (nv,) [N or N m].

    Reads qfrc_passive, qfrc_actuator, qfrc_applied, xfrc_applied and, with armature of tendons, what their bias needs.
    """
    of_tendons = tendon_bias(m, d.replace(qfrc_bias=jnp.zeros_like(d.qfrc_passive))).qfrc_bias
    return d.qfrc_passive + d.qfrc_actuator + d.qfrc_applied + xfrc_accumulate(m, d) - of_tendons


def gravity(m: Model, d: Data) -> Array:
    """Return the weight of the bodies on joint coordinates, shape (nv,) [N or N m].

    Reads cdof, xipos, subtree_com.
    """
    if m.disabled(DisableBit.GRAVITY):
        return jnp.zeros(m.nv, d.cdof.dtype)
    weight = m.body_mass[:, None] * m.opt_floats.gravity
    return joint_force(m, d, spatial_force(m, d, np.arange(m.nbody), d.xipos, weight, jnp.zeros_like(weight)))


def rotors(m: Model, d: Data) -> Array:
    """Return the inertia matrix of the armature alone, shape (nv, nv).

    That of tendons couples dofs of one chain, as in the inertia matrix. Reads ten_J where a tendon has armature.
    """
    tree, inertia = m.plans.tree, jnp.diag(dof_armature(m))
    if not has_armature(m.topology, "tendon", tree.tendon_actuator).any():
        return inertia
    chain = (tree.dof_ancestor + tree.dof_ancestor.T) > 0
    return inertia + jnp.where(chain, matmul(d.ten_J.T * tendon_armature(m), d.ten_J), 0)


def displaced(m: Model, qpos: Array, change: Array) -> Array:
    """Return the joint coordinates, shape (nq,), changed in the tangent space, shape (nv,) [m or rad].

    Quaternions come back normalised.  Source: mj_integratePos.
    """
    plan = m.plans.integrator
    scalar = take(qpos, plan.scalar_qpos) + take(change, plan.scalar_dof)
    if not plan.quat_qpos.size:
        return scalar
    quat, vector = qpos[plan.quat_qpos], change[plan.quat_dof]
    return take(jnp.concatenate([scalar, quaternion.integrate(quat, vector, 1.0).ravel()]), plan.qpos_order)
