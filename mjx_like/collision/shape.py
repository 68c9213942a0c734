"""What collision kernels take and return: geoms and contact points as components over the pairs of a group."""

from typing import NamedTuple

import jax

from mjx_like.math.vector import Vector

Array = jax.Array


class Shape(NamedTuple):
    """One geom of each pair of a group; every component has shape (n,)."""

    pos: Vector  # centre [m], world
    axes: tuple[Vector, Vector, Vector]  # local x, y and z axis, world
    size: Vector  # MuJoCo's geom_size [m]


class Point(NamedTuple):
    """One contact point of each pair of a group; every component has shape (n,).

    It is a contact where `valid` is None or true and `dist` does not exceed margin + gap.
    """

    dist: Array  # signed distance [m], negative in penetration
    pos: Vector  # midway between the surfaces [m], world
    normal: Vector  # unit vector from the first geom to the second, world
    valid: Array | None = None
