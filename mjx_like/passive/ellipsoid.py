"""The ellipsoid fluid model: added mass, Magnus and Kutta lift, viscous and quadratic drag.

Source: fluid chapter of the Computation documents; mj_addedMassForces, mj_viscousForces.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.quaternion import cross
from mjx_like.types.enums import GeomType

Array = jax.Array


def semiaxes(kind: np.ndarray, size: Array) -> Array:
    """Return the semiaxes, shape (k, 3) [m], of the ellipsoids that stand for geoms.  Source: mju_geomSemiAxes."""
    radius, half = size[:, 0], size[:, 1]
    sphere = jnp.stack([radius, radius, radius], axis=-1)
    capsule = jnp.stack([radius, radius, half + radius], axis=-1)
    cylinder = jnp.stack([radius, radius, half], axis=-1)
    out = jnp.where((kind == GeomType.SPHERE)[:, None], sphere, size)
    out = jnp.where((kind == GeomType.CAPSULE)[:, None], capsule, out)
    return jnp.where((kind == GeomType.CYLINDER)[:, None], cylinder, out)


def ellipsoid_wrench(
    omega: Array, velocity: Array, size: Array, coefficients: Array, density: Array, viscosity: Array
) -> tuple[Array, Array]:
    """Return torque and force, shapes (k, 3), on ellipsoids that move through a fluid, in their own axes.

    omega, velocity: relative to the fluid, shapes (k, 3) [rad/s, m/s]; size: semiaxes, shape (k, 3) [m];
    coefficients: geom_fluid, shape (k, 12). At rest the force and its derivative are those of the limit.
    """
    blunt, slender, angular, kutta, magnus = (coefficients[:, k : k + 1] for k in range(1, 6))
    momentum = density * coefficients[:, 6:9] * velocity
    spin = density * coefficients[:, 9:12] * omega
    torque = cross(momentum, velocity) + cross(spin, omega)
    force = cross(momentum, omega)
    volume = 4 / 3 * np.pi * jnp.prod(size, axis=-1, keepdims=True)
    force = force + magnus * density * volume * cross(omega, velocity)
    projected, cosine, normal = _projection(velocity, size)
    circulation = kutta * density * cosine * projected * cross(normal, velocity)
    force = force + cross(circulation, velocity)
    drag_torque, drag = _drag(omega, velocity, size, projected, (blunt, slender, angular), density, viscosity)
    return torque + drag_torque, force + drag


def ellipsoid_drag(
    omega: Array, velocity: Array, size: Array, coefficients: Array, density: Array, viscosity: Array
) -> tuple[Array, Array]:
    """Return the part of `ellipsoid_wrench` that is drag, viscous and quadratic."""
    projected = _projection(velocity, size)[0]
    return _drag(omega, velocity, size, projected, tuple(coefficients[:, 1:4].T[..., None]), density, viscosity)


def _projection(velocity: Array, size: Array) -> tuple[Array, Array, Array]:
    """Return the area seen along the velocity, a cosine to its normal, and that normal, not of unit length."""
    face = jnp.roll(size, -1, axis=-1) * jnp.roll(size, -2, axis=-1)
    fourth = jnp.sum(face**4 * velocity**2, axis=-1, keepdims=True)
    second = jnp.sum(face**2 * velocity**2, axis=-1, keepdims=True)
    area = np.pi * safe.sqrt(safe.ratio(fourth, jnp.maximum(MINVAL, second)))
    cosine = safe.ratio(second, jnp.maximum(MINVAL, safe.norm(velocity, keepdims=True) * fourth))
    return area, cosine, face**2 * velocity


def _drag(omega, velocity, size, projected, coefficients, density, viscosity) -> tuple[Array, Array]:
    """Return torque and force of the drag, shapes (k, 3)."""
    blunt, slender, angular = coefficients
    longest, shortest = jnp.max(size, axis=-1, keepdims=True), jnp.min(size, axis=-1, keepdims=True)
    total = jnp.sum(size, axis=-1, keepdims=True)
    middle = total - longest - shortest
    diameter = 2 / 3 * total
    speed = safe.norm(velocity, keepdims=True)
    quadratic = projected * blunt + slender * (np.pi * longest * middle - projected)
    linear_drag = viscosity * 3 * np.pi * diameter + density * speed * quadratic
    wide = jnp.maximum(jnp.roll(size, -1, axis=-1), jnp.roll(size, -2, axis=-1))
    own, largest = 8 / 15 * np.pi * size * wide**4, 8 / 15 * np.pi * middle * longest**4
    moment = omega * (angular * own + slender * (largest - own))
    rotating_drag = viscosity * np.pi * diameter**3 + density * safe.norm(moment, keepdims=True)
    return -rotating_drag * omega, -linear_drag * velocity
