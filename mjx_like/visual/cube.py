"""Cube maps on surfaces: triangles cut where two sides of the map meet, with coordinates in a picture of all sides."""

import numpy as np

from mjx_like.types.enums import GeomType
from mjx_like.visual.surface import Surface

# Of a direction (x, y, z) and each side right, left, up, down, front, back: the rows that give the coordinates in it,
# to the right and down, and the axis that points at it.  Source: OpenGL 4.6, table 8.19.
SIDES = np.array(
    [
        [[0, 0, -1], [0, -1, 0], [1, 0, 0]],
        [[0, 0, 1], [0, -1, 0], [-1, 0, 0]],
        [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
        [[1, 0, 0], [0, 0, -1], [0, -1, 0]],
        [[1, 0, 0], [0, -1, 0], [0, 0, 1]],
        [[-1, 0, 0], [0, -1, 0], [0, 0, -1]],
    ],
    float,
)
_CUTS = np.array([[1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1], [0, 1, 1], [0, 1, -1]], float)  # planes between sides
_SIZED = (GeomType.MESH, GeomType.HFIELD, GeomType.SDF, GeomType.PLANE)  # drawn with their size; others are unit shapes
_PIECES = 12  # along the axis of capsules and cylinders
_ON_CUT = 1e-9
_DIGITS = 6  # to which corners must agree


def cubed(surface: Surface, kind: GeomType, size: np.ndarray, uniform: bool, width: int, sides: int) -> Surface:
    """Return the surface of an object with texture coordinates, where its material has a cube map.

    Args:
      surface: in the frame of the object.
      kind: of the object; size: as geom_size, shape (3,) [m].
      uniform: as mat_texuniform.
      width: of a side [pixels].
      sides: how many the picture has, below each other: 6, or 1 that stands for all.
    Source: settexture in render_gl3.c.
    """
    point, normal = surface.vertex[surface.face], _normals(surface)[surface.face]
    corner = np.concatenate([point, normal, directions(point, kind, size, uniform)], axis=-1)
    if kind in (GeomType.CAPSULE, GeomType.CYLINDER):  # their long triangles would bend the picture
        for z in np.linspace(corner[..., 8].min(), corner[..., 8].max(), _PIECES + 1)[1:-1]:
            corner = _split(corner, corner[..., 8] - z)
    for cut in _CUTS:
        corner = _split(corner, corner[..., 6:] @ cut)
    toward = np.einsum("sij,kcj->kcsi", SIDES, corner[..., 6:])
    side = np.argmax(toward[..., 2].mean(axis=1), axis=1)
    right, down, ahead = np.moveaxis(toward[np.arange(len(side)), :, side], -1, 0)
    at = np.stack([right, down], axis=-1) / np.maximum(ahead, _ON_CUT)[..., None]
    at = np.clip((at + 1) / 2, 0.5 / width, 1 - 0.5 / width)  # no further than the middle of the last pixel
    if sides > 1:
        at[..., 1] = (at[..., 1] + side[:, None]) / sides
    return _joined(np.concatenate([corner[..., :6], at], axis=-1))


def _joined(corner: np.ndarray) -> Surface:
    """Return triangles whose corners are one vertex where position, normal and coordinates agree: smooth shading.

    corner: position, normal, coordinates in the picture, shape (k, 3, 8).
    """
    flat = corner.reshape(-1, 8)
    _, first, face = np.unique(np.round(flat, _DIGITS), axis=0, return_index=True, return_inverse=True)
    face = face.reshape(-1, 3)
    solid = (face != np.roll(face, 1, axis=1)).all(axis=1)  # a cut through a corner leaves triangles without area
    return Surface(flat[first, :3], face[solid], flat[first, 6:])


def directions(point: np.ndarray, kind: GeomType, size: np.ndarray, uniform: bool) -> np.ndarray:
    """Return where the corners of triangles look up a cube map, shape (k, 3, 3).

    point: corners in the frame of the object, shape (k, 3, 3) [m]; the rest as for `cubed`.
    """
    extent = _extent(kind, size)
    if kind in _SIZED:
        return point * (extent if uniform else 1.0)
    return point * (1.0 if uniform else 1 / extent)


def _extent(kind: GeomType, size: np.ndarray) -> np.ndarray:
    """By what MuJoCo scales the unit shape of an object, shape (3,) [m]."""
    if kind in (GeomType.CAPSULE, GeomType.CYLINDER):
        size = size[[0, 0, 1]]
    elif kind == GeomType.SPHERE:
        size = size[[0, 0, 0]]
    return np.where(size > 0, size, 1.0)


def _normals(surface: Surface) -> np.ndarray:
    """Unit normals of the vertices, shape (n, 3)."""
    from trimesh import Trimesh

    return np.array(Trimesh(surface.vertex, surface.face, process=False).vertex_normals)


def _split(corner: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return triangles cut along a plane: three for each that lies on both sides of it.

    corner: what their corners have, shape (k, 3, n); height: of the corners above the plane, shape (k, 3).
    """
    cut = (height.min(axis=1) < -_ON_CUT) & (height.max(axis=1) > _ON_CUT)
    above = height[cut] > _ON_CUT
    lone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), above.argmin(axis=1))
    turn = (lone[:, None] + np.arange(3)) % 3  # the corner that is alone on its side first
    a, b, c = np.moveaxis(np.take_along_axis(corner[cut], turn[..., None], axis=1), 1, 0)
    ha, hb, hc = np.take_along_axis(height[cut], turn, axis=1).T[..., None]
    ab, ac = a + (b - a) * ha / (ha - hb), a + (c - a) * ha / (ha - hc)
    parts = [np.stack(x, axis=1) for x in ((a, ab, ac), (ab, b, c), (ab, c, ac))]
    return np.concatenate([corner[~cut], *parts])
