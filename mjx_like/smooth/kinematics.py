"""Forward kinematics: poses of bodies, inertial frames, joints, geoms and sites."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import component_first, quaternion
from mjx_like.math.rule import custom_jvp
from mjx_like.math.select import combine_last, hold, pick_last, take, take_last
from mjx_like.math.tangent import rate
from mjx_like.smooth import in_order
from mjx_like.smooth.poses import Given, Poses, given
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array

_ROUNDING = 1e-14  # of frames; nudges below it only matter to the last bit, `in_order`


def kinematics(m: Model, d: Data) -> Data:
    """Return d with the world poses of everything attached to bodies.

    Quaternions of qpos, of the mocap bodies and of the model are normalised as they are read. In float64 on a CPU the
    poses are MuJoCo's to the last bit (`in_order`); derivatives, and poses elsewhere, are those of `by_products`.

    Reads qpos, mocap_pos, mocap_quat. Writes xpos, xquat, xmat, xipos, ximat, xanchor, xaxis, geom_xpos, geom_xmat,
    site_xpos, site_xmat.  Source: mj_kinematics.
    """
    t = m.topology
    found = (_in_order if in_order.applies(t, d.qpos.dtype) else by_products)(t, given(m, d))
    split = t.nbody, t.nbody + t.ngeom
    (xipos, geom_xpos, site_xpos), (ximat, geom_xmat, site_xmat) = (
        jnp.split(x, split) for x in (found.frame_pos, found.frame_mat)
    )
    return d.replace(
        xpos=found.xpos, xquat=found.xquat, xmat=found.xmat, xipos=xipos, ximat=ximat, xanchor=found.xanchor,
        xaxis=found.xaxis, geom_xpos=geom_xpos, geom_xmat=geom_xmat, site_xpos=site_xpos, site_xmat=site_xmat,
    )  # fmt: skip


def _in_order(t: Topology, x: Given) -> Poses:
    """Return the poses of `in_order`, with the derivatives of `by_products`."""

    @custom_jvp
    def poses(x: Given) -> Poses:
        return in_order.poses(t, x)

    @functools.partial(poses.defjvp, symbolic_zeros=True)
    def derivative(primals: tuple[Given], tangents: tuple[Given]) -> tuple[Poses, Poses]:
        return poses(*primals), rate(functools.partial(by_products, t), *primals, *tangents)

    return poses(x)


def by_products(t: Topology, x: Given) -> Poses:
    """Return the poses of everything attached to bodies.

    Every joint, and every body without one, is a node that turns and moves what comes after it. Rotations are composed
    by a parallel prefix product: a chain of n nodes takes log2(n) rounds on whole arrays. Positions are then sums of
    turned offsets along the chain, one product with a constant mask. Inside, components lead and nodes are the last
    axis.
    """
    plan = t.plans.smooth
    joint_quat, slide = _joint_motion(t, x)
    base_pos, base_quat = _bases(t, x)
    quat = component_first.multiply(base_quat, joint_quat)
    for left in plan.node_left:
        quat = component_first.multiply(pick_last(quat, left), quat)
    quat = hold(_near_unit(quat))
    rotation = component_first.matrix(quat)
    pos, anchor, axis = _positions(t, x, base_pos, component_first.matrix(base_quat), rotation, slide)
    xquat, xmat = pick_last(quat, plan.body_node), pick_last(rotation, plan.body_node)
    local_pos = jnp.concatenate([x.body_ipos, x.geom_pos, x.site_pos])
    local_quat = jnp.concatenate([x.body_iquat, x.geom_quat, x.site_quat])
    if np.abs(t.frame_nudge).max(initial=0) > _ROUNDING:
        nudge = t.frame_nudge.astype(local_pos.dtype)
        local_pos, local_quat = local_pos + nudge[:, :3], local_quat + nudge[:, 3:]
    local = local_frames(local_pos, local_quat)
    carrier = component_first.pose(take_last(xmat, plan.frame_body), take_last(pos, plan.frame_body))
    frames = jnp.moveaxis(component_first.compose(carrier, hold(local)), -1, 0)
    return Poses(
        xpos=pos.T,
        xquat=xquat.T,
        xmat=jnp.moveaxis(xmat, -1, 0),
        xanchor=take_last(anchor, plan.joint_node).T,
        xaxis=take_last(axis, plan.joint_node).T,
        frame_pos=frames[:, :, 3],
        frame_mat=frames[:, :, :3],
    )


def local_frames(pos: Array, quat: Array) -> Array:
    """Return the poses, shape (3, 4, n), of frames with positions (n, 3) [m] and quaternions (n, 4) of any norm."""
    return component_first.pose(component_first.matrix(quaternion.normalize(quat).T), pos.T)


def _joint_motion(t: Topology, x: Given) -> tuple[Array, Array]:
    """Return, node by node, the joint's rotation, shape (4, nnode), and translation along its axis, shape (nslide,)."""
    plan, dtype = t.plans.smooth, x.qpos.dtype
    value = take(x.qpos, plan.scalar_qposadr) - take(x.qpos0, plan.scalar_qposadr)
    half = 0.5 * take(value, plan.scalar_hinge)
    axis = take(x.jnt_axis, plan.hinge_joint).T
    hinge = jnp.concatenate([jnp.cos(half)[None], axis * jnp.sin(half)])
    whole = quaternion.normalize(take(x.qpos, plan.quat_qposadr.ravel()).reshape(-1, 4)).T
    unit = jnp.array([[1], [0], [0], [0]], dtype)
    return pick_last(jnp.concatenate([unit, hinge, whole], axis=1), plan.node_quat), take(value, plan.scalar_slide)


def _bases(t: Topology, x: Given) -> tuple[Array, Array]:
    """Return where each node stands in the one before it at rest: positions (3, nnode), quaternions (4, nnode)."""
    plan, dtype = t.plans.smooth, x.qpos.dtype
    zero, unit = jnp.zeros((1, 3), dtype), jnp.array([[1, 0, 0, 0]], dtype)
    free = take(x.qpos, plan.free_qposadr.ravel()).reshape(-1, 3)
    pos = take(jnp.concatenate([zero, x.body_pos, x.mocap_pos, free]), plan.node_base_pos)
    quat = take(jnp.concatenate([unit, x.body_quat, x.mocap_quat]), plan.node_base_quat)
    return pos.T, quaternion.normalize(quat).T


def _near_unit(quat: Array) -> Array:
    """Return products of unit quaternions, shape (4, n), normalised where rounding has moved their norm from 1."""
    excess = 0.5 * (jnp.sum(quat * quat, axis=0) - 1)
    return quat * (1 - jnp.where(jnp.abs(excess) > MINVAL, excess, 0))


def _positions(
    t: Topology, x: Given, base_pos: Array, base: Array, rotation: Array, slide: Array
) -> tuple[Array, Array, Array]:
    """Return positions of bodies (3, nbody), and anchors and axes of joints before their own motion, (3, nnode).

    base_pos, base: at rest in the node before, shapes (3, nnode) [m] and (3, 3, nnode); rotation: in the world.
    A node moves by its anchor, which the node before carries, then along the axis, then back from the anchor, turned.
    """
    plan = t.plans.smooth
    zero = jnp.zeros((1, 3), base_pos.dtype)
    anchor, axis = (pick_last(jnp.concatenate([a, zero]).T, plan.node_joint) for a in (x.jnt_pos, x.jnt_axis))
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
