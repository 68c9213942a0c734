"""XML nodes -> typed elements, checked against the table."""

import warnings
from typing import Any

import numpy as np
from lxml import etree

from mjx_like.errors import ModelError, closest
from mjx_like.mjcf.element import Element, Where
from mjx_like.mjcf.reading.checks import check_element
from mjx_like.mjcf.reading.include import Source
from mjx_like.mjcf.reading.values import parse_value
from mjx_like.mjcf.reading.xml import has_cdata, tag_of
from mjx_like.mjcf.schema import ELEMENTS, Attribute, ElementType, Rule

_LAX = ("frame", "replicate")  # what is in them MuJoCo does not hold against its table
_HOLDERS = ("body", *_LAX)
_PARTS = ("body", "frame")  # which files have that others include in a body; MuJoCo passes over them at the top


def read_element(node: etree._Element, file: str, kind: str, source: Source, lax: bool = False) -> Element:
    """Validated element with all below it.

    What the table does not have is an error; in a frame or replicate MuJoCo passes over it, here with a warning.

    kind: name of its row in the table; lax: whether it is in a frame or replicate.
    """
    lax = lax or kind in _LAX
    row = ELEMENTS[kind]
    found = Element(tag_of(node), {}, [], Where(file, node.sourceline), kind)
    name = node.get("name")
    if name and "name" in row.attributes:
        found.attrib["name"] = name
    read_attributes(found, node, row, lax)
    counts: dict[str, int] = {}
    for child, child_file in source.children(node, file):
        tag = tag_of(child)
        if kind == "mujoco" and tag in _PARTS:
            part = read_element(child, child_file, tag, source)
            warnings.warn(f"{part.where}: element <{tag}>: is passed over outside <worldbody>", stacklevel=2)
            continue
        if tag not in row.children and lax and kind not in _HOLDERS:
            warnings.warn(f"{child_file}:{child.sourceline}: element <{tag}>: has no meaning here", stacklevel=2)
            continue
        if tag not in row.children:
            raise unknown_element(found, tag, Where(child_file, child.sourceline), row)
        counts[tag] = counts.get(tag, 0) + 1
        if row.children[tag].arity == "?" and counts[tag] > 1:
            where = Where(child_file, child.sourceline)
            raise ModelError(f"{where}: element <{tag}>: repeated; may stand only once in {found.label[8:]}")
        found.children.append(read_element(child, child_file, row.children[tag].type, source, lax))
    if kind == "text" and "data" not in found.attrib and has_cdata(node):
        found.attrib["data"] = node.text or ""
    check_element(found)
    return found


def unknown_element(parent: Element, tag: str, where: Where, row: ElementType) -> ModelError:
    """Error for a tag that may not stand in its parent, with what may."""
    allowed = ", ".join(row.children) or "nothing"
    hint = closest(tag, row.children)
    return ModelError(f"{where}: element <{tag}>: unknown in {parent.label[8:]}{hint}; allowed: {allowed}")


def read_attributes(found: Element, node: etree._Element, row: ElementType, lax: bool) -> None:
    """Fill in the typed attributes of an element; lax: pass over those that the table does not have."""
    for name, text in node.attrib.items():
        if name.startswith("{"):
            continue
        if name not in row.attributes:
            if lax:
                warnings.warn(f"{found.where}: {found.label}: attribute '{name}' has no meaning here", stacklevel=2)
                continue
            allowed = ", ".join(row.attributes) or "none"
            hint = closest(name, row.attributes)
            raise found.error(f"unknown attribute '{name}'{hint}; allowed: {allowed}")
        value = read_value(found, name, row.attributes[name], text)
        if value is not None:
            found.attrib[name] = value
    for name, attribute in row.attributes.items():
        if attribute.required and name not in found.attrib:
            raise found.error(f"missing attribute '{name}'")
    for rule in row.rules:
        check_rule(found, rule)


def read_value(found: Element, name: str, attribute: Attribute, text: str) -> Any:
    """Typed value of one attribute; a NaN is let through with a warning, as MuJoCo does."""
    try:
        value = parse_value(attribute, text)
    except ValueError as e:
        raise found.error(f"attribute '{name}' {e}") from None
    if isinstance(value, float | np.ndarray) and np.isnan(value).any():
        warnings.warn(f"{found.where}: {found.label}: attribute '{name}' has a NaN", stacklevel=2)
    return value


def check_rule(found: Element, rule: Rule) -> None:
    """Raise if the attributes that are present break a rule of the table."""
    given = found.attrib
    quoted = [" and ".join(f"'{name}'" for name in bundle) for bundle in rule.bundles]
    present = [bundle for bundle in rule.bundles if any(name in given for name in bundle)]
    whole = [bundle for bundle in rule.bundles if all(name in given for name in bundle)]
    if rule.relation == "exclusive" and len(present) > 1:
        names = ", ".join(f"'{name}'" for bundle in present for name in bundle if name in given)
        raise found.error(f"attributes {names} exclude one another")
    if rule.relation == "together" and present and not whole:
        raise found.error(f"attributes {quoted[0]} must be given together")
    if rule.relation == "oneof" and not whole:
        raise found.error(f"missing attribute: needs {' or '.join(quoted)}")
