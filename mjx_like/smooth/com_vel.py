"""Velocities of bodies and of dof axes in the frame of each kinematic tree."""

import jax.numpy as jnp

from mjx_like.math.select import combine
from mjx_like.math.spatial import motion_cross
from mjx_like.types.data import Data
from mjx_like.types.model import Model


def com_vel(m: Model, d: Data) -> Data:
    """Return d with the spatial velocity of each body and the rate of change of each dof axis.

    Reads cdof, qvel. Writes cvel, cdof_dot.  Source: mj_comVel.
    """
    if not m.nv:
        return d.replace(cvel=jnp.zeros_like(d.cvel))
    velocity = combine(m.plans.smooth.velocity_mask, d.cdof * d.qvel[:, None])
    return d.replace(cvel=velocity[: m.nbody], cdof_dot=motion_cross(velocity[m.nbody :], d.cdof))
