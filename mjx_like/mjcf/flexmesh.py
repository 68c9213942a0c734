"""Points and elements of a flexcomp that come from a file."""

from typing import Any

from mjx_like.mjcf.element import Element
from mjx_like.mjcf.flexshape import Shape
from mjx_like.mjcf.gmsh import read_gmsh
from mjx_like.mjcf.spec import Spec


def load(spec: Spec, element: Element, a: dict[str, Any]) -> tuple[Shape, int]:
    """Points and elements of the file or mesh asset that a flexcomp names, and the dimension of the elements.

    element: the flexcomp; a: its resolved attributes.
    Raises ModelError for a file that is missing or has other contents.
    """
    if "mesh" in a:
        raise element.error("attribute 'mesh' is not built yet; name the file")
    file = a.get("file")
    if not file:
        raise element.error("attribute 'file' is needed")
    compiler = spec.compiler
    if compiler.get("strippath"):
        file = file.replace("\\", "/").rsplit("/", 1)[-1]
    directory = compiler.get("meshdir", "")
    path = f"{directory.rstrip('/')}/{file}" if directory and not file.startswith("/") else file
    data = spec.read_asset(path)
    if a["type"] == "gmsh":
        point, vertices = read_gmsh(data, element)
        dim = vertices.shape[1] - 1
        if "dim" in element.attrib and a["dim"] != dim:
            raise element.error(f"dim {a['dim']} does not fit the file, which has elements of dimension {dim}")
        return Shape(point, vertices), dim
    raise element.error("type mesh is not built yet")
