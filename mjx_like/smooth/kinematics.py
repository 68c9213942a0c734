"""Forward kinematics: poses of bodies, inertial frames, joints, geoms and sites."""

import jax
import jax.numpy as jnp

from mjx_like.math import component, quaternion
from mjx_like.math.select import take, take_last
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def kinematics(m: Model, d: Data) -> Data:
    """Return d with the world poses of everything attached to bodies.

    Every joint, and every body without one, is a node with a pose relative to the node before it; poses are composed
    by pointer doubling, so that a chain of n nodes takes log2(n) rounds on whole arrays. Quaternions of qpos, of the
    mocap bodies and of the model are normalised as they are read. Inside, components lead and nodes are the last axis.

    Reads qpos, mocap_pos, mocap_quat. Writes xpos, xquat, xmat, xipos, ximat, xanchor, xaxis, geom_xpos, geom_xmat,
    site_xpos, site_xmat.  Source: mj_kinematics.
    """
    plan = m.plans.smooth
    joint_quat, slide = _joint_motion(m, d.qpos)
    pose, quat = _local_poses(m, d, joint_quat, slide)
    for jump in plan.node_jump:
        quat = component.multiply(take_last(quat, jump), quat)
        pose = component.compose(take_last(pose, jump), pose)
    xanchor, xaxis = _joint_frames(m, take_last(pose, plan.joint_node), joint_quat, slide)
    body = take_last(pose, plan.body_node)
    local = local_frames(
        jnp.concatenate([m.body_ipos, m.geom_pos, m.site_pos]),
        jnp.concatenate([m.body_iquat, m.geom_quat, m.site_quat]),
    )
    frames = jnp.moveaxis(component.compose(take_last(pose, plan.frame_node), local), -1, 0)
    inertial, geom, site = jnp.split(frames, (m.nbody, m.nbody + m.ngeom))
    return d.replace(
        xpos=body[:, 3].T,
        xquat=take_last(quat, plan.body_node).T,
        xmat=jnp.moveaxis(body[:, :3], -1, 0),
        xipos=inertial[:, :, 3],
        ximat=inertial[:, :, :3],
        xanchor=xanchor,
        xaxis=xaxis,
        geom_xpos=geom[:, :, 3],
        geom_xmat=geom[:, :, :3],
        site_xpos=site[:, :, 3],
        site_xmat=site[:, :, :3],
    )


def local_frames(pos: Array, quat: Array) -> Array:
    """Return the poses, shape (3, 4, n), of frames with positions (n, 3) [m] and quaternions (n, 4) of any norm."""
    return component.pose(component.matrix(quaternion.normalize(quat).T), pos.T)


def _joint_motion(m: Model, qpos: Array) -> tuple[Array, Array]:
    """Return, node by node, the joint's rotation, shape (4, nnode), and translation along its axis, shape (nslide,)."""
    plan, dtype = m.plans.smooth, qpos.dtype
    value = take(qpos, plan.scalar_qposadr) - take(m.qpos0, plan.scalar_qposadr)
    half = 0.5 * take(value, plan.scalar_hinge)
    axis = take(m.jnt_axis, plan.hinge_joint).T
    hinge = jnp.concatenate([jnp.cos(half)[None], axis * jnp.sin(half)])
    given = quaternion.normalize(take(qpos, plan.quat_qposadr.ravel()).reshape(-1, 4)).T
    unit = jnp.array([[1], [0], [0], [0]], dtype)
    return take_last(jnp.concatenate([unit, hinge, given], axis=1), plan.node_quat), take(value, plan.scalar_slide)


def _local_poses(m: Model, d: Data, joint_quat: Array, slide: Array) -> tuple[Array, Array]:
    """Return poses, shape (3, 4, nnode), and quaternions (4, nnode) of the nodes relative to the one before."""
    plan, dtype = m.plans.smooth, d.qpos.dtype
    zero, unit = jnp.zeros((1, 3), dtype), jnp.array([[1, 0, 0, 0]], dtype)
    free = take(d.qpos, plan.free_qposadr.ravel()).reshape(-1, 3)
    base_pos = take(jnp.concatenate([zero, m.body_pos, d.mocap_pos, free]), plan.node_base_pos).T
    base_quat = take(jnp.concatenate([unit, m.body_quat, d.mocap_quat]), plan.node_base_quat)
    base_quat = quaternion.normalize(base_quat).T
    base = component.matrix(base_quat)
    quat = component.multiply(base_quat, joint_quat)
    rotation = component.matrix(quat)
    anchor = take(jnp.concatenate([m.jnt_pos, zero]), plan.node_joint).T
    pos = base_pos + component.turn(base, anchor) - component.turn(rotation, anchor)
    if slide.size:
        axis = take(jnp.concatenate([take(m.jnt_axis, plan.slide_joint), zero]), plan.node_slide).T
        pos = pos + component.turn(base, axis) * take(_with_zero(slide), plan.node_slide)
    return component.pose(rotation, pos), quat


def _joint_frames(m: Model, pose: Array, joint_quat: Array, slide: Array) -> tuple[Array, Array]:
    """Return anchor and axis of the joints before their own motion, in the world, shapes (njnt, 3).

    A hinge leaves its anchor and axis where they are; a slide moves its anchor; a ball or free joint turns its axis.
    pose: of the joints after their motion, shape (3, 4, njnt).
    """
    plan = m.plans.smooth
    axis, anchor = m.jnt_axis.T, m.jnt_pos.T
    if slide.size:
        anchor = anchor - take(_with_zero(slide), plan.joint_slide) * axis
    if plan.joint_turned.any():
        own = component.matrix(take_last(joint_quat, plan.joint_node))
        axis = jnp.where(plan.joint_turned, component.turn(jnp.swapaxes(own, 0, 1), axis), axis)
    return (pose[:, 3] + component.turn(pose, anchor)).T, component.turn(pose, axis).T


def _with_zero(x: Array) -> Array:
    return jnp.concatenate([x, jnp.zeros(1, x.dtype)])
