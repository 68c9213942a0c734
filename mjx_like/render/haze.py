"""Haze at the horizon of the first infinite plane, which MuJoCo's renderer draws where there is a sky."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.render.camera import Camera
from mjx_like.render.drawn import Drawn
from mjx_like.render.hit import Hit
from mjx_like.render.texture import sky_texture
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model

Array = jax.Array

SKY = 0.7  # radius of the sky, in units of the distance of the far plane


def hazed(m: Model, drawn: Drawn, camera: Camera, direction: Array, hit: Hit, color: Array) -> Array:
    """Return colours with the haze that is before what rays from a camera meet, shape (n, 3).

    It is a cone around the camera that narrows from the horizon down to the plane, opaque in between and transparent at
    both ends. An orthographic camera has none.  Source: haze in render_context.c and mjr_render in render_gl3.c.
    """
    planes = np.flatnonzero(drawn.is_kind(GeomType.PLANE))
    if sky_texture(m) < 0 or not planes.size or camera.orthographic:
        return color
    infinite = jnp.all(drawn.shapes.size[planes][:, :2] == 0, axis=1)
    first = (infinite & (jnp.cumsum(infinite) == 1)).astype(color.dtype)
    pos, mat = first @ drawn.shapes.pos[planes], jnp.einsum("k,kij->ij", first, drawn.shapes.mat[planes])

    reach, narrowing = SKY * m.vis.map.zfar * m.stat.extent, m.vis.map.haze
    height = (camera.pos - pos) @ mat[:, 2] / reach
    local = direction @ mat
    across = safe.norm(local[:, :2])
    fall = safe.divide(-local[:, 2], across)
    below = safe.divide(fall, height + narrowing * fall)  # 0 at the height of the camera, 1 at the plane
    dist = safe.divide(reach * (1 - narrowing * below), across)
    met = jnp.any(infinite) & (height >= 0) & (fall >= 0) & (below <= 1) & (across > 0) & (dist < hit.dist)

    angle = np.arctan2(1, narrowing)
    top = np.sqrt(0.5) * narrowing * np.sin(angle) / np.sin(0.75 * np.pi - angle)  # where it is opaque
    alpha = jnp.where(1 - below < top, safe.divide(1 - below, top), safe.divide(below, 1 - top))
    alpha = jnp.where(met, alpha, 0)[:, None]
    return color + alpha * (jnp.asarray(m.vis.rgba.haze, color.dtype)[:3] - color)
