"""Sensors of frames: position, orientation, velocity and acceleration of an object, seen from another or the world."""

import jax
import jax.numpy as jnp

from mjx_like.math import quaternion
from mjx_like.math.quaternion import cross
from mjx_like.smooth.object_motion import (
    object_accelerations,
    object_position,
    object_quaternion,
    object_rotation,
    object_velocities,
)
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup

Array = jax.Array


def framepos(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return positions of objects, shape (n, 3) [m]."""
    position = object_position(d, group.objtype, group.objid)
    if not group.has_ref:
        return position
    return _seen(d, group, position - object_position(d, group.reftype, group.refid))


def framexaxis(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return x axes of objects, shape (n, 3)."""
    return _axis(d, group, 0)


def frameyaxis(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return y axes of objects, shape (n, 3)."""
    return _axis(d, group, 1)


def framezaxis(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return z axes of objects, shape (n, 3)."""
    return _axis(d, group, 2)


def framequat(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return orientations of objects, shape (n, 4)."""
    quat = object_quaternion(m, d, group.objtype, group.objid)
    if not group.has_ref:
        return quat
    reference = object_quaternion(m, d, group.reftype, group.refid)
    return quaternion.multiply(quaternion.conjugate(reference), quat)


def framelinvel(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return linear velocities of objects, shape (n, 3) [m/s], as they appear in the moving reference frame."""
    velocity = object_velocities(m, d, group.objtype, group.objid)[:, 3:]
    if not group.has_ref:
        return velocity
    reference = object_velocities(m, d, group.reftype, group.refid)
    apart = object_position(d, group.objtype, group.objid) - object_position(d, group.reftype, group.refid)
    return _seen(d, group, velocity - reference[:, 3:] + cross(apart, reference[:, :3]))


def frameangvel(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return angular velocities of objects, shape (n, 3) [rad/s], relative to the reference frame."""
    velocity = object_velocities(m, d, group.objtype, group.objid)[:, :3]
    if not group.has_ref:
        return velocity
    return _seen(d, group, velocity - object_velocities(m, d, group.reftype, group.refid)[:, :3])


def framelinacc(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return linear accelerations of objects, gravity included, shape (n, 3) [m/s^2, world]."""
    return object_accelerations(m, d, group.objtype, group.objid)[:, 3:]


def frameangacc(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return angular accelerations of objects, shape (n, 3) [rad/s^2, world]."""
    return object_accelerations(m, d, group.objtype, group.objid)[:, :3]


def _axis(d: Data, group: SensorGroup, column: int) -> Array:
    axis = object_rotation(d, group.objtype, group.objid)[:, :, column]
    return _seen(d, group, axis) if group.has_ref else axis


def _seen(d: Data, group: SensorGroup, vector: Array) -> Array:
    """Return world vectors, shape (n, 3), in the axes of the reference frames."""
    rotation = object_rotation(d, group.reftype, group.refid)
    return jnp.sum(rotation * vector[:, :, None], axis=1)
