"""What forward kinematics takes and returns, whichever way it goes."""

from typing import NamedTuple

import jax

from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


class Given(NamedTuple):
    """Coordinates, and the frames of the Model, under the names that they have there."""

    qpos: Array
    mocap_pos: Array
    mocap_quat: Array
    qpos0: Array
    body_pos: Array
    body_quat: Array
    body_ipos: Array
    body_iquat: Array
    jnt_pos: Array
    jnt_axis: Array
    geom_pos: Array
    geom_quat: Array
    site_pos: Array
    site_quat: Array


class Poses(NamedTuple):
    """Poses in the world, under the names that they have in Data; frame: inertial frames, then geoms, then sites."""

    xpos: Array
    xquat: Array
    xmat: Array
    xanchor: Array
    xaxis: Array
    frame_pos: Array  # shape (nbody + ngeom + nsite, 3)
    frame_mat: Array  # shape (nbody + ngeom + nsite, 3, 3)


def given(m: Model, d: Data) -> Given:
    """Return what the poses depend on."""
    return Given(*(getattr(d if name in ("qpos", "mocap_pos", "mocap_quat") else m, name) for name in Given._fields))
