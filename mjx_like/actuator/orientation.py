"""Orientation servos: a torque along the geodesic from the orientation to the setpoint.

Source: actuator/orientation of the XML reference; mjGAIN_SO3 of mj_fwdActuation.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.actuator.servo import limited
from mjx_like.math import quaternion, safe
from mjx_like.math.select import take
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.plans import OrientationGroup

Array = jax.Array


def outputs(m: Model, g: OrientationGroup) -> np.ndarray:
    """Return the addresses of the three outputs of each servo, shape (k, 3)."""
    return m.actuator_outadr[g.ids, None] + np.arange(3)


def rates(m: Model, ctrl: Array, g: OrientationGroup) -> Array:
    """Return the rates of stored setpoints, shape (k, 3): the controls."""
    return take(ctrl, (m.actuator_ctrladr[g.ids, None] + np.arange(3)).ravel()).reshape(-1, 3)


def advanced(m: Model, d: Data, g: OrientationGroup, act_dot: Array) -> Array:
    """Return stored setpoints one time step later, shape (k, 3).  Reads act."""
    act, rate = (take(x, g.cells.ravel()).reshape(-1, 3) for x in (d.act, act_dot))
    return limited(m, g.ids, act + m.opt.timestep * rate)


def anchored(setpoint: Array) -> Array:
    """Return the rotation vectors, shape (k, 3), of the same orientations within pi."""
    angle = safe.norm(setpoint, keepdims=True)
    rotations = jax.lax.stop_gradient(jnp.round(angle / (2 * np.pi)))
    return jnp.where(angle > np.pi, setpoint * (1 - safe.divide(2 * np.pi * rotations, angle)), setpoint)


def force(m: Model, d: Data, ctrl: Array, g: OrientationGroup, act_dot: Array) -> Array:
    """Return the torques in the frame of the joint or site, shape (k, 3) [N m], not limited.

    Reads act, actuator_length, actuator_velocity.
    """
    target = _target(m, d, ctrl, g, act_dot)
    out = outputs(m, g).ravel()
    now = quaternion.from_rotation_vector(take(d.actuator_length, out).reshape(-1, 3))
    error, bias = quaternion.subtract(target, now), take(m.actuator_biasprm, g.ids)
    velocity = take(d.actuator_velocity, out).reshape(-1, 3)
    return take(m.actuator_gainprm, g.ids)[:, :1] * error + bias[:, :1] + bias[:, 2:3] * velocity


def limited_torque(m: Model, g: OrientationGroup, torque: Array) -> Array:
    """Return the torques, shape (k, 3), shortened to the upper bound of the force range."""
    size, bound = safe.norm(torque, keepdims=True), take(m.actuator_forcerange, g.ids)[:, 1:]
    beyond = m.actuator_forcelimited[g.ids, None] & (size > bound)
    return jnp.where(beyond, torque * safe.divide(bound, size), torque)


def _target(m: Model, d: Data, ctrl: Array, g: OrientationGroup, act_dot: Array) -> Array:
    """Return the setpoints as quaternions, shape (k, 4)."""
    width = g.cells.shape[1]
    if g.source == "ctrl":
        setpoint = take(ctrl, g.cells.ravel()).reshape(-1, width)
        return quaternion.normalize(setpoint) if width == 4 else quaternion.from_rotation_vector(setpoint)
    setpoint = take(d.act, g.cells.ravel()).reshape(-1, 3)
    early = m.actuator_actearly[g.ids, None]
    if early.any():
        setpoint = jnp.where(early, advanced(m, d, g, act_dot), setpoint)
    return quaternion.from_rotation_vector(setpoint)
