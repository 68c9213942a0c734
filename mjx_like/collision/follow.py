"""How contact points of convex geoms move with poses, sizes and vertices: the derivative of `convex_points`.

The search is not differentiated. What touches is held: for the depth, the two witness points as points of their geoms
(the envelope theorem makes that exact); for the normal, flat directions of what touches turn with their geom, and in
the others the surfaces roll on each other by their curvature; for the point, both witness points slide along flat
directions so that they stay opposite. Several points are clipped again, with the same faces and edges.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from mjx_like.collision import manifold
from mjx_like.collision.ccd import Nearest
from mjx_like.collision.feature import Tables
from mjx_like.collision.gjk import Corners
from mjx_like.collision.simplex import dot
from mjx_like.collision.touched import TINY, bend, flat_directions, surface, witness
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
    dist, point, turned, live = moving(a, b, found, normal)
    first = np.arange(manifold.SLOTS) == 0
    one = jnp.where(first, dist, 0), jnp.where(first[:, None], point, 0), turned
    if solid is None:
        return one
    n0 = lax.stop_gradient(normal)
    off = 0.5 * jnp.maximum(a.margin, 0)
    rigid = [
        jnp.stack([witness(g, c, s * n0, jnp.zeros(3, c.dtype), i) for c in points])
        for g, points, s, i in zip(
            (a, b), (found.corners.first, found.corners.second), (1.0, -1.0), found.corners.index.T, strict=True
        )
    ]
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
    index = tuple(found.corners.index.T)

    def step(count, s):
        n, points, first, _ = s
        turned, points = _improved((a, b), n, points, index)
        change = jnp.max(jnp.abs(turned - n))
        return turned, points, jnp.where(count == 0, change, first), change

    zero = jnp.zeros_like(found.dist)
    start = normal, (found.first - off * normal, found.second + off * normal), zero, zero
    n, points, first, last = lax.fori_loop(0, _STEPS, step, start)
    dist = dot(n, points[1] - points[0])
    moved = jnp.stack([*(n - normal), dist - (found.dist + 2 * off)])
    shrinks = last <= jnp.maximum(0.1 * first, _NOISE * jnp.finfo(n.dtype).eps)
    good = jnp.all(jnp.abs(moved) < _NEAR) & shrinks
    better = found._replace(dist=dist - 2 * off, first=points[0] + off * n, second=points[1] - off * n)
    return jax.tree.map(lambda x, y: jnp.where(good, x, y), (better, n), (found, normal))


def _improved(geoms: tuple[Convex, Convex], n: Array, points: tuple[Array, Array], index) -> tuple[Array, tuple]:
    """Return the normal and the witness points after a Newton step on the separation along the normal."""
    signs = (1.0, -1.0)
    bends, flats = zip(*(bend(g, x, s * n) for g, x, s in zip(geoms, points, signs, strict=True)), strict=True)
    flats = [flat_directions(g, own, i) @ g.mat.T for g, own, i in zip(geoms, flats, index, strict=True)]
    points = [surface(g, x, s * n) for g, x, s in zip(geoms, points, signs, strict=True)]
    tangent, turned = tangents(n), jnp.concatenate(flats)
    span = points[1] - points[0]
    stiff = tangent @ (bends[0] + bends[1]) @ tangent.T + dot(n, span) * np.eye(2)
    roll = _roll(stiff, tangent @ span, turned @ tangent.T, turned @ n)
    turned = _unit(n + roll @ tangent)
    points = [surface(g, x, s * turned) for g, x, s in zip(geoms, points, signs, strict=True)]
    tangent = tangents(turned)
    free = [_projector(f @ tangent.T) for f in flats]
    slide = inverse(free[0] + free[1]) @ (tangent @ (points[1] - points[0]))
    steps = [_within(f, s * (p @ slide) @ tangent) for f, s, p in zip(flats, signs, free, strict=True)]
    return turned, (points[0] + steps[0], points[1] + steps[1])


def _within(flats: Array, step: Array) -> Array:
    """Return the part of a step that lies in the span of flat directions, shape (2, 3), of unit length or zero."""
    first = flats[0]
    second = flats[1] - dot(flats[1], first) * first
    square = dot(second, second)
    wide = square > 1e-6
    share = safe.divide(dot(second, step), square, where=wide)
    return dot(first, step) * first + share * second


def moving(a: Convex, b: Convex, found: Nearest, normal: Array) -> tuple[Array, Array, Array, tuple[Array, Array]]:
    """Return distance, point midway, normal, and witness points, with the derivatives that they have at the optimum.

    Arguments: see `follow`.
    """
    n0 = lax.stop_gradient(normal)
    off = 0.5 * jnp.maximum(a.margin, 0)
    depth = -(found.dist + 2 * off)
    geoms, signs = (a, b), (1.0, -1.0)
    index = tuple(found.corners.index.T)
    share = shares(found.corners.points, n0 * -found.dist)
    at = (found.first - off * n0, found.second + off * n0)
    live = [witness(g, p, s * n0, share, i) for g, p, s, i in zip(geoms, at, signs, index, strict=True)]
    stopped = lax.stop_gradient(geoms)
    bends, flats = zip(*(bend(g, x, s * n0) for g, x, s in zip(stopped, at, signs, strict=True)), strict=True)
    flats = [flat_directions(g, own, i) for g, own, i in zip(geoms, flats, index, strict=True)]

    # where a geom turns under a fixed normal, its support point rolls
    live = [
        x + s * (h @ (k.mat @ jnp.sum((g.mat - k.mat) * n0[:, None], axis=0)))
        for x, s, h, g, k in zip(live, signs, bends, geoms, stopped, strict=True)
    ]
    dist = dot(n0, live[1] - live[0])
    tangent = tangents(n0)
    shift = tangent @ (live[1] - live[0])
    shift = shift - lax.stop_gradient(shift)
    turned = jnp.concatenate([f @ g.mat.T for f, g in zip(flats, geoms, strict=True)])
    stiff = tangent @ (bends[0] + bends[1]) @ tangent.T - depth * np.eye(2)
    lean = turned @ n0
    roll = _roll(stiff, shift, turned @ tangent.T, lean - lax.stop_gradient(lean))
    normal = n0 + roll @ tangent

    # both points follow the turning normal by their curvature, then slide along flat directions to stay opposite
    turn = roll @ tangent
    moved = [live[0] + bends[0] @ turn, live[1] - bends[1] @ turn]
    gap = tangent @ (moved[1] - moved[0] - dist * normal)
    gap = gap - lax.stop_gradient(gap)
    free = [_projector(f @ g.mat.T @ tangent.T) for f, g in zip(flats, stopped, strict=True)]
    weight = inverse(free[0] + free[1])
    slide = free[0] @ (weight @ gap)
    return dist, moved[0] + slide @ tangent + 0.5 * dist * normal, normal, tuple(live)


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
    """Return the turn of the normal, shape (2,).

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
