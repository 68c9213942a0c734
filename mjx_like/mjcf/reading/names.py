"""Names: each is given once per kind of object, and what refers to one finds it."""

from collections.abc import Iterable

from mjx_like.errors import closest
from mjx_like.mjcf.default import NAMED_BY_FILE, file_stem
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema.actuator import TARGETS

Names = dict[str, dict[str, Element]]

UNCHECKED = ("default", "frame", "model")


def name_of(element: Element) -> str:
    """Name of an element; an asset without one is called like its file. Empty if there is none."""
    name = element.get("name", "")
    if not name and element.type in NAMED_BY_FILE:
        return file_stem(element.get("file", ""))
    return name


def collect_names(worldbody: Element, sections: Iterable[list[Element]]) -> Names:
    """Kind -> name -> element of all that is named. Raises ModelError, with both locations, if a name is repeated."""
    names: Names = {"body": {"world": worldbody}}
    for top in [worldbody, *(element for section in sections for element in section)]:
        for element in top.iter():
            name = name_of(element)
            if not name or "name" not in ELEMENTS[element.type].attributes:
                continue
            kind = ELEMENTS[element.type].attributes["name"].declares
            other = names.setdefault(kind, {}).setdefault(name, element)
            if other is not element:
                raise element.error(f"name '{name}' is already taken by a {kind} at {other.where}")
    return names


def overridden(element: Element, attribute: str) -> bool:
    """Whether an actuator names another target that wins over this one, which is then not looked up."""
    if ELEMENTS[element.type].record != "general" or attribute not in TARGETS:
        return False
    return any(name in element.attrib for name in TARGETS[TARGETS.index(attribute) + 1 :])


def check_references(elements: Iterable[Element], names: Names) -> None:
    """Raise ModelError for the first attribute that names an object which does not exist."""
    for top in elements:
        for element in top.iter():
            for attribute, row in ELEMENTS[element.type].attributes.items():
                given = element.get(attribute)
                if row.refers is None or row.refers in UNCHECKED or not given or overridden(element, attribute):
                    continue
                known = names.get(row.refers, {})
                if given not in known:
                    hint = closest(given, known)
                    raise element.error(
                        f"attribute '{attribute}' names {row.refers} '{given}', which does not exist{hint}"
                    )
