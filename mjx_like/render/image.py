"""Images: colour, depth and segmentation of what a camera sees."""

from collections.abc import Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.errors import InputError
from mjx_like.ray.surface import tried
from mjx_like.render.camera import Camera, fixed_camera, free_camera, pixel_rays, pixel_steps
from mjx_like.render.color import LIFT, Scene, opaque_color, plain_color
from mjx_like.render.drawn import drawn
from mjx_like.render.haze import hazed
from mjx_like.render.hit import OPAQUE, Hit, Rays, nearest
from mjx_like.render.light import lights
from mjx_like.render.texture import textures
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.visual.part import GROUPS
from mjx_like.worlds import one_world

Array = jax.Array

# Rays of one chunk. On a CPU, of each world: more leave the cache, and all wait for the one that searches longest.
_CPU_RAYS = 32
_WORK = 1 << 22  # elsewhere, rays times geoms and triangles


class Image(NamedTuple):
    """What a camera sees, the upper row first.

    rgb: colours from 0 to 1, shape (height, width, 3); depth: distance along the axis of the camera, that of the far
    plane where nothing is, shape (height, width) [m]; geom: id of the geom that is seen, -1 for none and where
    something else is, such as a site, shape (height, width), int32.
    """

    rgb: Array
    depth: Array
    geom: Array


def render(
    m: Model,
    d: Data,
    camera: Camera | int | str = -1,
    width: int = 320,
    height: int = 240,
    *,
    shadows: bool = True,
    reflections: bool = True,
    layers: int = 2,
    groups: Iterable[int] = GROUPS,
    sites: bool = True,
    tendons: bool = True,
    skins: bool = True,
) -> Image:
    """Return what a camera sees of one world; with `jax.vmap`, of many.

    Args:
      m: one model.
      d: one world, after `forward` or `step`; reads xpos, xquat, geom_xpos, geom_xmat, site_xpos, site_xmat,
        cam_xpos, cam_xmat, light_xpos, light_xdir, ten_wrapadr, ten_wrapnum, wrap_obj, wrap_xpos.
      camera: its name or id, -1 for MuJoCo's free camera at the start, or a Camera, such as `free_camera` returns.
      width: of the image [pixels]; likewise height.
      shadows: whether lights cast shadows.
      reflections: whether planes and boxes with a reflectance mirror the rest.
      layers: how many surfaces a ray sees, the last as if it were opaque; 1 where nothing is transparent.
      groups: of the geoms, sites, tendons and skins, those drawn.
      sites: whether sites are drawn.
      tendons: whether spatial tendons are drawn.
      skins: whether skins are drawn.

    Raises:
      InputError: a camera that is not there, a size that is not positive.

    Depth has the derivative of the surface that is met; geom has none. Tendons are drawn along their paths, those that
    hang slack or wrap around a geom too, straight between its points; flexes are not drawn.
    """
    one_world("render", m, d)
    if width < 1 or height < 1 or layers < 1:
        raise InputError(f"width={width}, height={height}, layers={layers}: must be at least 1")
    if not isinstance(camera, Camera):
        camera = free_camera(m) if camera == -1 else fixed_camera(m, d, camera)
    shown = drawn(m, d, tuple(groups), sites, tendons, skins)
    start, direction = (x.reshape(-1, 3) for x in pixel_rays(camera, width, height))
    steps = tuple(x[:, None] for x in pixel_steps(camera, width, height))
    faces = tried(m.topology, shown.shapes.data[shown.is_kind(GeomType.MESH)])
    count = start.shape[0]
    most = _CPU_RAYS if jax.default_backend() == "cpu" else _WORK // max(1, shown.count + faces)
    chunk = max(1, min(count, most))
    scene = Scene(m, shown, lights(m, d, camera), textures(m, shown), shadows, reflections)
    rays = (jnp.pad(x, ((0, -count % chunk), (0, 0)), mode="edge").reshape(-1, chunk, 3) for x in (start, direction))
    parts = lax.map(lambda ray: _pixels(scene, camera, layers, Rays(*ray, *steps)), tuple(rays))
    rgb, depth, geom = (x.reshape(-1, *x.shape[2:])[:count] for x in parts)
    shape = (height, width)
    return Image(rgb.reshape(*shape, 3), depth.reshape(shape), geom.reshape(shape))


def _pixels(s: Scene, camera: Camera, layers: int, rays: Rays) -> tuple[Array, Array, Array]:
    """Colours, depths and geoms of rays, shapes (n, 3), (n,), (n,)."""
    m, alpha = s.m, s.drawn.rgba[:, 3]
    far = m.vis.map.zfar * m.stat.extent
    first = _clipped(nearest(m, s.drawn, rays.start, rays.direction, alpha > 0), far)
    solid = first
    if layers > 1:
        solid = _clipped(nearest(m, s.drawn, rays.start, rays.direction, alpha >= OPAQUE), far)
    seen = hazed(m, s.drawn, camera, rays.direction, solid, opaque_color(s, solid, rays))
    if layers > 1:
        seen = _through(s, layers, first, solid, seen, rays)
    geom = jnp.where(first.shape < m.ngeom, first.shape, -1)
    return jnp.clip(seen, 0, 1), jnp.minimum(solid.dist, far), geom


def _clipped(hit: Hit, far: Array) -> Hit:
    """The hits without those beyond the far plane."""
    gone = hit.dist > far
    return hit._replace(dist=jnp.where(gone, jnp.inf, hit.dist), shape=jnp.where(gone, -1, hit.shape))


def _through(s: Scene, layers: int, first: Hit, solid: Hit, behind: Array, rays: Rays) -> Array:
    """Colours with up to `layers - 1` transparent surfaces before what is behind."""
    hits, weight, out = first, jnp.ones_like(first.dist), jnp.zeros_like(behind)
    alpha = s.drawn.rgba[:, 3]
    for layer in range(layers - 1):
        before = (hits.shape >= 0) & (hits.dist < solid.dist)
        own = (hits.shape[:, None] == np.arange(s.drawn.count)).astype(alpha.dtype)
        # MuJoCo draws transparent geoms twice, from front to back and from back to front
        cover = jnp.where(before, 1 - (1 - own @ alpha) ** 2, 0)
        out += (weight * cover)[:, None] * plain_color(s, hits, rays)
        weight *= 1 - cover
        if layer < layers - 2:
            start = hits.point + LIFT * s.m.stat.extent * rays.direction
            hits = nearest(s.m, s.drawn, start, rays.direction, alpha > 0)
    return out + weight[:, None] * behind
