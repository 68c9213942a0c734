"""A URDF node with its location in the file: what the URDF reader reads its attributes and children through."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from lxml import etree

from mjx_like.errors import ModelError
from mjx_like.mjcf.element import Element, Where
from mjx_like.mjcf.frame import IDENTITY, PoseError, orientation
from mjx_like.mjcf.reading.validate import read_value
from mjx_like.mjcf.schema import Attribute
from mjx_like.mjcf.schema.grammar import real

POINT = real(3)


class Node:
    """One XML node of a URDF file.

    Children and attributes that nobody asks for are passed over, as MuJoCo does with URDF.
    """

    def __init__(self, xml: etree._Element, file: str):
        self.xml, self.file = xml, file
        self.tag = xml.tag
        self.where = Where(file, xml.sourceline)

    def element(self, tag: str, attrib: dict[str, Any], kind: str | None = None) -> Element:
        """An MJCF element that stands where this node does."""
        return Element(tag, attrib, [], self.where, kind or tag)

    def error(self, message: str) -> ModelError:
        """A ModelError that starts with the location and the label of this node."""
        name = self.xml.get("name")
        return self.element(self.tag, {"name": name} if name else {}).error(message)

    def children(self, *tags: str) -> Iterator["Node"]:
        """Direct children with one of these tags (all, if none is given), in document order."""
        for child in self.xml:
            if isinstance(child.tag, str) and (not tags or child.tag in tags):
                yield Node(child, self.file)

    def find(self, tag: str) -> "Node | None":
        """The only child with a tag, or None. Raises ModelError if there are two."""
        found = list(self.children(tag))
        if len(found) > 1:
            raise found[1].error(f"repeated; may stand only once in <{self.tag}>")
        return found[0] if found else None

    def need(self, tag: str) -> "Node":
        """The only child with a tag. Raises ModelError if there is none, or two."""
        found = self.find(tag)
        if found is None:
            raise self.error(f"missing element <{tag}>")
        return found

    def text(self, name: str, required: bool = False) -> str:
        """Text of an attribute, empty if it is not there."""
        if required and name not in self.xml.attrib:
            raise self.error(f"missing attribute '{name}'")
        return self.xml.get(name, "")

    def value(self, name: str, row: Attribute, required: bool = False) -> Any:
        """Typed value of an attribute, None if it is not there or blank. Raises ModelError for a wrong one."""
        given = self.xml.get(name)
        value = None if given is None else read_value(self.element(self.tag, {}), name, row, given)
        if required and value is None:
            raise self.error(f"missing attribute '{name}'")
        return value

    def origin(self) -> tuple[np.ndarray, np.ndarray]:
        """Position and quaternion (wxyz) of the node's origin; roll, pitch and yaw rotate about fixed axes."""
        origin = self.find("origin")
        pos, angles = (None, None) if origin is None else (origin.value("xyz", POINT), origin.value("rpy", POINT))
        try:
            quat = IDENTITY if angles is None else orientation({"euler": angles}, False, "XYZ")
        except PoseError:
            raise origin.error("attribute 'rpy' has a number that is not finite") from None
        return np.zeros(3) if pos is None else pos, quat
