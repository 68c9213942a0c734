"""Forward kinematics: poses of bodies, inertial frames, joints, geoms and sites."""

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.math import component_first, quaternion
from mjx_like.math.select import combine_last, hold, pick_last, take, take_last
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def kinematics(m: Model, d: Data) -> Data:
    """Return d with the world poses of everything attached to bodies.

    Every joint, and every body without one, is a node that turns and moves what comes after it. Rotations are composed
    by a parallel prefix product: a chain of n nodes takes log2(n) rounds on whole arrays. Positions are then sums of
    turned offsets along the chain, one product with a constant mask. Quaternions of qpos, of the mocap bodies and of
    the model are normalised as they are read. Inside, components lead and nodes are the last axis.

    Reads qpos, mocap_pos, mocap_quat. Writes xpos, xquat, xmat, xipos, ximat, xanchor, xaxis, geom_xpos, geom_xmat,
    site_xpos, site_xmat.  Source: mj_kinematics.
    """
    plan = m.plans.smooth
    joint_quat, slide = _joint_motion(m, d.qpos)
    base_pos, base_quat = _bases(m, d)
    quat = component_first.multiply(base_quat, joint_quat)
    for left in plan.node_left:
        quat = component_first.multiply(pick_last(quat, left), quat)
    quat = hold(_near_unit(quat))
    rotation = component_first.matrix(quat)
    pos, anchor, axis = _positions(m, base_pos, component_first.matrix(base_quat), rotation, slide)
    xquat, xmat = pick_last(quat, plan.body_node), pick_last(rotation, plan.body_node)
    local_pos = jnp.concatenate([m.body_ipos, m.geom_pos, m.site_pos])
    local_quat = jnp.concatenate([m.body_iquat, m.geom_quat, m.site_quat])
    if m.frame_nudge.size:
        nudge = m.frame_nudge.astype(local_pos.dtype)
        local_pos, local_quat = local_pos + nudge[:, :3], local_quat + nudge[:, 3:]
    local = local_frames(local_pos, local_quat)
    carrier = component_first.pose(take_last(xmat, plan.frame_body), take_last(pos, plan.frame_body))
    frames = jnp.moveaxis(component_first.compose(carrier, hold(local)), -1, 0)
    inertial, geom, site = jnp.split(frames, (m.nbody, m.nbody + m.ngeom))
    return d.replace(
        xpos=pos.T,
        xquat=xquat.T,
        xmat=jnp.moveaxis(xmat, -1, 0),
        xipos=inertial[:, :, 3],
        ximat=inertial[:, :, :3],
        xanchor=take_last(anchor, plan.joint_node).T,
        xaxis=take_last(axis, plan.joint_node).T,
        geom_xpos=geom[:, :, 3],
        geom_xmat=geom[:, :, :3],
        site_xpos=site[:, :, 3],
        site_xmat=site[:, :, :3],
    )


def local_frames(pos: Array, quat: Array) -> Array:
    """Return the poses, shape (3, 4, n), of frames with positions (n, 3) [m] and quaternions (n, 4) of any norm."""
    return component_first.pose(component_first.matrix(quaternion.normalize(quat).T), pos.T)


def _joint_motion(m: Model, qpos: Array) -> tuple[Array, Array]:
    """Return, node by node, the joint's rotation, shape (4, nnode), and translation along its axis, shape (nslide,)."""
    plan, dtype = m.plans.smooth, qpos.dtype
    value = take(qpos, plan.scalar_qposadr) - take(m.qpos0, plan.scalar_qposadr)
    half = 0.5 * take(value, plan.scalar_hinge)
    axis = take(m.jnt_axis, plan.hinge_joint).T
    hinge = jnp.concatenate([jnp.cos(half)[None], axis * jnp.sin(half)])
    given = quaternion.normalize(take(qpos, plan.quat_qposadr.ravel()).reshape(-1, 4)).T
    unit = jnp.array([[1], [0], [0], [0]], dtype)
    return pick_last(jnp.concatenate([unit, hinge, given], axis=1), plan.node_quat), take(value, plan.scalar_slide)


def _bases(m: Model, d: Data) -> tuple[Array, Array]:
    """Return where each node stands in the one before it at rest: positions (3, nnode), quaternions (4, nnode)."""
    plan, dtype = m.plans.smooth, d.qpos.dtype
    zero, unit = jnp.zeros((1, 3), dtype), jnp.array([[1, 0, 0, 0]], dtype)
    free = take(d.qpos, plan.free_qposadr.ravel()).reshape(-1, 3)
    pos = take(jnp.concatenate([zero, m.body_pos, d.mocap_pos, free]), plan.node_base_pos)
    quat = take(jnp.concatenate([unit, m.body_quat, d.mocap_quat]), plan.node_base_quat)
    return pos.T, quaternion.normalize(quat).T


def _near_unit(quat: Array) -> Array:
    """Return products of unit quaternions, shape (4, n), normalised where rounding has moved their norm from 1."""
    excess = 0.5 * (jnp.sum(quat * quat, axis=0) - 1)
    return quat * (1 - jnp.where(jnp.abs(excess) > MINVAL, excess, 0))


def _positions(m: Model, base_pos: Array, base: Array, rotation: Array, slide: Array) -> tuple[Array, Array, Array]:
    """Return positions of bodies (3, nbody), and anchors and axes of joints before their own motion, (3, nnode).

    base_pos, base: at rest in the node before, shapes (3, nnode) [m] and (3, 3, nnode); rotation: in the world.
    A node moves by its anchor, which the node before carries, then along the axis, then back from the anchor, turned.
    """
    plan = m.plans.smooth
    zero = jnp.zeros((1, 3), base_pos.dtype)
    anchor, axis = (pick_last(jnp.concatenate([x, zero]).T, plan.node_joint) for x in (m.jnt_pos, m.jnt_axis))
    rest, direction = hold(component_first.rotate(base, anchor)), hold(component_first.rotate(base, axis))
    before = take_last(rotation, plan.node_parent)
    forth, axis = component_first.rotate(before, base_pos + rest), component_first.rotate(before, direction)
    step = forth - component_first.rotate(rotation, anchor)
    if slide.size:
        step = step + take(jnp.concatenate([slide, jnp.zeros(1, slide.dtype)]), plan.node_slide) * axis
    return combine_last(step, plan.body_path), combine_last(step, plan.node_before) + forth, axis


def local2global(d: Data, pos: Array, quat: Array, body: int) -> tuple[Array, Array]:
    """Return position, shape (3,), and rotation, shape (3, 3), in the world of a frame given in that of a body.

    Source: mj_local2Global.
    """
    rotated = quaternion.multiply(d.xquat[body], quaternion.normalize(quat))
    return d.xpos[body] + quaternion.rotate(d.xquat[body], pos), quaternion.matrix(rotated)
