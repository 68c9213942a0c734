"""The surface of a convex geom where it is touched: the point there, its curvature and its flat directions."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.geometry.convex import Convex, corners
from mjx_like.math import safe
from mjx_like.math.linalg import dot, product
from mjx_like.types.enums import GeomType

Array = jax.Array

TINY = 1e-12
_FLAT = 2e-3  # sine below which a normal counts as across a segment or along the axis of a disk
_LEVEL = 1e-6  # sine below which it is across wherever the point lies
_END = 1e-4  # share of the half length that counts as its end


class Touched(NamedTuple):
    """A geom where it is touched; two of them on a leading axis are what `touched_pair` gives."""

    kind: Array
    pos: Array  # shape (3,) [m], world
    mat: Array  # rotation from its frame to the world, shape (3, 3)
    size: Array  # shape (3,) [m]
    corner: Array  # its corners in the final face, in its frame, shape (3, 3) [m]


def touched_pair(a: Convex, b: Convex, index: Array) -> Touched:
    """Return two geoms as one record; index: of their corners in the final face, shape (3, 2)."""
    corner = jnp.stack([corners(geom, index[:, k]) for k, geom in enumerate((a, b))])
    return Touched(*(jnp.stack([getattr(a, name), getattr(b, name)]) for name in Touched._fields[:-1]), corner)


def witness(geom: Touched, at: Array, normal: Array, share: Array, now: Array | None = None) -> Array:
    """Return the point of a geom that is at `at` now, as a function of pose, size and vertices, shape (3,).

    normal: outward normal of the geom there; share: shares of the corners whose mean is the point, for a mesh; now: the
    normal as a function, in whose direction round parts roll; by default it is held in the geom.
    """
    mat, pos = lax.stop_gradient((geom.mat, geom.pos))
    local = jnp.sum(mat * (at - pos)[:, None], axis=0)
    held = lax.stop_gradient(jnp.sum(mat * normal[:, None], axis=0))
    support = _own_support(geom, held if now is None else jnp.sum(geom.mat * now[:, None], axis=0), share)
    return geom.pos + jnp.sum(geom.mat * (local + support - lax.stop_gradient(support)), axis=1)


def _own_support(geom: Touched, n: Array, share: Array) -> Array:
    """Return the support point in the frame of the geom for a fixed normal, by which size and vertices act."""
    r, half = geom.size[0], geom.size[1]
    across = n * np.array([1, 1, 0])
    length = jnp.sqrt(jnp.maximum(dot(across, across), TINY))
    end = jnp.sign(n) * half * np.array([0, 0, 1])
    scaled = geom.size * n
    reach = jnp.sqrt(jnp.maximum(dot(scaled, scaled), TINY * TINY))
    vertex = jnp.sum(share[:, None] * geom.corner, axis=0)
    points = {
        GeomType.SPHERE: r * n,
        GeomType.CAPSULE: r * n + end,
        GeomType.ELLIPSOID: safe.ratio(geom.size * scaled, reach),
        GeomType.CYLINDER: safe.ratio(r * across, length) + end,
        GeomType.BOX: jnp.sign(n) * geom.size,
        GeomType.MESH: vertex,
        GeomType.HFIELD: vertex,
    }
    return _by_kind(geom, points, jnp.zeros_like(n))


def _by_kind(geom: Touched, values: dict[GeomType, Array], otherwise: Array) -> Array:
    """Return the value of the type that a geom has, or `otherwise` for the types that are left out."""
    for kind, value in values.items():
        otherwise = jnp.where(geom.kind == kind, value, otherwise)
    return otherwise


def _lies(geom: Touched, local: Array, n: Array) -> Array:
    """Return whether a capsule or cylinder touches with its side, by the point and the normal in its frame.

    A normal across the axis is not enough: an end may touch with it, if the normal leans to that end.
    """
    core = local[2] - jnp.where(geom.kind == GeomType.CAPSULE, geom.size[0], 0) * n[2]
    between = core * jnp.sign(n[2]) < (1 - _END) * geom.size[1]
    return (jnp.abs(n[2]) < _FLAT) & (between | (jnp.abs(n[2]) < _LEVEL))


def bend(geom: Touched, at: Array, normal: Array) -> tuple[Array, Array]:
    """Return the curvature matrix of the support function, shape (3, 3), and flat directions, rows of (2, 3), world.

    Flat directions of boxes and meshes are left zero: their corners tell them.
    """
    local = jnp.sum(geom.mat * (at - geom.pos)[:, None], axis=0)
    n = jnp.sum(geom.mat * normal[:, None], axis=0)
    eye = np.eye(3)
    size = geom.size
    scaled = size * n
    reach = jnp.sqrt(jnp.maximum(dot(scaled, scaled), TINY * TINY))
    unit = safe.ratio(scaled, reach)
    ellipsoid = safe.ratio(size[:, None] * (eye - unit[:, None] * unit) * size, reach)
    length = jnp.sqrt(jnp.maximum(n[0] * n[0] + n[1] * n[1], TINY))
    rotation = jnp.stack([-n[1], n[0], jnp.zeros_like(n[0])])
    rotation = safe.ratio(rotation, length)
    cap, side = length < _FLAT, _lies(geom, local, n)
    disk = jnp.where(cap, 0, safe.ratio(size[0], length)) * rotation[:, None] * rotation
    ball = size[0] * eye
    flat = jnp.zeros((2, 3), n.dtype)
    bends = {
        GeomType.SPHERE: ball, GeomType.CAPSULE: ball, GeomType.ELLIPSOID: ellipsoid, GeomType.CYLINDER: disk
    }  # fmt: skip
    curved = _by_kind(geom, bends, jnp.zeros((3, 3), n.dtype))
    axis = jnp.stack([eye[2], 0 * eye[2]])
    rod = (geom.kind == GeomType.CAPSULE) | (geom.kind == GeomType.CYLINDER)
    flat = jnp.where(rod & side, axis, flat)
    flat = jnp.where((geom.kind == GeomType.CYLINDER) & cap, eye[:2], flat)
    return product(product(geom.mat, curved), geom.mat.T), flat


def flat_directions(geom: Touched, own: Array) -> Array:
    """Return the flat directions of a geom at the contact, in its frame, shape (2, 3), of unit length or zero.

    own: those that `bend` gives.
    """
    edges = geom.corner[1:] - geom.corner[:1]
    cornered = (geom.kind == GeomType.BOX) | (geom.kind == GeomType.MESH) | (geom.kind == GeomType.HFIELD)
    flat = jnp.where(cornered, edges, own)
    length = jnp.sqrt(jnp.maximum(dot(flat, flat), TINY * TINY))
    return safe.divide(flat, length[:, None], where=(length > 1e-9)[:, None])


def surface(geom: Touched, at: Array, normal: Array) -> Array:
    """Return the point of a geom with an outward normal, in the world; along flat directions it is that of `at`."""
    n = jnp.sum(geom.mat * normal[:, None], axis=0)
    local = jnp.sum(geom.mat * (at - geom.pos)[:, None], axis=0)
    r, half = geom.size[0], geom.size[1]
    length = jnp.sqrt(jnp.maximum(n[0] * n[0] + n[1] * n[1], TINY))
    cap, side = length < _FLAT, _lies(geom, local, n)
    upright = np.array([0, 0, 1.0])
    core = jnp.where(side, jnp.clip(local[2] - r * n[2], -half, half), jnp.sign(n[2]) * half) * upright
    end = jnp.where(side, jnp.clip(local[2], -half, half), jnp.sign(n[2]) * half) * upright
    around = jnp.where(cap, local, safe.ratio(r * n, length)) * (1 - upright)
    scaled = geom.size * n
    reach = jnp.sqrt(jnp.maximum(dot(scaled, scaled), TINY * TINY))
    points = {
        GeomType.SPHERE: r * n,
        GeomType.CAPSULE: r * n + core,
        GeomType.ELLIPSOID: safe.ratio(geom.size * scaled, reach),
        GeomType.CYLINDER: around + end,
    }
    return geom.pos + jnp.sum(geom.mat * _by_kind(geom, points, local), axis=1)
