"""Rays, and what they meet: the nearest shape of those that count."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.ray.stage import first_met
from mjx_like.render.drawn import Drawn
from mjx_like.render.skin import first_face
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
    normal: outward; shapes (n,), (n,), (n, 3), (n, 3). face: of a mesh or skin among `Drawn.corners`,
    shape (n,), None where none is drawn.
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
    found = Hit(dist, met.shape, start, met.normal, met.face)
    if drawn.skins is not None:
        found = _with_skins(m, drawn, found, start, direction, seen)
    return found._replace(point=start + jnp.where(found.shape >= 0, found.dist, 0)[:, None] * direction)


def _with_skins(m: Model, drawn: Drawn, hit: Hit, start: Array, direction: Array, seen: Array) -> Hit:
    """The hits, those of skins where they are nearer."""
    first = drawn.skins.first
    dist, skin, face, normal = first_face(drawn.skins, start, direction, seen[first:])
    nearer = dist < hit.dist
    face = m.nmeshface + face
    return hit._replace(
        dist=jnp.where(nearer, dist, hit.dist),
        shape=jnp.where(nearer, first + skin, hit.shape),
        normal=jnp.where(nearer[:, None], normal, hit.normal),
        face=jnp.where(nearer, face, face if hit.face is None else hit.face),
    )


def footprint(rays: Rays, hit: Hit) -> Array:
    """Return how points that rays meet change from a pixel to its neighbours, shape (2, n, 3) [m, world].

    The surface counts as flat; a miss has no meaning. Source: Igehy, Tracing Ray Differentials, equations 10 to 12.
    """
    dist = jnp.where(hit.shape >= 0, hit.dist, 0)[:, None]
    moved = rays.start_step + dist * rays.direction_step
    slant = jnp.sum(rays.direction * hit.normal, axis=1, keepdims=True)
    along = safe.divide(jnp.sum(moved * hit.normal, axis=-1, keepdims=True), slant)
    return moved - along * rays.direction
