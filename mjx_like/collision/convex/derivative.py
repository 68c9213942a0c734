"""How contact points of convex geoms move with poses, sizes and vertices: the derivative of `convex_points`.

The search is not differentiated. What touches is held: for the depth, the two witness points as points of their geoms
(the envelope theorem makes that exact); for the normal, flat directions of what touches rotate with their geom, and in
the others the surfaces roll on each other by their curvature; for the point, both witness points slide along flat
directions so that they stay opposite. Several points are clipped again, with the same faces and edges.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from mjx_like.collision.convex import manifold
from mjx_like.collision.convex.ccd import Nearest
from mjx_like.collision.convex.feature import Tables
from mjx_like.collision.convex.gjk import Corners
from mjx_like.collision.convex.simplex import dot
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

Array = jax.Array

FOUND = "found"
_STEPS = 4  # of Newton's method from what the search found
_NOISE = 100  # roundings of the last step, which need not be shorter than others
_NEAR = 0.1  # how far these may lead: components of the normal, and distance [m]


def held(found):
    """Return what a search found, a pytree, under the name that checkpoints keep."""
    return jax.tree.map(lambda x: checkpoint_name(x, FOUND), found)


def follow(
    a: Convex, b: Convex, found: Nearest, normal: Array, tables: Tables, solid: Array | None, several: Array
) -> tuple[Array, Array, Array]:
    """Return (dist, pos, normal) of the points of a pair, right in their derivatives.

    Args:
      a, b: the geoms; both have the margin.
      found: what the search returned for them, where they touch.
      normal: from the first geom to the second, shape (3,).
      tables, solid: see `manifold.manifold`; solid is None where there never are several points.
      several: whether there are several points.
    """
    found, normal = settled(a, b, found, normal)
    dist, point, rotated, live = moving(a, b, found, normal)
    first = np.arange(manifold.SLOTS) == 0
    one = jnp.where(first, dist, 0), jnp.where(first[:, None], point, 0), rotated
    if solid is None:
        return one
    n0 = lax.stop_gradient(normal)
    off = 0.5 * jnp.maximum(a.margin, 0)
    geoms, both = touched_pair(a, b, found.corners.index), jnp.stack([found.corners.first, found.corners.second])
    each_corner = jax.vmap(witness, in_axes=(None, 0, None, None))
    alone = jnp.zeros_like(n0)  # no shares: a corner moves with the pose
    rigid = jax.vmap(each_corner, in_axes=(0, 0, 0, None))(geoms, both, _outward(n0), alone)
    again = found._replace(
        first=live[0] + off * n0,
        second=live[1] - off * n0,
        corners=Corners(jnp.concatenate([*rigid, found.corners.table[:, 6:]], axis=1)),
    )
    flat = manifold.manifold(tables, a, b, solid, again)
    return tuple(jnp.where(several, x, y) for x, y in zip((flat.dist, flat.pos, flat.normal), one, strict=True))


def follow_one(a: Convex, b: Convex, found: Nearest, normal: Array) -> tuple[Array, Array, Array]:
    """Return distance, point midway and normal of one point, right in their derivatives; also of geoms apart.

    Arguments: see `follow`.
    """
    return moving(a, b, *settled(a, b, found, normal))[:3]


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
        rotated, points = _improved(geoms, n, points)
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


def _improved(geoms: Touched, n: Array, points: Array) -> tuple[Array, Array]:
    """Return the normal and the witness points after a Newton step on the separation along the normal."""
    bends, flats = jax.vmap(bend)(geoms, points, _outward(n))
    flats = _in_world(geoms, jax.vmap(flat_directions)(geoms, flats))
    points = jax.vmap(surface)(geoms, points, _outward(n))
    tangent, rotated = tangents(n), flats.reshape(4, 3)
    span = points[1] - points[0]
    stiff = tangent @ (bends[0] + bends[1]) @ tangent.T + dot(n, span) * np.eye(2)
    roll = _roll(stiff, tangent @ span, rotated @ tangent.T, rotated @ n)
    rotated = _unit(n + roll @ tangent)
    points = jax.vmap(surface)(geoms, points, _outward(rotated))
    tangent = tangents(rotated)
    free = jax.vmap(_projector)(flats @ tangent.T)
    slide = inverse(free[0] + free[1]) @ (tangent @ (points[1] - points[0]))
    steps = jnp.sum(free * _outward(slide)[:, None], axis=2) @ tangent
    return rotated, points + jax.vmap(_within)(flats, steps)


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


def moving(a: Convex, b: Convex, found: Nearest, normal: Array) -> tuple[Array, Array, Array, Array]:
    """Return distance, point midway, normal, and witness points, with the derivatives that they have at the optimum.

    Arguments: see `follow`; the witness points have shape (2, 3).
    """
    n0 = lax.stop_gradient(normal)
    off = 0.5 * jnp.maximum(a.margin, 0)
    depth = -(found.dist + 2 * off)
    geoms, out = touched_pair(a, b, found.corners.index), _outward(n0)
    share = shares(found.corners.points, n0 * -found.dist)
    at = _inner(found, off, n0)
    live = jax.vmap(witness, in_axes=(0, 0, 0, None))(geoms, at, out, share)
    stopped = lax.stop_gradient(geoms)
    bends, flats = jax.vmap(bend)(stopped, at, out)
    flats = jax.vmap(flat_directions)(geoms, flats)

    # where a geom rotates under a fixed normal, its support point rolls
    leant = jnp.sum((geoms.mat - stopped.mat) * out[:, :, None], axis=1)
    leant = jnp.sum(stopped.mat * leant[:, None], axis=2)
    live = live + jnp.sum(bends * leant[:, None], axis=2)
    dist = dot(n0, live[1] - live[0])
    tangent = tangents(n0)
    shift = tangent @ (live[1] - live[0])
    shift = shift - lax.stop_gradient(shift)
    rotated = _in_world(geoms, flats).reshape(4, 3)
    stiff = tangent @ (bends[0] + bends[1]) @ tangent.T - depth * np.eye(2)
    lean = rotated @ n0
    roll = _roll(stiff, shift, rotated @ tangent.T, lean - lax.stop_gradient(lean))
    normal = n0 + roll @ tangent

    # both points follow the turning normal by their curvature, then slide along flat directions to stay opposite
    rotation = roll @ tangent
    moved = live + jnp.sum(bends * _outward(rotation)[:, None], axis=2)
    gap = tangent @ (moved[1] - moved[0] - dist * normal)
    gap = gap - lax.stop_gradient(gap)
    free = jax.vmap(_projector)(_in_world(stopped, flats) @ tangent.T)
    weight = inverse(free[0] + free[1])
    slide = free[0] @ (weight @ gap)
    return dist, moved[0] + slide @ tangent + 0.5 * dist * normal, normal, live


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
    square = edges @ edges.T
    size = jnp.maximum(jnp.trace(square), TINY * TINY)
    weights = inverse(safe.divide(square, size)) @ safe.divide(edges @ (target - points[0]), size)
    return lax.stop_gradient(jnp.concatenate([1 - jnp.sum(weights, keepdims=True), weights]))


def _projector(rows: Array) -> Array:
    """Return the projector onto the span of rows, shape (k, 2)."""
    gram = rows.T @ rows
    return gram @ inverse(gram)


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
    across = lax.stop_gradient(across)
    size = jnp.sum(across * across, axis=1)
    first = jnp.argmax(size)
    u, bound1 = across[first], size[first] > 1e-2
    length = jnp.sqrt(jnp.where(bound1, size[first], 1))
    unit = safe.divide(u, length, np.array([1.0, 0.0]), where=bound1)
    free = jnp.stack([-unit[1], unit[0]])
    rest = across @ free
    second = jnp.argmax(jnp.abs(rest))
    bound2 = bound1 & (jnp.abs(rest[second]) > 1e-2)
    along = -safe.ratio(lean[first], length)
    held = -safe.ratio(lean[second] + (across[second] @ unit) * along, jnp.where(bound2, rest[second], 1))
    stiff_free = free @ stiff @ free
    slope = jnp.where(jnp.abs(stiff_free) < 1e-9, 1, stiff_free)
    rolled = safe.ratio(free @ shift - (free @ stiff @ unit) * along, slope)
    bound = along * unit + jnp.where(bound2, held, rolled) * free
    det = stiff[0, 0] * stiff[1, 1] - stiff[0, 1] * stiff[1, 0]
    inverse = jnp.stack([jnp.stack([stiff[1, 1], -stiff[0, 1]]), jnp.stack([-stiff[1, 0], stiff[0, 0]])])
    return jnp.where(bound1, bound, safe.ratio(inverse @ shift, jnp.where(jnp.abs(det) < 1e-18, 1, det)))
