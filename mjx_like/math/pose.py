"""Poses as MuJoCo's engine has them: a position and a unit quaternion, of shapes (..., 3) and (..., 4)."""

import jax
import jax.numpy as jnp

from mjx_like.math import quaternion

Array = jax.Array


def mul_pose(pos1: Array, quat1: Array, pos2: Array, quat2: Array) -> tuple[Array, Array]:
    """Return the second pose, given in the frame of the first, in the frame of the first's parent.

    Source: mju_mulPose.
    """
    return pos1 + quaternion.rotate(quat1, pos2), quaternion.multiply(quat1, quat2)


def neg_pose(pos: Array, quat: Array) -> tuple[Array, Array]:
    """Return the inverse of a pose: that of the parent's frame in the frame of the pose.  Source: mju_negPose."""
    back = quaternion.conjugate(quat)
    return -quaternion.rotate(back, pos), back


def trn_vec_pose(pos: Array, quat: Array, vec: Array) -> Array:
    """Return a point, given in the frame of a pose, in its parent's frame, shape (..., 3).  Source: mju_trnVecPose."""
    return pos + quaternion.rotate(quat, vec)


def rot_vec_quat(vec: Array, quat: Array) -> Array:
    """Return a vector rotated by a unit quaternion, shape (..., 3).  Source: mju_rotVecQuat."""
    return quaternion.rotate(quat, vec)


def quat2vel(quat: Array, dt: Array | float) -> Array:
    """Return the angular velocity [rad/s] that turns by a quaternion in a time [s], shape (..., 3).

    Source: mju_quat2Vel.
    """
    return quaternion.to_rotation_vector(quat) / dt


def sub_quat(qa: Array, qb: Array) -> Array:
    """Return the rotation vector [rad], in the frame of qb, that leads from qb to qa.  Source: mju_subQuat."""
    return quaternion.subtract(qa, qb)


def quat_integrate(quat: Array, vel: Array, scale: Array | float) -> Array:
    """Return a quaternion rotated by a local angular velocity [rad/s] for a time [s].  Source: mju_quatIntegrate."""
    return quaternion.integrate(quat, vel, scale)


def axis_angle2quat(axis: Array, angle: Array | float) -> Array:
    """Return the rotation by an angle [rad] about a unit vector, shape (..., 4).  Source: mju_axisAngle2Quat."""
    return quaternion.from_axis_angle(axis, jnp.asarray(angle, jnp.result_type(axis)))


mul_quat = quaternion.multiply
neg_quat = quaternion.conjugate
quat2mat = quaternion.matrix
mat2quat = quaternion.from_matrix
quat_z2vec = quaternion.from_z_axis
