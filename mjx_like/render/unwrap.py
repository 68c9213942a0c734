"""Texture coordinates of primitive shapes, those of the unit shapes of MuJoCo's renderer.

Source: makePlane and makeBuiltin in render_context.c.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.types.enums import GeomType

Array = jax.Array


def across(unit: Array) -> Array:
    """Return coordinates of points on a plane, from the upper left corner of its square from -1 to 1."""
    return (unit[..., :2] * jnp.array([1, -1], unit.dtype) + 1) / 2


def on_box(unit: Array) -> Array:
    """Return coordinates of points on a cube from -1 to 1: across the two axes of each side, the last one upwards."""
    axis = jnp.argmax(jnp.abs(lax.stop_gradient(unit)), axis=-1)[..., None]
    pair = jnp.where(axis == 0, unit[..., 1:], jnp.where(axis == 1, unit[..., ::2], unit[..., :2]))
    return across(pair)


def on_sphere(unit: Array) -> Array:
    """Return coordinates of points on a unit sphere: longitude from x, and latitude from the upper pole."""
    return jnp.stack([_longitude(unit), 0.5 - _latitude(unit) / jnp.pi], axis=-1)


def on_cylinder(unit: Array) -> Array:
    """Return coordinates on a cylinder of radius 1 from z = -1 to 1: longitude and depth, across on its ends."""
    end = jnp.abs(unit[..., 2:]) > jnp.linalg.norm(lax.stop_gradient(unit[..., :2]), axis=-1, keepdims=True)
    side = jnp.stack([_longitude(unit), (1 - unit[..., 2]) / 2], axis=-1)
    return jnp.where(end, (unit[..., :2] + 1) / 2, side)


def on_capsule(unit: Array, stretch: Array) -> Array:
    """Return coordinates of points on a capsule scaled to radius 1 and to ends of its axis at -1 and 1.

    stretch: half length over radius.  The side and both caps have a picture each.
    """
    z = unit[..., 2]
    beyond = (jnp.abs(z) - 1) * stretch
    cap = jnp.concatenate([unit[..., :2], beyond[..., None]], axis=-1)
    rise = 2 * _latitude(cap) / jnp.pi
    below = jnp.where(z > 0, 1 - rise, rise)
    return jnp.stack([_longitude(unit), jnp.where(beyond > 0, below, (1 - z) / 2)], axis=-1)


def _longitude(point: Array) -> Array:
    return jnp.mod(jnp.arctan2(point[..., 1], point[..., 0]) / (2 * jnp.pi), 1)


def _latitude(point: Array) -> Array:
    return jnp.arctan2(point[..., 2], jnp.sqrt(jnp.sum(point[..., :2] ** 2, axis=-1) + 1e-12))


UNWRAP: dict[int, Callable[[Array], Array]] = {
    GeomType.PLANE: across,
    GeomType.SPHERE: on_sphere,
    GeomType.ELLIPSOID: on_sphere,
    GeomType.CYLINDER: on_cylinder,
    GeomType.BOX: on_box,
}
