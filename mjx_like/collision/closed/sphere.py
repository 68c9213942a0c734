"""A sphere against a sphere, capsule, cylinder or box: closed forms."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.shape import Point, Shape
from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math import vector as v

Array = jax.Array


def between(
    center1: v.Vector, radius1: Array, center2: v.Vector, radius2: Array | float, coincident: v.Vector
) -> Point:
    """Return the contact of two spheres; `coincident` is the normal where the centres are the same.

    Source: mjraw_SphereSphere.
    """
    normal, apart = v.normalize(v.sub(center2, center1), otherwise=coincident)
    dist = apart - radius1 - radius2
    return Point(dist, v.along(center1, normal, radius1 + 0.5 * dist), normal)


def across(a: Shape, b: Shape) -> v.Vector:
    """Return the normal of coincident centres: across both z axes, (1, 0, 0) if parallel; without derivative."""
    return jax.lax.stop_gradient(v.normalize(v.cross(a.axes[2], b.axes[2]))[0])


def sphere_sphere(a: Shape, b: Shape, detect: Array) -> list[Point]:
    """Return the point between two spheres.  Source: mjc_SphereSphere."""
    return [between(a.pos, a.size[0], b.pos, b.size[0], across(a, b))]


def sphere_capsule(sphere: Shape, capsule: Shape, detect: Array) -> list[Point]:
    """Return the point between the sphere and the nearest sphere of the capsule.  Source: mjc_SphereCapsule."""
    axis, half = capsule.axes[2], capsule.size[1]
    coord = safe.clip(v.dot(axis, v.sub(sphere.pos, capsule.pos)), -half, half)
    nearest = v.along(capsule.pos, axis, coord)
    return [between(sphere.pos, sphere.size[0], nearest, capsule.size[0], across(sphere, capsule))]


def sphere_cylinder(sphere: Shape, cylinder: Shape, detect: Array) -> list[Point]:
    """Return the point between the sphere and the side, cap or rim of the cylinder.

    A centre inside the cylinder meets the nearer of side and cap.  Source: mjc_SphereCylinder.
    """
    axis, (radius, half, _) = cylinder.axes[2], cylinder.size
    offset = v.sub(sphere.pos, cylinder.pos)
    height = v.dot(axis, offset)
    radial = v.along(offset, axis, -height)
    outward, reach = v.normalize(radial)
    beside, above = jnp.abs(height) < half, reach < radius
    inside = beside & above
    cap_nearer = half - jnp.abs(height) < radius - reach
    side = beside & ~(inside & cap_nearer)
    cap = above & ~side
    up = jnp.where(height > 0, 1, -1)

    on_axis = v.along(cylinder.pos, axis, jnp.where(side, height, up * half))
    rim = v.along(on_axis, outward, radius)
    fallback = across(sphere, cylinder)
    target = v.select(side, on_axis, rim)
    round_point = between(sphere.pos, sphere.size[0], target, jnp.where(side, radius, 0), fallback)
    normal = v.scale(axis, -up)
    dist = jnp.abs(height) - half - sphere.size[0]
    flat_point = v.along(sphere.pos, normal, sphere.size[0] + 0.5 * dist)
    return [
        Point(
            jnp.where(cap, dist, round_point.dist),
            v.select(cap, flat_point, round_point.pos),
            v.select(cap, normal, round_point.normal),
        )
    ]


def sphere_box(sphere: Shape, box: Shape, detect: Array) -> list[Point]:
    """Return the point between a sphere and a box.  Source: mjc_SphereBox."""
    return [against_box(v.project(box.axes, v.sub(sphere.pos, box.pos)), sphere.size[0], box)]


def against_box(center: v.Vector, radius: Array, box: Shape) -> Point:
    """Return the contact of a sphere with a box; a centre inside the box meets the nearest face.

    center: in the frame of the box.  Source: mjraw_SphereBox.
    """
    clamped = tuple(safe.clip(c, -s, s) for c, s in zip(center, box.size, strict=True))
    inward, outside = v.normalize(v.sub(clamped, center))
    # faces in the order -x, +x, -y, ...: the first of the nearest counts
    gaps = jnp.stack([size + sign * c for c, size in zip(center, box.size, strict=True) for sign in (1, -1)])
    nearest = np.arange(6).reshape(6, *(1,) * outside.ndim) == jnp.argmin(gaps, axis=0)
    depth = jnp.sum(jnp.where(nearest, gaps, 0), axis=0)
    normal = tuple(jnp.where(nearest[2 * k], 1.0, jnp.where(nearest[2 * k + 1], -1.0, 0.0)) for k in range(3))
    inside = outside <= MINVAL
    local = v.select(
        inside,
        v.along(center, normal, 0.5 * (radius - depth)),
        v.scale(v.add(clamped, v.along(center, inward, radius)), 0.5),
    )
    return Point(
        jnp.where(inside, -depth, outside) - radius,
        v.add(box.pos, v.combine(box.axes, local)),
        v.combine(box.axes, v.select(inside, normal, inward)),
    )
