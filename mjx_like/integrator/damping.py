"""Derivative of the damping of dofs and tendons in their velocities."""

import jax
import jax.numpy as jnp

from mjx_like.tree.inherited import dof_damping, tendon_damping
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def dof_damping_rate(m: Model, d: Data) -> Array:
    """Return minus the derivative of each dof's damping force in its velocity, shape (nv,) [N s/m or N m s/rad].

    Reads qvel.  Source: mjd_passive_vel.
    """
    return damping_slope(dof_damping(m), d.qvel)


def tendon_damping_rate(m: Model, d: Data) -> Array:
    """Return minus the derivative of each tendon's damping force in its velocity, shape (ntendon,) [N s/m].

    Reads ten_velocity.  Source: mjd_passive_vel.
    """
    return damping_slope(tendon_damping(m), d.ten_velocity)


def damping_slope(coefficients: Array, speed: Array) -> Array:
    """Return the derivative of a v + b v|v| + c v^3; coefficients: a, b, c, shape (n, 3); speed: v, shape (n,)."""
    size = jnp.abs(speed)
    return coefficients[:, 0] + size * (2 * coefficients[:, 1] + 3 * size * coefficients[:, 2])
