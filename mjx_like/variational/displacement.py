"""Finite displacements of all bodies, as products of finite motions of the joints about their present axes.

They are found without the difference of two poses, whose rounding, over the time step, would be the velocity's error:
6e-5 m/s in float32 at a metre and a millisecond.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion
from mjx_like.math.select import combine, take
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array


class Pose(NamedTuple):
    """The present pose, in the world's axes; positions are less the centre of mass of the tree."""

    cdof: Array  # (nv, 6) axes of motion: rotation, translation
    anchor: Array  # (njnt, 3) [m]
    centre: Array  # (nbody, 3) centres of mass of the bodies [m]
    frame: Array  # (nbody, 3, 3) rotations of the inertial frames


class Displacement(NamedTuple):
    """Finite motions of the bodies."""

    shift: Array  # (nbody, 3) of the centres of mass [m, world]
    cosine: Array  # (nbody,) of half the angle of rotation
    sine: Array  # (nbody, 3) axis times the sine of half the angle, in the inertial frame


def pose(m: Model, d: Data) -> Pose:
    """Return the present pose of a model.

    Reads cdof, xanchor, xipos, ximat, subtree_com.
    """
    joint_root = m.body_rootid[m.jnt_bodyid]
    return Pose(
        cdof=d.cdof,
        anchor=d.xanchor - take(d.subtree_com, joint_root),
        centre=d.xipos - take(d.subtree_com, m.body_rootid),
        frame=d.ximat,
    )


def displacement(t: Topology, p: Pose, change: Array) -> Displacement:
    """Return how the bodies move as the joint coordinates change from those of the pose.

    change: in the tangent space, shape (nv,) [m or rad], as a velocity times a time.
    """
    return _of_bodies(t, p, *_composed(t, p, change))


def displacement_and_axes(t: Topology, p: Pose, change: Array) -> tuple[Displacement, Array]:
    """Return `displacement`, and the axes of motion there, shape (nv, 6), as cdof has them for the pose.

    They are what the displaced bodies move by for a unit change of each coordinate of `change`.
    """
    rotation, move = _composed(t, p, change)
    plan, joint = t.plans.smooth, t.dof_jntid
    straight = (plan.dof_slide | plan.dof_shifting)[:, None]
    own, shift = (take(x, joint) for x in _own_motions(t, p, change))
    q, slope = jax.jvp(quaternion.from_rotation_vector, (own,), (jnp.where(straight, 0, p.cdof[:, :3]),))
    spin = 2 * quaternion.multiply(slope, quaternion.conjugate(q))[:, 1:]
    speed = jnp.where(straight, p.cdof[:, 3:], quaternion.cross(take(p.anchor, joint) + shift, spin))
    if plan.node_left:
        before = _rows(plan.node_parent[plan.joint_node[joint]], rotation.shape[0])
        turning, moving = combine(before, rotation), combine(before, move)
        spin, speed = quaternion.rotate(turning, spin), quaternion.rotate(turning, speed)
        speed = speed + quaternion.cross(moving, spin)
    return _of_bodies(t, p, rotation, move), jnp.concatenate([spin, speed], axis=1)


def turned(q: Array, x: Array) -> Array:
    """Return (R - 1) x for rotations R by unit quaternions q, shape (..., 4); x: shape (..., 3)."""
    axis = q[..., 1:]
    lever = quaternion.cross(axis, x)
    return 2 * (q[..., :1] * lever + quaternion.cross(axis, lever))


def _composed(t: Topology, p: Pose, change: Array) -> tuple[Array, Array]:
    """Return the motions of the nodes of kinematics: quaternions, shape (nnode, 4), and moves, shape (nnode, 3) [m].

    Joints are composed as in `kinematics`. A motion takes x to x + move + (R - 1) x, with the centre of mass of the
    tree as the origin.
    """
    rotation, move = (_of_nodes(t, x) for x in _of_joints(t, p, change))
    rotation = jnp.concatenate([1 + rotation[:, :1], rotation[:, 1:]], axis=1)
    for left in t.plans.smooth.node_left:
        before = _rows(left, rotation.shape[0])
        turning, moving = combine(before, rotation), combine(before, move)
        move = moving + move + turned(turning, move)
        rotation = quaternion.multiply(turning, rotation)
    return rotation, move


def _of_bodies(t: Topology, p: Pose, rotation: Array, move: Array) -> Displacement:
    of_body = _rows(t.plans.smooth.body_node, rotation.shape[0])
    rotation, move = combine(of_body, rotation), combine(of_body, move)
    return Displacement(
        shift=move + turned(rotation, p.centre),
        cosine=rotation[:, 0],
        sine=jnp.sum(p.frame * rotation[:, 1:, None], axis=1),
    )


def _of_joints(t: Topology, p: Pose, change: Array) -> tuple[Array, Array]:
    """Return the quaternions of the joints less the identity, shape (njnt, 4), and their moves, shape (njnt, 3) [m].

    A free joint first moves, then turns about where it stood; its body's axes are those of its rotation.
    """
    turn, shift = _own_motions(t, p, change)
    q = quaternion.from_rotation_vector(turn)
    return jnp.concatenate([q[:, :1] - 1, q[:, 1:]], axis=1), shift - turned(q, p.anchor)


def _own_motions(t: Topology, p: Pose, change: Array) -> tuple[Array, Array]:
    """Return the rotation vectors of the joints [rad] and how far they slide [m], shapes (njnt, 3)."""
    plan, owner = t.plans.smooth, np.arange(t.njnt)[:, None] == t.dof_jntid[None, :]
    straight = plan.dof_slide | plan.dof_shifting
    motion = p.cdof * change[:, None]
    return combine(owner & ~straight, motion[:, :3]), combine(owner & straight, motion[:, 3:])


def _of_nodes(t: Topology, x: Array) -> Array:
    """Return rows of joints, shape (njnt, k), at the nodes of kinematics, shape (nnode, k); 0 where a node has none."""
    return combine(t.plans.smooth.node_joint[:, None] == np.arange(t.njnt)[None, :], x)


def _rows(index: np.ndarray, size: int) -> np.ndarray:
    """Return the constant matrix that takes rows by index."""
    return index[:, None] == np.arange(size)[None, :]
