"""Actuator lengths and moments by transmission; their velocities."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion, safe
from mjx_like.math.block_mask import occupied
from mjx_like.math.linalg import matmul
from mjx_like.math.select import take
from mjx_like.tree.jacobian import joint_force, spatial_force, wrench_rows
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, TrnType
from mjx_like.types.model import Model

Array = jax.Array


def transmission(m: Model, d: Data) -> Data:
    """Return d with the length of each actuator output and its moment arms.

    Reads qpos, ten_length, ten_J, site_xpos, site_xmat, xquat, subtree_com, cdof, contact. Writes actuator_length,
    actuator_moment.  Source: mj_transmission.
    """
    plan = m.plans.actuator
    if not plan.transmission:
        return d
    parts = [TRANSMISSIONS[name](m, d, ids) for name, ids in plan.transmission]
    lengths, moments = (jnp.concatenate(part) for part in zip(*parts, strict=True))
    if plan.out_order.max() == lengths.shape[0]:
        lengths = jnp.concatenate([lengths, jnp.zeros(1, lengths.dtype)])
        moments = jnp.concatenate([moments, jnp.zeros((1, m.nv), moments.dtype)])
    return d.replace(actuator_length=take(lengths, plan.out_order), actuator_moment=take(moments, plan.out_order))


def actuator_velocity(m: Model, d: Data) -> Data:
    """Return d with the rate of change of each actuator length; zero where actuation is disabled.

    Reads actuator_moment, qvel. Writes actuator_velocity.  Source: mj_fwdVelocity.
    """
    if not m.nout or m.topology.disabled(DisableBit.ACTUATION):
        return d.replace(actuator_velocity=jnp.zeros_like(d.actuator_velocity))
    return d.replace(actuator_velocity=matmul(d.actuator_moment, d.qvel))


def scalar_joint(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths, shape (k,), and moments, shape (k, nv), of actuators on hinges and slides."""
    joint = m.actuator_trnid[ids, 0]
    gear = _gear(m, ids)[:, :1]
    return gear[:, 0] * take(d.qpos, m.jnt_qposadr[joint]), _at_dofs(m, gear, m.jnt_dofadr[joint, None])


