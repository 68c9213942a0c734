"""An element as the user holds it: attributes by name, checked against the table as they are set."""

from typing import Any

from mjx_like.errors import ModelError, closest
from mjx_like.mjcf.default import ALTERNATIVES
from mjx_like.mjcf.edit.alias import attribute_name
from mjx_like.mjcf.edit.value import caller, shown, typed
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.reading.names import name_of
from mjx_like.mjcf.schema import ELEMENTS

ORIENTATIONS = ("quat", *ALTERNATIVES)


def unknown(element: Element, name: str) -> ModelError:
    """Error for an attribute that an element does not have, with what it has."""
    row = ELEMENTS[element.type].attributes
    allowed = ", ".join(row)
    return element.error(f"unknown attribute '{name}'{closest(name, row)}; allowed: {allowed}")


class Item:
    """One element of a Spec.

    Attributes have MJCF's names; mjSpec's other names for them are known too. Reading gives what the element, its
    default class or the schema says, None if none does. Assigning is checked at once; None takes the own value away.
    Two items are equal if they stand for the same element.
    """

    def __init__(self, spec: Any, element: Element, holder: "Item | None" = None):
        object.__setattr__(self, "_spec", spec)
        object.__setattr__(self, "_element", element)
        object.__setattr__(self, "_holder", holder)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self._element is other._element

    def __hash__(self) -> int:
        return hash(self._element)

    def __repr__(self) -> str:
        return f"<{self._element.tag} {name_of(self._element)!r}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *ELEMENTS[self._element.type].attributes})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        element, wanted = self._element, attribute_name(self._element.type, name)
        if wanted not in ELEMENTS[element.type].attributes:
            raise AttributeError(str(unknown(element, name)))
        if wanted == "name":
            return name_of(element)
        record = self._spec.resolve(element, self._childclass())
        return shown(record.get(wanted, element.attrib.get(wanted)), self, wanted)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        else:
            self._set(name, value)

    def __delattr__(self, name: str) -> None:
        self._set(name, None)

    def _set(self, name: str, value: Any) -> None:
        """Write one attribute into the element."""
        element, wanted = self._element, attribute_name(self._element.type, name)
        row = ELEMENTS[element.type].attributes.get(wanted)
        if row is None:
            raise unknown(element, name)
        found = None if value is None else typed(element, wanted, row, value)
        if found is None:
            element.attrib.pop(wanted, None)
            return
        if wanted in ORIENTATIONS:
            for other in ORIENTATIONS:
                element.attrib.pop(other, None)
        element.attrib[wanted] = found

    def _update(self, values: dict[str, Any]) -> None:
        """Set several attributes, those that are not None."""
        for name, value in values.items():
            if value is not None:
                setattr(self, name, value)

    def _childclass(self) -> str | None:
        """Default class that encloses the element."""
        holder = self._holder
        while holder is not None:
            if "childclass" in holder._element.attrib:
                return holder._element.attrib["childclass"]
            holder = holder._holder
        return None

    def set_frame(self, frame: "Item") -> None:
        """Move the element into a frame of its body."""
        frame._element.children.append(self._element)
        self._holder._element.children.remove(self._element)
        object.__setattr__(self, "_holder", frame)

    @property
    def info(self) -> str:
        """Where the element was said: file and line, or line of the program."""
        return str(self._element.where)

    @property
    def alt(self) -> "Orientation":
        """mjSpec's field for the orientations other than quat: euler, axisangle, xyaxes, zaxis."""
        return Orientation(self)

    @property
    def parent(self) -> "Item | None":
        """Body that the element stands in, frames passed over; None outside the tree and for the world."""
        holder = self._holder
        while holder is not None and holder._element.tag == "frame":
            holder = holder._holder
        return holder

    @property
    def frame(self) -> "Item | None":
        """Frame that the element stands in, None if it stands in a body directly."""
        holder = self._holder
        return holder if holder is not None and holder._element.tag == "frame" else None


class Orientation:
    """The orientations of an element other than its quaternion; setting one takes the others away.

    start: what the names of the element's attributes begin with.
    """

    def __init__(self, item: Item, start: str = ""):
        object.__setattr__(self, "_item", item)
        object.__setattr__(self, "_start", start)

    def __getattr__(self, name: str) -> Any:
        if name not in ALTERNATIVES:
            raise AttributeError(f"orientation has no '{name}'; it has: {', '.join(ALTERNATIVES)}")
        return getattr(self._item, self._start + name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ALTERNATIVES:
            raise AttributeError(f"orientation has no '{name}'; it has: {', '.join(ALTERNATIVES)}")
        setattr(self._item, self._start + name, value)


def made(spec: Any, tag: str, kind: str) -> Element:
    """New element of a type, placed where the user's program asks for it."""
    return Element(tag, {}, [], caller(), kind)
