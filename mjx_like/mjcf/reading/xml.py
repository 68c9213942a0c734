"""Bytes -> XML tree, safely: no entities, no network, no DTD."""

import re

from lxml import etree

from mjx_like.errors import ModelError
from mjx_like.mjcf.reading.repair import repaired

COMMENT_OR_CDATA = re.compile(rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)

TAG = re.compile(rb"<[^<>]*>")
MAX_ATTRIBUTES = 1000
# Beginning of what the parser says -> what to do about it.
REMEDIES = {
    "Start tag expected": "an XML file begins with '<' and is in UTF-8",
    "Unescaped '<'": "is a quote missing before it?",
    "Opening and ending tag mismatch": "each element ends with '/>' or with an ending tag of its own",
    "Premature end": "an ending tag is missing",
}
MAX_DEPTH = 500  # elements within elements, as far as MuJoCo's parser goes


def blank_comment(match: re.Match) -> bytes:
    """Keep CDATA; of a comment keep only the line breaks, because MuJoCo takes "--" inside one and lxml does not."""
    found = match.group()
    return b"\n" * found.count(b"\n") if found.startswith(b"<!--") and found.endswith(b"-->") else found


def parse_xml(data: bytes, file: str) -> etree._Element:
    """Root element of an XML document in UTF-8; a wrong byte becomes the replacement character.

    file: name for messages.
    Raises ModelError for an empty or malformed document and for one that declares entities.
    """
    data = data.decode("utf-8-sig", errors="replace").encode()
    if not data.strip():
        raise ModelError(f"{file}: empty file, needs an XML document")
    data = COMMENT_OR_CDATA.sub(blank_comment, data)
    if b"<!ENTITY" in data:
        line = data[: data.index(b"<!ENTITY")].count(b"\n") + 1
        raise ModelError(f"{file}:{line}: entity declarations are refused; write the values out")
    crowded = next((tag for tag in TAG.finditer(data) if tag.group().count(b"=") > MAX_ATTRIBUTES), None)
    if crowded is not None:
        line = data[: crowded.start()].count(b"\n") + 1
        raise ModelError(f"{file}:{line}: malformed XML: more than {MAX_ATTRIBUTES} attributes in one element")
    root = _root(data, file)
    if root is None:
        raise ModelError(f"{file}:1: malformed XML: no root element")
    check_depth(root, file)
    return root


def _root(data: bytes, file: str) -> etree._Element:
    """Return the root of a text without comments, as it is or repaired."""
    try:
        return etree.fromstring(data, _parser())
    except etree.XMLSyntaxError as e:
        error = e
    try:
        return etree.fromstring(repaired(data), _parser())
    except etree.XMLSyntaxError as e:
        further_on = (e.lineno or 1) > (error.lineno or 1)
        raise _malformed(e if further_on else error, file) from None


def _malformed(error: etree.XMLSyntaxError, file: str) -> ModelError:
    message = " ".join(error.msg.split(", line ")[0].split())
    if message.startswith("Excessive depth"):
        message = f"elements within {MAX_DEPTH - 1} others"
    for start, remedy in REMEDIES.items():
        message += f"; {remedy}" if message.startswith(start) else ""
    return ModelError(f"{file}:{error.lineno or 1}: malformed XML: {message}")


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,  # meshes of a compiled model are longer than the limit otherwise; entities are refused above
        strip_cdata=False,
        remove_comments=True,
        remove_pis=True,
    )


def check_depth(root: etree._Element, file: str) -> None:
    """Raise ModelError for elements that lie deeper than MuJoCo's parser goes."""
    level, depth = [root], 0
    while level:
        depth += 1
        if depth >= MAX_DEPTH:
            raise ModelError(f"{file}:{level[0].sourceline}: malformed XML: elements within {depth - 1} others")
        level = [child for element in level for child in element]


def tag_of(node: etree._Element) -> str:
    """Tag without its namespace."""
    return etree.QName(node).localname


def has_cdata(node: etree._Element) -> bool:
    """Whether the node's own text came in a CDATA section."""
    return b"<![CDATA[" in etree.tostring(node)
