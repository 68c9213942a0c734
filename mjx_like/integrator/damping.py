"""Damping of dofs and tendons, with what actuators contribute to it, and its derivative in the velocity."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.select import combine, take
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def dof_damping_rate(m: Model, d: Data) -> Array:
    """Return minus the derivative of each dof's damping force in its velocity, shape (nv,) [N s/m or N m s/rad].

    Reads qvel.  Source: mjd_passive_vel.
    """
    linear, poly = m.dof_damping, m.dof_dampingpoly
    if m.nactuator and m.plans.integrator.dof_actuator.any():
        contributed = _contributed(m, m.plans.integrator.dof_actuator)
        linear, poly = linear + contributed[:, 0], poly + contributed[:, 1:]
    return _rate(linear, poly, d.qvel)


def tendon_damping_rate(m: Model, d: Data) -> Array:
    """Return minus the derivative of each tendon's damping force in its velocity, shape (ntendon,) [N s/m].

    Reads ten_velocity.  Source: mjd_passive_vel.
    """
    linear, poly = m.tendon_damping, m.tendon_dampingpoly
    if m.nactuator and m.plans.integrator.tendon_actuator.any():
        contributed = _contributed(m, m.plans.integrator.tendon_actuator)
        linear, poly = linear + contributed[:, 0], poly + contributed[:, 1:]
    return _rate(linear, poly, d.ten_velocity)


def _contributed(m: Model, target: np.ndarray) -> Array:
    """Return the coefficients that actuators add to their targets, shape (n, 3); reflected by the gear squared."""
    gear = take(m.actuator_gear[:, 0], m.actuator_outadr)
    own = jnp.concatenate([m.actuator_damping[:, None], m.actuator_dampingpoly], axis=1)
    return combine(target, own * (gear * gear)[:, None])


def _rate(linear: Array, poly: Array, speed: Array) -> Array:
    """Return the derivative of a v + b v|v| + c v^3; linear: a, (n,); poly: b and c, (n, 2); speed: v, (n,)."""
    size = jnp.abs(speed)
    return linear + 2 * poly[:, 0] * size + 3 * poly[:, 1] * size * size
