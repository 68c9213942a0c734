"""Small documents that put one text into one attribute, and whether the oracle's reader and ours take it."""

import warnings

import mujoco

from mjx_like.errors import ModelError
from mjx_like.mjcf.reading.include import Source
from mjx_like.mjcf.reading.validate import read_element
from mjx_like.mjcf.reading.xml import parse_xml
from mjx_like.mjcf.schema import ELEMENTS, Kind

FLEXCOMP = 'type="direct" point="0 0 0 0 0 1 0 1 0" element="0 1 2" dim="2"'

# What an element needs besides the attribute in question, so that the reader reaches it.
NEEDED = {
    "worldbody/body": 'name="a"',
    "actuator/dcmotor": 'resistance="1" motorconst="1"',
    "default/dcmotor": 'resistance="1" motorconst="1"',
    "equality/connect": 'body1="a" anchor="0 0 0"',
    "equality/weld": 'body1="a"',
    "sensor/rangefinder": 'site="a"',
    "sensor/distance": 'geom1="a" geom2="b"',
    "sensor/normal": 'geom1="a" geom2="b"',
    "sensor/fromto": 'geom1="a" geom2="b"',
    "custom/numeric": 'data="1"',
    "custom/text": 'data="a"',
    "custom/tuple/element": 'objtype="geom"',
    "worldbody/flexcomp": FLEXCOMP,
    "worldbody/body/flexcomp": FLEXCOMP,
}


def valid_text(row) -> str:
    """A text that the row takes."""
    if row.kind in (Kind.KEYWORD, Kind.KEYWORDS):
        return next(iter(row.keywords))
    if row.kind is Kind.STRING:
        return "xyz"[: row.most] if row.chars else "a"
    return " ".join(["1"] * max(row.least, 1))


def filled(path: tuple[str, ...], kind: str, attributes: dict[str, str]) -> str:
    """Attributes of an element, with what it needs besides those that are given."""
    given = {}
    for part in NEEDED.get("/".join(path), "").split('" '):
        if "=" in part:
            name, value = part.split("=", 1)
            given[name] = value.strip('"')
    for name, row in ELEMENTS[kind].attributes.items():
        if row.required and name not in given:
            given[name] = valid_text(row)
    for rule in ELEMENTS[kind].rules:
        if rule.relation == "together" and any(name in attributes for name in rule.bundles[0]):
            given |= {name: valid_text(ELEMENTS[kind].attributes[name]) for name in rule.bundles[0]}
        if rule.relation == "exclusive":
            for bundle in rule.bundles:
                if any(name in attributes for name in bundle):
                    others = {name for other in rule.bundles if other is not bundle for name in other}
                    given = {name: value for name, value in given.items() if name not in others}
    return " ".join(f'{name}="{value}"' for name, value in (given | attributes).items())


def document(path: tuple[str, ...], attributes: dict[str, str]) -> str:
    """Document with one element at a path below mujoco, what it and those around it need filled in."""
    kind, start = "mujoco", []
    for depth, tag in enumerate(path):
        kind = ELEMENTS[kind].children[tag].type
        last = depth == len(path) - 1
        start.append(f"<{tag} {filled(path[: depth + 1], kind, attributes if last else {})}>")
    return f"<mujoco>{''.join(start)}{''.join(f'</{tag}>' for tag in reversed(path))}</mujoco>"


def paths() -> list[tuple[tuple[str, ...], str]]:
    """(path, type) of every element that the oracle's grammar has, each once."""
    found = []

    def visit(path, kind):
        found.append((path, kind))
        for tag, child in ELEMENTS[kind].children.items():
            if tag not in path and tag not in ("frame", "replicate", "composite") and len(path) < 6:
                visit((*path, tag), child.type)

    for tag, child in ELEMENTS["mujoco"].children.items():
        visit((tag,), child.type)
    return found


def oracle_error(xml: str) -> str | None:
    """What MuJoCo's reader says against a document."""
    try:
        mujoco.MjSpec.from_string(xml)
    except ValueError as e:
        return " ".join(str(e).split())
    return None


def our_error(xml: str) -> str | None:
    """What our reader says, before names are looked up."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_element(parse_xml(xml.encode(), "a.xml"), "a.xml", "mujoco", Source({}, None, "a.xml"))
    except ModelError as e:
        return str(e)
    return None


def texts(row) -> list[str]:
    """Texts to try: every keyword and a wrong one, every count and one more and less, words for numbers."""
    if row.kind in (Kind.KEYWORD, Kind.KEYWORDS):
        return [*row.keywords, "nonsense", ""]
    if row.kind is Kind.STRING:
        return []
    most = row.most if row.most is not None else 3
    counted = [" ".join(["1"] * count) for count in range(most + 2)]
    return [*counted, "x", "1.5"]
