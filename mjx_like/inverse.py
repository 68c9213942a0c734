"""Inverse dynamics: the applied force that explains an acceleration."""

import jax

from mjx_like.errors import UnsupportedError
from mjx_like.forward import fwd_position, fwd_velocity
from mjx_like.math.linalg import matmul
from mjx_like.sensor.stage import sensor_acc, sensor_pos, sensor_vel
from mjx_like.smooth.energy import energy_pos, energy_vel
from mjx_like.solver.constraint_force import constraint_force
from mjx_like.types.data import Data
from mjx_like.types.enums import EnableBit
from mjx_like.types.model import Model

Array = jax.Array


def inverse(m: Model, d: Data) -> Data:
    """Return `d` with the force `qfrc_inverse`, shape (nv,), that must be applied for `qacc` to hold.

    Contact and constraint forces follow from `qacc` in closed form. Actuators take no part: with the same state,
    `qfrc_inverse` after `forward` equals qfrc_applied + J' xfrc_applied + qfrc_actuator.
    Reads time, qpos, qvel, qacc, eq_active and mocap poses.  Source: mj_inverse.

    Raises:
      UnsupportedError: the flag `invdiscrete` is set.
    """
    if m.enabled(EnableBit.INVDISCRETE):
        raise UnsupportedError("inverse dynamics in discrete time (flag invdiscrete) is not built yet")
    energy = m.enabled(EnableBit.ENERGY)
    d = fwd_position(m, d)
    d = sensor_pos(m, d)
    d = energy_pos(m, d) if energy else d
    d = fwd_velocity(m, d)
    d = sensor_vel(m, d)
    d = energy_vel(m, d) if energy else d
    d = constraint_force(m, d)
    force = matmul(d.M, d.qacc) + d.qfrc_bias - d.qfrc_passive - d.qfrc_constraint
    return sensor_acc(m, d.replace(qfrc_inverse=force))
