"""One support function for every convex geom: the type is data, so that one program serves pairs of any types.

A geom is a record of arrays without a batch axis; callers map over pairs with vmap.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math import safe, unfused
from mjx_like.math import vector as v
from mjx_like.math.select import rows
from mjx_like.types.enums import GeomType

Array = jax.Array

ROUND = (GeomType.SPHERE, GeomType.CAPSULE)  # a point or a segment, grown by a radius
CORNERED = (GeomType.BOX, GeomType.MESH)  # with corners and flat faces alone, so that searches are finite


class Convex(NamedTuple):
    """A convex geom in the world."""

    kind: Array  # GeomType, shape (); MESH for any set of points, HFIELD for a prism of a height field
    pos: Array  # origin of its frame, shape (3,) [m], world
    mat: Array  # rotation from its frame to the world, shape (3, 3)
    size: Array  # MuJoCo's geom_size, shape (3,) [m]
    vert: Array  # points of a MESH in its frame, the rest repeats the first, or bottom and top of a prism, (n, 3) [m]
    center: Array  # a point within, where the search starts, shape (3,) [m], world
    margin: Array  # thickness of the layer added all around, shape () [m]


class Pair(NamedTuple):
    """Two convex geoms, on a leading axis of two, so that one piece of code serves both; see `Convex`."""

    kind: Array
    pos: Array
    mat: Array
    size: Array
    vert: tuple[Array, Array]  # apart: meshes have different numbers of points
    center: Array
    margin: Array


class Vertex(NamedTuple):
    """A point of the surface of a geom."""

    point: Array  # shape (3,) [m], world
    index: Array  # which corner of a box, cap of a cylinder, or point of a mesh; else -1


def convex(kind: Array, pos: Array, mat: Array, size: Array, vert: Array | None = None, margin=0.0) -> Convex:
    """Return the record of a geom, with its origin as centre; `vert` may be left out where it is no mesh."""
    vert = jnp.zeros((1, 3), pos.dtype) if vert is None else vert
    return Convex(jnp.asarray(kind, jnp.int32), pos, mat, size, vert, pos, jnp.asarray(margin, pos.dtype))


def pair(a: Convex, b: Convex) -> Pair:
    """Return two geoms as one record."""
    both = {name: jnp.stack([getattr(a, name), getattr(b, name)]) for name in Convex._fields if name != "vert"}
    return Pair(vert=(a.vert, b.vert), **both)


def core(geoms: Convex | Pair) -> tuple[Convex | Pair, Array]:
    """Return geoms without their margins, and without radius where they are round; and what was taken off [m]."""
    is_round = (geoms.kind == ROUND[0]) | (geoms.kind == ROUND[1])
    off = 0.5 * jnp.maximum(geoms.margin, 0) + jnp.where(is_round, geoms.size[..., 0], 0)
    size = jnp.where(is_round[..., None] & (np.arange(3) == 0), 0, geoms.size)
    return geoms._replace(size=size, margin=jnp.zeros_like(geoms.margin)), off


def support(geom: Convex, kinds: tuple[int, ...], direction: Array, seen: Array, middle: bool = False) -> Vertex:
    """Return the support point of one geom in a unit direction, shape (3,); see `supports`."""
    one = jax.tree.map(lambda x: x[None], geom._replace(vert=()))._replace(vert=(geom.vert,))
    found = supports(one, (kinds,), direction[None], seen[None], middle)
    return Vertex(found.point[0], found.index[0])


def supports(
    geoms: Pair | Convex, kinds: tuple[tuple[int, ...], ...], direction: Array, seen: Array, middle: bool = False
) -> Vertex:
    """Return the support points of two geoms, each in a unit direction, margin included.

    Args:
      geoms: the geoms, on a leading axis.
      kinds: the types that each can have: code for others is left out.
      direction: shape (2, 3), world.
      seen: indices of earlier results, shape (2,): kept where they are as far as any other, as MuJoCo does; or -1.
      middle: whether a tie gives the middle of two ends or sides.

    On a tie the positive end, side or corner, or the first point.
    Source: mjc_sphereSupport, mjc_capsuleSupport, mjc_ellipsoidSupport, mjc_cylinderSupport, mjc_boxSupport,
    mjc_meshSupport, mjc_hillclimbSupport, mjc_prism_support; mjccd_support for the middle.
    """
    d = jnp.sum(safe.rounded(geoms.mat * direction[:, :, None]), axis=1)
    local, index = jnp.zeros_like(d), jnp.full(d.shape[0], -1, jnp.int32)
    for kind in sorted(set().union(*kinds) - set(_POINTS)):
        point, corner = jax.vmap(functools.partial(_SUPPORT[GeomType(kind)], middle=middle))(geoms.size, d)
        here = geoms.kind == kind
        local = jnp.where(here[:, None], point, local)
        index = index if corner is None else jnp.where(here, corner, index)
    for side, own in enumerate(kinds):
        for kind in sorted(set(own) & set(_POINTS)):
            point, corner = _POINTS[GeomType(kind)](geoms.vert[side], d[side], seen[side])
            here = (geoms.kind == kind) & (np.arange(d.shape[0]) == side)
            local, index = jnp.where(here[:, None], point, local), jnp.where(here, corner, index)
    point = geoms.pos + jnp.sum(unfused.product(geoms.mat, local[:, None]), axis=2)
    if GeomType.SPHERE in set().union(*kinds) and point.dtype == np.float64:  # its frame rounds otherwise
        ball = geoms.pos + unfused.product(geoms.size[:, :1], direction)
        point = jnp.where((geoms.kind == GeomType.SPHERE)[:, None], ball, point)
    return Vertex(point + unfused.product(0.5 * jnp.maximum(geoms.margin, 0)[:, None], direction), index)


def corners(geom: Convex, index: Array) -> Array:
    """Return the corners of a box, a mesh or a prism with indices of shape (k,), in its frame, shape (k, 3) [m]."""
    index = jnp.maximum(index, 0)
    box = (2.0 * (index[:, None] >> np.arange(3) & 1) - 1) * geom.size
    return jnp.where(geom.kind == GeomType.BOX, box, rows(geom.vert, jnp.minimum(index, geom.vert.shape[0] - 1)))


def _ends(d: Array, half: Array, middle: bool) -> Array:
    return jnp.sign(d) * half if middle else jnp.where(d >= 0, half, -half)


def _sphere(size: Array, d: Array, middle: bool) -> tuple[Array, None]:
    return size[0] * d, None


def _capsule(size: Array, d: Array, middle: bool) -> tuple[Array, None]:
    return unfused.product(size[0], d) + jnp.where(np.arange(3) == 2, _ends(d, size[1], middle), 0), None


def _ellipsoid(size: Array, d: Array, middle: bool) -> tuple[Array, None]:
    scaled = d * size
    square = jnp.sum(unfused.product(scaled, scaled))
    good = square >= MINVAL * MINVAL
    inverse = safe.ratio(1, unfused.rounded(safe.root(jnp.where(good, square, 1))))
    return jnp.where(good, scaled * (inverse * size), jnp.where(np.arange(3) == 0, size, 0)), None


def _cylinder(size: Array, d: Array, middle: bool) -> tuple[Array, Array]:
    square = unfused.product(d[0], d[0]) + unfused.product(d[1], d[1])
    wide = square >= MINVAL * MINVAL
    (rim,) = safe.rescale((d,), unfused.rounded(jnp.sqrt(jnp.where(wide, square, 1))), size[0])
    rim = jnp.where(wide, rim, 0)
    return jnp.where(np.arange(3) == 2, _ends(d, size[1], middle), rim), (d[2] < 0).astype(jnp.int32)


def _box(size: Array, d: Array, middle: bool) -> tuple[Array, Array]:
    return _ends(d, size, middle), jnp.sum((d >= 0) * np.array([1, 2, 4], np.int32), dtype=jnp.int32)


def _mesh(vert: Array, d: Array, seen: Array) -> tuple[Array, Array]:
    first = lax.argmax(_reach(vert, d), 0, jnp.int32)
    two = rows(vert, jnp.stack([jnp.maximum(seen, 0), first]))
    reach = _reach(two, d)
    kept = (seen >= 0) & (reach[0] >= reach[1])
    return jnp.where(kept, two[0], two[1]), jnp.where(kept, seen, first)


def _reach(vert: Array, d: Array) -> Array:
    """Return how far points, shape (n, 3), lie in a direction, shape (n,): the same number wherever it is computed."""
    x, y, z = (safe.rounded(a * b) for a, b in zip(v.unpack(vert), v.unpack(d), strict=True))
    return x + y + z


def _prism(vert: Array, d: Array, seen: Array) -> tuple[Array, Array]:
    upper = d[2] >= 0
    half = jnp.where(upper, vert[3:], vert[:3])
    best = lax.argmax(v.dot(v.unpack(half), v.unpack(d)), 0, jnp.int32)
    return rows(half, best), best + jnp.where(upper, 3, 0).astype(jnp.int32)


# Of the geoms that a size describes, and of those that are sets of points.
_SUPPORT = {
    GeomType.SPHERE: _sphere,
    GeomType.CAPSULE: _capsule,
    GeomType.ELLIPSOID: _ellipsoid,
    GeomType.CYLINDER: _cylinder,
    GeomType.BOX: _box,
}
_POINTS = {GeomType.MESH: _mesh, GeomType.HFIELD: _prism}
