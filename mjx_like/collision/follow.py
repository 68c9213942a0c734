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

from mjx_like.collision import manifold
from mjx_like.collision.ccd import Nearest
from mjx_like.collision.gjk import Corners
from mjx_like.collision.simplex import dot
from mjx_like.geometry.convex import Convex, corners
from mjx_like.types.enums import GeomType

Array = jax.Array

_FLAT = 2e-3  # sine below which a normal counts as across a segment or along the axis of a disk
_LEVEL = 1e-6  # sine below which it is across wherever the point lies
_END = 1e-4  # share of the half length that counts as its end
_TINY = 1e-12
_STEPS = 4  # of Newton's method from what the search found
_NOISE = 100  # roundings of the last step, which need not be shorter than others
_NEAR = 0.1  # how far these may lead: components of the normal, and distance [m]


def witness(geom: Convex, at: Array, normal: Array, share: Array, index: Array) -> Array:
    """Return the point of a geom that is at `at` now, as a function of pose, size and vertices, shape (3,).

    normal: outward normal of the geom there; share, index: the mean of these vertices is the point, for a mesh.
    """
    stopped = lax.stop_gradient(geom)
    local = jnp.sum(stopped.mat * (at - stopped.pos)[:, None], axis=0)
    n = jnp.sum(stopped.mat * normal[:, None], axis=0)
    grown = _own_support(geom, n, share, index) - _own_support(stopped, n, share, index)
    return geom.pos + jnp.sum(geom.mat * (local + grown), axis=1)


def _own_support(geom: Convex, n: Array, share: Array, index: Array) -> Array:
    """Return the support point in the frame of the geom for a fixed normal, by which size and vertices act."""
    r, half = geom.size[0], geom.size[1]
    across = n * np.array([1, 1, 0])
    length = jnp.sqrt(jnp.maximum(dot(across, across), _TINY))
    end = jnp.sign(n) * half * np.array([0, 0, 1])
    scaled = geom.size * n
    reach = jnp.sqrt(jnp.maximum(dot(scaled, scaled), _TINY * _TINY))
    vertex = jnp.sum(share[:, None] * geom.vert[jnp.maximum(index, 0)], axis=0)
    points = {
        GeomType.SPHERE: r * n,
        GeomType.CAPSULE: r * n + end,
        GeomType.ELLIPSOID: geom.size * scaled / reach,
        GeomType.CYLINDER: r * across / length + end,
        GeomType.BOX: jnp.sign(n) * geom.size,
        GeomType.MESH: vertex,
        GeomType.HFIELD: vertex,
    }
    return _by_kind(geom, points, jnp.zeros_like(n))


def _by_kind(geom: Convex, values: dict[GeomType, Array], otherwise: Array) -> Array:
    """Return the value of the type that a geom has, or `otherwise` for the types that are left out."""
    for kind, value in values.items():
        otherwise = jnp.where(geom.kind == kind, value, otherwise)
    return otherwise


def _lies(geom: Convex, local: Array, n: Array) -> Array:
    """Return whether a capsule or cylinder touches with its side, by the point and the normal in its frame.

    A normal across the axis is not enough: an end may touch with it, if the normal leans to that end.
    """
    core = local[2] - jnp.where(geom.kind == GeomType.CAPSULE, geom.size[0], 0) * n[2]
    between = core * jnp.sign(n[2]) < (1 - _END) * geom.size[1]
    return (jnp.abs(n[2]) < _FLAT) & (between | (jnp.abs(n[2]) < _LEVEL))


