"""A Spec with attached models as one model: every element in the units of the one compiler element.

What an attached model says in another angle unit or Euler sequence is converted; what it says through its classes is
then said by its elements.
"""

import copy
import os
from pathlib import Path
from typing import Any

import numpy as np

from mjx_like.errors import ModelError
from mjx_like.mjcf.canonical import same
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.frame import PoseError, orientation
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema.asset import CUBE_FILES
from mjx_like.mjcf.spec import Spec

FILES = ("file", *CUBE_FILES)
# Settings that change what compilation makes of an element, and that the element cannot say itself.
INFERRING = (
    "alignfree", "balanceinertia", "boundmass", "boundinertia", "inertiafromgeom", "inertiagrouprange", "fitaabb",
)  # fmt: skip
ANGLES = {"hinge": ("range", "springyield", "ref", "springref"), "ball": ("range", "springyield")}
TURNED = ("euler", "axisangle")


def settled(spec: Spec) -> Spec:
    """The same model without attached parts that are read in their own way; the Spec itself if it has none.

    Raises ModelError for an attached model whose compiler settings one file cannot have beside the others.
    """
    tops = [spec.worldbody, *(element for elements in spec.sections.values() for element in elements)]
    if not any(element.origin for top in tops for element in top.iter()):
        return spec
    spec = copy.deepcopy(spec)
    settle_children(spec, spec.worldbody, None)
    for elements in spec.sections.values():
        for top in elements:
            settle(spec, top, None)
            for element in top.iter():
                element.origin = None
    return spec


def settle_children(spec: Spec, holder: Element, childclass: str | None) -> None:
    """Settle all below a body or frame; childclass is the default class around what it holds."""
    for child in holder.children:
        settle(spec, child, childclass)
        if child.tag in ("body", "frame"):
            settle_children(spec, child, child.get("childclass", childclass))
        for element in child.iter():
            element.origin = None


def settle(spec: Spec, element: Element, childclass: str | None) -> None:
    """Convert the angles and orientations of an attached element to the settings of the model that takes it."""
    if element.origin is None:
        return
    theirs, ours = element.origin.compiler, spec.compiler
    for name in INFERRING + (("autolimits",) if not ours["autolimits"] else ()):
        if not same(theirs[name], ours[name]):
            raise element.error(
                f"came with a model whose compiler has {name} '{theirs[name]}', this one has '{ours[name]}'; "
                "one MJCF file cannot say both: make them equal, or write the compiled Model"
            )
    if (theirs["angle"], theirs["eulerseq"]) != (ours["angle"], ours["eulerseq"]):
        settle_angles(spec, element, childclass)
    if any(map(element.get, FILES)):
        settle_files(spec, element)


def settle_angles(spec: Spec, element: Element, childclass: str | None) -> None:
    """Turn orientations by angles into quaternions, and the angles of joints into the model's unit."""
    theirs, row = element.origin.compiler, ELEMENTS[element.type].attributes
    record = spec.resolve(element, childclass)
    if "quat" in row and any(record.get(name) is not None for name in TURNED):
        try:
            quat = orientation(record, theirs["angle"] == "degree", theirs["eulerseq"])
        except PoseError as e:
            raise element.error(str(e)) from None
        for name in TURNED:
            element.attrib.pop(name, None)
        element.attrib["quat"] = quat
    if element.type == "joint" and theirs["angle"] != spec.compiler["angle"]:
        factor = np.pi / 180 if theirs["angle"] == "degree" else 180 / np.pi
        for name in ANGLES.get(record["type"], ()):
            if np.any(record[name]):
                element.attrib[name] = record[name] * factor


def settle_files(spec: Spec, element: Element) -> None:
    """Name files by where they are, whatever folder the model has for them."""
    theirs: dict[str, Any] = element.origin.compiler
    if spec.compiler["strippath"]:
        raise ModelError(f"{element.where}: {element.label}: compiler strippath would lose the folder of its file")
    folder = (element.origin.directory or Path()) / theirs["texturedir" if element.tag == "texture" else "meshdir"]
    for name in FILES:
        file = element.get(name)
        if file:
            file = Path(file.replace("\\", "/")).name if theirs["strippath"] else file
            element.attrib[name] = Path(
                os.path.abspath((element.origin.directory or Path()) / folder / file)
            ).as_posix()
