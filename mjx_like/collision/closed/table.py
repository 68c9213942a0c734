"""The pairs of types whose nearest points have a closed form, for contacts and for distances."""

from collections.abc import Callable

import jax

from mjx_like.collision.closed import capsule, plane, sphere
from mjx_like.collision.shape import Point, Shape
from mjx_like.types.enums import GeomType

_PLANE, _SPHERE, _CAPSULE = GeomType.PLANE, GeomType.SPHERE, GeomType.CAPSULE
_ELLIPSOID, _CYLINDER, _BOX = GeomType.ELLIPSOID, GeomType.CYLINDER, GeomType.BOX

Kernel = Callable[[Shape, Shape, jax.Array], list[Point]]

CLOSED: dict[tuple[int, int], Kernel] = {
    (_PLANE, _SPHERE): plane.plane_sphere,
    (_PLANE, _CAPSULE): plane.plane_capsule,
    (_PLANE, _ELLIPSOID): plane.plane_ellipsoid,
    (_PLANE, _CYLINDER): plane.plane_cylinder,
    (_PLANE, _BOX): plane.plane_box,
    (_SPHERE, _SPHERE): sphere.sphere_sphere,
    (_SPHERE, _CAPSULE): sphere.sphere_capsule,
    (_SPHERE, _CYLINDER): sphere.sphere_cylinder,
    (_SPHERE, _BOX): sphere.sphere_box,
    (_CAPSULE, _CAPSULE): capsule.capsule_capsule,
    (_CAPSULE, _BOX): capsule.capsule_box,
}
