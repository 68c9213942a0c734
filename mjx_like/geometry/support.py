"""Support points: the point of a convex geom that lies farthest in a direction.

Geoms come as `Shape`-like records with `pos`, `axes` and `size`, all in components (see math.vector).
"""

from typing import Protocol

import jax
import jax.numpy as jnp

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math import vector as v
from mjx_like.math.vector import Vector

Array = jax.Array


class Posed(Protocol):
    """A geom in the world: centre, local axes and MuJoCo's geom_size."""

    pos: Vector
    axes: tuple[Vector, Vector, Vector]
    size: Vector


def ellipsoid(geom: Posed, direction: Vector) -> Vector:
    """Return the support point of an ellipsoid in a unit direction [m], world.  Source: mjc_ellipsoidSupport."""
    local = v.project(geom.axes, direction)
    scaled, _ = v.normalize(tuple(a * b for a, b in zip(local, geom.size, strict=True)))
    return v.add(geom.pos, v.combine(geom.axes, tuple(a * b for a, b in zip(scaled, geom.size, strict=True))))


def cylinder(geom: Posed, direction: Vector) -> Vector:
    """Return the support point of a cylinder [m], world; the centre of a disk along the axis.

    Source: mjc_cylinderSupport.
    """
    x, y, z = v.project(geom.axes, direction)
    square = x * x + y * y
    wide = square > MINVAL * MINVAL
    length = jnp.sqrt(jnp.where(wide, square, 1))
    rim = (jnp.where(wide, c, 0) for c in safe.rescale((x, y), length, geom.size[0]))
    local = (*rim, jnp.where(z >= 0, geom.size[1], -geom.size[1]))
    return v.add(geom.pos, v.combine(geom.axes, local))


def box(geom: Posed, direction: Vector) -> Vector:
    """Return the corner of a box that lies farthest [m], world; positive sides on a tie.  Source: mjc_boxSupport."""
    local = v.project(geom.axes, direction)
    corner = tuple(jnp.where(a >= 0, s, -s) for a, s in zip(local, geom.size, strict=True))
    return v.add(geom.pos, v.combine(geom.axes, corner))


def point(geom: Posed, direction: Vector) -> Vector:
    """Return the centre: the support point of a sphere without its radius."""
    return geom.pos
