"""What collision kernels take and return: geoms and contact points as components over the pairs of a group."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.math.vector import Vector

Array = jax.Array


class Shape(NamedTuple):
    """One geom of each pair of a group; every component has shape (n,)."""

    pos: Vector  # centre [m], world
    axes: tuple[Vector, Vector, Vector]  # local x, y and z axis, world
    size: Vector  # MuJoCo's geom_size [m]


def as_shape(components: Sequence[Array]) -> Shape:
    """Return the Shape of components of shape (n,): of position, then the z axis, or all three axes, then the size."""
    vectors = [tuple(components[k : k + 3]) for k in range(0, len(components), 3)]
    zero = (jnp.zeros_like(components[0]),) * 3
    axes = (zero, zero, vectors[1]) if len(vectors) == 3 else tuple(vectors[1:4])
    return Shape(vectors[0], axes, vectors[-1])


class Point(NamedTuple):
    """Contact points of each pair of a group: one, components of shape (n,), or several, of shape (slots, n) or (n,).

    One is a contact where `valid` is None or true and `dist` does not exceed margin + gap.
    """

    dist: Array  # signed distance [m], negative in penetration
    pos: Vector  # midway between the surfaces [m], world
    normal: Vector  # unit vector from the first geom to the second, world
    valid: Array | None = None


def merged(points: list[Point]) -> Point:
    """Return the points of all slots as one Point, every component of shape (slots, n)."""
    rows = [_filled(point) for point in points]
    return rows[0] if len(rows) == 1 else jax.tree.map(lambda *x: jnp.concatenate(x), *rows)


def _filled(point: Point) -> Point:
    valid = jnp.ones_like(point.dist, bool) if point.valid is None else point.valid
    shape = (-1, point.dist.shape[-1])
    return jax.tree.map(lambda x: jnp.broadcast_to(x, point.dist.shape).reshape(shape), point._replace(valid=valid))
