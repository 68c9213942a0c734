"""Slips of XML that MuJoCo's parser takes and the standard does not, put right.

Many URDF files begin with version 0.0; others have a line before the declaration, a byte 0 at their end, no space
between two attributes, or a character in a value that should be written as an entity.
"""

import re

# What a text begins with: declarations of any version, and space before and between them.
_DECLARATIONS = re.compile(rb"(?:\s*<\?.*?(?:\?>|\Z))*", re.DOTALL)
_ENTITY = rb"&(?:(?:lt|gt|amp|quot|apos)|#[0-9]+|#x[0-9a-fA-F]+);"
_NODE = re.compile(
    rb"(?P<kept><!\[CDATA\[.*?(?:\]\]>|\Z)|<!DOCTYPE[^>]*>|" + _ENTITY + rb")|(?P<unknown><!(?!--)[^>]*+(?:>|\Z))"
    rb"""|<\s*(?P<name>[^\s<>"'/!?&]+)(?P<rest>(?:[^<>"']++|"[^"]*+"|'[^']*+')*+)>"""
    rb"|(?P<loose>&|\]\]>)",
    re.DOTALL,
)
_VALUE = re.compile(rb"""(["'])(.*?)\1""", re.DOTALL)
_UNSAFE = re.compile(_ENTITY + rb"|[&<]")
_WRITTEN = {b"&": b"&amp;", b"<": b"&lt;", b"]]>": b"]]&gt;"}


def repaired(data: bytes) -> bytes:
    """Return an XML text as the standard wants it, on the same lines. data: without comments."""
    data = data.split(b"\0")[0]
    start = _DECLARATIONS.match(data).end()
    return _lines(data[:start]) + _NODE.sub(_node, data[start:])


def _lines(data: bytes) -> bytes:
    return b"\n" * data.count(b"\n")


def _node(match: re.Match) -> bytes:
    kept, unknown, name, rest, loose = match.group("kept", "unknown", "name", "rest", "loose")
    if kept is not None:
        return kept
    if unknown is not None:
        return _lines(unknown)
    if loose is not None:
        return _WRITTEN[loose]
    return b"<" + name + _VALUE.sub(_value, rest) + b">"


def _value(match: re.Match) -> bytes:
    """Return a value with its quotes, and a space, which may be missing before the next attribute."""
    quote, value = match.groups()
    return quote + _UNSAFE.sub(lambda found: _WRITTEN.get(found.group(), found.group()), value) + quote + b" "
