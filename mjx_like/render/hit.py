"""Rays, and what they meet: the nearest shape of those that count."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.ray.stage import first_met
from mjx_like.render.drawn import Drawn
from mjx_like.types.model import Model

Array = jax.Array

OPAQUE = 0.995  # least opacity of what hides what is behind it and is in depth images, as in MuJoCo's renderer


class Rays(NamedTuple):
    """Rays, and how they change from a pixel to its neighbours, to the right and below.

    start, direction: shape (n, 3) [m, world]; start_step, direction_step: shape (2, n or 1, 3).
    """

    start: Array
    direction: Array
    start_step: Array
    direction_step: Array


class Hit(NamedTuple):
    """Where rays first meet a shape.

    dist: in units of the direction's length, infinite on a miss; shape: its number, -1 on a miss; point: [m, world];
    normal: outward; shapes (n,), (n,), (n, 3), (n, 3). face: of a mesh, shape (n,), None where none is drawn.
    """

    dist: Array
    shape: Array
    point: Array
    normal: Array
    face: Array | None


def nearest(m: Model, drawn: Drawn, start: Array, direction: Array, seen: Array) -> Hit:
    """Return what rays meet first.

    Args:
      m: the model.
      drawn: what is there.
      start, direction: of the rays, shape (n, 3) [m, world].
      seen: which shapes count of those that are drawn, shape (drawn.count,).
    """
    include = np.broadcast_to(drawn.include, (start.shape[0], drawn.count))
    met = first_met(m, drawn.shapes, start, direction, include, seen)
    hit = met.shape >= 0
    dist = jnp.where(hit, met.dist, jnp.inf)
    point = start + jnp.where(hit, dist, 0)[:, None] * direction
    return Hit(dist, met.shape, point, met.normal, met.face)


def footprint(rays: Rays, hit: Hit) -> Array:
    """Return how points that rays meet change from a pixel to its neighbours, shape (2, n, 3) [m, world].

    The surface counts as flat; a miss has no meaning. Source: Igehy, Tracing Ray Differentials, equations 10 to 12.
    """
    dist = jnp.where(hit.shape >= 0, hit.dist, 0)[:, None]
    moved = rays.start_step + dist * rays.direction_step
    slant = jnp.sum(rays.direction * hit.normal, axis=1, keepdims=True)
    along = safe.divide(jnp.sum(moved * hit.normal, axis=-1, keepdims=True), slant)
    return moved - along * rays.direction
