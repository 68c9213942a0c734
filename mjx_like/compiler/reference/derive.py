"""All derived constants of a compiled model, in the order of MuJoCo's mj_setConst."""

from typing import Any

import numpy as np

from mjx_like.compiler import pose
from mjx_like.compiler.reference.com import Motion, com_pos, jacobian
from mjx_like.compiler.reference.fixed import set_fixed, sliding_only
from mjx_like.compiler.reference.flex import set_flex_edges
from mjx_like.compiler.reference.inertia import Inertia, inertia
from mjx_like.compiler.reference.kinematics import Fields, Frames, kinematics
from mjx_like.compiler.reference.statistics import set_statistics
from mjx_like.compiler.reference.tendon import tendons
from mjx_like.compiler.reference.transmission import transmission
from mjx_like.constants import MINVAL
from mjx_like.errors import ModelError
from mjx_like.types.enums import EqType, GainType, JointType, ObjType


def derive(fields: Fields, options: dict[str, Any], statistics: dict[str, Any]) -> None:
    """Write every derived constant of a model into `fields` and `statistics`.

    Args:
      fields: sizes and arrays with mjModel's names. Ids, addresses, frames, masses, sizes and `geom_rbound` are read;
        `tree_sleep_policy` holds the user's choices; `tendon_lengthspring` is -1 -1 where the spring's rest length is
        that at `qpos_spring`; `eq_data` of a weld has a zero quaternion where its pose is that at `qpos0`;
        `actuator_biasprm[2]` of a position actuator is positive where it is a damping ratio.
        `body_simple` may say which bodies MuJoCo calls simple.
      options: mjOption's fields.
      statistics: on entry what the user gave, on exit all five fields of mjStatistic.

    Raises:
      ModelError: a constant that is not defined or not built yet.
    Source: mj_setConst.
    """
    set_fixed(fields)
    frames = kinematics(fields, fields["qpos0"])
    motion = com_pos(fields, frames)
    length, rows = tendons(fields, fields["qpos0"], frames, motion)
    mass = inertia(fields, frames, motion, rows)
    out_length, moment = transmission(fields, fields["qpos0"], frames, motion, length, rows)
    fields["dof_M0"] = mass.dof_m0
    fields["tendon_length0"], fields["actuator_length0"] = length, out_length
    _set_inverse_weights(fields, frames, motion, mass)
    fields["tendon_invweight0"] = np.sum(rows * mass.solve(rows), axis=1)
    fields["actuator_acc0"] = np.linalg.norm(mass.solve(moment), axis=1)
    set_flex_edges(fields, frames, motion, mass, sliding_only(fields))
    _set_equalities(fields, frames)
    _set_cameras(fields, frames, motion)
    _set_damping(fields, moment, mass)
    set_statistics(fields, statistics, frames, mass.diagonal())
    _set_spring_lengths(fields)


def _set_inverse_weights(f: Fields, frames: Frames, motion: Motion, mass: Inertia) -> None:
    """Write body_invweight0 and dof_invweight0: the mean inverse inertia at qpos0."""
    slides = sliding_only(f)
    per_mass = 1 / np.maximum(f["body_mass"], MINVAL)
    weights, diagonal = np.zeros((f["nbody"], 2)), np.zeros(f["nv"])
    for number, tree in enumerate(mass.trees):
        bodies = np.flatnonzero(f["body_treeid"] == number)
        rows = np.concatenate([np.concatenate(jacobian(motion, frames.xipos[b], b, tree.dofs)) for b in bodies])
        weights[bodies] = np.mean(np.sum(rows * tree.solve(rows), axis=1).reshape(-1, 2, 3), axis=2)
        diagonal[tree.dofs] = np.diag(tree.solve(np.eye(len(tree.matrix))))
    weights[slides] = np.stack([per_mass, np.zeros_like(per_mass)], axis=1)[slides]
    weights[np.asarray(f["body_weldid"]) == 0] = 0
    f["body_invweight0"] = weights
    for joint, adr in enumerate(f["jnt_dofadr"]):
        kind, body = f["jnt_type"][joint], f["jnt_bodyid"][joint]
        starts = {JointType.FREE: (adr, adr + 3), JointType.BALL: (adr,)}.get(JointType(kind), ())
        for start in starts:
            diagonal[start : start + 3] = np.mean(diagonal[start : start + 3])
        if slides[body]:
            diagonal[adr] = per_mass[body]
    f["dof_invweight0"] = diagonal


