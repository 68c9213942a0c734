"""How contact points of convex geoms move with poses, sizes and vertices: the derivative of `convex_points`.

The search is not differentiated. What touches is held, and Newton steps on the separation along the normal, whose
residual vanishes at what was found, follow the geoms: the normal rotates with flat directions of what touches, and in
the others the surfaces roll on each other by their curvature; both witness points slide along flat directions so that
they stay opposite. Each step makes one more order of derivatives right, so two give second derivatives; their matrices
need not be differentiated for that. Several points are clipped again, with the same faces and edges.
Source: Newton's method at a root, as in the implicit function theorem.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from mjx_like.collision.convex import manifold
from mjx_like.collision.convex.ccd import Nearest
from mjx_like.collision.convex.feature import Tables
from mjx_like.collision.convex.gjk import Corners
from mjx_like.collision.convex.touched_surface import (
    TINY,
    Touched,
    bend,
    flat_directions,
    surface,
    touched_pair,
    witness,
)
from mjx_like.geometry.convex import Convex
from mjx_like.math import safe
from mjx_like.math.linalg import dot, product

Array = jax.Array

FOUND = "found"
_ORDERS = 2  # of derivatives that are right
_STEPS = 4  # of Newton's method from what the search found
_NOISE = 100  # roundings of the last step, which need not be shorter than others
_NEAR = 0.1  # how far these may lead: components of the normal, and distance [m]


def held(found):
    """Return what a search found, a pytree, under the name that checkpoints keep."""
    return jax.tree.map(lambda x: checkpoint_name(x, FOUND), found)


def follow(
    a: Convex,
    b: Convex,
    found: Nearest,
    normal: Array,
    tables: Tables,
    solid: Array | None,
    several: Array,
    deepest: bool,
) -> tuple[Array, Array, Array]:
    """Return (dist, pos, normal) of the points of a pair, right in their derivatives.

    Args:
      a, b: the geoms; both have the margin.
      found: what the search returned for them, where they touch.
      normal: from the first geom to the second, shape (3,).
      tables, solid: see `manifold.manifold`; solid is None where there never are several points.
      several: whether there are several points.
      deepest: whether what was found is to be among them, see `manifold.with_deepest`.
    """
    found, normal = settled(a, b, found, normal)
    dist, point, rotated = moving(a, b, found, normal)
    first = np.arange(manifold.SLOTS) == 0
    one = jnp.where(first, dist, 0), jnp.where(first[:, None], point, 0), rotated
    if solid is None:
        return one
    n0 = lax.stop_gradient(normal)
    off = 0.5 * jnp.maximum(a.margin, 0)
    geoms, corners = touched_pair(a, b, found.corners.index), jnp.stack([found.corners.first, found.corners.second])
    each_corner = jax.vmap(witness, in_axes=(None, 0, None, None, None))
    alone = jnp.zeros_like(n0)  # no shares: a corner moves with the pose
    at = jnp.concatenate([_inner(found, off, n0)[:, None], corners], axis=1)
    moved = jax.vmap(each_corner, in_axes=(0, 0, 0, None, 0))(geoms, at, _outward(n0), alone, _outward(rotated))
    again = found._replace(
        first=moved[0, 0] + off * rotated,
        second=moved[1, 0] - off * rotated,
        corners=Corners(jnp.concatenate([moved[0, 1:], moved[1, 1:], found.corners.table[:, 6:]], axis=1)),
    )
    flat = manifold.manifold(tables, a, b, solid, again)
    flat = manifold.with_deepest(flat, flat._replace(dist=one[0], pos=one[1])) if deepest else flat
    return tuple(jnp.where(several, x, y) for x, y in zip((flat.dist, flat.pos, flat.normal), one, strict=True))


def follow_one(a: Convex, b: Convex, found: Nearest, normal: Array) -> tuple[Array, Array, Array]:
    """Return distance, point midway and normal of one point, right in their derivatives; also of geoms apart.

    Arguments: see `follow`.
    """
    return moving(a, b, *settled(a, b, found, normal))


def settled(a: Convex, b: Convex, found: Nearest, normal: Array) -> tuple[Nearest, Array]:
    """Return what was found, and the normal, moved to the optimum where the same features touch; no derivative.

    Newton's method; nothing moves where it leads more than `_NEAR` away or its steps do not shrink, as near the centre
    of a sphere. Arguments: see `follow`.
    """
    a, b, found, normal = lax.stop_gradient((a, b, found, normal))
    off = 0.5 * jnp.maximum(a.margin, 0)
    geoms = touched_pair(a, b, found.corners.index)

    def step(count, s):
        n, points, first, _ = s
        rotated, points = _improved(_slopes(geoms, n, points), geoms, n, points)
        change = jnp.max(jnp.abs(rotated - n))
        return rotated, points, jnp.where(count == 0, change, first), change

    zero = jnp.zeros_like(found.dist)
    start = normal, _inner(found, off, normal), zero, zero
    n, points, first, last = lax.fori_loop(0, _STEPS, step, start)
    dist = dot(n, points[1] - points[0])
    moved = jnp.stack([*(n - normal), dist - (found.dist + 2 * off)])
    shrinks = last <= jnp.maximum(0.1 * first, _NOISE * jnp.finfo(n.dtype).eps)
    good = jnp.all(jnp.abs(moved) < _NEAR) & shrinks
    better = found._replace(dist=dist - 2 * off, first=points[0] + off * n, second=points[1] - off * n)
    return jax.tree.map(lambda x, y: jnp.where(good, x, y), (better, n), (found, normal))


def _outward(normal: Array) -> Array:
    """Return the outward normals of both geoms, shape (2, 3)."""
    return jnp.stack([normal, -normal])


def _inner(found: Nearest, off: Array, normal: Array) -> Array:
    """Return the witness points on both geoms without their margins, shape (2, 3)."""
    return jnp.stack([found.first, found.second]) - off * _outward(normal)


class _Slopes(NamedTuple):
    """What a Newton step on the separation along the normal divides by."""

    tangent: Array  # two directions across the normal, shape (2, 3)
    stiff: Array  # curvatures plus distance in them, shape (2, 2) [m]
    across: Array  # flat directions in them, shape (4, 2)
    free: Array  # projector onto those of each geom, shape (2, 2, 2)
    give: Array  # inverse of their sum, shape (2, 2)
    flats: Array  # flat directions of curved shapes, in the frames of both geoms, shape (2, 2, 3)


def _slopes(geoms: Touched, n: Array, points: Array) -> _Slopes:
    """Return the slopes at a normal, shape (3,), and witness points, shape (2, 3).  No derivative passes."""
    geoms, n, points = lax.stop_gradient((geoms, n, points))
    bends, own = jax.vmap(bend)(geoms, points, _outward(n))
    tangent = tangents(n)
    bent = product(product(tangent, bends[0] + bends[1]), tangent.T)
    stiff = bent + dot(n, points[1] - points[0]) * np.eye(2)
    across = product(_in_world(geoms, jax.vmap(flat_directions)(geoms, own)), tangent.T)
    free = jax.vmap(_projector)(across)
    return _Slopes(tangent, stiff, across.reshape(4, 2), free, inverse(free[0] + free[1]), own)


def _improved(slopes: _Slopes, geoms: Touched, n: Array, points: Array) -> tuple[Array, Array]:
    """Return the normal and the witness points after a Newton step on the separation along the normal."""
    flats = _in_world(geoms, jax.vmap(flat_directions)(geoms, slopes.flats))
    points = jax.vmap(surface)(geoms, points, _outward(n))
    shift = product(slopes.tangent, _aside(n, points))
    roll = _roll(slopes.stiff, shift, slopes.across, product(flats.reshape(4, 3), n))
    rotated = _unit(n + product(roll, slopes.tangent))
    points = jax.vmap(surface)(geoms, points, _outward(rotated))
    slide = product(slopes.give, product(slopes.tangent, _aside(rotated, points)))
    steps = product(jnp.sum(slopes.free * _outward(slide)[:, None], axis=2), slopes.tangent)
    return rotated, points + jax.vmap(_within)(flats, steps)


def _aside(n: Array, points: Array) -> Array:
    """Return by how much the second witness point is off the line along the normal from the first, shape (3,) [m]."""
    span = points[1] - points[0]
    return span - dot(n, span) * n


def _in_world(geoms: Touched, flats: Array) -> Array:
    """Return directions of the frames of both geoms, shape (2, k, 3), in the world."""
    return jnp.sum(flats[:, :, None] * geoms.mat[:, None], axis=3)


def _within(flats: Array, step: Array) -> Array:
    """Return the part of a step that lies in the span of flat directions, shape (2, 3), of unit length or zero."""
    first = flats[0]
    second = flats[1] - dot(flats[1], first) * first
    square = dot(second, second)
    wide = square > 1e-6
    share = safe.divide(dot(second, step), square, where=wide)
    return dot(first, step) * first + share * second


def moving(a: Convex, b: Convex, found: Nearest, normal: Array) -> tuple[Array, Array, Array]:
    """Return distance, point midway and normal, with the derivatives that they have at the optimum.

    Arguments: see `follow`.
    """
    n = n0 = lax.stop_gradient(normal)
    off = 0.5 * jnp.maximum(a.margin, 0)
    geoms = touched_pair(a, b, found.corners.index)
    share = shares(found.corners.points, n0 * -found.dist)
    points = jax.vmap(witness, in_axes=(0, 0, 0, None))(geoms, _inner(found, off, n0), _outward(n0), share)
    slopes = _slopes(geoms, n0, points)
    for _ in range(_ORDERS):
        n, points = _improved(slopes, geoms, n, points)
    return dot(n, points[1] - points[0]), 0.5 * (points[0] + points[1]), n


def _unit(x: Array) -> Array:
    length = jnp.sqrt(jnp.maximum(dot(x, x), TINY * TINY))
    return safe.divide(x, length, np.arange(3) == 0, where=length > 1e-11)


def tangents(n: Array) -> Array:
    guess = jnp.where(jnp.abs(n[0]) > 0.6, np.array([0.0, 1, 0], n.dtype), np.array([1.0, 0, 0], n.dtype))
    first = _unit(guess - dot(guess, n) * n)
    return jnp.stack([first, jnp.cross(n, first)])


def shares(points: Array, target: Array) -> Array:
    """Return the shares of three points in the point of their plane, or line, nearest to a target; they sum to one."""
    edges = points[1:] - points[:1]
    square = product(edges, edges.T)
    size = jnp.maximum(jnp.trace(square), TINY * TINY)
    weights = product(inverse(safe.divide(square, size)), safe.divide(product(edges, target - points[0]), size))
    return lax.stop_gradient(jnp.concatenate([1 - jnp.sum(weights, keepdims=True), weights]))


def _projector(rows: Array) -> Array:
    """Return the projector onto the span of rows, shape (k, 2)."""
    gram = product(rows.T, rows)
    return product(gram, inverse(gram))


def inverse(matrix: Array) -> Array:
    """Return the inverse of a positive semidefinite matrix of size about 1, shape (2, 2), that may be singular."""
    ridge = float(jnp.finfo(matrix.dtype).eps) ** 0.5
    (a, b), (c, d) = matrix + ridge * np.eye(2, dtype=matrix.dtype)
    return safe.ratio(jnp.stack([jnp.stack([d, -b]), jnp.stack([-c, a])]), a * d - b * c)


def _roll(stiff: Array, shift: Array, across: Array, lean: Array) -> Array:
    """Return the rotation of the normal, shape (2,).

    Args:
      stiff: curvatures plus distance, shape (2, 2) [m].
      shift: sliding of the surfaces on each other [m].
      across: flat directions in tangent coordinates, shape (k, 2); the normal stays across them.
      lean: by how much they lean towards the old normal, shape (k,).
    """
    size = jnp.sum(across * across, axis=1)
    first = jnp.argmax(size)
    u, bound1 = across[first], size[first] > 1e-2
    length = jnp.sqrt(jnp.where(bound1, size[first], 1))
    unit = safe.divide(u, length, np.array([1.0, 0.0]), where=bound1)
    free = jnp.stack([-unit[1], unit[0]])
    rest = product(across, free)
    second = jnp.argmax(jnp.abs(rest))
    bound2 = bound1 & (jnp.abs(rest[second]) > 1e-2)
    along = -safe.ratio(lean[first], length)
    held = -safe.ratio(lean[second] + product(across[second], unit) * along, jnp.where(bound2, rest[second], 1))
    stiff_free = product(product(free, stiff), free)
    slope = jnp.where(jnp.abs(stiff_free) < 1e-9, 1, stiff_free)
    rolled = safe.ratio(product(free, shift) - product(product(free, stiff), unit) * along, slope)
    bound = along * unit + jnp.where(bound2, held, rolled) * free
    det = stiff[0, 0] * stiff[1, 1] - stiff[0, 1] * stiff[1, 0]
    inverse = jnp.stack([jnp.stack([stiff[1, 1], -stiff[0, 1]]), jnp.stack([-stiff[1, 0], stiff[0, 0]])])
    return jnp.where(bound1, bound, safe.ratio(product(inverse, shift), jnp.where(jnp.abs(det) < 1e-18, 1, det)))
