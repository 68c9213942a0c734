"""Attribute text -> typed value, as MuJoCo reads it.

Source: mjXUtil::ReadAttr, MapValue, MapValues; what counts as a number was found by trial (MuJoCo 4.0.0 uses strtod).
"""

import re
from typing import Any

import numpy as np

from mjx_like.errors import closest
from mjx_like.mjcf.schema.grammar import Attribute, Kind

NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?"
    r"|inf(?:inity)?|nan(?:\([0-9a-z_]*\))?)",
    re.IGNORECASE | re.ASCII,
)
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
PLAIN = re.compile(r"[0-9eE+\-. \t\n\v\f\r]*", re.ASCII)
LONG = 500  # characters of a text from which on it is read as a whole if its characters are plain
SPACE = re.compile(r"[ \t\n\v\f\r]+")
INT_MAX = 2**31
FLOAT_MAX = float(np.finfo(np.float32).max)


def words(text: str) -> list[str]:
    """Parts of a text between white space."""
    return [word for word in SPACE.split(text) if word]


def to_float(word: str) -> float:
    """Number that a word spells; it matches NUMBER."""
    lowered = word.lower()
    if "0x" in lowered:
        return float.fromhex(word)
    if "nan" in lowered:
        return float("nan")
    return float(word)


def number(word: str, kind: Kind) -> float:
    """One number of an attribute. Raises ValueError with what is wrong."""
    pattern = INTEGER if kind is Kind.INT else NUMBER
    if not pattern.fullmatch(word):
        hint = "; numbers are separated by spaces, and their decimal sign is a point" if "," in word else ""
        raise ValueError(f"has '{word[:40]}', needs {'an integer' if kind is Kind.INT else 'a number'}{hint}")
    if kind is Kind.INT:
        if len(word) > 11 or not -INT_MAX <= int(word) < INT_MAX:
            raise ValueError(f"has '{word[:20]}', which is too large for an integer")
        return int(word)
    try:
        value = to_float(word)
    except OverflowError:
        value = float("inf")
    too_large = abs(value) > FLOAT_MAX if kind is Kind.REAL32 else np.isinf(value)
    if too_large and "inf" not in word.lower():
        raise ValueError(f"has '{word[:20]}', which is too large for a number")
    return float(np.float32(value)) if kind is Kind.REAL32 else value


def plain_numbers(given: list[str], row: Attribute) -> np.ndarray | None:
    """Vector of words in plain characters, faster than word by word; None for what needs a closer look."""
    if row.lowest is not None or row.highest is not None or row.positive or not row.is_vector:
        return None
    try:
        values = np.array(list(map(int if row.kind is Kind.INT else float, given)), dtype=np.float64)
    except ValueError:
        return None
    largest = {Kind.INT: INT_MAX - 1, Kind.REAL32: FLOAT_MAX}.get(row.kind, np.finfo(np.float64).max)
    if np.abs(values).max() > largest:
        return None
    return values.astype(np.float32).astype(np.float64) if row.kind is Kind.REAL32 else values


def span(row: Attribute, unit: str) -> str:
    """How many parts an attribute takes, in words."""
    if row.least == row.most:
        return f"{row.least}"
    return f"at most {row.most}" if row.least == 0 else f"{row.least} to {row.most}" if row.most else unit


def parse_numbers(row: Attribute, text: str) -> Any:
    """Number or vector; None if the text is blank, which MuJoCo takes as not given."""
    plain = len(text) > LONG and PLAIN.fullmatch(text)
    given = text.split() if plain else words(text)
    if not given:
        if not row.blank:
            raise ValueError("is blank, needs a number")
        return None
    if len(given) < row.least or (row.most is not None and len(given) > row.most):
        plural = "number" if len(given) == 1 else "numbers"
        raise ValueError(f"has {len(given)} {plural}, needs {span(row, 'numbers')}")
    values = plain_numbers(given, row) if plain else None
    if values is not None:
        return values
    values = [number(word, row.kind) for word in given]
    for value in values:
        if row.lowest is not None and value < row.lowest:
            raise ValueError(f"is {value}, must be at least {row.lowest}")
        if row.highest is not None and value > row.highest:
            raise ValueError(f"is {value}, must be at most {row.highest}")
        if row.positive and value <= 0:
            raise ValueError(f"is {value}, must be greater than 0")
    return np.array(values, dtype=np.float64) if row.is_vector else values[0]


def parse_keyword(row: Attribute, text: str) -> str | bool:
    """Keyword, or its truth value where the keywords are false and true."""
    if text not in row.keywords:
        allowed = ", ".join(row.keywords)
        raise ValueError(f"has keyword '{text}', needs one of: {allowed}{closest(text, row.keywords)}")
    return row.keywords[text] == 1 if row.is_bool else text


def parse_keywords(row: Attribute, text: str) -> tuple[str, ...]:
    """Keywords, each at most once, and in the order of the table where that is asked for."""
    given = words(text)
    allowed = ", ".join(row.keywords)
    for word in given:
        if word not in row.keywords:
            raise ValueError(f"has keyword '{word}', needs some of: {allowed}{closest(word, row.keywords)}")
        if given.count(word) > 1:
            raise ValueError(f"has keyword '{word}' twice")
        if word in row.alone and len(given) > 1:
            raise ValueError(f"has keyword '{word}' beside others; it must stand alone")
    order = list(row.keywords)
    if row.ordered and given != sorted(given, key=order.index):
        raise ValueError(f"has keywords '{text}' out of order; the order is: {allowed}")
    return tuple(given)


def parse_text(row: Attribute, text: str) -> str:
    """The text itself; its length is checked where it is an array of characters."""
    if row.chars and not row.least <= len(text.encode()) <= row.most:
        raise ValueError(f"has {len(text)} characters, needs {span(row, 'characters')}")
    return text


PARSERS = {
    Kind.STRING: parse_text,
    Kind.INT: parse_numbers,
    Kind.REAL: parse_numbers,
    Kind.REAL32: parse_numbers,
    Kind.KEYWORD: parse_keyword,
    Kind.KEYWORDS: parse_keywords,
}


def parse_value(row: Attribute, text: str) -> Any:
    """Typed value of an attribute, None if a number is blank. Raises ValueError with what is wrong, as a predicate."""
    return PARSERS[row.kind](row, text)
