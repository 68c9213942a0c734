"""The records of which the MJCF table is made, and short constructors for its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np


class Kind(Enum):
    """What an attribute holds."""

    STRING = "string"
    INT = "integer"
    REAL = "number"
    REAL32 = "single precision number"
    KEYWORD = "keyword"
    KEYWORDS = "list of keywords"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One row of the table.

    least, most: how many numbers are wanted; most is None if there is no bound. For `chars`, how many characters.
    default: value of an element that says nothing; None if the attribute is then absent.
    keywords: keyword -> MuJoCo's number.
    alone: keywords that may stand only by themselves in a list of keywords.
    ordered: a list of keywords must keep the order of the table.
    declares, refers: kind of object that the name belongs to.
    required: the reader refuses an element without it.
    in_default: may stand in a default class.
    lowest, highest: bounds of the numbers; positive: they must be greater than zero.
    blank: a text without numbers counts as not given; otherwise it is an error.
    """

    kind: Kind
    least: int = 1
    most: int | None = 1
    default: Any = None
    keywords: Mapping[str, int] | None = None
    alone: tuple[str, ...] = ()
    ordered: bool = False
    declares: str | None = None
    refers: str | None = None
    required: bool = False
    in_default: bool = True
    lowest: float | None = None
    highest: float | None = None
    positive: bool = False
    chars: bool = False
    blank: bool = True

    @property
    def is_vector(self) -> bool:
        return self.kind in (Kind.INT, Kind.REAL, Kind.REAL32) and (self.least, self.most) != (1, 1)

    @property
    def is_bool(self) -> bool:
        return self.kind is Kind.KEYWORD and tuple(self.keywords) == ("false", "true")


@dataclass(frozen=True, slots=True)
class Child:
    """An element that may stand in another: arity "?" at most once, "*" any number, "R" any number, recursive."""

    arity: str
    type: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition over several attributes; a bundle is a tuple of attribute names, present if all of them are.

    relation: "exclusive": attributes of at most one bundle; "oneof": at least one whole bundle;
        "together": all of the (single) bundle or none of it.
    """

    relation: str
    bundles: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ElementType:
    """Attributes, children and rules of an element; `record` names the default class record that it reads."""

    attributes: dict[str, Attribute]
    children: dict[str, Child]
    rules: tuple[Rule, ...] = ()
    record: str | None = None


def element(attributes=None, children=None, rules=(), record=None) -> ElementType:
    """Row of the table of elements."""
    return ElementType(attributes or {}, children or {}, tuple(rules), record)


def many(*tags: str, **types: str) -> dict[str, Child]:
    """Children that may stand any number of times; `tag="type"` where the type is not named like the tag."""
    return {tag: Child("*", kind) for tag, kind in {**dict(zip(tags, tags, strict=True)), **types}.items()}


def once(*tags: str, **types: str) -> dict[str, Child]:
    """Children that may stand at most once."""
    return {tag: Child("?", child.type) for tag, child in many(*tags, **types).items()}


def recursive(*tags: str, **types: str) -> dict[str, Child]:
    """Children that may stand any number of times, and in themselves."""
    return {tag: Child("R", child.type) for tag, child in many(*tags, **types).items()}


def exclusive(*bundles: str) -> Rule:
    """Rule: attributes of at most one of the bundles; names within a bundle are separated by spaces."""
    return Rule("exclusive", tuple(tuple(bundle.split()) for bundle in bundles))


def oneof(*bundles: str) -> Rule:
    """Rule: at least one bundle is whole."""
    return Rule("oneof", tuple(tuple(bundle.split()) for bundle in bundles))


def together(names: str) -> Rule:
    """Rule: all of these attributes or none."""
    return Rule("together", (tuple(names.split()),))


def real(least: int = 1, most: int | None = None, default: Any = None, **options) -> Attribute:
    """Number or vector of numbers: exactly `least`, or from `least` to `most`."""
    most = least if most is None else most
    if default is not None and (least, most) != (1, 1):
        default = np.array(default, dtype=np.float64)
    return Attribute(Kind.REAL, least, most, default, **options)


def real32(least: int = 1, most: int | None = None, default: Any = None, **options) -> Attribute:
    """Number or vector that MuJoCo keeps in single precision; the value is rounded likewise."""
    if default is not None:
        default = np.asarray(default, dtype=np.float32).astype(np.float64)
        default = float(default) if default.ndim == 0 else default
    return replace(real(least, most, **options), kind=Kind.REAL32, default=default)


def reals(**options) -> Attribute:
    """Any number of numbers."""
    return Attribute(Kind.REAL, 0, None, **options)


def reals32(**options) -> Attribute:
    """Any number of single precision numbers."""
    return Attribute(Kind.REAL32, 0, None, **options)


def integer(least: int = 1, most: int | None = None, default: Any = None, **options) -> Attribute:
    """Integer or vector of integers."""
    most = least if most is None else most
    if default is not None and (least, most) != (1, 1):
        default = np.array(default, dtype=np.float64)
    return Attribute(Kind.INT, least, most, default, **options)


def integers(**options) -> Attribute:
    """Any number of integers."""
    return Attribute(Kind.INT, 0, None, **options)


def text(default: str | None = None, **options) -> Attribute:
    """Any text; file names too."""
    return Attribute(Kind.STRING, default=default, **options)


def name(kind: str, **options) -> Attribute:
    """Name of the element itself, unique among the objects of a kind."""
    return Attribute(Kind.STRING, declares=kind, in_default=False, **options)


def ref(kind: str, **options) -> Attribute:
    """Name of another object."""
    return Attribute(Kind.STRING, refers=kind, **options)


def key(keywords: Mapping[str, int], default: Any = None, **options) -> Attribute:
    """One keyword."""
    return Attribute(Kind.KEYWORD, keywords=keywords, default=default, **options)


def keys(keywords: Mapping[str, int], **options) -> Attribute:
    """Keywords separated by spaces, none of them twice."""
    return Attribute(Kind.KEYWORDS, keywords=keywords, **options)


BOOL = {"false": 0, "true": 1}


def boolean(default: bool | None = None, **options) -> Attribute:
    """Keyword false or true."""
    return key(BOOL, default, **options)


def required(attribute: Attribute) -> Attribute:
    """The attribute, wanted by the reader."""
    return replace(attribute, required=True)


def only_elements(attribute: Attribute) -> Attribute:
    """The attribute, barred from default classes."""
    return replace(attribute, in_default=False)