def ball_joint(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths and moments of actuators on balls: the gear is an axis in the child or parent frame."""
    joint = m.actuator_trnid[ids, 0]
    quat = _quats(d.qpos, m.jnt_qposadr[joint])
    axis = _in_child(m, ids, quat, _gear(m, ids)[:, :3])
    length = jnp.sum(quaternion.to_rotation_vector(quat) * axis, axis=-1)
    return length, _at_dofs(m, axis, m.jnt_dofadr[joint, None] + np.arange(3))


def free_joint(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths, all zero, and moments of actuators on free joints: the gear is a wrench."""
    joint, gear = m.actuator_trnid[ids, 0], _gear(m, ids)
    axis = _in_child(m, ids, _quats(d.qpos, m.jnt_qposadr[joint] + 3), gear[:, 3:])
    wrench = jnp.concatenate([gear[:, :3], axis], axis=1)
    return jnp.zeros(len(ids), d.qpos.dtype), _at_dofs(m, wrench, m.jnt_dofadr[joint, None] + np.arange(6))


def tendon(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths and moments of actuators on tendons."""
    target, gear = m.actuator_trnid[ids, 0], _gear(m, ids)[:, 0]
    return gear * take(d.ten_length, target), gear[:, None] * take(d.ten_J, target)


def site(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths, all zero, and moments of actuators at sites: the gear is a wrench in the site's frame."""
    target = m.actuator_trnid[ids, 0]
    moment = _site_rows(m, d, target, _rotated(m, d, ids, target), m.plans.tree.body_dof[m.site_bodyid[target]])
    return jnp.zeros(len(ids), d.qpos.dtype), moment


def refsite(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths and moments of actuators between a site and a reference site, the gear in the latter's frame.

    Dofs that move both sites have no moment.
    """
    target, ref = m.actuator_trnid[ids, 0], m.actuator_trnid[ids, 1]
    moves, ref_moves = (m.plans.tree.body_dof[m.site_bodyid[s]] for s in (target, ref))
    wrench = _rotated(m, d, ids, ref)
    rows = _site_rows(m, d, target, wrench, moves * (1 - ref_moves))
    rows = rows - _site_rows(m, d, ref, wrench, ref_moves * (1 - moves))
    apart = take(d.site_xpos, target) - take(d.site_xpos, ref)
    rotated = quaternion.subtract(_site_quat(m, d, target), _site_quat(m, d, ref))
    length = jnp.sum(wrench[:, :3] * apart, axis=-1) + jnp.sum(_gear(m, ids)[:, 3:] * rotated, axis=-1)
    return length, rows


def slider_crank(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths and moments of actuators that push a slider whose rod turns a crank.

    The slider moves along the z axis of its site; the rod ends at the crank's site. Where the rod is too short to
    reach, the length is that at which it comes nearest.
    """
    crank, slider = m.actuator_trnid[ids, 0], m.actuator_trnid[ids, 1]
    axis, offset = take(d.site_xmat, slider)[:, :, 2], take(d.site_xpos, crank) - take(d.site_xpos, slider)
    along = jnp.sum(axis * offset, axis=-1, keepdims=True)
    rod = take(m.actuator_cranklength, ids)[:, None]
    square = along * along + rod * rod - jnp.sum(offset * offset, axis=-1, keepdims=True)
    root, gear = safe.sqrt(square), _gear(m, ids)[:, :1]
    share = 1 - safe.divide(along, root)  # 1 where the rod is too short
    by_offset = share * axis + safe.divide(offset, root)
    none = jnp.zeros_like(axis)
    pull = jnp.concatenate([by_offset, none], axis=1)
    hold = jnp.concatenate([-by_offset, quaternion.cross(axis, share * offset)], axis=1)
    moves = (m.plans.tree.body_dof[m.site_bodyid[s]] for s in (crank, slider))
    rows = (
        _site_rows(m, d, s, gear * w, mask) for s, w, mask in zip((crank, slider), (pull, hold), moves, strict=True)
    )
    return (gear * (along - root))[:, 0], sum(rows)


def body(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths, all zero, and moments of adhesion of bodies: minus the mean normal Jacobian of their contacts.

    Contacts in the gap, which have no constraint rows, count as well. Without contacts the moment is zero.
    """
    owner = np.append(m.geom_bodyid, -1).astype(np.int32)
    pair = jnp.asarray(owner)[jnp.where(d.contact.geom >= 0, d.contact.geom, m.ngeom)]
    movable = np.append(occupied(m.plans.tree.body_dof), False)
    counts = (d.contact.geom[:, 0] >= 0) & jnp.any(jnp.asarray(movable)[pair], axis=1)
    mine = jnp.any(pair == m.actuator_trnid[ids, 0, None, None], axis=-1) & counts
    weight = mine.astype(d.qpos.dtype) / jnp.maximum(jnp.sum(mine, axis=1, keepdims=True), 1)
    force = sum(_contact_force(m, d, pair[:, end], sign, weight) for end, sign in ((0, 1.0), (1, -1.0)))
    rows = jax.vmap(lambda one: joint_force(m, d, one))(force)
    return jnp.zeros(len(ids), d.qpos.dtype), rows


def ball_rotation(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths, shape (3k,), and moments, shape (3k, nv), of servos on balls: the rotation in the child frame."""
    joint = m.actuator_trnid[ids, 0]
    length = quaternion.to_rotation_vector(_quats(d.qpos, m.jnt_qposadr[joint]))
    dof = (m.jnt_dofadr[joint, None] + np.arange(3)).reshape(-1, 1)
    return length.ravel(), _at_dofs(m, jnp.ones(dof.shape, d.qpos.dtype), dof)


def site_rotation(m: Model, d: Data, ids: np.ndarray) -> tuple[Array, Array]:
    """Return lengths and moments, as `ball_rotation`, of the rotation of a site relative to a reference site."""
    target, ref = m.actuator_trnid[ids, 0], m.actuator_trnid[ids, 1]
    length = quaternion.subtract(_site_quat(m, d, target), _site_quat(m, d, ref))
    moves, ref_moves = (m.plans.tree.body_dof[m.site_bodyid[s]] for s in (target, ref))
    rotation = jnp.asarray(moves - ref_moves, d.cdof.dtype)[:, :, None] * d.cdof[:, :3]
    rows = jnp.einsum("kji,kvj->kiv", take(d.site_xmat, target), rotation, precision="highest")
    return length.ravel(), rows.reshape(-1, m.nv)


TRANSMISSIONS = {
    "scalar_joint": scalar_joint,
    "ball_joint": ball_joint,
    "free_joint": free_joint,
    "tendon": tendon,
    "site": site,
    "refsite": refsite,
    "ball_rotation": ball_rotation,
    "site_rotation": site_rotation,
    "slider_crank": slider_crank,
    "body": body,
}


def _gear(m: Model, ids: np.ndarray) -> Array:
    return take(m.actuator_gear, m.actuator_outadr[ids])


def _quats(qpos: Array, address: np.ndarray) -> Array:
    """Return the normalised quaternions, shape (k, 4), that start at the addresses."""
    return quaternion.normalize(take(qpos, (address[:, None] + np.arange(4)).ravel()).reshape(-1, 4))


def _in_child(m: Model, ids: np.ndarray, quat: Array, axis: Array) -> Array:
    """Return the axes, shape (k, 3), in the child frame; those of jointinparent are given in the parent's."""
    in_parent = m.actuator_trntype[ids] == TrnType.JOINTINPARENT
    if not in_parent.any():
        return axis
    return jnp.where(in_parent[:, None], quaternion.rotate(quaternion.conjugate(quat), axis), axis)


def _at_dofs(m: Model, values: Array, dof: np.ndarray) -> Array:
    """Return rows, shape (k, nv), with values, shape (k, w), at the static dofs, shape (k, w), and zero elsewhere."""
    where = (dof[:, :, None] == np.arange(m.nv)).astype(values.dtype)
    return jnp.sum(values[:, :, None] * where, axis=1)


def _rotated(m: Model, d: Data, ids: np.ndarray, frame: np.ndarray) -> Array:
    """Return the gears as wrenches, force and torque, in world axes, shape (k, 6), from the frames of sites."""
    gear = _gear(m, ids).reshape(-1, 2, 1, 3)
    return jnp.sum(take(d.site_xmat, frame)[:, None] * gear, axis=-1).reshape(-1, 6)


def _site_rows(m: Model, d: Data, target: np.ndarray, wrench: Array, moves: np.ndarray) -> Array:
    """Return the joint forces, shape (k, nv), of wrenches (force, torque) at sites."""
    body, point = m.site_bodyid[target], take(d.site_xpos, target)
    return wrench_rows(m, d, spatial_force(m, d, body, point, wrench[:, :3], wrench[:, 3:]), moves)


def _contact_force(m: Model, d: Data, body_id: Array, sign: float, weight: Array) -> Array:
    """Return weighted sums of the contact normals as spatial forces on the bodies at one end, shape (k, nbody, 6).

    body_id: shape (nconmax,); weight: shape (k, nconmax).
    """
    normal = sign * d.contact.frame[:, 0]
    offset = d.contact.pos - d.subtree_com[jnp.asarray(m.body_rootid)[body_id]]
    wrench = jnp.concatenate([quaternion.cross(offset, normal), normal], axis=1)
    on_body = body_id == np.arange(m.nbody)[:, None]
    return matmul(jnp.where(on_body, weight[:, None, :], 0), wrench)


def _site_quat(m: Model, d: Data, target: np.ndarray) -> Array:
    local = quaternion.normalize(take(m.site_quat, target))
    return quaternion.multiply(take(d.xquat, m.site_bodyid[target]), local)
