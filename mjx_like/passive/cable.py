"""Elastic cables: twist and bending between the bodies of a chain with ball joints."""

import jax

from mjx_like.math import quaternion
from mjx_like.math.select import scatter, take
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def cable_force(m: Model, d: Data) -> Array:
    """Return the joint forces of elastic cables, shape (nv,) [N m].

    The torque between a body and the one before it is linear in the difference of curvature and curvature at rest.
    Source: mujoco.elasticity.cable of MuJoCo 3.1.6; Modeling chapter, cable.
    """
    plan, n = m.plans.passive, len(m.cable_bodyid)
    joint = quaternion.normalize(take(d.qpos, plan.cable_qpos.ravel()).reshape(n, 4))
    rotation = quaternion.multiply(take(m.body_quat, m.cable_bodyid), joint)
    stress = -m.cable_stiffness * (quaternion.to_rotation_vector(rotation) - m.cable_curvature)
    torque = quaternion.rotate(quaternion.conjugate(rotation), stress)
    return scatter(torque.ravel(), plan.cable_dof.ravel(), d.qvel.shape[0])
