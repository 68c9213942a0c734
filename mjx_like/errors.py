"""The exceptions that mjx_like raises for a user's mistake: one readable line each."""

import dataclasses
import difflib
from collections.abc import Iterable
from typing import Any

_LONG = 80


class MjxLikeError(ValueError):
    """Base of all errors of this package that a user can mend."""


class ModelError(MjxLikeError):
    """A model file or a changed Model that is wrong: where, what was found, what is allowed."""


class UnsupportedError(MjxLikeError):
    """A model that parses and compiles, but that the engine cannot run yet; lists all that stands in the way."""


class InputError(MjxLikeError):
    """An argument of a public function that does not fit: shape, capacity, name or option."""


def closest(word: str, allowed: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" if one of the allowed words is near, else nothing."""
    near = difflib.get_close_matches(word, list(allowed), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def shown(value: Any) -> str:
    """Return what a message says of a value: its repr, on one line and not long; of a record, its name."""
    if hasattr(type(value), "replace") and dataclasses.is_dataclass(value):
        return f"{type(value).__name__}(...)"
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
