"""Table rows: default. An element in a default class lacks name, class and what may not be inherited."""

from mjx_like.mjcf.schema import actuator, asset, body, constraint
from mjx_like.mjcf.schema.grammar import ElementType, element, once, recursive, text

# Record kind -> element of which a default class holds one. Every actuator shortcut writes the record `general`.
RECORDS = {
    "mesh": asset.MESH,
    "texture": asset.TEXTURE,
    "material": asset.MATERIAL,
    "joint": body.JOINT,
    "geom": body.GEOM,
    "site": body.SITE,
    "camera": body.CAMERA,
    "light": body.LIGHT,
    "pair": constraint.PAIR,
    "equality": element(constraint.EQUALITY_BASE, record="equality"),
    "tendon": constraint.SPATIAL,
    "general": actuator.ELEMENTS["general"],
}


def reduced(row: ElementType) -> ElementType:
    """The element as it may stand in a default class."""
    attributes = {tag: attribute for tag, attribute in row.attributes.items() if attribute.in_default}
    children = {tag: child for tag, child in row.children.items() if tag == "layer"}
    return ElementType(attributes, children, row.rules, row.record)


SHORTCUTS = {tag: actuator.ELEMENTS[tag] for tag in actuator.SHORTCUTS}
IN_CLASS = {f"default_{tag}": reduced(row) for tag, row in (RECORDS | SHORTCUTS).items()}

DEFAULT = element(
    {"class": text()},
    once(**{kind.removeprefix("default_"): kind for kind in IN_CLASS}) | recursive("default"),
)

ELEMENTS = {"default": DEFAULT, **IN_CLASS}
