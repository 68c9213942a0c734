"""Forward kinematics in NumPy, body by body: world poses of bodies, joints, geoms, sites, cameras and lights."""

import dataclasses
import math
from typing import Any

import numpy as np

from mjx_like.compiler import pose
from mjx_like.types.enums import JointType

Fields = dict[str, Any]
_SAME_FRAME = 1e-6  # frames nearer to each other than this count as one


@dataclasses.dataclass
class Frames:
    """World poses at one configuration; matrices have shape (n, 3, 3) [m]."""

    xpos: np.ndarray
    xquat: np.ndarray
    xmat: np.ndarray
    xipos: np.ndarray
    ximat: np.ndarray
    xanchor: np.ndarray
    xaxis: np.ndarray
    geom_xpos: np.ndarray
    geom_xmat: np.ndarray
    site_xpos: np.ndarray
    site_xquat: np.ndarray
    site_xmat: np.ndarray
    cam_xpos: np.ndarray
    cam_xmat: np.ndarray
    light_xpos: np.ndarray
    light_xdir: np.ndarray


def kinematics(f: Fields, qpos: np.ndarray) -> Frames:
    """Return the world poses at `qpos`; cameras and lights as if fixed to their bodies.

    Args:
      f: arrays with mjModel's names.
      qpos: configuration, shape (nq,).
    Source: mj_kinematics, mj_camlight.
    """
    nbody, njnt = f["nbody"], f["njnt"]
    xpos, xquat = np.zeros((nbody, 3)), np.tile(pose.IDENTITY, (nbody, 1))
    xanchor, xaxis = np.zeros((njnt, 3)), np.zeros((njnt, 3))
    for body in range(1, nbody):
        _place_body(f, qpos, body, xpos, xquat, xanchor, xaxis)
    xmat = _matrices(xquat)
    inertial, geoms, sites = local_frames(f)
    xipos, xiquat = _attached(xpos, xquat, np.arange(nbody), *inertial)
    geom_xpos, geom_xquat = _attached(xpos, xquat, f["geom_bodyid"], *geoms)
    site_xpos, site_xquat = _attached(xpos, xquat, f["site_bodyid"], *sites)
    cam_xpos, cam_xquat = _attached(xpos, xquat, f["cam_bodyid"], f["cam_pos"], f["cam_quat"])
    light = f["light_bodyid"]
    return Frames(
        xpos=xpos,
        xquat=xquat,
        xmat=xmat,
        xipos=xipos,
        ximat=_matrices(xiquat),
        xanchor=xanchor,
        xaxis=xaxis,
        geom_xpos=geom_xpos,
        geom_xmat=_matrices(geom_xquat),
        site_xpos=site_xpos,
        site_xquat=site_xquat,
        site_xmat=_matrices(site_xquat),
        cam_xpos=cam_xpos,
        cam_xmat=_matrices(cam_xquat),
        light_xpos=xpos[light] + np.einsum("nij,nj->ni", xmat[light], f["light_pos"]),
        light_xdir=_unit_rows(np.einsum("nij,nj->ni", xmat[light], f["light_dir"])),
    )


def _place_body(f: Fields, qpos, body: int, xpos, xquat, xanchor, xaxis) -> None:
    """Write the pose of one body and of its joints; its parent is placed already."""
    first, count = f["body_jntadr"][body], f["body_jntnum"][body]
    parent = f["body_parentid"][body]
    position = xpos[parent] + pose.rotate(xquat[parent], f["body_pos"][body])
    rotation = pose.quat_mul(xquat[parent], f["body_quat"][body])
    for joint in range(first, first + count):
        kind, adr = f["jnt_type"][joint], f["jnt_qposadr"][joint]
        if kind == JointType.FREE:
            position, rotation = np.array(qpos[adr : adr + 3]), pose.normalized(qpos[adr + 3 : adr + 7])[0]
            xanchor[joint], xaxis[joint] = position, f["jnt_axis"][joint]
            continue
        xanchor[joint] = position + pose.rotate(rotation, f["jnt_pos"][joint])
        xaxis[joint] = pose.rotate(rotation, f["jnt_axis"][joint])
        if kind == JointType.SLIDE:
            position = position + xaxis[joint] * (qpos[adr] - f["qpos0"][adr])
            continue
        if kind == JointType.BALL:
            local = pose.normalized(qpos[adr : adr + 4])[0]
        else:
            half = (qpos[adr] - f["qpos0"][adr]) / 2
            local = np.concatenate([[math.cos(half)], math.sin(half) * f["jnt_axis"][joint]])
        rotation = pose.quat_mul(rotation, local)
        position = xanchor[joint] - pose.rotate(rotation, f["jnt_pos"][joint])
    xpos[body], xquat[body] = position, pose.normalized(rotation)[0]


def local_frames(f: Fields) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return positions (n, 3) and quaternions (n, 4) on their bodies of inertial frames, geoms and sites, as posed.

    One that nearly is the frame of the body, or of its inertia, is made so.
    """
    inertial = _snapped(f["body_ipos"], f["body_iquat"], np.zeros(3), pose.IDENTITY)
    return inertial, _on_body(f, "geom", inertial), _on_body(f, "site", inertial)


def _on_body(f: Fields, kind: str, inertial: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return local poses of geoms or sites, those that nearly are the frame of the body or its inertia made so.

    MuJoCo copies the pose in that case, which shows where a mesh is centred but for rounding.
    Source: geom_sameframe in user_model.cc, mj_local2Global.
    """
    owner, pos, quat = f[f"{kind}_bodyid"], f[f"{kind}_pos"], f[f"{kind}_quat"]
    at_body = _snapped(pos, quat, np.zeros(3), pose.IDENTITY)
    rotated = np.any(at_body[1] != pose.IDENTITY, axis=-1, keepdims=True)
    at_inertia = _snapped(pos, quat, inertial[0][owner], inertial[1][owner])
    return np.where(rotated, at_inertia[0], at_body[0]), np.where(rotated, at_inertia[1], at_body[1])


def _snapped(pos, quat, near_pos, near_quat) -> tuple[np.ndarray, np.ndarray]:
    """Return poses with the orientation of a frame where theirs nearly is, and then its position likewise."""
    pos, quat = np.asarray(pos, float), np.asarray(quat, float)
    rotation = np.minimum(np.abs(quat - near_quat).max(axis=-1), np.abs(quat + near_quat).max(axis=-1)) < _SAME_FRAME
    both = rotation & (np.abs(pos - near_pos).max(axis=-1) < _SAME_FRAME)
    return np.where(both[..., None], near_pos, pos), np.where(rotation[..., None], near_quat, quat)


def _attached(xpos, xquat, owner, pos, quat) -> tuple[np.ndarray, np.ndarray]:
    """Return world positions and quaternions of frames fixed to bodies."""
    poses = [pose.compose(xpos[b], xquat[b], p, q) for b, p, q in zip(owner, pos, quat, strict=True)]
    return (
        np.array([p for p, _ in poses]).reshape(-1, 3),
        np.array([q for _, q in poses]).reshape(-1, 4),
    )


def _matrices(quats: np.ndarray) -> np.ndarray:
    return np.array([pose.quat_to_mat(q) for q in quats]).reshape(-1, 3, 3)


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    return np.array([pose.normalized(v)[0] for v in vectors]).reshape(-1, 3)
