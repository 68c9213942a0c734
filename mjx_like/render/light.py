"""Lights, and what they leave of a surface: OpenGL's fixed lighting, which MuJoCo's renderer uses, at every pixel.

Source: initLights and mjr_render in render_gl3.c; OpenGL 2.1, section 2.14.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.math import safe
from mjx_like.render.camera import Camera
from mjx_like.types.data import Data
from mjx_like.types.enums import LightType
from mjx_like.types.model import Model

Array = jax.Array

NO_LIGHT = 0.3  # ambient light where there is no light at all
_POLISH = 128.0  # exponent of highlights at shininess 1


class Surface(NamedTuple):
    """What is lit: point, normal, direction to the eye, shapes (n, 3); rgba, (n, 4); of the material, shape (n,)."""

    point: Array
    normal: Array
    eye: Array
    rgba: Array
    emission: Array
    specular: Array
    shininess: Array


class Light(NamedTuple):
    """One light: colours, shape (3,); where it is and where it shines, shape (3,); whether its rays are parallel."""

    ambient: Array
    diffuse: Array
    specular: Array
    pos: Array
    direction: Array
    parallel: bool
    attenuation: Array | None = None
    cutoff: Array | None = None
    exponent: Array | None = None
    castshadow: bool = False


def lights(m: Model, d: Data, camera: Camera) -> list[Light]:
    """Return the lights that are on: the headlight, and those of the model, spots and directional ones."""
    found, head = [], m.vis.headlight
    dtype = m.qpos0.dtype
    if head.active:
        colors = (jnp.array(x, dtype) for x in (head.ambient, head.diffuse, head.specular))
        found.append(Light(*colors, camera.pos, -camera.mat[:, 2], True))
    for i in range(m.nlight):
        if m.light_active[i] and m.light_type[i] in (LightType.SPOT, LightType.DIRECTIONAL):
            found.append(
                Light(
                    m.light_ambient[i], m.light_diffuse[i], m.light_specular[i], d.light_xpos[i], d.light_xdir[i],
                    bool(m.light_type[i] == LightType.DIRECTIONAL), m.light_attenuation[i], m.light_cutoff[i],
                    m.light_exponent[i], bool(m.light_castshadow[i]),
                )
            )  # fmt: skip
    return found


def to_light(light: Light, point: Array) -> tuple[Array, Array]:
    """Return the directions from points to a light, and how far away it is, shapes (n, 3) and (n,)."""
    if light.parallel:
        return jnp.broadcast_to(-light.direction, point.shape), jnp.full(point.shape[0], jnp.inf, point.dtype)
    toward, dist = safe.normalize(light.pos - point)
    return toward, dist[:, 0]


def shade(surface: Surface, light: Light, toward: Array, dist: Array) -> Array:
    """Return what one light leaves of a surface, shape (n, 3); toward, dist: as `to_light` returns them."""
    facing = jnp.sum(surface.normal * toward, axis=1)
    half, _ = safe.normalize(toward + surface.eye)
    shine = jnp.maximum(jnp.sum(surface.normal * half, axis=1), 0)
    shine = safe.power(shine, _POLISH * surface.shininess)
    rgb = surface.rgba[:, :3]
    out = light.ambient * rgb + jnp.maximum(facing, 0)[:, None] * light.diffuse * rgb
    out += jnp.where(facing > 0, surface.specular * shine, 0)[:, None] * light.specular
    return out if light.parallel else out * _reach(light, toward, dist)[:, None]


def _reach(light: Light, toward: Array, dist: Array) -> Array:
    """Return how much of a spot's light reaches points: by distance, and by the angle from its axis."""
    constant, linear, square = light.attenuation
    fade = 1 / jnp.maximum(constant + linear * dist + square * dist * dist, 1e-6)
    axis, _ = safe.normalize(light.direction)
    along = -jnp.sum(toward * axis, axis=1)
    inside = (along >= jnp.cos(jnp.deg2rad(light.cutoff))) | (light.cutoff >= 180)
    beam = jnp.where(light.exponent > 0, jnp.maximum(along, 1e-6) ** light.exponent, 1)
    return jnp.where(inside, fade * beam, 0)
