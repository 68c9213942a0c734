"""Images: colour, depth and segmentation of what a camera sees."""

from collections.abc import Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.errors import InputError
from mjx_like.ray.surface import tried
from mjx_like.render.camera import Camera, fixed_camera, free_camera, pixel_rays
from mjx_like.render.hit import OPAQUE, Hit, nearest, rgba
from mjx_like.render.light import NO_LIGHT, Surface, lights, shade, to_light
from mjx_like.render.texture import geom_color, sky_color, texture_of_geom
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.visual.part import GROUPS
from mjx_like.worlds import one_world

Array = jax.Array

# Rays of one chunk. On a CPU, of each world: more leave the cache, and all wait for the one that searches longest.
_CPU_RAYS = 32
_WORK = 1 << 22  # elsewhere, rays times geoms and triangles
_LIFT = 1e-4  # of a shadow ray from its surface, in units of the model's extent


class Image(NamedTuple):
    """What a camera sees, the upper row first.

    rgb: colours from 0 to 1, shape (height, width, 3); depth: distance along the axis of the camera, that of the far
    plane where nothing is, shape (height, width) [m]; geom: id of the geom that is seen, -1 for none, shape (height,
    width), int32.
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
) -> Image:
    """Return what a camera sees of one world; with `jax.vmap`, of many.

    Args:
      m: one model.
      d: one world, after `forward` or `step`; reads geom_xpos, geom_xmat, cam_xpos, cam_xmat, light_xpos, light_xdir.
      camera: its name or id, -1 for MuJoCo's free camera at the start, or a Camera, such as `free_camera` returns.
      width: of the image [pixels]; likewise height.
      shadows: whether lights cast shadows.
      reflections: whether planes and boxes with a reflectance mirror the rest.
      layers: how many surfaces a ray sees, the last as if it were opaque; 1 where nothing is transparent.
      groups: of the geoms, those drawn.

    Raises:
      InputError: a camera that is not there, a size that is not positive.

    Depth has the derivative of the surface that is met; geom has none. Sites, tendons, skins and flexes are not drawn.
    """
    one_world("render", m, d)
    if width < 1 or height < 1 or layers < 1:
        raise InputError(f"width={width}, height={height}, layers={layers}: must be at least 1")
    if not isinstance(camera, Camera):
        camera = free_camera(m) if camera == -1 else fixed_camera(m, d, camera)
    include = np.isin(m.geom_group, np.asarray(tuple(groups)))
    start, direction = (x.reshape(-1, 3) for x in pixel_rays(camera, width, height))
    faces = tried(m.topology, np.flatnonzero(m.geom_type == GeomType.MESH))
    count = start.shape[0]
    most = _CPU_RAYS if jax.default_backend() == "cpu" else _WORK // max(1, m.ngeom + faces)
    chunk = max(1, min(count, most))
    scene = _Scene(m, d, camera, include, shadows, reflections, layers)
    rays = (jnp.pad(x, ((0, -count % chunk), (0, 0)), mode="edge").reshape(-1, chunk, 3) for x in (start, direction))
    parts = lax.map(lambda ray: _pixels(scene, *ray), tuple(rays))
    rgb, depth, geom = (x.reshape(-1, *x.shape[2:])[:count] for x in parts)
    shape = (height, width)
    return Image(rgb.reshape(*shape, 3), depth.reshape(shape), geom.reshape(shape))


class _Scene(NamedTuple):
    m: Model
    d: Data
    camera: Camera
    include: np.ndarray
    shadows: bool
    reflections: bool
    layers: int


def _pixels(s: _Scene, start: Array, direction: Array) -> tuple[Array, Array, Array]:
    """Colours, depths and geoms of rays, shapes (n, 3), (n,), (n,)."""
    m, color = s.m, rgba(s.m)
    opaque = color[:, 3] >= OPAQUE
    far = m.vis.map.zfar * m.stat.extent
    first = _clipped(nearest(m, s.d, start, direction, s.include, color[:, 3] > 0), far)
    solid = first if s.layers == 1 else _clipped(nearest(m, s.d, start, direction, s.include, opaque), far)
    eye = -direction / jnp.linalg.norm(direction, axis=1, keepdims=True)
    seen = _color(s, solid, eye, direction, color, s.shadows)
    if s.layers > 1:
        seen = _through(s, first, solid, seen, eye, direction, color)
    return jnp.clip(seen, 0, 1), jnp.minimum(solid.dist, far), first.geom


def _clipped(hit: Hit, far: Array) -> Hit:
    """The hits without those beyond the far plane."""
    gone = hit.dist > far
    return hit._replace(dist=jnp.where(gone, jnp.inf, hit.dist), geom=jnp.where(gone, -1, hit.geom))


def _through(s: _Scene, first: Hit, solid: Hit, behind: Array, eye: Array, direction: Array, color: Array) -> Array:
    """Colours with up to `layers - 1` transparent surfaces before what is behind."""
    hits, weight, out = first, jnp.ones_like(first.dist), jnp.zeros_like(behind)
    for layer in range(s.layers - 1):
        before = (hits.geom >= 0) & (hits.dist < solid.dist)
        own = (hits.geom[:, None] == np.arange(s.m.ngeom)).astype(color.dtype)
        # MuJoCo draws transparent geoms twice, from front to back and from back to front
        alpha = jnp.where(before, 1 - (1 - own @ color[:, 3]) ** 2, 0)
        out += (weight * alpha)[:, None] * jnp.clip(_color(s, hits, eye, direction, color, False), 0, 1)
        weight *= 1 - alpha
        if layer < s.layers - 2:
            start = hits.point + _LIFT * s.m.stat.extent * direction
            hits = nearest(s.m, s.d, start, direction, s.include, color[:, 3] > 0)
    return out + weight[:, None] * behind


def _color(
    s: _Scene, hit: Hit, eye: Array, direction: Array, color: Array, shadows: bool, mirror: bool = True
) -> Array:
    """Colours of what is met, of the sky where nothing is."""
    m = s.m
    own = (hit.geom[:, None] == np.arange(m.ngeom)).astype(color.dtype)
    look = own @ _materials(m)
    surface = Surface(hit.point, hit.normal, eye, own @ color, look[:, 0], look[:, 1], look[:, 2])
    out = surface.emission[:, None] * surface.rgba[:, :3]
    sources = lights(m, s.d, s.camera)
    if not sources:
        out += NO_LIGHT * surface.rgba[:, :3]
    for light in sources:
        toward, dist = to_light(light, hit.point)
        lit = jnp.clip(shade(surface, light, toward, dist), 0, 1)
        if shadows and light.castshadow:
            lit = jnp.where(_hidden(s, hit, toward, dist, color)[:, None], 0, lit)
        out += lit
    if (texture_of_geom(m) >= 0).any():
        out = jnp.clip(out, 0, 1) * geom_color(m, hit.geom, _local(s, hit, own))
    if mirror and s.reflections and _mirrors(m).any():
        out += _reflected(s, hit, direction, own, color)
    return jnp.where((hit.geom >= 0)[:, None], out, sky_color(m, direction))


def _materials(m: Model) -> Array:
    """Emission, specular, shininess and reflectance of geoms, shape (ngeom, 4).  Source: mjv_initGeom."""
    plain = jnp.array([0, 0.5, 0.5, 0], m.qpos0.dtype)
    if not m.nmat:
        return jnp.broadcast_to(plain, (m.ngeom, 4))
    table = jnp.stack([m.mat_emission, m.mat_specular, m.mat_shininess, m.mat_reflectance], axis=1)
    return jnp.where((m.geom_matid >= 0)[:, None], table[np.maximum(m.geom_matid, 0)], plain)


def _hidden(s: _Scene, hit: Hit, toward: Array, dist: Array, color: Array) -> Array:
    """Whether something stands between points and a light."""
    start = hit.point + _LIFT * s.m.stat.extent * hit.normal
    blocked = nearest(s.m, s.d, start, toward, s.include, color[:, 3] > 0)
    return blocked.dist < dist


def _local(s: _Scene, hit: Hit, own: Array) -> Array:
    """Points in the frames of the geoms that they are on."""
    pos, mat = own @ s.d.geom_xpos, (own @ s.d.geom_xmat.reshape(-1, 9)).reshape(-1, 3, 3)
    return jnp.einsum("nij,ni->nj", mat, hit.point - pos)


def _mirrors(m: Model) -> np.ndarray:
    """Which geoms may mirror: planes and boxes with a material."""
    return np.isin(m.geom_type, (GeomType.PLANE, GeomType.BOX)) & (m.geom_matid >= 0)


def _reflected(s: _Scene, hit: Hit, direction: Array, own: Array, color: Array) -> Array:
    """What the first geom that mirrors adds; of a box, its upper side does."""
    reflectance = jnp.where(_mirrors(s.m) & (color[:, 3] >= OPAQUE), _materials(s.m)[:, 3], 0)
    reflectance = jnp.where(jnp.cumsum(reflectance > 0) <= 1, reflectance, 0)
    mat = (own @ s.d.geom_xmat.reshape(-1, 9)).reshape(-1, 3, 3)
    upper = jnp.sum(mat[:, :, 2] * hit.normal, axis=1) > 1 - 1e-3
    share = jnp.where(upper, own @ reflectance, 0)
    bounced = direction - 2 * jnp.sum(direction * hit.normal, axis=1, keepdims=True) * hit.normal
    start = hit.point + _LIFT * s.m.stat.extent * hit.normal
    other = nearest(s.m, s.d, start, bounced, s.include, color[:, 3] > 0)
    eye = -bounced / jnp.linalg.norm(bounced, axis=1, keepdims=True)
    seen = jnp.clip(_color(s, other, eye, bounced, color, False, mirror=False), 0, 1)
    return share[:, None] * jnp.where((other.geom >= 0)[:, None], seen, 0)
