"""Collision and visual elements of a URDF link, and the materials and meshes they name.  Source: mjXURDF::Geom."""

import warnings
from typing import Any

import numpy as np

from mjx_like.mjcf.default import file_stem
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema.grammar import real, real32
from mjx_like.mjcf.urdf.node import POINT, Node

LENGTH, RGBA = real(), real32(4)
SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")  # the first of these that is given counts
VISUAL = {"contype": 0, "conaffinity": 0, "group": 1, "density": 0.0}


def materials(robot: Node) -> dict[str, np.ndarray]:
    """Name -> colour of the materials anywhere in the file; the first that gives a colour counts."""
    found: dict[str, np.ndarray] = {}
    for xml in robot.xml.iter("material"):
        node = Node(xml, robot.file)
        name = node.xml.get("name")
        color = node.find("color") if name is not None and name not in found else None
        if color is not None:
            found[name] = color.value("rgba", RGBA, required=True)
    return found


class Geoms:
    """Makes the geoms of all links, and collects the meshes that they use.

    strippath: whether mesh files lose their folders.
    discardvisual: whether visual elements are passed over.
    """

    def __init__(self, robot: Node, strippath: bool, discardvisual: bool):
        self.colors = materials(robot)
        self.strippath, self.discardvisual = strippath, discardvisual
        self.names: set[str] = set()
        self.meshes: dict[str, list[Element]] = {}

    def of_link(self, link: Node) -> list[Element]:
        """Geoms of a link in document order; each has the colour of the last visual element before it."""
        rgba, found = None, []
        for node in link.children("visual", "collision"):
            if node.tag == "visual":
                rgba = self.color(node, rgba)
                if self.discardvisual:
                    continue
            found.append(self.geom(node, rgba))
        return found

    def color(self, visual: Node, rgba: np.ndarray | None) -> np.ndarray | None:
        """Colour of a visual element; the one before where it names none that is known."""
        material = visual.find("material")
        if material is None:
            return rgba
        color = material.find("color")
        if color is not None:
            return color.value("rgba", RGBA, required=True)
        return self.colors.get(material.text("name", required=True), rgba)

    def geom(self, node: Node, rgba: np.ndarray | None) -> Element:
        """Geom of a visual or collision element. Raises ModelError for a missing or unknown shape."""
        attrib: dict[str, Any] = {} if node.tag == "collision" else dict(VISUAL)
        name = node.text("name")
        if name in self.names:
            warnings.warn(f"{node.where}: geom name '{name}' is taken; this geom stays unnamed", stacklevel=2)
        elif name:
            attrib["name"] = name
            self.names.add(name)
        geometry = node.need("geometry")
        shape = next((found for tag in SHAPES if (found := geometry.find(tag)) is not None), None)
        if shape is None:
            raise geometry.error(f"names no shape; needs one of: {', '.join(SHAPES)}")
        attrib |= {"type": shape.tag} | self.shape(shape)
        attrib["pos"], attrib["quat"] = node.origin()
        if rgba is not None and rgba[0] >= 0:
            attrib["rgba"] = rgba
        return node.element("geom", attrib)

    def shape(self, shape: Node) -> dict[str, Any]:
        """Size of a shape, or the name of its mesh; URDF gives whole lengths and MJCF half ones."""
        if shape.tag == "mesh":
            return {"mesh": self.mesh(shape)}
        if shape.tag == "box":
            return {"size": shape.value("size", POINT, required=True) / 2}
        size = [shape.value("radius", LENGTH, required=True)]
        if shape.tag != "sphere":
            size.append(shape.value("length", LENGTH, required=True) / 2)
        return {"size": np.array(size)}

    def mesh(self, shape: Node) -> str:
        """Name of the mesh asset of a file at a scale; a second scale of the same file name makes another asset."""
        file = shape.text("filename", required=True).removeprefix("file://")
        scale = shape.value("scale", POINT)
        scale = np.ones(3) if scale is None else scale
        if self.strippath:
            file = file.replace("\\", "/").rsplit("/", 1)[-1]
        stem = file_stem(file)
        if not stem:
            raise shape.error("attribute 'filename' names no file")
        known = self.meshes.setdefault(stem, [])
        for mesh in known:
            if (mesh.attrib["scale"] == scale).all():
                return mesh.attrib["name"]
        name = stem + str(len(known)) if known else stem
        known.append(shape.element("mesh", {"name": name, "file": file, "scale": scale}))
        return name

    def assets(self) -> list[Element]:
        """Mesh assets that the geoms made so far use."""
        return [mesh for meshes in self.meshes.values() for mesh in meshes]
