"""The exceptions that mjx_like raises for a user's mistake: one readable line each."""

import dataclasses
import difflib
import re
from collections.abc import Iterable
from typing import Any

_LONG = 80
_QUOTED = re.compile(r"'[^']*'")
_PATH = 240  # characters of a path that is quoted whole
_UNBROKEN = re.compile(r"[^\s/']{300,}")  # outside quotes


class MjxLikeError(ValueError):
    """Base of all errors of this package that a user can mend."""


class ModelError(MjxLikeError):
    """A model file or a changed Model that is wrong: where, what was found, what is allowed, on one line."""

    def __init__(self, message: str = "") -> None:
        super().__init__(on_one_line(message))


class UnsupportedError(MjxLikeError):
    """A model that parses and compiles, but that the engine cannot run yet; lists all that stands in the way."""


class InputError(MjxLikeError):
    """An argument of a public function that does not fit: shape, capacity, name or option."""


def closest(word: str, allowed: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" if one of the allowed words is near, else nothing."""
    near = difflib.get_close_matches(word, list(allowed), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def on_one_line(message: str) -> str:
    """Return a message without control characters; what it quotes is at most 80 characters long, paths 240."""
    text = "".join(c if c.isprintable() else " " if c.isspace() else repr(c)[1:-1] for c in message)
    return _UNBROKEN.sub(_shortened, _QUOTED.sub(_shortened, text))


def _shortened(found: re.Match[str]) -> str:
    text = found[0]
    whole = _PATH if "/" in text else _LONG
    return text if len(text) <= whole + 2 else text[: whole + 1] + "..." + ("'" if text[0] == "'" else "")


def shown(value: Any) -> str:
    """Return what a message says of a value: its repr, on one line and not long; of a record, its name."""
    if hasattr(type(value), "replace") and dataclasses.is_dataclass(value):
        return f"{type(value).__name__}(...)"
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
