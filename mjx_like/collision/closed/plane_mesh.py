"""A plane against a mesh: the deepest vertex of the hull, and more corners of the face there that lies flattest."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex.polygon import largest_quad
from mjx_like.collision.shape import Point, Shape
from mjx_like.math import vector as v
from mjx_like.math.linalg import dot
from mjx_like.math.select import take
from mjx_like.types.model import Model
from mjx_like.types.plans import PairGroup, SolidPlan

Array = jax.Array

SLOTS = 4


def plane_mesh(m: Model, group: PairGroup, plane: Shape, mesh: Shape, detect: Array) -> list[Point]:
    """Return up to four points: the deepest vertex, and others of its face that are below the centre of the mesh.

    Source: mjc_PlaneConvex.
    """
    solid = m.plans.collision.plane_mesh
    entry = solid.set_of_mesh[m.geom_dataid[group.geom2]]
    hull = solid.hull[entry]
    vert = take(m.mesh_vert, hull.ravel()).reshape(*hull.shape, 3)
    normal = v.pack(plane.axes[2])
    local = jnp.stack([dot(v.pack(axis), normal) for axis in mesh.axes], axis=-1)
    corners, exists = jax.vmap(lambda *x: _corners(m, solid, *x))(entry, *lax.stop_gradient((vert, local)))
    points = []
    rotation = jnp.stack([v.pack(axis) for axis in mesh.axes], axis=-1)
    for k in range(SLOTS):
        at = m.mesh_vert[corners[:, k]]
        world = v.unpack(v.pack(mesh.pos) + jnp.sum(rotation * at[:, None], axis=-1))
        dist = v.dot(v.sub(world, plane.pos), plane.axes[2])
        below = v.dot(v.sub(world, mesh.pos), plane.axes[2]) <= 0
        valid = exists[:, k] & (below if k else True)
        points.append(Point(dist, v.along(world, plane.axes[2], -0.5 * dist), plane.axes[2], valid))
    deepest = points[0].dist <= detect
    return [point._replace(valid=point.valid & deepest) for point in points]


def _corners(m: Model, solid: SolidPlan, entry: Array, vert: Array, normal: Array) -> tuple[Array, Array]:
    """Return rows of mesh_vert of the corners, shape (SLOTS,), and which exist."""
    deepest = jnp.argmax(-dot(vert, normal))
    index = jnp.asarray(solid.support_start)[entry] + deepest
    around = jnp.asarray(solid.support_face)[index]
    normals, vertices = take(m.mesh_polynormal, solid.polygon), take(m.mesh_vert, solid.vertex)
    normals, vertices = lax.stop_gradient((normals, vertices))
    lean = jnp.where(around >= 0, dot(normals[jnp.maximum(around, 0)], normal), 2)
    best = jnp.argmin(lean)
    face = jnp.maximum(around[best], 0)
    count = jnp.asarray(solid.face_size)[face]
    polygon = jnp.asarray(solid.face_corner)[face]
    # the table has the corners the other way round
    polygon = polygon[jnp.where(np.arange(polygon.size) < count, count - 1 - np.arange(polygon.size), 0)]
    anchor = jnp.argmax(polygon == jnp.asarray(solid.support_corner)[index])
    quad = largest_quad(vertices[polygon], count, anchor, count > 4, False)
    has_face = lean[best] < 1
    first = jnp.asarray(solid.support_corner)[index]
    corners = jnp.where((np.arange(SLOTS) > 0) & has_face, polygon[quad], first)
    return jnp.asarray(solid.vertex)[corners], (np.arange(SLOTS) == 0) | (has_face & (np.arange(SLOTS) < count))
