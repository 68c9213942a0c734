"""Meshes: the vertices of a compiled model, brought back into the frame of the file that they came from.

The compiler centres them again; what it finds agrees with the model to single precision. Normals with an order of
their own, which no inline mesh can have, are made anew from the faces.
"""

import numpy as np

from mjx_like.compiler.decompile.plugin import Plugins, use
from mjx_like.compiler.decompile.source import Source, said
from mjx_like.compiler.mesh.hull import convex_hull
from mjx_like.compiler.mesh.inertia import mesh_mass
from mjx_like.mjcf.asset.mesh_data import MeshError
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.frame import compose, invert, quat_to_mat
from mjx_like.types.enums import MeshInertia, ObjType

_KINDS = (MeshInertia.LEGACY, MeshInertia.CONVEX, MeshInertia.EXACT, MeshInertia.SHELL)
_SAME = 1e-4  # share of its size by which the centre of a mesh may miss the origin


def meshes(s: Source, plugins: Plugins) -> list[Element]:
    """Mesh assets: made by a plugin, or with inline vertices."""
    return [_mesh(s, index, plugins) for index in range(s["nmesh"])]


def _mesh(s: Source, index: int, plugins: Plugins) -> Element:
    vert, face = _part(s, index, "vert"), _part(s, index, "face")
    rotation, scale = quat_to_mat(s["mesh_quat"][index]), s["mesh_scale"][index]
    outward = face if np.prod(scale) > 0 else face[:, [0, 2, 1]]
    attrib = {
        "name": s.name(ObjType.MESH, index),
        "inertia": _inertia(vert, face).name.lower(),
        "maxhullvert": _hull_limit(s, index, plugins.vert.get(index, vert)),
    }
    if index in plugins.of_mesh:
        return said("mesh", attrib, use(plugins.of_mesh, index))
    attrib |= {
        "vertex": _single((vert @ rotation.T + s["mesh_pos"][index]) / scale),
        "face": outward.ravel().astype(float),
        "scale": scale,
    }
    faces = slice(int(s["mesh_faceadr"][index]), int(s["mesh_faceadr"][index]) + len(face))
    normal = _part(s, index, "normal")
    if len(normal) == len(vert) and np.array_equal(s["mesh_facenormal"][faces], face):
        attrib["normal"] = _single(normal @ rotation.T * scale)
    if s["mesh_texcoordadr"][index] >= 0:
        texcoord = _part(s, index, "texcoord")
        if len(texcoord) == len(vert) and np.array_equal(s["mesh_facetexcoord"][faces], face):
            attrib["texcoord"] = _single(texcoord)
    return said("mesh", attrib)


def _part(s: Source, index: int, name: str) -> np.ndarray:
    """Rows of a mesh in the array of all meshes."""
    start, count = int(s[f"mesh_{name}adr"][index]), int(s[f"mesh_{name}num"][index])
    return np.asarray(s[f"mesh_{name}"][start : start + count])


def _single(values: np.ndarray) -> np.ndarray:
    """Numbers in single precision, as a mesh element has them, in one row."""
    return values.astype(np.float32).astype(np.float64).ravel()


def _inertia(vert: np.ndarray, face: np.ndarray) -> MeshInertia:
    """The way of distributing mass that has its centre where the compiled mesh has it."""
    size = np.abs(vert).max()
    for kind in _KINDS:
        try:
            solid = convex_hull(vert, -1).face if kind == MeshInertia.CONVEX else face
            if np.abs(mesh_mass(vert, face, solid, kind).pos).max() < _SAME * size:
                return kind
        except MeshError:
            continue
    return MeshInertia.SHELL


def _hull_limit(s: Source, index: int, vert: np.ndarray) -> int:
    """Largest number of hull vertices, -1 where the hull is whole."""
    address = int(s["mesh_graphadr"][index])
    if address < 0:
        return -1
    count = int(s["mesh_graph"][address])
    return count if count < len(np.unique(convex_hull(vert, -1).face)) else -1


def mesh_place(s: Source, prefix: str, index: int) -> dict[str, np.ndarray]:
    """pos and quat that a geom or site with a mesh has in the frame of the mesh's file."""
    mesh = int(s[f"{prefix}_dataid"][index])
    back = invert(s["mesh_pos"][mesh], s["mesh_quat"][mesh])
    pos, quat = compose(s[f"{prefix}_pos"][index], s[f"{prefix}_quat"][index], *back)
    return {"pos": pos, "quat": quat}
