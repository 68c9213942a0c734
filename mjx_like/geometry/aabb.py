"""Bounding boxes and bounding radii of the primitive shapes.

Arrays are of NumPy or of JAX: `size` decides.
"""

import numpy as np

from mjx_like.types.enums import GeomType

_MAXVAL = 1e10  # mjMAXVAL, the extent of a plane


def aabb(kind: GeomType, size: np.ndarray, hfield_size: np.ndarray | None = None) -> np.ndarray:
    """Return the bounding box in the geom's frame: centre and half sizes, shape (6,) [m].

    Args:
      kind: shape of the geom.
      size: half sizes as geom_size has them, shape (3,) [m].
      hfield_size: x half size, y half size, elevation, base thickness of a height field, shape (4,) [m].
    Source: mjCGeom::ComputeAABB.
    """
    xp = size.__array_namespace__()
    if kind == GeomType.PLANE:
        return xp.asarray([0, 0, -_MAXVAL / 2, _MAXVAL, _MAXVAL, _MAXVAL / 2])
    if kind == GeomType.HFIELD:
        x, y, top, base = hfield_size
        return xp.stack([0 * x, 0 * x, (top - base) / 2, x, y, (top + base) / 2])
    if kind == GeomType.SPHERE:
        half = xp.stack([size[0], size[0], size[0]])
    elif kind == GeomType.CAPSULE:
        half = xp.stack([size[0], size[0], size[0] + size[1]])
    elif kind == GeomType.CYLINDER:
        half = xp.stack([size[0], size[0], size[1]])
    else:
        half = size
    return xp.concat([xp.zeros_like(half), half])


def bounding_radius(kind: GeomType, size: np.ndarray, hfield_size: np.ndarray | None = None) -> float:
    """Return the radius of the sphere around the geom's centre that contains it [m]; 0 for a plane.

    Args:
      kind: shape of the geom.
      size: half sizes as geom_size has them, shape (3,) [m].
      hfield_size: x half size, y half size, elevation, base thickness of a height field, shape (4,) [m].
    Source: mjCGeom::GetRBound.
    """
    if kind == GeomType.PLANE:
        return 0.0
    if kind == GeomType.HFIELD:
        x, y, top, base = hfield_size
        return (x**2 + y**2 + size.__array_namespace__().maximum(top, base) ** 2) ** 0.5
    if kind == GeomType.SPHERE:
        return size[0]
    if kind == GeomType.CAPSULE:
        return size[0] + size[1]
    if kind == GeomType.CYLINDER:
        return (size[0] ** 2 + size[1] ** 2) ** 0.5
    if kind == GeomType.ELLIPSOID:
        return size.max()
    return sum(size**2) ** 0.5
