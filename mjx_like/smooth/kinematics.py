"""Forward kinematics: poses of bodies, inertial frames, joints, geoms and sites."""

import jax
import jax.numpy as jnp

from mjx_like.math import quaternion
from mjx_like.math.select import take
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def kinematics(m: Model, d: Data) -> Data:
    """Return d with the world poses of everything attached to bodies.

    Every joint, and every body without one, is a node with a pose relative to the node before it; poses are composed
    by pointer doubling, so that a chain of n nodes takes log2(n) rounds on whole arrays. Quaternions of qpos, of the
    mocap bodies and of the model are normalised as they are read.

    Reads qpos, mocap_pos, mocap_quat. Writes xpos, xquat, xmat, xipos, ximat, xanchor, xaxis, geom_xpos, geom_xmat,
    site_xpos, site_xmat.  Source: mj_kinematics.
    """
    plan = m.plans.smooth
    joint_quat, slide = joint_rotation(m, d.qpos)
    pos, quat = _node_poses(m, d, joint_quat, slide)
    for jump in plan.node_jump:
        pos, quat = (
            take(pos, jump) + quaternion.rotate(take(quat, jump), pos),
            quaternion.multiply(take(quat, jump), quat),
        )
    xpos, xquat = take(pos, plan.body_node), take(quat, plan.body_node)
    xanchor, xaxis = _joint_frames(m, take(pos, plan.joint_node), take(quat, plan.joint_node), joint_quat, slide)
    xipos, ximat = attached(xpos, xquat, m.body_ipos, m.body_iquat)
    geom_xpos, geom_xmat = attached(take(xpos, m.geom_bodyid), take(xquat, m.geom_bodyid), m.geom_pos, m.geom_quat)
    site_xpos, site_xmat = attached(take(xpos, m.site_bodyid), take(xquat, m.site_bodyid), m.site_pos, m.site_quat)
    return d.replace(
        xpos=xpos,
        xquat=xquat,
        xmat=quaternion.matrix(xquat),
        xipos=xipos,
        ximat=ximat,
        xanchor=xanchor,
        xaxis=xaxis,
        geom_xpos=geom_xpos,
        geom_xmat=geom_xmat,
        site_xpos=site_xpos,
        site_xmat=site_xmat,
    )


def joint_rotation(m: Model, qpos: Array) -> tuple[Array, Array]:
    """Return, node by node, the joint's rotation, shape (nnode, 4), and translation along its axis, shape (nnode,)."""
    plan = m.plans.smooth
    value = take(qpos, plan.node_qposadr) - take(m.qpos0, plan.node_qposadr) if m.nq else jnp.zeros(len(plan.node_body))
    value = value.astype(qpos.dtype)
    quat = quaternion.from_axis_angle(_node_rows(m, m.jnt_axis), value * plan.node_hinge.astype(qpos.dtype))
    if plan.quat_qposadr.size:
        given = quaternion.normalize(take(qpos, plan.quat_qposadr.ravel()).reshape(-1, 4))
        quat = take(jnp.concatenate([quat, given]), plan.quat_place)
    return quat, value * plan.node_slide.astype(qpos.dtype)


def attached(pos: Array, quat: Array, local_pos: Array, local_quat: Array) -> tuple[Array, Array]:
    """Return world position and rotation matrix of frames given in body frames.

    pos, quat: of the bodies, shapes (n, 3) [m] and (n, 4); local_pos, local_quat: in the body frame.
    """
    turned = quaternion.multiply(quat, quaternion.normalize(local_quat))
    return pos + quaternion.rotate(quat, local_pos), quaternion.matrix(turned)


def _node_rows(m: Model, x: Array) -> Array:
    """Return a joint field, shape (njnt, k), for each node; zero for nodes without joint."""
    return take(jnp.concatenate([x, jnp.zeros((1, x.shape[1]), x.dtype)]), m.plans.smooth.node_joint)


def _node_poses(m: Model, d: Data, joint_quat: Array, slide: Array) -> tuple[Array, Array]:
    """Return the pose of each node relative to the one before it: position (nnode, 3), quaternion (nnode, 4)."""
    plan, dtype = m.plans.smooth, d.qpos.dtype
    zero, one = jnp.zeros((1, 3), dtype), jnp.array([[1, 0, 0, 0]], dtype)
    base_pos = take(jnp.concatenate([zero, m.body_pos, d.mocap_pos]), plan.node_base)
    quats = quaternion.normalize(jnp.concatenate([one, m.body_quat, d.mocap_quat]))
    base_quat = take(quats, plan.node_base)
    anchor = _node_rows(m, m.jnt_pos)
    shift = anchor - quaternion.rotate(joint_quat, anchor)
    if plan.node_slide.any():
        shift = shift + slide[:, None] * _node_rows(m, m.jnt_axis)
    pos = base_pos + quaternion.rotate(base_quat, shift)
    if plan.free_qposadr.size:
        free = take(d.qpos, plan.free_qposadr.ravel()).reshape(-1, 3)
        pos = take(jnp.concatenate([pos, free]), plan.free_place)
    return pos, quaternion.multiply(base_quat, joint_quat)


def _joint_frames(m: Model, pos: Array, quat: Array, joint_quat: Array, slide: Array) -> tuple[Array, Array]:
    """Return anchor and axis of the joints before their own motion, in the world, from the poses after it.

    A hinge leaves its anchor and axis where they are; a slide moves its anchor; a ball or free joint turns its axis.
    """
    plan = m.plans.smooth
    axis, anchor = m.jnt_axis, m.jnt_pos
    if plan.node_slide.any():
        anchor = anchor - take(slide, plan.joint_node)[:, None] * axis
    if plan.joint_turned.any():
        turned = quaternion.rotate(quaternion.conjugate(take(joint_quat, plan.joint_node)), axis)
        axis = jnp.where(plan.joint_turned[:, None], turned, axis)
    return pos + quaternion.rotate(quat, anchor), quaternion.rotate(quat, axis)
