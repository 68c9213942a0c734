"""Joint forces of the wrenches that the user applies to bodies."""

import jax
import numpy as np

from mjx_like.math.linalg import matmul
from mjx_like.tree.jacobian import jac, joint_force, spatial_force
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def xfrc_accumulate(m: Model, d: Data) -> Array:
    """Return the joint forces of xfrc_applied, shape (nv,) [N or N m].

    Reads xfrc_applied, xipos, subtree_com, cdof.  Source: mj_xfrcAccumulate.
    """
    body = np.arange(m.nbody)
    return joint_force(m, d, spatial_force(m, d, body, d.xipos, d.xfrc_applied[:, :3], d.xfrc_applied[:, 3:]))


def apply_ft(m: Model, d: Data, force: Array, torque: Array, point: Array, body_id: Array | int) -> Array:
    """Return the joint forces, shape (nv,), of a force and a torque on one body.

    force: at `point`, shape (3,) [N, world]; torque: shape (3,) [N m, world]; point: shape (3,) [m, world].
    Reads subtree_com, cdof.  Source: mj_applyFT.
    """
    jacp, jacr = jac(m, d, point, body_id)
    return matmul(jacp, force) + matmul(jacr, torque)
