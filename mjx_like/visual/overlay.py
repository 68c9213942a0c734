"""What is drawn beside a model to explain what it does: contacts, forces, frames, joints, centres of mass, cameras."""

from typing import NamedTuple

import numpy as np

from mjx_like.types.data import Data
from mjx_like.types.enums import JointType
from mjx_like.types.model import Model


class Arrows(NamedTuple):
    """Arrows from a point to another, shape (n, 2, 3) [m, world], and their thickness [m]."""

    points: np.ndarray
    width: float


def contact_points(d: Data) -> np.ndarray:
    """Return where a world has contacts with a force, shape (n, 3) [m, world].  Reads contact.  d: one world."""
    return np.asarray(d.contact.pos)[_with_force(d)]


def contact_arrows(m: Model, d: Data, wrench: np.ndarray) -> Arrows:
    """Return the forces of the contacts of a world, on the second body of each.

    Args:
      m: one model.
      d: one world.
      wrench: of all contacts in their frames, force first, shape (nconmax, 6) [N, N m].
    Source: mjv_updateScene, lengths by vis.map.force over the mean mass of a body.
    """
    active = _with_force(d)
    start, frame = (
        np.asarray(d.contact.pos, float)[active],
        np.asarray(d.contact.frame, float)[active].reshape(-1, 3, 3),
    )
    force = np.einsum("ni,nij->nj", np.asarray(wrench, float)[active, :3], frame)
    scale = m.vis.map.force / max(float(m.stat.meanmass), 1e-9)
    return Arrows(np.stack([start, start + scale * force], axis=1), m.vis.scale.forcewidth * float(m.stat.meansize))


def _with_force(d: Data) -> np.ndarray:
    return np.asarray(d.contact.efc_address) >= 0


def joint_arrows(m: Model, d: Data) -> Arrows:
    """Return the axes of hinges and slides of a world, through their anchors."""
    chosen = np.isin(m.jnt_type, (JointType.HINGE, JointType.SLIDE))
    anchor, axis = np.asarray(d.xanchor, float)[chosen], np.asarray(d.xaxis, float)[chosen]
    size = float(m.stat.meansize)
    ends = np.stack([anchor, anchor + m.vis.scale.jointlength * size * axis], axis=1)
    return Arrows(ends, m.vis.scale.jointwidth * size)


def mass_centers(m: Model, d: Data) -> np.ndarray:
    """Return the centre of mass of each kinematic tree of a world, shape (n, 3) [m, world]."""
    roots = np.flatnonzero((m.body_parentid == 0) & (m.body_weldid != 0))
    return np.asarray(d.subtree_com, float)[roots]


class View(NamedTuple):
    """A camera: position [m, world], quaternion wxyz (x right, y down, z ahead), vertical field of view [rad]."""

    pos: np.ndarray
    quat: np.ndarray
    fovy: float


def cameras(m: Model, d: Data) -> list[View]:
    """Return the cameras of a world."""
    from scipy.spatial.transform import Rotation

    ahead = np.diag([1.0, -1.0, -1.0])  # MuJoCo's cameras look along -z with y up
    turn = np.asarray(d.cam_xmat, float).reshape(-1, 3, 3) @ ahead
    quat = Rotation.from_matrix(turn).as_quat(scalar_first=True) if m.ncam else np.zeros((0, 4))
    return [
        View(pos, q, float(np.deg2rad(fovy)))
        for pos, q, fovy in zip(np.asarray(d.cam_xpos, float), quat, np.asarray(m.cam_fovy), strict=True)
    ]


def body_frames(m: Model, d: Data) -> tuple[np.ndarray, np.ndarray, float]:
    """Return positions, quaternions (wxyz) and the length of the axes of the frames of the bodies of a world."""
    return np.asarray(d.xpos)[1:], np.asarray(d.xquat)[1:], m.vis.scale.framelength * float(m.stat.meansize)
