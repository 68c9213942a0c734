"""The plane through the three corners of the Minkowski difference that EPA ended with, as a function of both geoms.

Against a prism of a height field that face need not lie on the surface of the difference (see `epa`): what was found is
then the plane of these corners, and its derivative that of this plane, not that of the geoms' true distance.
"""

import jax
import jax.numpy as jnp

from mjx_like.collision.convex.ccd import Nearest
from mjx_like.collision.convex.derivative import follow_one
from mjx_like.collision.convex.simplex import affine
from mjx_like.geometry.convex import Convex, corners
from mjx_like.math import safe
from mjx_like.math.linalg import cross, dot
from mjx_like.types.enums import GeomType

Array = jax.Array


def facet(a: Convex, b: Convex, found: Nearest) -> tuple[Array, Array, Array]:
    """Return distance, point midway and normal of the face with the same corners; of boxes, meshes and prisms.

    Arguments: see `follow.follow_one`; the distance found is negative. Source: epaWitness, attachFace.
    """
    first, second = (
        g.pos + jnp.sum(g.mat * corners(g, i)[:, None], axis=2)
        for g, i in zip((a, b), found.corners.index.T, strict=True)
    )
    points = first - second
    # the normal is that of the plane: that of its foot would be lost where the plane goes through the origin
    unit, _ = safe.normalize(cross(points[0] - points[1], points[1] - points[2]))
    height = dot(unit, points[1])
    areas, whole = affine(points, height * unit)
    middle = 0.5 * jnp.sum(safe.divide(areas, whole)[:, None] * (first + second), axis=0)
    outward = jnp.where(height < 0, -1, 1)
    return -outward * height, middle, outward * unit


def follow_prism(prism: Convex, geom: Convex, found: Nearest, normal: Array) -> tuple[Array, Array, Array]:
    """Return what `follow_one` does, but `facet` where a prism holds a box or a mesh, without margin."""
    sharp = ((geom.kind == GeomType.BOX) | (geom.kind == GeomType.MESH)) & (found.dist < 0) & (geom.margin == 0)
    both = facet(prism, geom, found), follow_one(prism, geom, found, normal)
    return tuple(jnp.where(sharp, x, y) for x, y in zip(*both, strict=True))
