"""Points and elements of a flexcomp that come from a file or from a mesh asset."""

from pathlib import PurePosixPath
from typing import Any

import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError
from mjx_like.mjcf.asset.source import READERS, given_mesh, placed, read_file
from mjx_like.mjcf.asset.stl import merge_repeated
from mjx_like.mjcf.default import file_stem
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.flexcomp.gmsh import read_gmsh
from mjx_like.mjcf.flexcomp.shapes import Shape
from mjx_like.mjcf.spec import Spec


def load(spec: Spec, element: Element, a: dict[str, Any]) -> tuple[Shape, int]:
    """Points and elements of the file or mesh asset that a flexcomp names, and the dimension of the elements.

    Points of a file are as they are there; those of an asset in its frame, with its scale, refpos and refquat.

    element: the flexcomp; a: its resolved attributes.
    Raises ModelError for a file or asset that is missing or has other contents.
    """
    file = a.get("file")
    if "mesh" in a:
        if file:
            raise element.error("attributes 'file' and 'mesh' exclude one another")
        return _shape(element, a, _asset(spec, element, a["mesh"]))
    if not file:
        raise element.error(f"type {a['type']} needs attribute 'file' or 'mesh'")
    if a["type"] == "gmsh":
        return _gmsh(element, a, read_file(spec, element, file, "meshdir"))
    ending = PurePosixPath(file.replace("\\", "/")).suffix.lower()
    if ending == ".msh":
        raise element.error(f"file '{file}': legacy MSH files do not go with flexcomp; type gmsh reads GMSH files")
    if ending not in READERS:
        raise element.error(f"file '{file}' is of no known kind; allowed: .stl, .obj")
    try:
        data = READERS[ending](read_file(spec, element, file, "meshdir"))
    except MeshError as error:
        raise element.error(f"file '{file}' {error}") from None
    vert, index = merge_repeated(data.vert.astype(np.float32))
    data.vert, data.face = vert.astype(float), index[data.face]
    return _shape(element, a, data)


def _asset(spec: Spec, element: Element, name: str) -> MeshData:
    """Data of a mesh asset, its points placed."""
    for asset in spec.sections["asset"]:
        if asset.tag == "mesh" and (asset.get("name") or file_stem(asset.get("file", ""))) == name:
            break
    else:
        raise element.error(f"attribute 'mesh' names mesh '{name}', which does not exist")
    record = spec.resolve(asset)
    try:
        data, _ = given_mesh(spec, asset, record, legacy=False)
    except MeshError as error:
        raise asset.error(str(error)) from None
    if len(data.texcoord) and not len(data.facetexcoord):
        data.facetexcoord = data.face
    data.vert = placed(data.vert, record)
    if np.prod(np.sign(record["scale"])) < 0:
        data.face = data.face[:, [0, 2, 1]]
        data.facetexcoord = data.facetexcoord[:, [0, 2, 1]] if len(data.facetexcoord) else data.facetexcoord
    return data


def _gmsh(element: Element, a: dict[str, Any], data: bytes) -> tuple[Shape, int]:
    point, vertices = read_gmsh(data, element)
    dim = vertices.shape[1] - 1
    if "dim" in element.attrib and a["dim"] != dim:
        raise element.error(f"dim {a['dim']} does not fit the file, which has elements of dimension {dim}")
    return Shape(point, vertices), dim


def _shape(element: Element, a: dict[str, Any], data: MeshData) -> tuple[Shape, int]:
    """Elements of a surface: its triangles, their first edges, or tetrahedra between them and the origin."""
    dim, face, corner = a["dim"], data.face, data.facetexcoord
    if not len(data.vert) or not len(face):
        raise element.error("its mesh must have vertices and faces")
    if face.min() < 0 or face.max() >= len(data.vert):
        raise element.error(f"its mesh has a face with a vertex that does not exist; there are {len(data.vert)}")
    if dim == 3:
        return _filled(element, a, data), 3
    return Shape(data.vert, face[:, : dim + 1], data.texcoord, corner[:, : dim + 1].ravel()), dim


def _filled(element: Element, a: dict[str, Any], data: MeshData) -> Shape:
    """Tetrahedra from the origin, which becomes point 0, to the triangles that look away from it."""
    origin = a.get("origin")
    if origin is None:
        raise element.error("a mesh of dim 3 needs attribute 'origin'")
    first, second, third = np.moveaxis(data.vert[data.face] - origin, 1, 0)
    away = np.sum(np.cross(first, second) * third, axis=1) >= MINVAL
    point = np.concatenate([[origin], data.vert])
    texcoord, corner = data.texcoord, data.facetexcoord
    if len(texcoord):
        texcoord = np.concatenate([np.zeros((1, 2)), texcoord])
        corner = _from_origin(corner[away]).ravel()
    return Shape(point, _from_origin(data.face[away]), texcoord, corner)


def _from_origin(face: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros((len(face), 1), int), face + 1], axis=1)
