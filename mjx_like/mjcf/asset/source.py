"""Where a mesh asset has its data from: a file, a built-in shape, or its own attributes."""

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from mjx_like.errors import ModelError
from mjx_like.mjcf.asset.builtin import builtin_mesh
from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError, single
from mjx_like.mjcf.asset.msh import read_msh
from mjx_like.mjcf.asset.obj import read_obj
from mjx_like.mjcf.asset.stl import read_stl
from mjx_like.mjcf.frame import IDENTITY, normalized, quat_to_mat
from mjx_like.mjcf.spec import Element, Spec

READERS: dict[str, Callable[[bytes], MeshData]] = {".stl": read_stl, ".obj": read_obj, ".msh": read_msh}
_CONTENT_TYPES = {"model/stl": ".stl", "model/obj": ".obj", "model/vnd.mujoco.msh": ".msh"}


def read_file(spec: Spec, element: Element, file: str, directory: str) -> bytes:
    """Return the contents of an asset file, from the folder that the compiler attribute `directory` gives.

    An element of an included file finds its files beside that one too.  Source: mjXReader::ReadAttrFile.
    """
    compiler = element.origin.compiler if element.origin else spec.compiler
    folder = compiler.get(directory) or compiler.get("assetdir") or ""
    folders = [PurePosixPath(folder)]
    if compiler.get("strippath"):
        file = PurePosixPath(file.replace("\\", "/")).name
    elif (beside := PurePosixPath(element.where.file).parent) != _directory(spec, element):
        folders.append(beside)
    message = ""
    for path in folders:
        try:
            return spec.read_asset(str(path / file), element.origin)
        except ModelError as error:
            message = message or str(error)
    raise element.error(message)


def _directory(spec: Spec, element: Element) -> PurePosixPath:
    """The directory of the main file of the model that an element came with."""
    origin = element.origin or spec
    return PurePosixPath(origin.directory or "")


def given_mesh(spec: Spec, element: Element, a: dict[str, Any], legacy: bool) -> tuple[MeshData, bool]:
    """Return what the file, the built-in shape or the attributes of a mesh say, and whether it can only be a shell.

    a: resolved attributes of the mesh; legacy: whether its inertia is of the kind legacy.
    Raises ModelError for a file that is missing or of no known kind, MeshError for its contents.
    """
    if a.get("builtin", "none") != "none":
        data, flat = builtin_mesh(a["builtin"], np.asarray(a.get("params", ()), float))
        return data, a["builtin"] == "plate" or (flat and legacy)
    inline = MeshData(
        single(a.get("vertex", ()), 3, "vertex"),
        np.asarray(_multiple(a.get("face", ()), "face"), int).reshape(-1, 3),
        single(a.get("normal", ()), 3, "normal"),
        single(a.get("texcoord", ()), 2, "texcoord"),
    )
    if not a.get("file"):
        return inline, False
    if len(inline.vert):
        raise MeshError("and vertex cannot both be given")
    data = _reader(element, a)(read_file(spec, element, a["file"], "meshdir"))
    if not len(data.normal):
        data.normal = inline.normal
    if not len(data.texcoord):
        data.texcoord = inline.texcoord
    return data, False


def _multiple(values: Any, what: str) -> Any:
    if np.size(values) % 3:
        raise MeshError(f"has {np.size(values)} numbers in {what}, no multiple of 3")
    return values


def _reader(element: Element, a: dict[str, Any]) -> Callable[[bytes], MeshData]:
    ending = _CONTENT_TYPES.get(a.get("content_type") or "", PurePosixPath(a["file"].replace("\\", "/")).suffix.lower())
    if ending not in READERS:
        raise element.error(f"file '{a['file']}' is of no known kind; allowed: {', '.join(READERS)}")
    return READERS[ending]


def placed(vert: np.ndarray, a: dict[str, Any]) -> np.ndarray:
    """Return vertices with refpos, refquat and scale of a mesh applied, shape (n, 3)."""
    quat = normalized(np.asarray(a["refquat"], float))[0]
    vert = vert - a["refpos"]
    return (vert @ quat_to_mat(quat) if (quat != IDENTITY).any() else vert) * a["scale"]
