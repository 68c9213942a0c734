"""The arrays that a Spec is made from: names of objects, and elements with what differs from the schema's defaults."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.context import KIND_NAMES
from mjx_like.compiler.finalize import Arrays
from mjx_like.errors import ModelError
from mjx_like.mjcf.canonical import changed, node
from mjx_like.mjcf.element import Element
from mjx_like.types.enums import ObjType

LIMITED = ("false", "true")


@dataclasses.dataclass(frozen=True)
class Source:
    """A compiled model: its fields by mjModel's names, and the names of its objects."""

    arrays: Arrays

    def __getitem__(self, field: str) -> Any:
        return self.arrays.fields[field]

    def name(self, kind: ObjType, index: int) -> str:
        """Name of an object, empty if it has none."""
        names = self.arrays.names.get(kind, ())
        return names[index] if 0 <= index < len(names) else ""

    def named(self, kind: ObjType, index: int, user: str) -> str:
        """Name of an object that another one refers to.

        user: what refers to it, for the message.
        Raises ModelError if it has no name, because MJCF refers by name alone.
        """
        kind = ObjType.BODY if kind == ObjType.XBODY else kind
        name = self.name(kind, int(index))
        if not name:
            what = KIND_NAMES.get(kind, kind.name.lower())
            raise ModelError(
                f"{user} refers to {what} {int(index)}, which has no name; MJCF refers by name: give it one"
            )
        return name

    def label(self, kind: ObjType, index: int) -> str:
        """What an object is called in messages."""
        name = self.name(kind, index)
        return f"{KIND_NAMES[kind]} '{name}'" if name else f"{KIND_NAMES[kind]} {index}"


def word(keywords: Mapping[str, int], number: int) -> str:
    """Keyword of a number of MuJoCo's."""
    return next(name for name, value in keywords.items() if value == int(number))


def words(keywords: Mapping[str, int], bits: int) -> tuple[str, ...]:
    """Keywords whose numbers are bits of a number."""
    return tuple(name for name, bit in keywords.items() if int(bits) & bit)


def limited(is_limited: bool, limits: np.ndarray) -> str:
    """Keyword of a `limited` attribute: auto where the range says it."""
    return "auto" if bool(is_limited) == bool(limits[0] < limits[1]) else LIMITED[int(is_limited)]


def poly(first: float, rest: np.ndarray) -> np.ndarray:
    """Coefficients of a polynomial spring or damper."""
    return np.concatenate([[first], rest])


def said(tag: str, attrib: dict[str, Any], children: list[Element] | None = None, kind: str = "") -> Element:
    """Element that says what differs from the schema's defaults; None and empty names are left out."""
    given = {name: value for name, value in attrib.items() if value is not None and not (name == "name" and not value)}
    return node(tag, changed(kind or tag, given), children, kind or tag)


def user(values: np.ndarray) -> np.ndarray | None:
    """User data of an object, None if the model has none."""
    return np.array(values) if len(values) else None
