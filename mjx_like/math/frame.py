"""Orthonormal frames from a normal."""

import jax
import jax.numpy as jnp

from mjx_like.math import safe
from mjx_like.math.quaternion import cross

Array = jax.Array


def from_normal(normal: Array) -> Array:
    """Return the frame, shape (..., 3, 3), whose rows are the unit normal and two tangents in MuJoCo's convention.

    The first tangent is the y axis, or the z axis where the normal is within 60 degrees of y, made orthogonal.
    Source: mju_makeFrame.
    """
    x, _ = safe.normalize(normal)
    steep = jnp.abs(x[..., 1:2]) >= 0.5
    y_axis, z_axis = jnp.array([0.0, 1.0, 0.0], x.dtype), jnp.array([0.0, 0.0, 1.0], x.dtype)
    guess = jnp.where(steep, z_axis, y_axis)
    y, _ = safe.normalize(guess - jnp.sum(guess * x, axis=-1, keepdims=True) * x)
    return jnp.stack([x, y, cross(x, y)], axis=-2)
