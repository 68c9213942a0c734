"""The shortest path of a tendon around a sphere or an endless cylinder, for many geoms at once.

Points of the plane of the path are pairs of components, as vectors of space are triples.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe, vector
from mjx_like.math.select import hold
from mjx_like.math.vector import Vector
from mjx_like.tendon.reflection import reflection_angle

Array = jax.Array
Point = tuple[Array, Array]


@dataclasses.dataclass(frozen=True)
class Wrap:
    """Where tendons touch geoms; where one does not, `arc` is 0 and the points mean nothing.

    touches: whether the tendon touches the geom, shape (n,); arc: length on the geom, shape (n,) [m];
    first, last: where the tendon meets and leaves the geom, shapes (n,) [m, world].
    """

    touches: Array
    arc: Array
    first: Vector
    last: Vector


def wrap(start: Vector, stop: Vector, center: Vector, axes, radius: Array, cylinder: np.ndarray, side) -> Wrap:
    """Return the path of tendons around geoms.

    Args:
      start: position of the site before each geom, components of shape (n,) [m, world]; `stop`: of the one after.
      center: position of the geom; `axes`: its three axes [world].
      radius: of the geom, shape (n,) [m].
      cylinder: static mask of the cylinders along their z axis, shape (n,); the others are spheres.
      side: None, or (has, position) of the side sites: a static mask of shape (n,) and world positions. Outside the
        geom it says which way round the path goes; inside, that the path touches the geom from within.

    A tendon with an end on the axis or in the centre does not wrap, and derivatives at the onset of wrapping are those
    of one side.
    Source: mju_wrap; XMLreference, spatial/geom/sidesite.
    """
    a, b = (vector.project(axes, vector.sub(p, center)) for p in (start, stop))
    e1, e2 = _plane(a, b, cylinder)
    a, b, e1, e2 = _held((a, b, e1, e2))
    a2, b2 = _flat(e1, e2, a), _flat(e1, e2, b)
    sweep = angle_between(a2, b2)
    # both ways round are equal: MuJoCo's choice
    sweep = jnp.where(sweep <= -np.pi, -sweep, sweep)
    if side is None:
        touches, arc, first, last = _around(a2, b2, radius, sweep)
    else:
        has, position = side
        s = vector.project(axes, vector.sub(position, center))
        s2 = _flat(e1, e2, s)
        apart = s2[0] * s2[0] + s2[1] * s2[1] >= MINVAL**2
        s2 = jnp.where(apart, s2[0], 1), jnp.where(apart, s2[1], 0)
        through = angle_between(a2, s2) + angle_between(s2, b2)
        around = _around(a2, b2, radius, jnp.where(has, through, sweep))
        inside = _inside(a2, b2, radius, has & (vector.dot(s, s) < radius * radius))
        touches, arc, first, last = jax.tree.map(
            lambda p, q: jnp.where(has & (vector.dot(s, s) < radius * radius), p, q), inside, around
        )
    flag, arc, first, last = _held((touches.astype(arc.dtype), arc, first, last))
    touches = flag > 0.5
    touches &= (vector.dot(a, a) >= MINVAL**2) & (vector.dot(b, b) >= MINVAL**2) & (radius >= MINVAL)
    arc, heights = _climb(a, b, a2, b2, arc, first, last, cylinder)
    points = (
        vector.add(vector.add(vector.scale(e1, p[0]), vector.scale(e2, p[1])), (0, 0, h))
        for p, h in zip((first, last), heights, strict=True)
    )
    first, last = (vector.add(center, vector.combine(axes, p)) for p in points)
    return Wrap(touches, jnp.where(touches, arc, 0), first, last)


def angle_between(a: Point, b: Point) -> Array:
    """Return the signed angle from one direction to another, at most pi [rad]; 0 if one is no direction."""
    cross, dot = a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]
    return safe.arctan2(cross, dot)


def _held(values):
    """Return a tree of arrays of shape (n,), computed once rather than again in each loop that uses them."""
    leaves, tree = jax.tree.flatten(values)
    together = hold(jnp.stack(leaves, axis=-1))
    return jax.tree.unflatten(tree, [together[:, i] for i in range(len(leaves))])


def _plane(a: Vector, b: Vector, cylinder: np.ndarray) -> tuple[Vector, Vector]:
    """Return the axes of the plane in which the path goes round: of the ends and the centre, or across the axis."""
    one, zero = jnp.ones_like(a[0]), jnp.zeros_like(a[0])
    x, y = (one, zero, zero), (zero, one, zero)
    if cylinder.all():
        return x, y
    first, _ = vector.normalize(a)
    across = vector.cross(a, b)
    parallel = vector.dot(across, across) < MINVAL**2
    normal = vector.select(parallel, vector.cross(first, _transverse(first)), across)
    second, _ = vector.normalize(vector.cross(normal, first))
    return vector.select(cylinder, x, first), vector.select(cylinder, y, second)


def _transverse(a: Vector) -> Vector:
    """Return a vector that is not parallel to a: 0 at its largest component, of equal ones the first, and 1 else."""
    x, y, z = (jnp.abs(c) for c in a)
    largest = (x >= y) & (x >= z), (y > x) & (y >= z), (z > x) & (z > y)
    return tuple(jnp.where(is_largest, 0.0, 1.0).astype(x.dtype) for is_largest in largest)


def _flat(e1: Vector, e2: Vector, a: Vector) -> Point:
    return vector.dot(e1, a), vector.dot(e2, a)


def _around(a: Point, b: Point, radius: Array, sweep: Array):
    """Return whether the path that turns by `turn` around a circle touches it, its arc, and the tangent points."""
    sign = jnp.where(sweep < 0, -1, 1).astype(sweep.dtype)
    lead, first = _tangent(a, radius, sign)
    trail, last = _tangent(b, radius, -sign)
    angle = jnp.abs(sweep) - lead - trail
    outside = (a[0] * a[0] + a[1] * a[1] >= radius * radius) & (b[0] * b[0] + b[1] * b[1] >= radius * radius)
    return outside & (angle > 0), radius * angle, first, last


def _tangent(a: Point, radius: Array, sign: Array) -> tuple[Array, Point]:
    """Return the angle from a point to where its tangent meets the circle on one side, and the point there."""
    square = a[0] * a[0] + a[1] * a[1]
    reach = safe.sqrt(square - radius * radius)
    lead = safe.arctan2(reach, jnp.where(radius > 0, radius, 1))
    outside = square >= radius * radius
    near, turned = (safe.divide(radius * x, square, where=outside) for x in (radius, sign * reach))
    return lead, (near * a[0] - turned * a[1], near * a[1] + turned * a[0])


def _inside(a: Point, b: Point, radius: Array, wanted: Array):
    """Return whether the path touches the circle from within, no arc, and twice the point where it is reflected."""
    len_a, len_b = (safe.sqrt(p[0] * p[0] + p[1] * p[1]) for p in (a, b))
    step = b[0] - a[0], b[1] - a[1]
    square = step[0] * step[0] + step[1] * step[1]
    along = -safe.divide(step[0] * a[0] + step[1] * a[1], jnp.where(square > MINVAL, square, 0))
    nearest = a[0] + along * step[0], a[1] + along * step[1]
    hits = (along > 0) & (along < 1) & (nearest[0] * nearest[0] + nearest[1] * nearest[1] <= radius * radius)
    touches = wanted & (len_a > radius) & (len_b > radius) & ~hits
    total = angle_between(a, b)
    len_a, len_b = (jnp.where(touches, length, 2 * radius + 1) for length in (len_a, len_b))
    ratios = tuple(jnp.minimum(safe.ratio(radius, length), 1 - jnp.finfo(total.dtype).eps) for length in (len_a, len_b))
    phi = reflection_angle(*ratios, jnp.where(touches, jnp.abs(total), 1))
    forward = total > 0
    origin = tuple(jnp.where(forward, safe.ratio(p, len_a), safe.ratio(q, len_b)) for p, q in zip(a, b, strict=True))
    ahead = phi - jnp.arcsin(jnp.where(forward, *ratios) * jnp.sin(phi))
    cosine, sine = jnp.cos(ahead), jnp.sin(ahead)
    bent = cosine * origin[0] - sine * origin[1], sine * origin[0] + cosine * origin[1]
    middle = a[0] + b[0], a[1] + b[1]
    half = safe.sqrt(middle[0] * middle[0] + middle[1] * middle[1])
    same = jnp.cos(total) > 1 - MINVAL
    point = tuple(radius * jnp.where(same, safe.divide(m, half), p) for m, p in zip(middle, bent, strict=True))
    return touches, jnp.zeros_like(radius), point, point


def _climb(a: Vector, b: Vector, a2: Point, b2: Point, arc: Array, first: Point, last: Point, cylinder: np.ndarray):
    """Return the arc with the climb of a path along a cylinder, and the heights of its points; 0 on a sphere."""
    zero = jnp.zeros_like(arc)
    if not cylinder.any():
        return arc, (zero, zero)
    before, after = (safe.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2) for p, q in ((a2, first), (b2, last)))
    slope = safe.divide(b[2] - a[2], before + arc + after)
    heights = a[2] + slope * before, a[2] + slope * (before + arc)
    climbed = arc * jnp.sqrt(1 + slope * slope)
    return jnp.where(cylinder, climbed, arc), tuple(jnp.where(cylinder, h, zero) for h in heights)
