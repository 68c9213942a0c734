"""Default classes: how they are built from the file, and how an element is resolved against them.

A class holds a full record for each kind of element. It begins as a copy of its parent's at the moment it is opened;
what it says itself is written over it, vectors from the front. Source: mjXReader::Default, mjCDef.
"""

from typing import Any

import numpy as np

from mjx_like.errors import closest
from mjx_like.mjcf.actuator.record import apply_actuator
from mjx_like.mjcf.element import DefaultClass, Element, Where
from mjx_like.mjcf.schema import ELEMENTS, ElementType
from mjx_like.mjcf.schema.default import RECORDS

MAIN = "main"
ALTERNATIVES = ("axisangle", "xyaxes", "zaxis", "euler")
NAMED_BY_FILE = ("mesh", "texture", "hfield", "skin")


def schema_defaults(row: ElementType) -> dict[str, Any]:
    """Record of an element that says nothing, without a class."""
    return {name: attribute.default for name, attribute in row.attributes.items() if attribute.default is not None}


def written_over(old: Any, new: Any) -> Any:
    """A value written over another: a vector replaces the leading entries of a longer one."""
    if isinstance(new, np.ndarray) and isinstance(old, np.ndarray) and len(new) < len(old):
        return np.concatenate([new, old[len(new) :]])
    return new


def overlay(record: dict[str, Any], element: Element) -> None:
    """Write an element's own attributes into a record."""
    row = ELEMENTS[element.type].attributes
    given = element.attrib
    if any(name in given for name in ("quat", *ALTERNATIVES)):
        for name in ALTERNATIVES:
            record.pop(name, None)
    for name, value in given.items():
        bounded = name in row and row[name].most is not None
        record[name] = written_over(record.get(name), value) if bounded else value
    if "springlength" in given and len(given["springlength"]) == 1:
        record["springlength"] = np.repeat(given["springlength"], 2)
    if "directional" in given:
        record["type"] = "directional" if given["directional"] else "spot"
        del record["directional"]
    if element.tag == "material":
        record["textures"] = record.get("textures", {}) | textures(element)


def textures(element: Element) -> dict[str, str]:
    """Role -> texture name of a material."""
    layers = {layer.get("role"): layer.get("texture") for layer in element.find_all("layer")}
    return ({"rgb": element.get("texture")} if "texture" in element.attrib else {}) | layers


def build_defaults(sections: list[Element], main: Where) -> dict[str, DefaultClass]:
    """Class name -> class, from the top-level default elements in order; "main" always exists.

    main: location to name for a class main that no file opens.
    Raises ModelError for an empty, repeated or renamed class.
    """
    records = {kind: schema_defaults(row) for kind, row in RECORDS.items()}
    records["general"] |= {"ctrlspec": 0, "shortcut": "general"}
    classes = {MAIN: DefaultClass(MAIN, None, records, main, top=True)}
    for section in sections:
        name = section.get("class", "")
        if name not in ("", MAIN):
            raise section.error(f"attribute 'class' has '{name}'; the outermost class is always '{MAIN}'")
        fill_class(classes, classes[MAIN], section)
    return classes


def fill_class(classes: dict[str, DefaultClass], target: DefaultClass, section: Element) -> None:
    """Write a default element into its class, then open the classes nested in it."""
    for child in section.children:
        if child.tag != "default":
            kind = ELEMENTS[child.type].record
            if kind == "general":
                target.records[kind] = apply_actuator(target.records[kind], child, ancestors(classes, target))
            else:
                overlay(target.records[kind], child)
    for child in section.find_all("default"):
        name = child.get("class", "")
        if not name:
            raise child.error("missing attribute 'class', which a nested default class needs")
        if name in classes:
            raise child.error(f"default class '{name}' is already defined at {classes[name].where}")
        copies = {kind: dict(record) for kind, record in target.records.items()}
        classes[name] = DefaultClass(name, target.name, copies, child.where)
        fill_class(classes, classes[name], child)


def ancestors(classes: dict[str, DefaultClass], target: DefaultClass) -> list[dict[str, Any]]:
    """Actuator records of the classes above a class, nearest first."""
    found = []
    while not target.top:
        target = classes[target.parent]
        found.append(target.records["general"])
    return found


def find_class(classes: dict[str, DefaultClass], element: Element, attribute: str) -> DefaultClass:
    """Class that an attribute of an element names. Raises ModelError if there is none."""
    name = element.get(attribute)
    if name not in classes:
        known = ", ".join(classes)
        raise element.error(
            f"attribute '{attribute}' has unknown class '{name}'{closest(name, classes)}; known: {known}"
        )
    return classes[name]


def resolve(classes: dict[str, DefaultClass], element: Element, childclass: str | None) -> dict[str, Any]:
    """Full attributes of an element; see Spec.resolve."""
    row = ELEMENTS[element.type]
    if row.record is None:
        record = schema_defaults(row)
        overlay(record, element)
    else:
        own = find_class(classes, element, "class") if "class" in element.attrib else classes[childclass or MAIN]
        if row.record == "general":
            record = apply_actuator(own.records["general"], element, ancestors(classes, own))
        else:
            record = schema_defaults(row) | own.records[row.record]
            overlay(record, element)
    if element.tag in NAMED_BY_FILE and not record.get("name") and record.get("file"):
        record["name"] = file_stem(record["file"])
    return record


def file_stem(file: str) -> str:
    """File name without directory and extension. Source: mjuu_strippath, mjuu_stripext."""
    base = file.replace("\\", "/").rsplit("/", 1)[-1]
    return base.rsplit(".", 1)[0] if "." in base else base
