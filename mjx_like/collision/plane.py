"""A plane against a sphere, capsule, ellipsoid, cylinder or box: closed forms.

Every kernel takes two Shapes, the plane first (its z axis is the normal), and the distance of detection; it returns
its points in MuJoCo's order.
"""

import jax
import jax.numpy as jnp

from mjx_like.collision.shape import Point, Shape
from mjx_like.geometry import support
from mjx_like.math import vector as v

Array = jax.Array


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
    axis = capsule.axes[2]
    ends = (v.along(capsule.pos, axis, side * capsule.size[1]) for side in (1, -1))
    return [_point(plane, v.along(end, plane.axes[2], -capsule.size[0])) for end in ends]


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
    across = v.sub(v.scale(cylinder.axes[2], rise), normal)
    across, _ = v.normalize(across, otherwise=x_axis)
    side, _ = v.normalize(v.cross(across, axis))
    across, side = v.scale(across, radius), v.scale(side, radius * (0.5 * 3**0.5))
    low, high = v.add(cylinder.pos, axis), v.sub(cylinder.pos, axis)
    back = v.along(low, across, -0.5)
    return [_point(plane, p) for p in (v.add(low, across), v.add(high, across), v.add(back, side), v.sub(back, side))]


def plane_box(plane: Shape, box: Shape, detect: Array) -> list[Point]:
    """Return the 8 corners; those that point away from the plane, and all after the fourth, are no contacts.

    Source: mjc_PlaneBox.
    """
    normal = plane.axes[2]
    edges = [v.scale(axis, half) for axis, half in zip(box.axes, box.size, strict=True)]
    heights = [v.dot(normal, edge) for edge in edges]
    points, count = [], 0
    for i in range(8):
        sign = [1 if i & bit else -1 for bit in (1, 2, 4)]
        corner = v.add(v.add(v.scale(edges[0], sign[0]), v.scale(edges[1], sign[1])), v.scale(edges[2], sign[2]))
        below = sign[0] * heights[0] + sign[1] * heights[1] + sign[2] * heights[2] <= 0
        point = _point(plane, v.add(box.pos, corner))
        taken = below & (point.dist <= detect)
        points.append(point._replace(valid=below & (count < 4)))
        count = count + taken.astype(jnp.int32)
    return points
