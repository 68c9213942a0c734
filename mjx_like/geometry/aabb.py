"""Bounding boxes and bounding radii of the primitive shapes, in NumPy."""

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
    if kind == GeomType.PLANE:
        return np.array([0, 0, -_MAXVAL / 2, _MAXVAL, _MAXVAL, _MAXVAL / 2])
    if kind == GeomType.HFIELD:
        x, y, top, base = hfield_size
        return np.array([0, 0, (top - base) / 2, x, y, (top + base) / 2])
    if kind == GeomType.SPHERE:
        half = [size[0], size[0], size[0]]
    elif kind == GeomType.CAPSULE:
        half = [size[0], size[0], size[0] + size[1]]
    elif kind == GeomType.CYLINDER:
        half = [size[0], size[0], size[1]]
    else:
        half = size
    return np.concatenate([np.zeros(3), half])


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
        return float(np.sqrt(x**2 + y**2 + max(top, base) ** 2))
    if kind == GeomType.SPHERE:
        return float(size[0])
    if kind == GeomType.CAPSULE:
        return float(size[0] + size[1])
    if kind == GeomType.CYLINDER:
        return float(np.hypot(size[0], size[1]))
    if kind == GeomType.ELLIPSOID:
        return float(np.max(size))
    return float(np.sqrt(np.sum(np.square(size))))
