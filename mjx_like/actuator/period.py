"""Servos on rotations: setpoints that differ by whole revolutions are one."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.math.select import take
from mjx_like.types.enums import GainType, TrnType
from mjx_like.types.model import Model

Array = jax.Array


def period(m: Model) -> Array:
    """Return the length of a revolution of each actuator, shape (nactuator,); 0 where it is no rotational servo."""
    gear = take(m.actuator_gear, m.actuator_outadr)
    on_site = m.actuator_trntype == TrnType.SITE
    axis = jnp.where(on_site[:, None], gear[:, 3:], gear[:, :3])
    servo = (m.actuator_gainprm[:, 0] == -m.actuator_biasprm[:, 1]) | (m.actuator_gaintype == GainType.PID)
    servo &= m.plans.actuator.periodic & ~(on_site & jnp.any(gear[:, :3] != 0, axis=1))
    return jnp.where(servo, 2 * np.pi * safe.norm(axis), 0)


def nearest(setpoint: Array, length: Array, revolution: Array) -> Array:
    """Return the setpoint moved by whole revolutions (0: none) to the value nearest to the length."""
    revolutions = safe.divide(setpoint - length, revolution)
    return setpoint - revolution * jax.lax.stop_gradient(jnp.sign(revolutions) * jnp.floor(jnp.abs(revolutions) + 0.5))
