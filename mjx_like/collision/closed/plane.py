"""A plane against a sphere, capsule, ellipsoid, cylinder or box: closed forms.

Every kernel takes two Shapes, the plane first (its z axis is the normal), and the distance of detection; it returns
its points in MuJoCo's order.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.closed.clip import exclusive_sum
from mjx_like.collision.shape import Point, Shape
from mjx_like.geometry import support
from mjx_like.math import vector as v

Array = jax.Array

_CORNERS = tuple(np.array([[1] if i & bit else [-1] for i in range(8)]) for bit in (1, 2, 4))  # of a box, by axis


def _point(plane: Shape, surface: v.Vector) -> Point:
    """Return the contact of a plane with a point of the other geom's surface: midway between both."""
    normal = plane.axes[2]
    dist = v.dot(v.sub(surface, plane.pos), normal)
    return Point(dist, v.along(surface, normal, -0.5 * dist), normal)


def plane_sphere(plane: Shape, sphere: Shape, detect: Array) -> list[Point]:
    """Return the deepest point of the sphere.  Source: mjc_PlaneSphere."""
    return [_point(plane, v.along(sphere.pos, plane.axes[2], -sphere.size[0]))]


def plane_capsule(plane: Shape, capsule: Shape, detect: Array) -> list[Point]:
    """Return the deepest points of both end spheres, +z first.  Source: mjc_PlaneCapsule."""
    ends = v.along(capsule.pos, capsule.axes[2], np.array([[1], [-1]]) * capsule.size[1])
    return [_point(plane, v.along(ends, plane.axes[2], -capsule.size[0]))]


def plane_ellipsoid(plane: Shape, ellipsoid: Shape, detect: Array) -> list[Point]:
    """Return the deepest point of the ellipsoid.  Source: mjc_PlaneConvex."""
    return [_point(plane, support.ellipsoid(ellipsoid, v.scale(plane.axes[2], -1)))]


def plane_cylinder(plane: Shape, cylinder: Shape, detect: Array) -> list[Point]:
    """Return the deepest rim point, the one above it, and two that complete a triangle on the lower disk.

    A disk parallel to the plane has the cylinder's x axis in the place of the deepest direction.
    Source: mjc_PlaneCylinder.
    """
    normal, (x_axis, _, axis) = plane.axes[2], cylinder.axes
    radius, half = cylinder.size[0], cylinder.size[1]
    rise = v.dot(normal, axis)
    axis = v.scale(axis, jnp.where(rise > 0, -half, half))
    across, _ = v.normalize(_fall_along_disk(normal, cylinder, rise), otherwise=x_axis)
    side, _ = v.normalize(v.cross(across, axis))
    across, side = v.scale(across, radius), v.scale(side, radius * (0.5 * 3**0.5))
    low, high = v.add(cylinder.pos, axis), v.sub(cylinder.pos, axis)
    back = v.along(low, across, -0.5)
    points = v.add(low, across), v.add(high, across), v.add(back, side), v.sub(back, side)
    return [_point(plane, tuple(jnp.stack(c) for c in zip(*points, strict=True)))]


def _fall_along_disk(normal: v.Vector, cylinder: Shape, rise: Array) -> v.Vector:
    """Return -normal less its part along the axis.

    In float64 as MuJoCo subtracts, to the bit. Near upright that is a small difference of large vectors, which in
    float32 is noise, with a part along the normal: there it is put together in the plane of the disk.
    """
    x_axis, y_axis, axis = cylinder.axes
    if rise.dtype == jnp.float64:
        return v.sub(v.scale(axis, rise), normal)
    return v.along(v.scale(x_axis, -v.dot(normal, x_axis)), y_axis, -v.dot(normal, y_axis))


def plane_box(plane: Shape, box: Shape, detect: Array) -> list[Point]:
    """Return the 8 corners; those that point away from the plane, and all after the fourth, are no contacts.

    Source: mjc_PlaneBox.
    """
    normal = plane.axes[2]
    edges = [v.scale(axis, half) for axis, half in zip(box.axes, box.size, strict=True)]
    corner = v.combine(tuple(edges), _CORNERS)
    below = sum(sign * v.dot(normal, edge) for sign, edge in zip(_CORNERS, edges, strict=True)) <= 0
    point = _point(plane, v.add(box.pos, corner))
    taken = below & (point.dist <= detect)
    return [point._replace(valid=below & (exclusive_sum(taken.astype(jnp.int32)) < 4))]