def _bend(geom: Convex, at: Array, normal: Array) -> tuple[Array, Array]:
    """Return the curvature matrix of the support function, shape (3, 3), and flat directions, rows of (2, 3), world.

    Flat directions of boxes and meshes are left zero: their corners tell them.
    """
    local = jnp.sum(geom.mat * (at - geom.pos)[:, None], axis=0)
    n = jnp.sum(geom.mat * normal[:, None], axis=0)
    eye = np.eye(3)
    size = geom.size
    scaled = size * n
    reach = jnp.sqrt(jnp.maximum(dot(scaled, scaled), _TINY * _TINY))
    unit = scaled / reach
    ellipsoid = size[:, None] * (eye - unit[:, None] * unit) * size / reach
    length = jnp.sqrt(jnp.maximum(n[0] * n[0] + n[1] * n[1], _TINY))
    turn = jnp.stack([-n[1], n[0], jnp.zeros_like(n[0])]) / length
    cap, side = length < _FLAT, _lies(geom, local, n)
    disk = jnp.where(cap, 0, size[0] / length) * turn[:, None] * turn
    ball = size[0] * eye
    bend, flat = jnp.zeros((3, 3), n.dtype), jnp.zeros((2, 3), n.dtype)
    bends = {
        GeomType.SPHERE: ball, GeomType.CAPSULE: ball, GeomType.ELLIPSOID: ellipsoid, GeomType.CYLINDER: disk
    }  # fmt: skip
    bend = _by_kind(geom, bends, bend)
    axis = jnp.stack([eye[2], 0 * eye[2]])
    rod = (geom.kind == GeomType.CAPSULE) | (geom.kind == GeomType.CYLINDER)
    flat = jnp.where(rod & side, axis, flat)
    flat = jnp.where((geom.kind == GeomType.CYLINDER) & cap, eye[:2], flat)
    return geom.mat @ bend @ geom.mat.T, flat


def _flat(geom: Convex, own: Array, index: Array) -> Array:
    """Return the flat directions of a geom at the contact, in its frame, shape (2, 3), of unit length or zero.

    index: its corners in the final face, shape (3,).
    """
    points = corners(geom, index)
    edges = points[1:] - points[:1]
    cornered = (geom.kind == GeomType.BOX) | (geom.kind == GeomType.MESH) | (geom.kind == GeomType.HFIELD)
    flat = jnp.where(cornered, edges, own)
    length = jnp.sqrt(jnp.maximum(dot(flat, flat), _TINY * _TINY))
    return jnp.where((length > 1e-9)[:, None], flat / length[:, None], 0)