def _set_equalities(f: Fields, frames: Frames) -> None:
    """Write the second anchor of connect and weld, and the relative pose of a weld that has none."""
    data = np.array(f["eq_data"], float)
    for i in range(f["neq"]):
        first, second = f["eq_obj1id"][i], f["eq_obj2id"][i]
        of_bodies = f["eq_objtype"][i] == ObjType.BODY
        if f["eq_type"][i] == EqType.CONNECT:
            data[i, 3:6] = _carried(frames, data[i, :3], first, second) if of_bodies else 0
            data[i, :3] *= of_bodies
        elif f["eq_type"][i] == EqType.WELD and of_bodies:
            if np.any(data[i, 6:10]):
                data[i, 6:10] = pose.normalized(data[i, 6:10])[0]
                continue
            data[i, 3:6] = _carried(frames, data[i, :3], second, first)
            data[i, 6:10] = pose.quat_mul(frames.xquat[first] * [1, -1, -1, -1], frames.xquat[second])
            data[i, 11] = 1
    f["eq_data"] = data


def _carried(frames: Frames, point: np.ndarray, source: int, target: int) -> np.ndarray:
    """Return a point of one body's frame in the frame of another."""
    world = frames.xpos[source] + frames.xmat[source] @ point
    return frames.xmat[target].T @ (world - frames.xpos[target])


def _set_cameras(f: Fields, frames: Frames, motion: Motion) -> None:
    """Write the poses of cameras and lights at qpos0 relative to their body and to the centre of mass they track."""
    for kind, position in (("cam", frames.cam_xpos), ("light", frames.light_xpos)):
        body, target = np.asarray(f[f"{kind}_bodyid"], int), np.asarray(f[f"{kind}_targetbodyid"], int)
        f[f"{kind}_pos0"] = position - frames.xpos[body]
        f[f"{kind}_poscom0"] = position - motion.subtree_com[np.where(target >= 0, target, body)]
    f["cam_mat0"] = frames.cam_xmat.reshape(-1, 9)
    f["light_dir0"] = frames.light_xdir


def _set_damping(f: Fields, moment: np.ndarray, mass: Inertia) -> None:
    """Turn the damping ratio of position actuators into a damping: 2 ratio sqrt(gain * reflected mass).

    The reflected mass is the inverse of the mean mobility of the actuator's outputs.
    """
    bias = np.array(f["actuator_biasprm"], float)
    for i in range(f["nactuator"]):
        gain = -bias[i, 1] if f["actuator_gaintype"][i] == GainType.PID else f["actuator_gainprm"][i, 0]
        if gain != -bias[i, 1] or bias[i, 2] <= 0:
            continue
        rows = moment[f["actuator_outadr"][i] : f["actuator_outadr"][i] + f["actuator_outnum"][i]]
        mobility = np.mean(np.sum(rows * mass.solve(rows), axis=1))
        reflected = 1 / mobility if mobility > MINVAL else 0.0
        if gain < 0:
            raise ModelError(f"actuator {i} has a damping ratio, biasprm[2], and a negative gain; give one of them up")
        bias[i, 2] *= -2 * np.sqrt(gain * reflected)
    f["actuator_biasprm"] = bias


def _set_spring_lengths(f: Fields) -> None:
    """Write tendon_lengthspring at qpos_spring where it is -1 -1."""
    spring = np.array(f["tendon_lengthspring"], float)
    unset = np.all(spring == -1, axis=1)
    if np.any(unset):
        frames = kinematics(f, f["qpos_spring"])
        length, _ = tendons(f, f["qpos_spring"], frames, com_pos(f, frames))
        spring[unset] = length[unset, None]
    f["tendon_lengthspring"] = spring
