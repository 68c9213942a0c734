"""Centres of mass, motion axes of the degrees of freedom, and Jacobians of points, in NumPy."""

import dataclasses

import numpy as np

from mjx_like.compiler.reference.kinematics import Fields, Frames
from mjx_like.constants import MINVAL
from mjx_like.types.enums import JointType


@dataclasses.dataclass
class Motion:
    """Spatial quantities about the centre of mass of each body's tree, in world axes, rotation first.

    subtree_com: shape (nbody, 3) [m]; origin: the point of each body's tree, shape (nbody, 3) [m];
    cdof: motion axes, shape (nv, 6); moves: which degree of freedom moves which body, shape (nbody, nv).
    """

    subtree_com: np.ndarray
    origin: np.ndarray
    cdof: np.ndarray
    moves: np.ndarray


def com_pos(f: Fields, frames: Frames) -> Motion:
    """Return centres of mass and motion axes; a massless subtree has its centre in its own inertial frame.

    Source: mj_comPos.
    """
    parent, mass = f["body_parentid"], f["body_mass"]
    total, moment = np.array(mass, float), mass[:, None] * frames.xipos
    for body in range(f["nbody"] - 1, 0, -1):
        total[parent[body]] += total[body]
        moment[parent[body]] += moment[body]
    heavy = total >= MINVAL
    center = np.where(heavy[:, None], moment * (1 / np.where(heavy, total, 1))[:, None], frames.xipos)  # C rounds so
    origin = center[f["body_rootid"]]
    cdof = np.zeros((f["nv"], 6))
    for joint in range(f["njnt"]):
        body, adr = f["jnt_bodyid"][joint], f["jnt_dofadr"][joint]
        axes = _axes(f["jnt_type"][joint], frames, joint, body, origin[body])
        cdof[adr : adr + len(axes)] = axes
    return Motion(center, origin, cdof, _moves(f))


def _axes(kind: int, frames: Frames, joint: int, body: int, origin: np.ndarray) -> np.ndarray:
    """Return the motion axes of one joint, shape (dofs, 6)."""
    if kind == JointType.SLIDE:
        return np.concatenate([np.zeros(3), frames.xaxis[joint]])[None]
    axes = frames.xaxis[joint][None] if kind == JointType.HINGE else frames.xmat[body].T
    rotations = np.concatenate([axes, np.cross(axes, origin - frames.xanchor[joint])], axis=1)
    if kind != JointType.FREE:
        return rotations
    return np.concatenate([np.concatenate([np.zeros((3, 3)), np.eye(3)], axis=1), rotations])


def _moves(f: Fields) -> np.ndarray:
    moves = np.zeros((f["nbody"], f["nv"]), bool)
    for body in range(1, f["nbody"]):
        moves[body] = moves[f["body_parentid"][body]]
        moves[body, f["body_dofadr"][body] : f["body_dofadr"][body] + f["body_dofnum"][body]] = True
    return moves


def jacobian(motion: Motion, point: np.ndarray, body: int, dofs: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
    """Return the translational and rotational Jacobian of a point fixed to a body, each of shape (3, n).

    dofs: whose columns are wanted.
    Source: mj_jac.
    """
    cdof = motion.cdof[dofs] * motion.moves[body, dofs][:, None]
    return (cdof[:, 3:] + np.cross(cdof[:, :3], point - motion.origin[body])).T, cdof[:, :3].T