def follow(
    a: Convex, b: Convex, found: Nearest, normal: Array, tables: manifold.Tables, solid: Array | None, several: Array
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
    bends, flats = zip(*(_bend(g, x, s * n) for g, x, s in zip(geoms, points, signs, strict=True)), strict=True)
    flats = [_flat(g, own, i) @ g.mat.T for g, own, i in zip(geoms, flats, index, strict=True)]
    points = [_surface(g, x, s * n) for g, x, s in zip(geoms, points, signs, strict=True)]
    tangent, turned = tangents(n), jnp.concatenate(flats)
    span = points[1] - points[0]
    stiff = tangent @ (bends[0] + bends[1]) @ tangent.T + dot(n, span) * np.eye(2)
    roll = _roll(stiff, tangent @ span, turned @ tangent.T, turned @ n)
    turned = _unit(n + roll @ tangent)
    points = [_surface(g, x, s * turned) for g, x, s in zip(geoms, points, signs, strict=True)]
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
    share = jnp.where(wide, dot(second, step) / jnp.where(wide, square, 1), 0)
    return dot(first, step) * first + share * second


def _surface(geom: Convex, at: Array, normal: Array) -> Array:
    """Return the point of a geom with an outward normal, in the world; along flat directions it is that of `at`."""
    n = jnp.sum(geom.mat * normal[:, None], axis=0)
    local = jnp.sum(geom.mat * (at - geom.pos)[:, None], axis=0)
    r, half = geom.size[0], geom.size[1]
    length = jnp.sqrt(jnp.maximum(n[0] * n[0] + n[1] * n[1], _TINY))
    cap, side = length < _FLAT, _lies(geom, local, n)
    upright = np.array([0, 0, 1.0])
    core = jnp.where(side, jnp.clip(local[2] - r * n[2], -half, half), jnp.sign(n[2]) * half) * upright
    end = jnp.where(side, jnp.clip(local[2], -half, half), jnp.sign(n[2]) * half) * upright
    around = jnp.where(cap, local, r * n / length) * (1 - upright)
    scaled = geom.size * n
    reach = jnp.sqrt(jnp.maximum(dot(scaled, scaled), _TINY * _TINY))
    points = {
        GeomType.SPHERE: r * n,
        GeomType.CAPSULE: r * n + core,
        GeomType.ELLIPSOID: geom.size * scaled / reach,
        GeomType.CYLINDER: around + end,
    }
    return geom.pos + jnp.sum(geom.mat * _by_kind(geom, points, local), axis=1)


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
    bends, flats = zip(*(_bend(g, x, s * n0) for g, x, s in zip(stopped, at, signs, strict=True)), strict=True)
    flats = [_flat(g, own, i) for g, own, i in zip(geoms, flats, index, strict=True)]

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


def no_tangent(x: Array):
    """Return the tangent of what is held."""
    return jnp.zeros_like(x) if jnp.issubdtype(x.dtype, jnp.floating) else np.zeros(x.shape, jax.dtypes.float0)


def _unit(x: Array) -> Array:
    length = jnp.sqrt(jnp.maximum(dot(x, x), _TINY * _TINY))
    return jnp.where(length > 1e-11, x / length, np.arange(3) == 0)


def tangents(n: Array) -> Array:
    guess = jnp.where(jnp.abs(n[0]) > 0.6, np.array([0.0, 1, 0], n.dtype), np.array([1.0, 0, 0], n.dtype))
    first = _unit(guess - dot(guess, n) * n)
    return jnp.stack([first, jnp.cross(n, first)])


def shares(points: Array, target: Array) -> Array:
    """Return the shares of three points in the point of their plane, or line, nearest to a target; they sum to one."""
    edges = points[1:] - points[:1]
    square = edges @ edges.T
    size = jnp.maximum(jnp.trace(square), _TINY * _TINY)
    weights = inverse(square / size) @ (edges @ (target - points[0]) / size)
    return lax.stop_gradient(jnp.concatenate([1 - jnp.sum(weights, keepdims=True), weights]))


def _projector(rows: Array) -> Array:
    """Return the projector onto the span of rows, shape (k, 2)."""
    gram = rows.T @ rows
    return gram @ inverse(gram)


def inverse(matrix: Array) -> Array:
    """Return the inverse of a positive semidefinite matrix of size about 1, shape (2, 2), that may be singular."""
    ridge = float(jnp.finfo(matrix.dtype).eps) ** 0.5
    (a, b), (c, d) = matrix + ridge * np.eye(2, dtype=matrix.dtype)
    return jnp.stack([jnp.stack([d, -b]), jnp.stack([-c, a])]) / (a * d - b * c)


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
    unit = jnp.where(bound1, u / jnp.sqrt(jnp.where(bound1, size[first], 1)), np.array([1.0, 0.0]))
    free = jnp.stack([-unit[1], unit[0]])
    rest = across @ free
    second = jnp.argmax(jnp.abs(rest))
    bound2 = bound1 & (jnp.abs(rest[second]) > 1e-2)
    along = -lean[first] / jnp.sqrt(jnp.where(bound1, size[first], 1))
    held = -(lean[second] + (across[second] @ unit) * along) / jnp.where(bound2, rest[second], 1)
    stiff_free = free @ stiff @ free
    rolled = (free @ shift - (free @ stiff @ unit) * along) / jnp.where(jnp.abs(stiff_free) < 1e-9, 1, stiff_free)
    bound = along * unit + jnp.where(bound2, held, rolled) * free
    det = stiff[0, 0] * stiff[1, 1] - stiff[0, 1] * stiff[1, 0]
    inverse = jnp.stack([jnp.stack([stiff[1, 1], -stiff[0, 1]]), jnp.stack([-stiff[1, 0], stiff[0, 0]])])
    loose = inverse @ shift / jnp.where(jnp.abs(det) < 1e-18, 1, det)
    return jnp.where(bound1, bound, loose)
