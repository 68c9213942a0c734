"""Spec -> canonical MJCF, which reads back as the same Spec.

Elements keep what they say and the class that they name; includes and replicates stay expanded. Actuator shortcuts are
written as general where a default class was written by a shortcut.
"""

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from mjx_like.mjcf.asset.skn import read_skin
from mjx_like.mjcf.attach.units import FILES, settled
from mjx_like.mjcf.canonical import default_elements, general_element, node, plain_classes, settings, speaking
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.reading.file import path_of
from mjx_like.mjcf.schema import ELEMENTS, Attribute, Kind
from mjx_like.mjcf.spec import Spec

LONG = 1000  # numbers of a vector from which on those in single precision are written with 9 digits, which is faster
BEFORE_TREE = ("extension", "custom", "asset")
AFTER_TREE = ("deformable", "contact", "equality", "tendon", "actuator", "sensor", "keyframe")


def to_xml(spec: Spec) -> str:
    """Return the MJCF of a Spec; the contents of files that it names are not part of it.

    Raises:
      ModelError: a text that XML cannot hold, a default class or attached model that no MJCF says.
    """
    spec = settled(spec)
    sections = dict(spec.sections)
    for name in ("asset", "deformable"):
        sections[name] = [_inline_skin(spec, e) if _renamed_skin(e) else e for e in sections[name]]
    if not plain_classes(spec.defaults):
        sections["actuator"] = [general_element(spec, element) for element in sections["actuator"]]
    parts = [*settings(spec), *default_elements(spec.defaults)]
    parts += speaking([node(name, {}, sections[name]) for name in BEFORE_TREE])
    parts.append(spec.worldbody)
    parts += speaking([node(name, {}, sections[name]) for name in AFTER_TREE])
    root = xml_node(node("mujoco", {"model": spec.modelname}, parts))
    etree.indent(root)
    return etree.tostring(root, encoding="unicode") + "\n"


def _renamed_skin(element: Element) -> bool:
    """Whether an element is a skin whose file names bodies by other names than they have here."""
    return element.tag == "skin" and bool(element.get("file")) and any(element.around)


def _inline_skin(spec: Spec, element: Element) -> Element:
    """A skin with what its file says."""
    found = read_skin(spec, element, element.get("file"))
    attrib = {name: value for name, value in element.attrib.items() if name != "file"}
    attrib |= {"vertex": found.vertex.ravel(), "face": found.face.ravel()}
    attrib |= {"texcoord": found.texcoord.ravel()} if found.texcoord.size else {}
    bones = [
        Element(
            "bone",
            {"body": b.body, "bindpos": b.pos, "bindquat": b.quat, "vertid": b.vertid, "vertweight": b.vertweight},
            [], element.where, "bone",
        )
        for b in found.bones
    ]  # fmt: skip
    return dataclasses.replace(element, attrib=attrib, children=bones)


def write_xml(spec: Spec, path: str | Path) -> None:
    """Write the MJCF of a Spec to a file; files that it names are found from there.

    Files that exist only in `spec.assets` are not written.
    Raises ModelError as to_xml does, InputError for a path that is none, OSError where the file cannot be written.
    """
    path = path_of(path)
    moved = Spec(**vars(spec))
    moved.compiler = spec.compiler | moved_folders(spec, path.parent)
    path.write_text(to_xml(moved), encoding="utf-8")


def moved_folders(spec: Spec, target: Path) -> dict[str, str]:
    """The compiler's folders, as far as files are named, seen from another directory than that of the Spec's file."""
    origin = (spec.directory or Path()).resolve()
    if origin == target.resolve():
        return {}
    tops = (spec.worldbody, *(element for elements in spec.sections.values() for element in elements))
    named = {element.tag for top in tops for element in top.iter() if any(map(element.get, FILES))}
    folders = ["texturedir"] if "texture" in named else []
    folders += ["meshdir"] if named - {"texture"} else []
    found = {}
    for name in folders:
        folder = spec.compiler.get(name, "")
        if not os.path.isabs(folder):
            found[name] = Path(os.path.relpath(origin / folder, target.resolve())).as_posix()
    return found


def xml_node(element: Element) -> etree._Element:
    """XML of an element and all below it."""
    found = etree.Element(element.tag)
    row = ELEMENTS[element.type].attributes
    for name, value in element.attrib.items():
        try:
            found.set(name, value_text(row[name], value))
        except ValueError:
            raise element.error(f"attribute '{name}' has a character that XML cannot hold") from None
    for child in element.children:
        found.append(xml_node(child))
    return found


def value_text(row: Attribute, value: Any) -> str:
    """Text of an attribute's value, which the reader turns into the same value."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if row.kind is Kind.KEYWORDS:
        return " ".join(value)
    numbers = np.atleast_1d(value).tolist()
    if len(numbers) >= LONG and row.kind is not Kind.REAL:
        return " ".join(["%d" if row.kind is Kind.INT else "%.9g"] * len(numbers)) % tuple(numbers)
    return " ".join(number_text(row.kind, number) for number in numbers)


def number_text(kind: Kind, value: float) -> str:
    """Shortest text of a number that reads back as the same number of its kind."""
    if kind is Kind.INT or (float(value).is_integer() and abs(value) < 1e15 and not (value == 0 and np.signbit(value))):
        return str(int(value))
    return str(np.float32(value)) if kind is Kind.REAL32 else repr(float(value))
