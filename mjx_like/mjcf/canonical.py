"""What a Spec keeps as records, as elements again: settings, default classes, actuators under a class of a shortcut.

Each element says what differs from what it would inherit, so that the reader makes the same record of it.
"""

from typing import Any

import numpy as np

from mjx_like.errors import ModelError
from mjx_like.mjcf.default import ALTERNATIVES, MAIN, schema_defaults
from mjx_like.mjcf.element import DefaultClass, Element, Where
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.default import RECORDS
from mjx_like.mjcf.spec import Spec
from mjx_like.types.enums import CtrlChart, GainType

Record = dict[str, Any]

NOWHERE = Where("<spec>", 0)
ORIENTATIONS = ("quat", *ALTERNATIVES)
MEMORY_UNSET = -1


def same(first: Any, second: Any) -> bool:
    """Whether two values of an attribute are one; vectors entry by entry, a NaN equal to a NaN."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        if first is None or second is None:
            return False
        return np.array_equal(first, second, equal_nan=True)
    return first == second or (first != first and second != second)


def changed(kind: str, values: Record) -> Record:
    """Settings of a kind that differ from its schema's defaults."""
    defaults = schema_defaults(ELEMENTS[kind])
    return {name: value for name, value in values.items() if not same(value, defaults.get(name))}


def node(tag: str, attrib: Record | None = None, children: list[Element] | None = None, kind: str = "") -> Element:
    """Element without a location in a file."""
    return Element(tag, attrib or {}, children or [], NOWHERE, kind or tag)


def settings(spec: Spec) -> list[Element]:
    """Elements compiler, option, size, statistic and visual, those that say something."""
    compiler = {name: value for name, value in spec.compiler.items() if name != "lengthrange"}
    compiler = {name: value for name, value in compiler.items() if not (name.endswith("dir") and value == "")}
    lengthrange = node("lengthrange", changed("lengthrange", spec.compiler.get("lengthrange", {})))
    size = {name: value for name, value in spec.size.items() if name != "memory"}
    memory = spec.size.get("memory", MEMORY_UNSET)
    if memory != MEMORY_UNSET:
        size["memory"] = str(memory)
    groups = [node(group, changed(group, values)) for group, values in spec.visual.items()]
    found = [
        node("compiler", changed("compiler", compiler), speaking([lengthrange])),
        node("option", changed("option", spec.option), speaking([node("flag", changed("flag", spec.flag))])),
        node("size", changed("size", size)),
        node("statistic", changed("statistic", spec.statistic)),
        node("visual", {}, speaking(groups)),
    ]
    return speaking(found)


def speaking(elements: list[Element]) -> list[Element]:
    """Elements that have an attribute or a child."""
    return [element for element in elements if element.attrib or element.children]


def default_elements(classes: dict[str, DefaultClass]) -> list[Element]:
    """The top-level default elements that make these classes; none if main alone exists and is as the schema has it.

    A class that lacks what its parent got later (from a second default section) is opened before the parent says so.
    Raises ModelError if that does not help.
    """
    schema = {kind: schema_defaults(row) for kind, row in RECORDS.items()}
    schema["general"] |= {"ctrlspec": 0, "shortcut": "general"}
    main = classes[MAIN]
    children = [found for found in classes.values() if found.parent == MAIN]
    early = any(lacking(child.records[kind], main.records[kind]) for child in children for kind in RECORDS)
    base = schema if early else main.records
    nested = [class_element(classes, child, base) for child in children]
    own = record_elements(main, schema)
    if early:
        return [node("default", {}, nested), node("default", {}, own)]
    return [node("default", {}, own + nested)] if own or nested else []


def class_element(classes: dict[str, DefaultClass], found: DefaultClass, base: dict[str, Record]) -> Element:
    """Default element of a class and of those within it, opened where the records were as in base."""
    for kind in RECORDS:
        missing = lacking(found.records[kind], base[kind])
        if missing:
            raise ModelError(
                f"default class '{found.name}' has no {kind} {missing[0]}, but class '{found.parent}' has; "
                "no MJCF says this: give the class a value, or another parent"
            )
    nested = [class_element(classes, child, found.records) for child in classes.values() if child.parent == found.name]
    return node("default", {"class": found.name}, record_elements(found, base) + nested)


def lacking(record: Record, base: Record) -> list[str]:
    """Attributes that a base record has and a record does not, orientations aside."""
    return [name for name in base if name not in record and name not in (*ALTERNATIVES, "textures")]


def record_elements(found: DefaultClass, base: dict[str, Record]) -> list[Element]:
    """Elements that make of base the records of a class."""
    elements = []
    for kind in RECORDS:
        attrib = difference(kind, found.records[kind], base[kind])
        layers = []
        if kind == "material":
            layers = texture_layers(found.records[kind].get("textures", {}), base[kind].get("textures", {}), attrib)
        if attrib or layers:
            elements.append(node(kind, attrib, layers, f"default_{kind}"))
    return elements


def difference(kind: str, record: Record, base: Record) -> Record:
    """Attributes of an element that turns a base record into a record."""
    row = ELEMENTS[f"default_{kind}"].attributes
    found = {name: record[name] for name in row if name in record and not same(record[name], base.get(name))}
    if "quat" in row and any(name in base and name not in record for name in ALTERNATIVES):
        found |= {name: record[name] for name in ORIENTATIONS if name in record}
    if any(name in found for name in ALTERNATIVES):
        found.pop("quat", None)
    if kind == "general" and record["ctrlspec"] != base["ctrlspec"]:
        found["input"] = input_words(record)
    return found


def texture_layers(textures: dict[str, str], base: dict[str, str], attrib: Record) -> list[Element]:
    """Layers of a material in a class; a texture for colour alone becomes an attribute instead."""
    attrib.pop("texture", None)
    added = {role: name for role, name in textures.items() if base.get(role) != name}
    if set(added) == {"rgb"}:
        attrib["texture"] = added["rgb"]
        return []
    return [node("layer", {"texture": name, "role": role}) for role, name in added.items()]


def input_words(record: Record) -> tuple[str, ...]:
    """Keywords of the controls that an actuator takes. Source: mjCActuator, ctrlspec."""
    spec = int(record["ctrlspec"])
    if k.GAIN[record["gaintype"]] == GainType.SO3:
        return (CtrlChart(spec).name.lower(),) if spec else ()
    return tuple(word for word, bit in (k.INPUT_BIT | k.INPUT_NONE).items() if spec & bit)


def plain_classes(classes: dict[str, DefaultClass]) -> bool:
    """Whether shortcuts mean the same after writing: no class was written by one, and none was attached."""
    written = [found.records["general"]["shortcut"] for found in classes.values()]
    return set(written) == {"general"} and not any(found.top for found in classes.values() if found.name != MAIN)


def general_element(spec: Spec, element: Element) -> Element:
    """A general actuator that resolves to the same record as an actuator of any tag; plugins stay as they are."""
    if element.tag == "plugin":
        return element
    record, own = spec.resolve(element), element.get("class", MAIN)
    attrib = {name: element.attrib[name] for name in ("name", "class") if name in element.attrib}
    row, base = ELEMENTS["general"].attributes, spec.defaults[own].records["general"]
    attrib |= {name: record[name] for name in row if name in record and not same(record[name], base.get(name))}
    if record["ctrlspec"] != base["ctrlspec"]:
        attrib["input"] = input_words(record)
    return Element("general", attrib, [], element.where, "general")
