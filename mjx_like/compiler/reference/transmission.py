"""Actuator lengths and moment arms in NumPy."""

import numpy as np

from mjx_like.compiler import pose
from mjx_like.compiler.reference.com import Motion, jacobian
from mjx_like.compiler.reference.kinematics import Fields, Frames
from mjx_like.types.enums import JointType, TrnType


def transmission(
    f: Fields, qpos, frames: Frames, motion: Motion, ten_length, ten_jacobian
) -> tuple[np.ndarray, np.ndarray]:
    """Return lengths, shape (nout,), and moments, shape (nout, nv), of the force outputs of all actuators.

    An adhesive body has neither: there are no contacts in this pass.

    Source: mj_transmission.
    """
    length, moment = np.zeros(f["nout"]), np.zeros((f["nout"], f["nv"]))
    for i in range(f["nactuator"]):
        kind, (target, reference) = f["actuator_trntype"][i], f["actuator_trnid"][i]
        out = f["actuator_outadr"][i]
        gear = f["actuator_gear"][out]
        if kind in (TrnType.JOINT, TrnType.JOINTINPARENT):
            length[out], moment[out] = _joint(f, qpos, target, gear, kind == TrnType.JOINTINPARENT)
        elif kind == TrnType.TENDON:
            length[out], moment[out] = gear[0] * ten_length[target], gear[0] * ten_jacobian[target]
        elif kind == TrnType.SLIDERCRANK:
            rod = f["actuator_cranklength"][i]
            length[out], moment[out] = _slider_crank(f, frames, motion, target, reference, rod, gear[0])
        elif kind == TrnType.SITE and reference < 0:
            moment[out] = _site(f, frames, motion, target, gear)
        elif kind == TrnType.SITE:
            length[out], moment[out] = _site_relative(f, frames, motion, target, reference, gear)
        elif kind == TrnType.SO3:
            rows = slice(out, out + 3)
            length[rows], moment[rows] = _orientation(f, qpos, frames, motion, target, reference)
    return length, moment


def _joint(f: Fields, qpos, joint: int, gear, in_parent: bool) -> tuple[float, np.ndarray]:
    kind, adr, dof = f["jnt_type"][joint], f["jnt_qposadr"][joint], f["jnt_dofadr"][joint]
    row = np.zeros(f["nv"])
    if kind in (JointType.HINGE, JointType.SLIDE):
        row[dof] = gear[0]
        return gear[0] * qpos[adr], row
    if kind == JointType.FREE:
        adr, row[dof : dof + 3], dof, wrench = adr + 3, gear[:3], dof + 3, gear[3:]
    else:
        wrench = gear[:3]
    quat = pose.normalized(qpos[adr : adr + 4])[0]
    row[dof : dof + 3] = pose.quat_to_mat(quat).T @ wrench if in_parent else wrench
    return 0.0 if kind == JointType.FREE else rotation_vector(quat) @ row[dof : dof + 3], row


def rotation_vector(quat: np.ndarray) -> np.ndarray:
    """Return the rotation vector of a unit quaternion, of length at most pi [rad].  Source: mju_quat2Vel."""
    axis, sine = pose.normalized(np.array(quat[1:]))
    angle = 2 * np.arctan2(sine, quat[0])
    return axis * (angle - 2 * np.pi if angle > np.pi else angle)


def _slider_crank(f: Fields, frames: Frames, motion: Motion, crank: int, slider: int, rod: float, gear: float):
    """Return length and moment of a slider that a crank drives by a rod; taut if the rod is too short."""
    axis, vec = frames.site_xmat[slider][:, 2], frames.site_xpos[crank] - frames.site_xpos[slider]
    along = axis @ vec
    square = along**2 + rod**2 - vec @ vec
    root = np.sqrt(max(square, 0.0))
    if square > 0:
        by_vec, by_axis = (1 - along / root) * axis + vec / root, (1 - along / root) * vec
    else:
        by_vec, by_axis = axis, vec
    base, rot = jacobian(motion, frames.site_xpos[slider], f["site_bodyid"][slider])
    tip, _ = jacobian(motion, frames.site_xpos[crank], f["site_bodyid"][crank])
    row = by_vec @ (tip - base) + by_axis @ np.cross(rot, axis, axisa=0, axisc=0)
    return gear * (along - root), gear * row


def _site(f: Fields, frames: Frames, motion: Motion, site: int, gear) -> np.ndarray:
    """Return the moment of a wrench fixed to a site."""
    translation, rotation = jacobian(motion, frames.site_xpos[site], f["site_bodyid"][site])
    frame = frames.site_xmat[site]
    return (frame @ gear[:3]) @ translation + (frame @ gear[3:]) @ rotation


def _site_relative(f: Fields, frames: Frames, motion: Motion, site: int, reference: int, gear):
    """Return length and moment of a site's pose in the frame of a reference site.

    Degrees of freedom that move both sites contribute nothing.
    """
    body, other = f["site_bodyid"][site], f["site_bodyid"][reference]
    translation, rotation = jacobian(motion, frames.site_xpos[site], body)
    base, rot = jacobian(motion, frames.site_xpos[reference], other)
    only_one = motion.moves[body] ^ motion.moves[other]
    frame = frames.site_xmat[reference]
    row = (frame @ gear[:3]) @ (translation - base) + (frame @ gear[3:]) @ (rotation - rot)
    offset = frame.T @ (frames.site_xpos[site] - frames.site_xpos[reference])
    relative = pose.quat_mul(frames.site_xquat[reference] * [1, -1, -1, -1], frames.site_xquat[site])
    return gear[:3] @ offset + gear[3:] @ rotation_vector(relative), row * only_one


def _orientation(f: Fields, qpos, frames: Frames, motion: Motion, target: int, reference: int):
    """Return the three lengths and moments of a ball joint's rotation, or of a site's relative to a reference site."""
    if reference < 0:
        adr, dof = f["jnt_qposadr"][target], f["jnt_dofadr"][target]
        return rotation_vector(pose.normalized(qpos[adr : adr + 4])[0]), np.eye(3, f["nv"], dof)
    body, other = f["site_bodyid"][target], f["site_bodyid"][reference]
    rot = (motion.moves[body] * 1.0 - motion.moves[other])[:, None] * motion.cdof[:, :3]
    relative = pose.quat_mul(frames.site_xquat[reference] * [1, -1, -1, -1], frames.site_xquat[target])
    return rotation_vector(relative), frames.site_xmat[target].T @ rot.T
