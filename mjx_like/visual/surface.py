"""Triangles of geoms and sites, in their own frames."""

from typing import NamedTuple

import numpy as np

from mjx_like.errors import UnsupportedError
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model

HORIZON = 10.0  # half extent of an infinite plane, in units of stat.extent
_SLICES = 32  # around round shapes
_STACKS = 16


class Surface(NamedTuple):
    """Triangles.

    vertex: corners, shape (n, 3) [m]; face: rows of them, anticlockwise seen from outside, shape (k, 3); texcoord:
    where each corner is in a picture, from its upper left corner, shape (n, 2), None where nothing says.
    """

    vertex: np.ndarray
    face: np.ndarray
    texcoord: np.ndarray | None = None


def geom_surface(m: Model, geom: int) -> Surface:
    """Return the triangles of a geom in its frame.

    Raises:
      UnsupportedError: a signed distance field without a mesh.
    """
    kind, size, data = GeomType(int(m.geom_type[geom])), np.asarray(m.geom_size[geom], float), m.geom_dataid[geom]
    if kind == GeomType.HFIELD:
        return height_field(m, data)
    if kind in (GeomType.MESH, GeomType.SDF):
        if data < 0:
            raise UnsupportedError(f"geom {geom} is a signed distance field without a mesh, which cannot be drawn")
        return mesh(m, data)
    return primitive(kind, size, float(m.stat.extent))


def site_surface(m: Model, site: int) -> Surface:
    """Return the triangles of a site in its frame."""
    return primitive(GeomType(int(m.site_type[site])), np.asarray(m.site_size[site], float), float(m.stat.extent))


def primitive(kind: GeomType, size: np.ndarray, extent: float) -> Surface:
    """Return the triangles of a primitive shape.

    Args:
      kind: plane, sphere, capsule, ellipsoid, cylinder or box.
      size: as geom_size, shape (3,) [m].
      extent: of the model [m], which decides how much of an infinite plane is made.
    """
    from trimesh import creation  # here: it takes 0.2 s to import

    if kind == GeomType.PLANE:
        return _plane(size, extent)
    if kind in (GeomType.SPHERE, GeomType.ELLIPSOID):
        shape = creation.uv_sphere(1.0, count=(_STACKS, _SLICES))
        return _surface(shape, size[:1] if kind == GeomType.SPHERE else size)
    if kind == GeomType.CAPSULE:
        return _surface(creation.capsule(2 * size[1], size[0], count=(_SLICES, _STACKS)))
    if kind == GeomType.CYLINDER:
        return _creased(creation.cylinder(size[0], 2 * size[1], sections=_SLICES))
    return _creased(creation.box(2 * size))


def _plane(size: np.ndarray, extent: float) -> Surface:
    half = np.where(size[:2] > 0, size[:2], HORIZON * extent)
    corner = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * np.append(half, 1)
    return Surface(corner, np.array([[0, 1, 2], [0, 2, 3]]))


def _surface(shape, scale: np.ndarray | float = 1.0) -> Surface:
    return Surface(np.asarray(shape.vertices) * scale, np.asarray(shape.faces))


def _creased(shape) -> Surface:
    """The triangles of a shape; at sharp edges each face has corners of its own, so that viewers do not smooth them."""
    from trimesh.graph import smooth_shade

    return _surface(smooth_shade(shape, angle=0.6))


def mesh(m: Model, index: int) -> Surface:
    """Return the triangles of a mesh asset in its frame, with its texture coordinates."""
    vertex, faces = m.mesh_vertadr[index], slice(m.mesh_faceadr[index], m.mesh_faceadr[index] + m.mesh_facenum[index])
    point = np.asarray(m.mesh_vert, float)[vertex : vertex + m.mesh_vertnum[index]]
    face, start = m.mesh_face[faces], m.mesh_texcoordadr[index]
    if start < 0:
        return Surface(point, face)
    texcoord = np.asarray(m.mesh_texcoord, float)[start : start + m.mesh_texcoordnum[index]]
    pairs, index_of = np.unique(
        np.stack([face, m.mesh_facetexcoord[faces]], axis=-1).reshape(-1, 2), axis=0, return_inverse=True
    )
    return Surface(point[pairs[:, 0]], index_of.reshape(-1, 3), texcoord[pairs[:, 1]])


def height_field(m: Model, index: int) -> Surface:
    """Return the triangles of the top of a height field and of its sides, in its frame."""
    nrow, ncol, start = (int(x[index]) for x in (m.hfield_nrow, m.hfield_ncol, m.hfield_adr))
    half_x, half_y, top, base = np.asarray(m.hfield_size[index], float)
    height = top * np.asarray(m.hfield_data[start : start + nrow * ncol], float).reshape(nrow, ncol)
    x, y = np.meshgrid(np.linspace(-half_x, half_x, ncol), np.linspace(-half_y, half_y, nrow))
    point = np.stack([x, y, height], axis=-1).reshape(-1, 3)
    number = np.arange(nrow * ncol).reshape(nrow, ncol)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    top_face = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
    rim = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])
    upper = point[rim]
    wall = np.concatenate([upper, upper * [1, 1, 0] - [0, 0, base]])
    i, n = np.arange(len(rim)), len(rim)
    j = np.roll(i, -1)
    side = np.concatenate([np.stack([i, i + n, j + n], axis=1), np.stack([i, j + n, j], axis=1)]) + len(point)
    texcoord = np.stack([(x / half_x + 1) / 2, (1 - y / half_y) / 2], axis=-1).reshape(-1, 2)
    return Surface(
        np.concatenate([point, wall]),
        np.concatenate([top_face, side]),
        np.concatenate([texcoord, texcoord[rim], texcoord[rim]]),
    )


def planar_texcoord(point: np.ndarray, size: np.ndarray, repeat: np.ndarray, uniform: bool) -> np.ndarray:
    """Return where points of an object are in a picture that lies across its x and y axes, shape (n, 2).

    Args:
      point: in the frame of the object, shape (n, 3) [m].
      size: half extents of the object, 0 where it has none; shape (2,) [m].
      repeat: as mat_texrepeat.
      uniform: whether it repeats by metres rather than by the size of the object.
    Source: settexture in render_gl3.c.
    """
    share = 0.5 * repeat * (1.0 if uniform else 1 / np.where(size > 0, size, 1))
    return point[:, :2] * share * [1, -1] - 0.5
