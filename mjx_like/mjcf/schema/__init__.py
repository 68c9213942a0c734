"""The grammar of MJCF as one table.

`ELEMENTS` maps the name of an element type to its attributes, children, rules and default record; types that share a
tag but differ by parent have names of their own (a joint in an equality section is "equality_joint"). `grammar` is
what a row is made of, `keywords` the words; `settings`, `default`, `asset`, `body`, `deformable`, `constraint`,
`actuator`, `sensor` are the rows.
Source: mj_printSchema and the XML reference of MuJoCo 4.0.0; composite from 3.1.6.
"""

from mjx_like.mjcf.schema import actuator, asset, body, constraint, default, deformable, sensor, settings
from mjx_like.mjcf.schema.grammar import Attribute, Child, ElementType, Kind, Rule

ELEMENTS: dict[str, ElementType] = {
    **settings.ELEMENTS,
    **default.ELEMENTS,
    **asset.ELEMENTS,
    **body.ELEMENTS,
    **deformable.ELEMENTS,
    **constraint.ELEMENTS,
    **actuator.ELEMENTS,
    **sensor.ELEMENTS,
}

__all__ = ["ELEMENTS", "Attribute", "Child", "ElementType", "Kind", "Rule", "keyword_value"]


def keyword_value(type_name: str, attribute: str, keyword: str) -> int:
    """MuJoCo's number of a keyword, as in keyword_value("geom", "type", "box")."""
    return ELEMENTS[type_name].attributes[attribute].keywords[keyword]
