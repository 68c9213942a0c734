"""Sensors of joints, tendons and actuators."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion
from mjx_like.math.select import combine, take
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType, TrnType
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup

Array = jax.Array


def jointpos(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the positions of hinge and slide joints [rad or m]."""
    return take(d.qpos, m.jnt_qposadr[group.objid])


def jointvel(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the velocities of hinge and slide joints [rad/s or m/s]."""
    return take(d.qvel, m.jnt_dofadr[group.objid])


def ballquat(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the orientations of ball joints, shape (n, 4), normalised."""
    return quaternion.normalize(take(d.qpos, _span(m.jnt_qposadr[group.objid], 4)).reshape(-1, 4))


def ballangvel(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the angular velocities of ball joints, shape (n, 3) [rad/s]."""
    return take(d.qvel, _span(m.jnt_dofadr[group.objid], 3))


def jointactfrc(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the actuator forces on hinge and slide joints [N m or N]."""
    return take(d.qfrc_actuator, m.jnt_dofadr[group.objid])


def tendonpos(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return tendon lengths [m]."""
    return take(d.ten_length, group.objid)


def tendonvel(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return tendon velocities [m/s]."""
    return take(d.ten_velocity, group.objid)


def tendonactfrc(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the sums of the actuator forces on tendons [N]."""
    target = (m.actuator_trnid[:, 0] == group.objid[:, None]) & (m.actuator_trntype == TrnType.TENDON)
    return combine(target, take(d.actuator_force, m.actuator_outadr))


def actuatorpos(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return actuator lengths, one value an output."""
    return take(d.actuator_length, _span(m.actuator_outadr[group.objid], group.dim))


def actuatorvel(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return actuator velocities, one value an output."""
    return take(d.actuator_velocity, _span(m.actuator_outadr[group.objid], group.dim))


def actuatorfrc(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return actuator forces, one value an output [N or N m]."""
    return take(d.actuator_force, _span(m.actuator_outadr[group.objid], group.dim))


def jointlimitpos(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the distances to the limits of joints less the margin; 0 where the limit is not active."""
    return _limit_row(d, ConstraintType.LIMIT_JOINT, group.objid, d.efc_pos - d.efc_margin)


def jointlimitvel(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the velocities towards the limits of joints; 0 where the limit is not active."""
    return _limit_row(d, ConstraintType.LIMIT_JOINT, group.objid, d.efc_vel)


def jointlimitfrc(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the limit forces of joints; 0 where the limit is not active."""
    return _limit_row(d, ConstraintType.LIMIT_JOINT, group.objid, d.efc_force)


def tendonlimitpos(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the distances to the limits of tendons less the margin; 0 where the limit is not active."""
    return _limit_row(d, ConstraintType.LIMIT_TENDON, group.objid, d.efc_pos - d.efc_margin)


def tendonlimitvel(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the velocities towards the limits of tendons; 0 where the limit is not active."""
    return _limit_row(d, ConstraintType.LIMIT_TENDON, group.objid, d.efc_vel)


def tendonlimitfrc(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the limit forces of tendons; 0 where the limit is not active."""
    return _limit_row(d, ConstraintType.LIMIT_TENDON, group.objid, d.efc_force)


def _span(start: np.ndarray, length: int) -> np.ndarray:
    return (start[:, None] + np.arange(length)).ravel()


def _limit_row(d: Data, kind: ConstraintType, objid: np.ndarray, value: Array) -> Array:
    """Return `value`, shape (njmax,), at the first row of each limit, shape (n,); 0 where it has none."""
    mine = (d.efc_type == int(kind)) & (d.efc_id == objid[:, None])
    first = mine & (jnp.cumsum(mine, axis=1) == 1)
    return jnp.sum(jnp.where(first, value, 0), axis=1)
