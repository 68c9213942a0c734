"""Sensors fixed to sites: accelerometer, velocimeter, gyro, force, torque, magnetometer."""

import jax
import jax.numpy as jnp

from mjx_like.math.select import take
from mjx_like.math.spatial import shift_force, to_frame
from mjx_like.smooth.object_motion import object_accelerations, object_velocities
from mjx_like.types.data import Data
from mjx_like.types.enums import ObjType
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup

Array = jax.Array


def accelerometer(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return linear accelerations of sites, gravity included, shape (n, 3) [m/s^2, site frame]."""
    return object_accelerations(m, d, ObjType.SITE, group.objid, local=True)[:, 3:]


def velocimeter(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return linear velocities of sites, shape (n, 3) [m/s, site frame]."""
    return object_velocities(m, d, ObjType.SITE, group.objid, local=True)[:, 3:]


def gyro(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return angular velocities of sites, shape (n, 3) [rad/s, site frame]."""
    return object_velocities(m, d, ObjType.SITE, group.objid, local=True)[:, :3]


def force(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the forces that bodies take from their parents, shape (n, 3) [N, site frame]."""
    return _interaction(m, d, group)[:, 3:]


def torque(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the torques that bodies take from their parents, shape (n, 3) [N m, about the site in its frame]."""
    return _interaction(m, d, group)[:, :3]


def magnetometer(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the magnetic flux at sites, shape (n, 3) [site frame]."""
    return jnp.sum(take(d.site_xmat, group.objid) * m.opt.magnetic[:, None], axis=1)


def _interaction(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return torque and force between body and parent at each site, shape (n, 6) [site frame]."""
    body = m.site_bodyid[group.objid]
    offset = take(d.site_xpos, group.objid) - take(d.subtree_com, m.body_rootid[body])
    return to_frame(shift_force(take(d.cfrc_int, body), offset), take(d.site_xmat, group.objid))
