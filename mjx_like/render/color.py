"""Colours of what rays meet: lights, shadows, textures and mirrors, in the order in which MuJoCo's renderer adds them.

Each light that casts shadows is a pass of its own, whose colour is clipped before it is added.
Source: mjr_render in render_gl3.c.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.render.corner import between
from mjx_like.render.drawn import Drawn
from mjx_like.render.hit import OPAQUE, Hit, Rays, footprint, nearest
from mjx_like.render.light import NO_LIGHT, Light, Surface, shade, to_light
from mjx_like.render.mipmap import Levels
from mjx_like.render.texture import Spot, shape_color, sky_color
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model

Array = jax.Array

LIFT = 1e-4  # of a further ray from its surface, in units of the model's extent


class Scene(NamedTuple):
    """All that colours depend on.

    shadows, reflections: whether there are any; lights: that are on; textures: by id.
    """

    m: Model
    drawn: Drawn
    lights: list[Light]
    textures: dict[int, Levels]
    shadows: bool
    reflections: bool


def opaque_color(s: Scene, hit: Hit, rays: Rays) -> Array:
    """Return the colours of opaque surfaces with shadows and mirrors, of the sky where nothing is, shape (n, 3)."""
    surface, own, texture = _surface(s, hit, rays)
    color = _lit(s, surface, [light for light in s.lights if not (s.shadows and light.castshadow)]) * texture
    if s.reflections and _mirrors(s.drawn).any():
        color = jnp.clip(color + _reflected(s, hit, rays, own), 0, 1)
    for light in s.lights:
        if not (s.shadows and light.castshadow):
            continue
        toward, dist = to_light(light, hit.point)
        lit = jnp.clip(shade(surface, light, toward, dist), 0, 1) * texture
        color = jnp.clip(color + jnp.where(_hidden(s, hit, toward, dist)[:, None], 0, lit), 0, 1)
    sky = sky_color(s.m, s.textures, rays.direction, rays.direction_step)
    return jnp.where((hit.shape >= 0)[:, None], color, sky)


def plain_color(s: Scene, hit: Hit, rays: Rays, share: Array | None = None) -> Array:
    """Return the colours of surfaces that all lights reach, shape (n, 3).

    share: by what their own colour, not highlights, is multiplied, shape (n,).
    """
    surface, _, texture = _surface(s, hit, rays)
    if share is not None:
        surface = surface._replace(rgba=surface.rgba * share[:, None])
    return _lit(s, surface, s.lights) * texture


def _surface(s: Scene, hit: Hit, rays: Rays) -> tuple[Surface, Array, Array]:
    """What is lit; for each ray a one in the column of its shape, (n, count); by what textures multiply, (n, 3)."""
    drawn = s.drawn
    own = (hit.shape[:, None] == np.arange(drawn.count)).astype(drawn.rgba.dtype)
    mat, look = jnp.einsum("nk,kij->nij", own, drawn.shapes.mat), own @ drawn.look
    point = jnp.einsum("nij,ni->nj", mat, hit.point - own @ drawn.shapes.pos)
    normal, corner = hit.normal, None
    if drawn.corners is not None:
        corner = between(drawn.corners, hit.face, point)
        smooth = own @ drawn.is_kind(GeomType.MESH, GeomType.SKIN).astype(own.dtype) > 0
        normal = jnp.where(smooth[:, None], jnp.einsum("nij,nj->ni", mat, corner.normal), normal)
    texture = jnp.ones_like(point)
    if (drawn.include & (drawn.texture >= 0)).any():
        step = jnp.einsum("nij,kni->knj", mat, footprint(rays, hit))
        texture = shape_color(s.m, drawn, s.textures, hit.shape, Spot(point, step, corner))
    eye = -rays.direction / jnp.linalg.norm(rays.direction, axis=1, keepdims=True)
    return Surface(hit.point, normal, eye, own @ drawn.rgba, *look[:, :3].T), own, texture


def _lit(s: Scene, surface: Surface, lights: list[Light]) -> Array:
    """What lights that reach everything leave of a surface, shape (n, 3)."""
    ambient = surface.emission + (0 if s.lights else NO_LIGHT)
    color = ambient[:, None] * surface.rgba[:, :3]
    for light in lights:
        color += shade(surface, light, *to_light(light, surface.point))
    return jnp.clip(color, 0, 1)


def _hidden(s: Scene, hit: Hit, toward: Array, dist: Array) -> Array:
    """Whether something stands between points and a light."""
    start = hit.point + LIFT * s.m.stat.extent * hit.normal
    blocked = nearest(s.m, s.drawn, start, toward, s.drawn.rgba[:, 3] > 0)
    return blocked.dist < dist


def _mirrors(drawn: Drawn) -> np.ndarray:
    """Which shapes may mirror: planes and boxes with a material."""
    return drawn.is_kind(GeomType.PLANE, GeomType.BOX) & (drawn.material >= 0)


def _reflected(s: Scene, hit: Hit, rays: Rays, own: Array) -> Array:
    """What the first shape that mirrors adds; of a box, its upper side does."""
    drawn = s.drawn
    reflectance = jnp.where(_mirrors(drawn) & (drawn.rgba[:, 3] >= OPAQUE), drawn.look[:, 3], 0)
    reflectance = jnp.where(jnp.cumsum(reflectance > 0) <= 1, reflectance, 0)
    upper = jnp.sum((own @ drawn.shapes.mat[..., 2]) * hit.normal, axis=1) > 1 - 1e-3
    share = jnp.where(upper, own @ reflectance, 0)
    bounced = rays._replace(
        start=hit.point + LIFT * s.m.stat.extent * hit.normal,
        direction=_mirrored(rays.direction, hit.normal),
        start_step=footprint(rays, hit),
        direction_step=_mirrored(rays.direction_step, hit.normal),
    )
    other = nearest(s.m, drawn, bounced.start, bounced.direction, drawn.rgba[:, 3] > 0)
    seen = plain_color(s, other, bounced, share)
    return jnp.where(((other.shape >= 0) & (share > 0))[:, None], seen, 0)


def _mirrored(vector: Array, normal: Array) -> Array:
    return vector - 2 * jnp.sum(vector * normal, axis=-1, keepdims=True) * normal
