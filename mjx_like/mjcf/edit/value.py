"""Python value -> typed value of an attribute, held to the same rules as the text of a file."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from mjx_like.mjcf.element import Element, Where
from mjx_like.mjcf.reading.values import parse_value
from mjx_like.mjcf.schema import Attribute, Kind
from mjx_like.mjcf.writer import value_text

_PACKAGE = str(Path(__file__).parents[2])
_WORDS = {True: ("true", "enable"), False: ("false", "disable")}


def caller() -> Where:
    """Place in the user's program that called into this package, for messages."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return Where(frame.f_code.co_filename, frame.f_lineno)


def typed(element: Element, name: str, row: Attribute, value: Any) -> Any:
    """Value of an attribute as the reader would give it.

    value: keywords also as MuJoCo's number or as a truth value, names also as the object that has them.
    Raises ModelError for what the table does not allow.
    """
    try:
        return parse_value(row, text_of(row, value))
    except (ValueError, TypeError, OverflowError) as e:
        raise element.error(f"attribute '{name}' {e}") from None


def text_of(row: Attribute, value: Any) -> str:
    """Text that a file would have for a value. Raises ValueError with what is wrong, as a predicate."""
    if row.kind is Kind.STRING:
        return str(getattr(value, "name", value) if not isinstance(value, Path) else value)
    if isinstance(value, str):
        return value
    if row.kind is Kind.KEYWORD:
        return keyword_of(row, value)
    if row.kind is Kind.KEYWORDS:
        return " ".join(value)
    try:
        numbers = np.asarray(value, np.float64).ravel()
    except (ValueError, TypeError):
        raise ValueError(f"has {value!r}, needs {'a number' if not row.is_vector else 'numbers'}") from None
    if row.kind is Kind.INT and not np.array_equal(numbers, np.round(numbers)):
        raise ValueError(f"has {value!r}, needs an integer")
    return value_text(row, numbers)


def keyword_of(row: Attribute, value: Any) -> str:
    """Keyword that a truth value or one of MuJoCo's numbers stands for."""
    allowed = ", ".join(row.keywords)
    if isinstance(value, bool | np.bool_):
        word = next((word for word in _WORDS[bool(value)] if word in row.keywords), None)
    else:
        word = next((word for word, number in row.keywords.items() if number == int(value)), None)
    if word is None:
        raise ValueError(f"has {value!r}, needs one of: {allowed}")
    return word


class Values(np.ndarray):
    """Numbers of an attribute; assigning to an entry assigns the attribute."""

    def __new__(cls, numbers: np.ndarray, item: Any, name: str) -> "Values":
        found = np.array(numbers).view(cls)
        found._item, found._name = item, name
        return found

    def __array_finalize__(self, source: Any) -> None:
        self._item = None

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        if self._item is not None:
            setattr(self._item, self._name, np.array(self))


def shown(value: Any, item: Any, name: str) -> Any:
    """Value as the user gets it: numbers as an array that writes back."""
    return Values(value, item, name) if isinstance(value, np.ndarray) else value
