"""What rays meet: the nearest geom of those that count."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.ray.stage import cast
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.visual.look import PLAIN

Array = jax.Array

OPAQUE = 0.995  # least opacity of what hides what is behind it and is in depth images, as in MuJoCo's renderer


class Hit(NamedTuple):
    """Where rays first meet a geom.

    dist: in units of the direction's length, infinite on a miss; geom: its id, -1 on a miss; point: [m, world];
    normal: outward; shapes (n,), (n,), (n, 3), (n, 3).
    """

    dist: Array
    geom: Array
    point: Array
    normal: Array


def nearest(m: Model, d: Data, start: Array, direction: Array, include: np.ndarray, seen: Array | None = None) -> Hit:
    """Return what rays meet first.

    Args:
      m: the model.
      d: one world; reads geom_xpos, geom_xmat.
      start, direction: of the rays, shape (n, 3) [m, world].
      include: which geoms count, static, shape (ngeom,).
      seen: which geoms count, at run time, shape (ngeom,); None for all.
    """
    count = start.shape[0]
    dist, geom, normal = cast(m, d, start, direction, np.broadcast_to(include, (count, m.ngeom)), seen)
    hit = geom >= 0
    dist = jnp.where(hit, dist, jnp.inf)
    point = start + jnp.where(hit, dist, 0)[:, None] * direction
    return Hit(dist, geom, point, normal)


def rgba(m: Model) -> Array:
    """Return the colours of geoms, of their materials where they say none, shape (ngeom, 4).

    Source: setMaterial in engine_vis_visualize.c.
    """
    if not m.nmat:
        return m.geom_rgba
    material = m.mat_rgba[np.maximum(m.geom_matid, 0)]
    plain = jnp.all(m.geom_rgba == PLAIN, axis=1)
    return jnp.where(((m.geom_matid >= 0) & plain)[:, None], material, m.geom_rgba)
