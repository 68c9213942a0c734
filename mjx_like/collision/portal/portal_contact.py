"""Contact points of convex geoms as MuJoCo finds them without `nativeccd`: by portal refinement, several times over.

The search runs on the geoms as they are, then with both rotated by a milliradian, against each other, about two axes
across the normal, both ways. What is found elsewhere than before is a further point, of the same depth.
Source: mjc_Convex, mjc_CCDIteration, mjc_fixNormal.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex.ccd import Nearest
from mjx_like.collision.convex.derivative import inverse, moving, shares, tangents
from mjx_like.collision.convex.gjk import Corners
from mjx_like.collision.convex.touched_surface import touched_pair, witness
from mjx_like.collision.portal import mpr
from mjx_like.constants import MINVAL
from mjx_like.geometry.convex import Convex, pair
from mjx_like.math import quaternion, safe
from mjx_like.math.frame import from_normal
from mjx_like.math.linalg import dot, product
from mjx_like.types.enums import GeomType

Array = jax.Array

SLOTS = 5
_ANGLE = 1e-3
_DISTINCT = 1e-3  # distance of points, in bounding radii of the smaller geom
_TURNS = ((0, 0.0), (1, -_ANGLE), (1, _ANGLE), (2, -_ANGLE), (2, _ANGLE))  # row of the contact frame, and angle
_STEPS, _CHANGE = 30, 1e-6  # of the normals of ellipsoids
_SHORT = 3e-3  # a side of a portal, in distances from the centre, below which the geoms count as round
_LEAST = 1e-6  # cosine of a ray with the normal of its portal
_ROUND = (GeomType.SPHERE, GeomType.CAPSULE, GeomType.ELLIPSOID, GeomType.CYLINDER)


class Found(NamedTuple):
    """The points of a pair, SLOTS rows of which `count` are in use."""

    depth: Array  # of all of them [m]
    pos: Array  # shape (SLOTS, 3) [m], world
    normal: Array  # shape (SLOTS, 3), world
    count: Array
    direction: Array  # of the depth, before the normal follows the surfaces, shape (SLOTS, 3)
    nearest: Nearest  # of each row


def contacts(a: Convex, b: Convex, kinds, *, tolerance: Array, iterations: int, reach: Array, several: Array) -> Found:
    """Return the points of a pair; no derivative passes.

    Args:
      a, b: the geoms, margins included.
      kinds, tolerance, iterations: see `gjk.distance`.
      reach: bounding radius of the smaller geom [m].
      several: whether to look for more than one.
    """
    a, b, tolerance, reach = lax.stop_gradient((a, b, tolerance, reach))
    dtype = a.pos.dtype

    def iterate(carry, which):
        found, frame, seen = carry
        row, angle = which
        rotation = quaternion.matrix(quaternion.from_axis_angle(frame[row], angle)).astype(dtype)
        pivot = found.pos[0]
        hit = mpr.penetration(
            pair(_rotated(a, rotation, pivot), _rotated(b, rotation.T, pivot)), kinds, tolerance=tolerance,
            iterations=iterations, seen=seen,
        )  # fmt: skip
        normal = fixed_normal(a, b, kinds, hit)
        first = row == 0
        taken = np.arange(SLOTS) < found.count
        apart = jnp.sqrt(dot(found.pos - hit.pos, found.pos - hit.pos)) > _DISTINCT * reach
        use = (hit.depth > 0) & (first | (several & (found.count > 0) & jnp.all(apart | ~taken)))
        here = (np.arange(SLOTS) == found.count) & use
        near = found.nearest
        span = hit.first - hit.second
        depth = jnp.where(first, hit.depth, found.depth)
        near = Nearest(
            jnp.where(here, -jnp.sqrt(dot(span, span)), near.dist),
            jnp.where(here[:, None], hit.first, near.first),
            jnp.where(here[:, None], hit.second, near.second),
            Corners(jnp.where(here[:, None, None], hit.corners.table, near.corners.table)),
            near.known,
        )
        found = Found(
            depth,
            jnp.where(here[:, None], hit.pos, found.pos),
            jnp.where(here[:, None], normal, found.normal),
            found.count + use,
            jnp.where(here[:, None], hit.direction, found.direction),
            near,
        )
        return (found, jnp.where(first, from_normal(normal), frame), hit.seen), None

    zero, rows = jnp.zeros(SLOTS, dtype), jnp.zeros((SLOTS, 3), dtype)
    near = Nearest(zero, rows, rows, Corners(jnp.zeros((SLOTS, 3, 8), dtype)), jnp.ones(SLOTS, bool))
    blank = Found(jnp.zeros((), dtype), rows, rows, jnp.zeros((), jnp.int32), rows, near)
    start = blank, jnp.eye(3, dtype=dtype), jnp.full(2, -1, jnp.int32)
    axes, angles = zip(*_TURNS, strict=True)
    return lax.scan(iterate, start, (np.array(axes, np.int32), np.array(angles, dtype)))[0][0]


def deepest(a: Convex, b: Convex, kinds, *, tolerance: Array, iterations: int, limit: Array):
    """Return what one search finds below a distance: (dist, pos, normal), direction, whether it does, and Nearest.

    The direction is that of the depth, before the normal follows the surfaces: `follow_one` takes it, with the last.
    No derivative passes. Where nothing is found, the rest is undefined.

    Args:
      a, b: the geoms, without margins.
      kinds, tolerance, iterations: see `gjk.distance`.
      limit: distance of interest, shape () [m]; the search runs on geoms that are larger by half of it.
    """
    a, b, tolerance, limit = lax.stop_gradient((a, b, tolerance, limit))
    a, b = (geom._replace(margin=limit) for geom in (a, b))
    seen = jnp.full(2, -1, jnp.int32)
    hit = mpr.penetration(pair(a, b), kinds, tolerance=tolerance, iterations=iterations, seen=seen)
    layer = 0.5 * limit * hit.direction
    dist = limit - hit.depth
    near = Nearest(dist, hit.first - layer, hit.second + layer, hit.corners, hit.depth > 0)
    return (dist, hit.pos, fixed_normal(a, b, kinds, hit)), hit.direction, hit.depth > 0, near


def follow(a: Convex, b: Convex, found: Found) -> tuple[Array, Array, Array]:
    """Return (dist, pos, normal) of the points of a pair, right in their derivatives as `follow_one` is."""
    dist, pos, normal = jax.vmap(lambda near, direction: follow_one(a, b, near, direction))(
        found.nearest, found.direction
    )
    return jnp.broadcast_to(dist[0], dist.shape), pos, normal


def follow_one(a: Convex, b: Convex, found: Nearest, direction: Array) -> tuple[Array, Array, Array]:
    """Return (dist, pos, normal) of one point, right in the derivative of the distance; the others hold the portal.

    A portal is as rigid as its corners where these are features of the geoms; across its short directions, where the
    geoms are round, it stays with the ray from the centre through the origin.
    """
    dist, pos, normal = moving(a, b, found, direction)
    table, points = found.corners, found.corners.points
    center = a.center - b.center
    ahead, _ = safe.normalize(-center)
    n, at, to, round_ = lax.stop_gradient(_held(points, center, ahead, direction))
    geoms, each = touched_pair(a, b, table.index), np.eye(3, dtype=n.dtype)
    edge = jax.vmap(jax.vmap(witness, in_axes=(None, 0, None, 0)), in_axes=(0, 0, 0, None))(
        geoms, jnp.stack([table.first, table.second]), jnp.stack([n, -n]), each
    )
    edge = edge[0] - edge[1]
    slope = dot(n, ahead)
    through = safe.ratio(dot(n, product(at, edge)), jnp.where(slope > _LEAST, slope, 1)) * ahead  # where the ray leaves
    gain = dot(direction, product(to, edge) + product(round_, through - product(at, edge)))
    return lax.stop_gradient(dist + gain) - gain, pos, normal


def _held(points: Array, center: Array, ahead: Array, direction: Array) -> tuple[Array, Array, Array, Array]:
    """Return the normal of a portal, shares of its corners, and a projector onto its short directions, shape (3, 3).

    The shares are those of where the ray leaves, and of what is nearest to the origin.
    """
    eps = float(jnp.finfo(points.dtype).eps)
    sides = points[1:] - points[:1]
    n, _ = safe.normalize(jnp.cross(*sides))
    n = n * jnp.where(dot(n, ahead) < 0, -1, 1)
    whole = dot(n, ahead) > _LEAST
    n = jnp.where(whole, n, direction)
    reach = dot(n, points[0]) / jnp.where(whole, dot(n, ahead), 1) * ahead
    to = jnp.where(whole, mpr.nearest_of_triangle(points, eps), np.array([1.0, 0, 0]))
    at = jnp.where(whole, shares(points, reach), to)
    short = _SHORT * _SHORT * dot(reach - center, reach - center)
    across = tangents(n)
    wide = product(product(across, product(sides.T, sides)), across.T) / jnp.where(whole, short, 1)
    return n, at, to, jnp.where(whole, product(product(across.T, inverse(np.eye(2) + product(wide, wide))), across), 0)


def _rotated(geom: Convex, rotation: Array, pivot: Array) -> Convex:
    """Return a geom rotated about a point."""
    arm = pivot - geom.pos
    pos = geom.pos - (product(rotation, arm) - arm)
    return geom._replace(pos=pos, center=pos, mat=product(rotation, geom.mat))


def fixed_normal(a: Convex, b: Convex, kinds, hit: mpr.Portal) -> Array:
    """Return the normal of a contact after the surfaces of round geoms there, shape (3,).  Source: mjc_fixNormal."""
    (own, has), (other, other_has) = (
        _outward(geom, of_kind, hit.pos, sign * hit.direction)
        for geom, of_kind, sign in ((a, kinds[0], 1.0), (b, kinds[1], -1.0))
    )
    return jnp.where(
        has & other_has,
        safe.normalize(own - other)[0],
        jnp.where(has, own, jnp.where(other_has, -other, hit.direction)),
    )


def _outward(geom: Convex, kinds, at: Array, normal: Array) -> tuple[Array, Array]:
    """Return the outward normal of a geom near a point, and whether the type and the place tell it."""
    pos = jnp.sum(geom.mat * (at - geom.pos)[:, None], axis=0)
    n = jnp.sum(geom.mat * normal[:, None], axis=0)
    out, known = n, jnp.zeros((), bool)
    for kind in (k for k in _ROUND if k in kinds):
        value, good = _NORMALS[kind](geom.size, pos, n)
        here = geom.kind == kind
        out, known = jnp.where(here, value, out), jnp.where(here, good, known)
    return product(geom.mat, safe.normalize(out)[0]), known


def _sphere(size: Array, pos: Array, n: Array) -> tuple[Array, bool]:
    return pos, True


def _capsule(size: Array, pos: Array, n: Array) -> tuple[Array, bool]:
    return pos - jnp.where(np.arange(3) == 2, jnp.clip(pos, -size[1], size[1]), 0), True


def _cylinder(size: Array, pos: Array, n: Array) -> tuple[Array, Array]:
    across = pos * np.array([1.0, 1, 0], pos.dtype)
    flat, wall = jnp.abs(size[1] - jnp.abs(pos[2])), jnp.abs(size[0] - jnp.sqrt(dot(across, across)))
    return across, (jnp.abs(pos[2]) <= 0.95 * size[1]) & (flat >= 0.25 * wall)


def _ellipsoid(size: Array, pos: Array, n: Array) -> tuple[Array, Array]:
    """Return the normal where a ray along it meets the surface from within, or that of the nearest point outside."""
    good = jnp.all(size >= MINVAL)
    size = jnp.where(good, size, 1)
    scaled = pos / size
    excess = dot(scaled, scaled) - 1
    inside, found = _ellipsoid_inside(1 / (size * size), pos, safe.normalize(n)[0], excess)
    return jnp.where(excess <= 0, inside, _ellipsoid_outside(size * size, pos)), good & ((excess > 0) | found)


def _ellipsoid_inside(inverse: Array, pos: Array, n: Array, excess: Array) -> tuple[Array, Array]:
    def body(s):
        n, step, _, found = s
        along, half = dot(n * inverse, n), dot(pos * inverse, n)
        det = half * half - along * excess
        reach = (jnp.sqrt(jnp.maximum(det, 0)) - half) / jnp.where(along < MINVAL, 1, along)
        lost = (det < MINVAL) | (along < MINVAL) | (reach < 0)
        new = safe.normalize((pos + reach * n) * inverse)[0]
        still = jnp.sqrt(dot(new - n, new - n)) < _CHANGE
        return jnp.where(lost, n, new), step + 1, lost | still | (step + 1 >= _STEPS), ~lost | (step > 0)

    start = n, jnp.zeros((), jnp.int32), excess > 0, jnp.zeros((), bool)
    n, _, _, found = lax.while_loop(lambda s: ~s[2], body, start)
    return n, found


def _ellipsoid_outside(square: Array, pos: Array) -> Array:
    share = pos * pos * square

    def body(s):
        shift, step, _ = s
        r = 1 / (square + shift)
        value, slope = jnp.sum(share * r * r) - 1, -2 * jnp.sum(share * r * r * r)
        move = -value / jnp.where(slope > -MINVAL, -1, slope)
        end = (value < _CHANGE) | (slope > -MINVAL) | (move < _CHANGE)
        return jnp.where(end, shift, shift + move), step + 1, end | (step + 1 >= _STEPS)

    start = jnp.zeros((), pos.dtype), jnp.zeros((), jnp.int32), jnp.sum(share / (square * square)) <= 1
    return pos / (square + lax.while_loop(lambda s: ~s[2], body, start)[0])


_NORMALS = {
    GeomType.SPHERE: _sphere,
    GeomType.CAPSULE: _capsule,
    GeomType.ELLIPSOID: _ellipsoid,
    GeomType.CYLINDER: _cylinder,
}
