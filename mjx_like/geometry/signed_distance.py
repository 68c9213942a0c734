"""Signed distances and their gradients, as MuJoCo has them, of primitives, of the shapes of its plugins, and of meshes.

Points are in the frame of the geom, in components. A gradient need not be the derivative of the distance: within a box
it turns from the corners to the faces, and that of an ellipsoid has unit length.
Source: geomDistance, geomGradient in MuJoCo's engine_collision_sdf.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.constants import MAXVAL
from mjx_like.geometry.plugin_shape import SHAPES
from mjx_like.math import safe
from mjx_like.math import vector as v
from mjx_like.math.select import take
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array


class Field(NamedTuple):
    """Distance and gradient as functions of points in the frame of a geom."""

    distance: Callable[[v.Vector], Array]
    gradient: Callable[[v.Vector], v.Vector]


def field(m: Model, kind: GeomType, geom: np.ndarray, size: v.Vector) -> Field:
    """Return the field of the geoms of one type that take part in pairs.

    geom: their ids, shape (n,); size: MuJoCo's geom_size of each, components of shape (n,) [m].
    """
    if kind in (GeomType.SDF, GeomType.MESH):
        return _own(m, geom)
    distance, gradient = _PRIMITIVES[kind]
    return Field(lambda x: distance(x, size), lambda x: gradient(x, size))


def held(m: Model) -> Model:
    """Return the model with the parameters of its signed distance fields held."""
    names = ("sdf_param", "sdf_value", "mesh_sdfbox")
    return m.replace(**{name: lax.stop_gradient(getattr(m, name)) for name in names})


def _plane_gradient(x: v.Vector, size: v.Vector) -> v.Vector:
    return jnp.zeros_like(x[0]), jnp.zeros_like(x[0]), jnp.ones_like(x[0])


def _sphere(x: v.Vector, size: v.Vector) -> Array:
    return v.norm(x) - size[0]


def _sphere_gradient(x: v.Vector, size: v.Vector) -> v.Vector:
    return v.normalize(x)[0]


def _off_axis(x: v.Vector, size: v.Vector) -> v.Vector:
    return x[0], x[1], x[2] - jnp.clip(x[2], -size[1], size[1])


def _capsule(x: v.Vector, size: v.Vector) -> Array:
    return v.norm(_off_axis(x, size)) - size[0]


def _capsule_gradient(x: v.Vector, size: v.Vector) -> v.Vector:
    return v.normalize(_off_axis(x, size))[0]


def _beyond(x: v.Vector, size: v.Vector) -> tuple[v.Vector, v.Vector, Array]:
    """Return how far points are beyond the faces of a box, the same but not below zero, and the largest."""
    over = tuple(jnp.abs(c) - s for c, s in zip(x, size, strict=True))
    return over, tuple(jnp.maximum(c, 0) for c in over), jnp.maximum(jnp.maximum(over[0], over[1]), over[2])


def _rotating(x: v.Vector, over: v.Vector, size: v.Vector) -> v.Vector:
    """Return unit vectors within a box that turn from its corners to its faces.  Source: radialField3d."""
    steep = v.normalize(tuple(safe.divide(-s, c, MAXVAL) for s, c in zip(size, over, strict=True)))[0]
    return tuple(jnp.where(c < 0, -s, s) for c, s in zip(x, steep, strict=True))


def _box(x: v.Vector, size: v.Vector) -> Array:
    over, outer, largest = _beyond(x, size)
    steep = _rotating(x, over, size)
    way = [safe.divide(-c, jnp.abs(s), MAXVAL) for c, s in zip(over, steep, strict=True)]
    within = -jnp.minimum(jnp.minimum(way[0], way[1]), way[2]) * v.norm(steep)
    return jnp.where(largest >= 0, v.norm(outer), within)


def _box_gradient(x: v.Vector, size: v.Vector) -> v.Vector:
    over, outer, largest = _beyond(x, size)
    outward = tuple(jnp.where(c < 0, -s, s) for c, s in zip(x, v.normalize(outer)[0], strict=True))
    return v.select(largest < 0, _rotating(x, over, size), outward)


def _scaled(x: v.Vector, size: v.Vector) -> tuple[v.Vector, Array, Array]:
    """Return coordinates over the squared half axes of an ellipsoid, and two norms."""
    near = tuple(safe.ratio(c, s) for c, s in zip(x, size, strict=True))
    twice = tuple(safe.ratio(c, s) for c, s in zip(near, size, strict=True))
    return twice, v.norm(near), v.norm(twice)


def _ellipsoid(x: v.Vector, size: v.Vector) -> Array:
    _, near, twice = _scaled(x, size)
    return safe.divide(near * (near - 1), twice, -1.0)


def _ellipsoid_gradient(x: v.Vector, size: v.Vector) -> v.Vector:
    scaled, near, twice = _scaled(x, size)
    along = safe.divide(2 * near - 1, near * twice)
    bent = safe.divide(near * (near - 1), twice**3)
    return v.normalize(tuple(c * along - safe.ratio(c, s * s) * bent for c, s in zip(scaled, size, strict=True)))[0]


def _cylinder(x: v.Vector, size: v.Vector) -> Array:
    side, cap = safe.sqrt(x[0] * x[0] + x[1] * x[1]) - size[0], jnp.abs(x[2]) - size[1]
    outer = safe.sqrt(jnp.maximum(side, 0) ** 2 + jnp.maximum(cap, 0) ** 2)
    return jnp.minimum(jnp.maximum(side, cap), 0) + outer


def _cylinder_gradient(x: v.Vector, size: v.Vector) -> v.Vector:
    radius = safe.sqrt(x[0] * x[0] + x[1] * x[1])
    side, cap = radius - size[0], jnp.abs(x[2]) - size[1]
    p, q = jnp.maximum(side, 0), jnp.maximum(cap, 0)
    outer = safe.sqrt(p * p + q * q)
    within = jnp.maximum(side, cap) < 0
    across = jnp.where(within, side > cap, safe.divide(p, outer))
    along = jnp.where(within, side <= cap, safe.divide(q, outer))
    return across * safe.divide(x[0], radius), across * safe.divide(x[1], radius), along * jnp.sign(x[2])


_PRIMITIVES = {
    GeomType.PLANE: (lambda x, size: x[2], _plane_gradient),
    GeomType.SPHERE: (_sphere, _sphere_gradient),
    GeomType.CAPSULE: (_capsule, _capsule_gradient),
    GeomType.ELLIPSOID: (_ellipsoid, _ellipsoid_gradient),
    GeomType.CYLINDER: (_cylinder, _cylinder_gradient),
    GeomType.BOX: (_box, _box_gradient),
}


def has_field(t: Topology, geom: int) -> bool:
    """Return whether `field` knows the distance to a geom: to a mesh where some geom of type sdf has it too."""
    kind, mesh = t.geom_type[geom], t.geom_dataid[geom]
    if kind in (GeomType.SDF, GeomType.MESH):
        return geom in t.sdf_geomid or (mesh >= 0 and t.mesh_sdfadr[mesh] >= 0)
    return kind in _PRIMITIVES


class _Safe:
    """The functions that the shapes use, with finite derivatives everywhere."""

    sqrt, maximum, minimum, where, floor = safe.sqrt, jnp.maximum, jnp.minimum, jnp.where, jnp.floor
    abs, sin, cos, tan, clip = jnp.abs, jnp.sin, jnp.cos, jnp.tan, jnp.clip

    arctan2 = staticmethod(safe.arctan2)

    @staticmethod
    def arccos(x: Array) -> Array:
        return safe.arctan2(safe.sqrt(1 - x * x), x)


def _own(m: Model, geom: np.ndarray) -> Field:
    """Return the field of geoms with the shapes of plugins, or with meshes of their own."""
    slot = {int(g): i for i, g in enumerate(m.sdf_geomid)}
    row = np.array([slot.get(int(g), -1) for g in geom])
    plugin, meshes = row >= 0, m.geom_dataid[geom]
    kinds = np.append(m.sdf_kind, -1)[row]
    parameters = take(m.sdf_param, np.maximum(row, 0)) if plugin.any() else None
    meshes = np.where(plugin, meshes[np.argmin(plugin)], meshes)  # any mesh stands in where a plugin has the shape

    def distance(x: v.Vector) -> Array:
        total = jnp.zeros_like(x[0]) if plugin.all() else _in_grid(m, meshes, x)
        for kind in sorted(set(kinds[plugin].tolist())):
            shape, mine = list(SHAPES.values())[kind], kinds == kind
            given = {
                name: jnp.where(mine, parameters[:, i], usual)
                for i, (name, usual) in enumerate(shape.parameters.items())
            }
            total = jnp.where(mine, shape.distance(_Safe, x, **given), total)
        return total

    def gradient(x: v.Vector) -> v.Vector:
        one, zero = jnp.ones_like(x[0]), jnp.zeros_like(x[0])
        seeds = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
        return tuple(jax.jvp(distance, (x,), (seed,))[1] for seed in seeds)

    return Field(distance, gradient)


_INTO = 1e-6  # how far within the box the point lies that stands for one outside [m]


def _in_grid(m: Model, mesh: np.ndarray, x: v.Vector) -> Array:
    """Return the signed distances of meshes: linear between the values of a grid, and beyond its box by the way to it.

    x: points in the frames of the meshes, components of shape (..., n).  Source: oct_distance.
    """
    box, cells = take(m.mesh_sdfbox, mesh), 2 ** m.mesh_sdfdepth[mesh]
    offset = tuple(c - box[:, k] for k, c in enumerate(x))
    over = tuple(jnp.abs(c) - box[:, 3 + k] for k, c in enumerate(offset))
    away = safe.sqrt(sum(jnp.maximum(c, 0) ** 2 for c in over))
    inner = tuple(jnp.where(c > 0, a - jnp.sign(a) * (c + _INTO), a) for a, c in zip(offset, over, strict=True))
    at = tuple((safe.ratio(a, box[:, 3 + k]) + 1) * (0.5 * cells) for k, a in enumerate(inner))
    first = tuple(jnp.clip(jnp.floor(lax.stop_gradient(p)), 0, cells - 1).astype(jnp.int32) for p in at)
    share = tuple(p - i for p, i in zip(at, first, strict=True))
    value, side = jnp.zeros_like(away), cells + 1
    for corner in np.ndindex(2, 2, 2):
        i, j, k = (a + b for a, b in zip(first, corner, strict=True))
        weight = math.prod(s if c else 1 - s for s, c in zip(share, corner, strict=True))
        value += weight * m.sdf_value[m.mesh_sdfadr[mesh] + (i * side + j) * side + k]
    return value + away
