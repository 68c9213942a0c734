"""What elements refer to by name, and copies of elements under other names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mjx_like.mjcf.default import NAMED_BY_FILE
from mjx_like.mjcf.element import Element, Origin
from mjx_like.mjcf.reading.names import name_of
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema.default import RECORDS

ASSETS = frozenset(("mesh", "hfield", "texture", "material"))

# Attributes whose kind of object another attribute names, and lists of names in one text.
_TYPED = {"objname": "objtype", "refname": "reftype"}
_LISTS = {("flex", "body"): "body", ("flex", "node"): "body"}
_ALIASES = {"xbody": "body"}

# Record of a default class -> the attributes that name assets, and which.
_IN_RECORD = {
    kind: [(name, row.refers) for name, row in ELEMENTS[f"default_{kind}"].attributes.items() if row.refers in ASSETS]
    for kind in RECORDS
}

Name = tuple[str, str]  # kind of object, its name


def kind_of(element: Element, attribute: str) -> str | None:
    """Kind of object that an attribute of an element names, None if it names none."""
    if attribute in _TYPED:
        kind = element.get(_TYPED[attribute], "")
        return _ALIASES.get(kind, kind)
    listed = _LISTS.get((element.type, attribute))
    row = ELEMENTS[element.type].attributes.get(attribute)
    return listed or (row.refers if row else None)


def references(element: Element) -> Iterator[Name]:
    """(kind, name) of every object of the tree or of a section that an element, or one below it, refers to."""
    for holder in element.iter():
        for attribute, value in holder.attrib.items():
            kind = kind_of(holder, attribute)
            if not kind or not value or kind in ASSETS or kind in ("default", "instance", "model"):
                continue
            names = value.split() if (holder.type, attribute) in _LISTS else [value]
            yield from ((kind, name) for name in names)


@dataclass(frozen=True)
class Renaming:
    """How names change in a copy.

    prefix, suffix: put around every name.
    classes: default class of the source -> class of the copy; None within one model, where assets are shared too.
    origin: where the source was read, for elements of another model.
    fixed: references that keep their names.
    """

    prefix: str
    suffix: str = ""
    classes: Mapping[str, str] | None = None
    origin: Origin | None = None
    fixed: frozenset[Name] = field(default_factory=frozenset)

    def own(self, name: str) -> str:
        """Name of an object after copying."""
        return self.prefix + name + self.suffix

    def other(self, kind: str, name: str) -> str:
        """Name of an object that a copy refers to."""
        if kind == "default":
            return self.classes[name] if self.classes is not None else name
        if (kind, name) in self.fixed or (kind in ASSETS and self.classes is None):
            return name
        return self.own(name)


def copied(element: Element, renaming: Renaming, made: dict[Element, Element] | None = None) -> Element:
    """Copy of an element and all below it, made without recursion.

    made: original -> copy of every element is added to it.
    """
    found = _copied(element, renaming, made)
    waiting = [found]
    while waiting:
        copy = waiting.pop()
        copy.children = [_copied(child, renaming, made) for child in copy.children]
        waiting.extend(copy.children)
    return found


def _copied(element: Element, renaming: Renaming, made: dict[Element, Element] | None) -> Element:
    """Copy of one element, its children still the old ones."""
    attrib: dict[str, Any] = dict(element.attrib)
    named = attrib.get("name") and "name" in ELEMENTS[element.type].attributes
    if (named or element.type in NAMED_BY_FILE) and name_of(element):
        attrib["name"] = renaming.own(name_of(element))
    for attribute, value in element.attrib.items():
        kind = kind_of(element, attribute)
        if not kind or not value:
            continue
        if (element.type, attribute) in _LISTS:
            attrib[attribute] = " ".join(renaming.other(kind, name) for name in value.split())
        else:
            attrib[attribute] = renaming.other(kind, value)
    around = renaming.prefix + element.around[0], element.around[1] + renaming.suffix
    origin = element.origin or renaming.origin
    copy = Element(element.tag, attrib, element.children, element.where, element.type, origin, around)
    if made is not None:
        made[element] = copy
    return copy


def renamed_record(kind: str, record: dict[str, Any], renaming: Renaming) -> dict[str, Any]:
    """Record of a default class whose assets have other names.

    kind: of the record, as in the table of records.
    """
    found = dict(record)
    for name, referred in _IN_RECORD[kind]:
        if found.get(name):
            found[name] = renaming.other(referred, found[name])
    if "textures" in found:
        found["textures"] = {role: renaming.other("texture", name) for role, name in found["textures"].items()}
    return found
