"""The replicate element: copies of what stands in it, each in a frame of its own.

Every copy's frame holds the pose of the copy; names below it get the separator and the copy's number as a suffix, with
as many digits as the count has. Inner replicates go first. Source: XML reference, replicate; mjXReader::Body.
"""

from typing import Any

import numpy as np

from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import ELEMENTS

TARGETS = {"camera": "target", "light": "target"}


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of two quaternions."""
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *vector])


def euler_quat(angles: np.ndarray, compiler: dict[str, Any]) -> np.ndarray:
    """Quaternion of three angles, in the unit and sequence of the compiler element.

    Lower case letters turn about the moving axes, upper case letters about the fixed ones.
    """
    angles = np.deg2rad(angles) if compiler["angle"] == "degree" else angles
    quat = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, angle in zip(compiler["eulerseq"], angles, strict=True):
        turn = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.eye(3)["xyz".index(axis.lower())])])
        quat = product(quat, turn) if axis.islower() else product(turn, quat)
    return quat


def turned(vector: np.ndarray, quat: np.ndarray) -> np.ndarray:
    """Vector turned by a unit quaternion."""
    conjugate = quat * np.array([1.0, -1.0, -1.0, -1.0])
    return product(product(quat, np.array([0.0, *vector])), conjugate)[1:]


def names_in(elements: list[Element]) -> set[tuple[str, str]]:
    """(kind, name) of every named element among some and below them."""
    return {
        (ELEMENTS[element.type].attributes["name"].declares, element.get("name"))
        for top in elements
        for element in top.iter()
        if element.get("name")
    }


def copied(element: Element, suffix: str, bodies: set[str]) -> Element:
    """Copy of an element and all below it, names with a suffix; so are targets among the copied bodies."""
    attrib = dict(element.attrib)
    if attrib.get("name"):
        attrib["name"] += suffix
    target = TARGETS.get(element.tag)
    if target and attrib.get(target) in bodies:
        attrib[target] += suffix
    children = [copied(child, suffix, bodies) for child in element.children]
    return Element(element.tag, attrib, children, element.where, element.type)


def replicas(element: Element, compiler: dict[str, Any]) -> list[Element]:
    """Frames that stand for a replicate element, its inner replicates already expanded."""
    count = element.get("count")
    offset, euler = element.get("offset", np.zeros(3)), element.get("euler", np.zeros(3))
    bodies = {name for kind, name in names_in(element.children) if kind == "body"}
    shared = {name: element.attrib[name] for name in ("class", "childclass") if name in element.attrib}
    digits, pos, frames = len(str(count)), np.zeros(3), []
    for number in range(count):
        quat = euler_quat(number * euler, compiler)
        suffix = element.get("sep", "") + str(number).zfill(digits)
        children = [copied(child, suffix, bodies) for child in element.children]
        frames.append(Element("frame", {"pos": pos, "quat": quat} | shared, children, element.where, "frame"))
        pos = pos + turned(offset, quat)
    return frames


MAX_ELEMENTS = 1_000_000


def expand(element: Element, compiler: dict[str, Any], replicated: set[tuple[str, str]]) -> int:
    """Replace every replicate below an element by its copies; return how many elements there are then.

    replicated: (kind, name) of what stood in a replicate is added to it, under the name in the file.
    Raises ModelError if the copies are too many to be meant.
    """
    children, total = [], 1
    for child in element.children:
        if child.tag == "replicate":
            replicated |= names_in(child.children)
        size = expand(child, compiler, replicated)
        if child.tag == "replicate":
            size *= max(child.get("count"), 0)
            if size > MAX_ELEMENTS:
                raise child.error(f"makes {size} elements; at most {MAX_ELEMENTS} are allowed")
            children += replicas(child, compiler)
        else:
            children.append(child)
        total += size
    element.children = children
    return total
