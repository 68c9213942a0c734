"""Forward kinematics in MuJoCo's order of operations: poses are MuJoCo's to the last bit.

Where geoms touch with several features at once, and where the search for convex contacts ends, the last digit of a pose
decides. So in float64 on a CPU the values of `kinematics` are those found here, node by node from the root, the nodes
of one depth at once. In float32 they would not be MuJoCo's in any case.
Source: mj_kinematics and mj_local2Global of MuJoCo 4.0.0.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math import unfused_pose as pose
from mjx_like.math import vector as v
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import rows, take
from mjx_like.math.unfused import product
from mjx_like.smooth.poses import Given, Poses
from mjx_like.types.plans import SmoothPlan
from mjx_like.types.topology import Topology

Array = jax.Array

_UNIT = (1, 0, 0, 0)


def applies(t: Topology, dtype: np.dtype) -> bool:
    """Return whether poses are found in order."""
    return dtype == np.float64 and on_cpu() and t.plans.smooth.level_node.size > 0


def poses(t: Topology, x: Given) -> Poses:
    """Return the poses of everything attached to bodies; for derivatives see `kinematics`."""
    plan = t.plans.smooth
    base_pos, base_quat = _bases(t, x)
    turn, slide, *joint = _turns(t, x)
    before, quat = _rotations(plan, base_quat, turn)
    own, turned = jnp.unstack(before, axis=1), jnp.unstack(quat, axis=1)
    carrier = pose.matrix(jnp.unstack(take(quat, plan.node_parent), axis=1))
    anchor, axis = (jnp.unstack(a, axis=1) for a in joint)
    axis = pose.rotate(own, axis)
    steps = (
        pose.transform(carrier, jnp.unstack(base_pos, axis=1)), pose.rotate(own, anchor), pose.rotate(turned, anchor),
        tuple(product(a, slide) for a in axis),
    )  # fmt: skip
    pos, anchor = _positions(plan, jnp.stack([component for step in steps for component in step], axis=1))
    body_pos, body_quat = take(pos, plan.body_node), take(quat, plan.body_node)
    matrix = jnp.stack(pose.matrix(jnp.unstack(body_quat, axis=1)), axis=1)
    frame_pos, frame_mat = _frames(t, x, jnp.concatenate([body_pos, body_quat, matrix], axis=1))
    return Poses(
        body_pos, body_quat, matrix.reshape(-1, 3, 3), take(anchor, plan.joint_node),
        take(jnp.stack(axis, axis=1), plan.joint_node), frame_pos, frame_mat,
    )  # fmt: skip


def _rotations(plan: SmoothPlan, base: Array, turn: Array) -> tuple[Array, Array]:
    """Return the rotations of all nodes before and after their joint's, in the world, shapes (nnode, 4).

    base, turn: of each node in the one before it, and of its joint. The loop has a turn for each.
    """
    depths, width = plan.level_node.shape
    factors = take(jnp.stack([base, turn], axis=1), plan.level_node.ravel()).reshape(depths, width, 2, 4)
    source = np.stack([plan.level_parent, np.broadcast_to(np.arange(width), (depths, width))], axis=1)
    end = np.stack([np.zeros_like(plan.level_end), plan.level_end], axis=1)

    def one(before: Array, step: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        factor, source, end = step
        quat = pose.multiply(jnp.unstack(rows(before, source), axis=1), jnp.unstack(factor, axis=1))
        now = jnp.stack(v.select(end, pose.normalize(quat), quat), axis=1)
        return now, now

    world = jnp.broadcast_to(jnp.array(_UNIT, base.dtype), (width, 4))
    steps = jnp.moveaxis(factors, 2, 1).reshape(2 * depths, width, 4)
    flags = (jnp.asarray(x.reshape(2 * depths, width)) for x in (source.astype(np.int32), end))
    _, found = lax.scan(one, world, (steps, *flags))
    return tuple(_by_node(plan, x, world) for x in (found[0::2], found[1::2]))


def _positions(plan: SmoothPlan, steps: Array) -> tuple[Array, Array]:
    """Return the positions of all nodes and of their joints' anchors, shapes (nnode, 3).

    steps: from the node before to the joint at rest, from there to its anchor, from there back to the turned joint,
    and the joint's translation; shape (nnode, 12).
    """

    def one(before: Array, level: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        step, parent, slides = level
        to_rest, to_anchor, back, shift = jnp.split(step, 4, axis=1)
        rest = to_rest + rows(before, parent)
        anchor = to_anchor + rest
        now = jnp.where(slides[:, None], rest + shift, anchor - back)
        return now, (now, anchor)

    world = jnp.zeros((plan.level_node.shape[1], 3), steps.dtype)
    levels = take(steps, plan.level_node.ravel()).reshape(*plan.level_node.shape, 12)
    _, found = lax.scan(one, world, (levels, jnp.asarray(plan.level_parent), jnp.asarray(plan.level_slide)))
    return tuple(_by_node(plan, x, world) for x in found)


def _by_node(plan: SmoothPlan, x: Array, world: Array) -> Array:
    """Return the rows of the nodes in their order; x: those of the table of depths, shape (ndepth, width, k)."""
    return jnp.concatenate([world[:1], take(x.reshape(-1, x.shape[-1]), plan.node_place)])


def _bases(t: Topology, x: Given) -> tuple[Array, Array]:
    """Return where each node stands in the one before it at rest, shapes (nnode, 3) and (nnode, 4)."""
    plan = t.plans.smooth
    free = take(x.qpos, plan.free_qposadr.ravel()).reshape(-1, 3)
    pos = jnp.concatenate([jnp.zeros((1, 3), x.qpos.dtype), x.body_pos, x.mocap_pos, free])
    quat = jnp.concatenate([jnp.array([_UNIT], x.qpos.dtype), _given(x.body_quat), _normalised(x.mocap_quat)])
    return take(pos, plan.node_base_pos), take(quat, plan.node_base_quat)


def _turns(t: Topology, x: Given) -> tuple[Array, ...]:
    """Return of each node's joint its rotation (nnode, 4), translation (nnode,), anchor and axis (nnode, 3)."""
    plan, dtype = t.plans.smooth, x.qpos.dtype
    value = take(x.qpos, plan.scalar_qposadr) - take(x.qpos0, plan.scalar_qposadr)
    half = 0.5 * take(value, plan.scalar_hinge)[:, None]
    hinge = jnp.concatenate([jnp.cos(half), take(x.jnt_axis, plan.hinge_joint) * jnp.sin(half)], axis=1)
    quat = _normalised(take(x.qpos, plan.quat_qposadr.ravel()).reshape(-1, 4))
    turn = take(jnp.concatenate([jnp.array([_UNIT], dtype), hinge, quat]), plan.node_quat)
    slide = take(jnp.append(take(value, plan.scalar_slide), 0), plan.node_slide)
    joint = (take(jnp.concatenate([a, jnp.zeros((1, 3), dtype)]), plan.node_joint) for a in (x.jnt_pos, x.jnt_axis))
    return turn, slide, *joint


def _frames(t: Topology, x: Given, body: Array) -> tuple[Array, Array]:
    """Return the poses of inertial frames, geoms and sites; body: position, quaternion and matrix, (nbody, 16)."""
    local = jnp.concatenate(
        [
            jnp.concatenate([x.body_ipos, x.geom_pos, x.site_pos]),
            _given(jnp.concatenate([x.body_iquat, x.geom_quat, x.site_quat])),
        ],
        axis=1,
    )
    if t.frame_nudge.size:
        local = local + t.frame_nudge
    carrier = jnp.unstack(take(body, t.plans.smooth.frame_body), axis=1)
    own = jnp.unstack(local, axis=1)
    pos = v.add(pose.transform(carrier[7:], own[:3]), carrier[:3])
    mat = pose.matrix(pose.multiply(carrier[3:7], own[3:]))
    return jnp.stack(pos, axis=1), jnp.stack(mat, axis=1).reshape(-1, 3, 3)


def _given(quat: Array) -> Array:
    return jnp.stack(pose.given(jnp.unstack(quat, axis=1)), axis=1)


def _normalised(quat: Array) -> Array:
    return jnp.stack(pose.normalize(jnp.unstack(quat, axis=1)), axis=1)
