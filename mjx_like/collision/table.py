"""The table of pairs of geom types: a row for each that the engine collides."""

from collections.abc import Callable
from enum import IntEnum, auto
from typing import NamedTuple

import jax

from mjx_like.collision.closed import box, capsule, plane, sphere
from mjx_like.collision.shape import Point, Shape
from mjx_like.types.enums import GeomType

_PLANE, _HFIELD, _SPHERE, _CAPSULE = GeomType.PLANE, GeomType.HFIELD, GeomType.SPHERE, GeomType.CAPSULE
_ELLIPSOID, _CYLINDER, _BOX, _MESH = GeomType.ELLIPSOID, GeomType.CYLINDER, GeomType.BOX, GeomType.MESH
_SDF = GeomType.SDF

Kernel = Callable[[Shape, Shape, jax.Array], list[Point]]


class Method(IntEnum):
    """How the contacts of a pair are found, in the order in which candidate points stand.

    HEIGHT_FIELD: the prisms under the geom. SIGNED_DISTANCE: descent into the field of the second geom. KERNEL: the
    kernel of the row. HULL_ON_PLANE: the vertices of a hull. CONVEX: the search for nearest points (GJK and EPA).
    """

    HEIGHT_FIELD = auto()
    SIGNED_DISTANCE = auto()
    KERNEL = auto()
    HULL_ON_PLANE = auto()
    CONVEX = auto()


class Pair(NamedTuple):
    """What the engine must know of a pair of geom types, the smaller type first.

    slots: points that are returned for a pair of geoms; 0 where the model says how many.
    most: how many of them are contacts at once, at the most.
    kernel: of the method KERNEL: (first, second, distance of interest) -> points.
    nearest: whether the kernel finds the nearest points of geoms apart as well; else `geom_distance` searches.
    lot: pairs that the kernel takes at a time, at the least, where bounds choose them.
    hard: the kernel of hard contact, where it has one of its own.
    dear: whether the kernel takes so long that on a CPU bounds choose among its pairs where these are more than a lot.
    """

    method: Method
    slots: int = 0
    most: int = 0
    kernel: Kernel | None = None
    nearest: bool = True
    lot: int = 32
    dear: bool = False
    hard: Kernel | None = None

    def kernel_of(self, hard: bool) -> Kernel:
        """Return the kernel of soft or of hard contact."""
        return (hard and self.hard) or self.kernel


_KERNEL, _CONVEX = Method.KERNEL, Method.CONVEX
PAIRS = {
    (_PLANE, _SPHERE): Pair(_KERNEL, 1, 1, plane.plane_sphere),
    (_PLANE, _CAPSULE): Pair(_KERNEL, 2, 2, plane.plane_capsule),
    (_PLANE, _ELLIPSOID): Pair(_KERNEL, 1, 1, plane.plane_ellipsoid),
    (_PLANE, _CYLINDER): Pair(_KERNEL, 4, 4, plane.plane_cylinder),
    (_PLANE, _BOX): Pair(_KERNEL, 8, 4, plane.plane_box),
    (_PLANE, _MESH): Pair(Method.HULL_ON_PLANE, 4, 4),
    (_PLANE, _SDF): Pair(Method.HULL_ON_PLANE, 4, 4),
    (_HFIELD, _SPHERE): Pair(Method.HEIGHT_FIELD),
    (_HFIELD, _CAPSULE): Pair(Method.HEIGHT_FIELD),
    (_HFIELD, _ELLIPSOID): Pair(Method.HEIGHT_FIELD),
    (_HFIELD, _CYLINDER): Pair(Method.HEIGHT_FIELD),
    (_HFIELD, _BOX): Pair(Method.HEIGHT_FIELD),
    (_HFIELD, _MESH): Pair(Method.HEIGHT_FIELD),
    (_SPHERE, _SPHERE): Pair(_KERNEL, 1, 1, sphere.sphere_sphere),
    (_SPHERE, _CAPSULE): Pair(_KERNEL, 1, 1, sphere.sphere_capsule),
    (_SPHERE, _CYLINDER): Pair(_KERNEL, 1, 1, sphere.sphere_cylinder),
    (_SPHERE, _BOX): Pair(_KERNEL, 1, 1, sphere.sphere_box),
    (_SPHERE, _ELLIPSOID): Pair(_CONVEX, 1, 1),
    (_CAPSULE, _CAPSULE): Pair(_KERNEL, 2, 2, capsule.capsule_capsule, hard=capsule.capsule_capsule_along),
    (_CAPSULE, _BOX): Pair(_KERNEL, 2, 2, capsule.capsule_box, dear=True),
    (_CAPSULE, _ELLIPSOID): Pair(_CONVEX, 1, 1),
    (_ELLIPSOID, _ELLIPSOID): Pair(_CONVEX, 1, 1),
    (_ELLIPSOID, _CYLINDER): Pair(_CONVEX, 1, 1),
    (_ELLIPSOID, _BOX): Pair(_CONVEX, 1, 1),
    (_ELLIPSOID, _MESH): Pair(_CONVEX, 1, 1),
    (_SPHERE, _MESH): Pair(_CONVEX, 1, 1),
    (_CAPSULE, _CYLINDER): Pair(_CONVEX, 2, 2),
    (_CAPSULE, _MESH): Pair(_CONVEX, 2, 2),
    (_CYLINDER, _CYLINDER): Pair(_CONVEX, 4, 4),
    (_CYLINDER, _BOX): Pair(_CONVEX, 4, 4),
    (_CYLINDER, _MESH): Pair(_CONVEX, 4, 4),
    (_BOX, _BOX): Pair(_KERNEL, 8, 8, box.box_box, nearest=False, lot=8, dear=True, hard=box.box_box_whole),
    (_BOX, _MESH): Pair(_CONVEX, 4, 4),
    (_MESH, _MESH): Pair(_CONVEX, 4, 4),
    (_SPHERE, _SDF): Pair(Method.SIGNED_DISTANCE),
    (_CAPSULE, _SDF): Pair(Method.SIGNED_DISTANCE),
    (_ELLIPSOID, _SDF): Pair(Method.SIGNED_DISTANCE),
    (_CYLINDER, _SDF): Pair(Method.SIGNED_DISTANCE),
    (_BOX, _SDF): Pair(Method.SIGNED_DISTANCE),
    (_MESH, _SDF): Pair(Method.SIGNED_DISTANCE),
    (_SDF, _SDF): Pair(Method.SIGNED_DISTANCE),
}


# Types of which one point of several is found now, and another one as the geoms turn. Boxes have none where they are
# apart and their nearest points are corners or edges beyond the faces of each other. Of a plane all are found.
PARTIAL = tuple(kinds for kinds, row in PAIRS.items() if row.slots > 1 and kinds[0] != _PLANE)
KEPT = 4  # points of such a pair that hard contact keeps, at the most


def pairs_by(method: Method) -> tuple[tuple[int, int], ...]:
    """Return the pairs of types whose contacts are found by a method."""
    return tuple(kinds for kinds, row in PAIRS.items() if row.method == method)
