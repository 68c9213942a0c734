"""A composite read and checked: what it repeats, what is in its parts, and the elements that it makes.

Nothing that a composite makes takes from a default class: its elements are of class main and undo what main says.
Attribute `limited` of its joints and tendons is read and not used, nor are solreffix and solimpfix of its joints, as
in MuJoCo 3.1.6. Source: XML reference of MuJoCo 3.1.6, composite; mjCComposite, mjXReader::OneComposite.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.mjcf.attach.assemble import MAX_ELEMENTS
from mjx_like.mjcf.canonical import same
from mjx_like.mjcf.default import MAIN, schema_defaults, written_over
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.spec import Spec

SOFT = ("box", "cylinder", "ellipsoid")
_DEPRECATED = {"rope": "cable", "cloth": "shell"}
_ROUND = ("sphere", "capsule", "ellipsoid")
_CABLE_GEOMS = ("cylinder", "capsule", "box")
_HARD = {"solref": (0.01,), "solimp": (0.99, 0.99)}
_LOOSE = {"solref": (0.02,), "solimp": (0.9, 0.9)}
_FIX = {"solreffix": "solref", "solimpfix": "solimp"}
_UNUSED = ("kind", "limited", *_FIX)
_SHOWN = ("particle", "loop", "cable")  # these show their geoms also behind a skin
_NO_VALUE = {"material": "", "user": np.zeros(0)}
CABLE_PLUGIN = "mujoco.elasticity.cable"


@dataclass
class Plan:
    """A composite with everything that its attributes and parts say.

    owner: the body around it. count: points along each axis; dim: how many of the counts are above one.
    vertex: points that the composite names, single precision, shape (n, 3), None if it says none.
    geom, site: attributes of every geom and site; joints: kind -> attributes of each joint.
    tendons: kind -> attributes; fix: kind of tendon -> those of its equality; smooth: those of smoothing equalities.
    skin: attributes of the skin, None if there is none; pins: points without joints.
    plugin: name of the plugin instance, empty if there is none.
    """

    spec: Spec
    element: Element
    owner: Element
    kind: str
    prefix: str
    count: np.ndarray
    spacing: float
    offset: np.ndarray
    size: np.ndarray
    dim: int = 0
    vertex: np.ndarray | None = None
    geom: dict[str, Any] = field(default_factory=dict)
    site: dict[str, Any] = field(default_factory=dict)
    joints: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    tendons: dict[str, dict[str, Any]] = field(default_factory=dict)
    fix: dict[str, dict[str, Any]] = field(default_factory=dict)
    smooth: dict[str, Any] = field(default_factory=dict)
    skin: dict[str, Any] | None = None
    pins: frozenset[tuple[int, int]] = frozenset()
    plugin: str = ""

    def made(self, kind: str, attrib: dict[str, Any], children: Iterable[Element] = (), tag: str = "") -> Element:
        """An element of a kind with these attributes, none of which its default class changes."""
        row = ELEMENTS[kind]
        if row.record is not None:
            attrib = self._undone(kind, attrib) | attrib | {"class": MAIN}
        return Element(tag or kind, attrib, list(children), self.element.where, kind)

    def _undone(self, kind: str, attrib: dict[str, Any]) -> dict[str, Any]:
        """Attributes that take away what class main gives to a kind of element."""
        row, found = ELEMENTS[kind], {}
        own = schema_defaults(row)
        for name, value in self.spec.defaults[MAIN].records[row.record].items():
            if name in attrib or name not in row.attributes or same(value, own.get(name)):
                continue
            if name not in own and name not in _NO_VALUE:
                raise self.element.error(
                    f"class main gives every {row.record} attribute '{name}', which a composite cannot take away; "
                    "move it to another class"
                )
            found[name] = own.get(name, _NO_VALUE.get(name))
        return found

    def body(self, name: str, pos: np.ndarray, children: Iterable[Element], **attrib: Any) -> Element:
        """A body; `name` comes after the prefix."""
        return self.made("body", {"name": self.prefix + name, "pos": np.asarray(pos, float)} | attrib, children)

    def a_geom(self, **attrib: Any) -> Element:
        """A geom of the composite, with attributes written over those of all."""
        return self.made("geom", self.geom | attrib)

    def a_site(self, name: str, **attrib: Any) -> Element:
        """A site of the composite."""
        return self.made("site", self.site | {"name": self.prefix + name} | attrib)

    def a_joint(self, kind: str = "main", **attrib: Any) -> Element:
        """A joint like the first of a kind."""
        return self.made("joint", self.joints[kind][0] | attrib)

    def slides(self, name: str | None = None) -> list[Element]:
        """Three slides along the axes; `name` has a place for the number of the axis."""
        found = []
        for i, axis in enumerate(np.eye(3)):
            named = {"name": self.prefix + name.format(i)} if name else {}
            found.append(self.a_joint(type="slide", pos=np.zeros(3), axis=axis, **named))
        return found

    def add(self, section: str, element: Element) -> None:
        """Append an element to a section of the model."""
        self.spec.sections[section].append(element)

    def add_tendon(self, name: str, sites: Iterable[str], kind: str = "main", **attrib: Any) -> None:
        """Append a tendon between sites, and the equality that keeps its length."""
        path = [self.made("spatial_site", {"site": self.prefix + site}, tag="site") for site in sites]
        attrib = self.tendons[kind] | {"name": self.prefix + name} | attrib
        self.add("tendon", self.made("spatial", attrib, path))
        self.add_equality("tendon", self.fix[kind], tendon1=self.prefix + name)

    def add_equality(self, tag: str, softness: dict[str, Any], **attrib: Any) -> None:
        """Append an equality constraint."""
        kind = tag if tag == "connect" else f"equality_{tag}"
        self.add("equality", self.made(kind, softness | attrib, tag=tag))

    def exclude(self, first: str, second: str) -> None:
        """Append an exclude of contacts between two bodies of the composite."""
        self.add("contact", self.made("exclude", {"body1": self.prefix + first, "body2": self.prefix + second}))


def make_plan(spec: Spec, element: Element, owner: Element) -> Plan:
    """The plan of a composite; owner is the body around it.

    Raises ModelError for one that is not well-formed, and for a type that MuJoCo 3.1.6 has no more.
    """
    a = element.attrib
    kind = a["type"]
    if kind in _DEPRECATED:
        raise element.error(f"type {kind} is deprecated; use {_DEPRECATED[kind]} instead")
    count = written_over(np.ones(3), a.get("count", np.ones(1))).astype(int)
    plan = Plan(
        spec, element, owner, kind, a.get("prefix", ""), count, a.get("spacing", 0.0), a.get("offset", np.zeros(3)),
        written_over(np.array([1.0, 0.0, 0.0]), a.get("size", np.zeros(0))),
    )  # fmt: skip
    if "vertex" in a:
        if len(a["vertex"]) % 3:
            raise element.error("vertex must have three numbers a point")
        plan.vertex = np.reshape(a["vertex"], (-1, 3)).astype(np.float32)
    _read_skin(plan)
    _read_parts(plan)
    _check(plan)
    _count(plan)
    plan.plugin = _plugin(plan)
    return plan


def _read_skin(plan: Plan) -> None:
    found = plan.element.find("skin")
    if found is not None:
        default = {"texcoord": False, "material": "", "group": 0, "rgba": np.ones(4), "inflate": 0.0, "subgrid": 0}
        plan.skin = default | found.attrib


def _over(kind: str, *records: dict[str, Any]) -> dict[str, Any]:
    """Records written over each other and the schema's defaults of a kind of element."""
    own, found = schema_defaults(ELEMENTS[kind]), {}
    for record in records:
        for name, value in record.items():
            base = found.get(name, own.get(name))
            found[name] = written_over(base, np.array(value, float, ndmin=1)) if np.ndim(base) else value
    return found


def _read_parts(plan: Plan) -> None:
    """Attributes of geoms, sites, joints, tendons and equalities, over the defaults of the type."""
    kind, element = plan.kind, plan.element
    flat = kind == "grid" and np.sum(plan.count > 1) == 1
    group = {"group": 0 if plan.skin is None or kind in _SHOWN or flat else 3}
    contact = {"particle": {"condim": 1, "priority": 1}, **dict.fromkeys(SOFT, {"contype": 0})}.get(kind, {})
    first = {child.tag: child.attrib for child in reversed(element.children)}
    plan.geom = _over("geom", group | contact, first.get("geom", {}))
    plan.site = _over("site", {"group": 3}, first.get("site", {}))
    for tag in ("main", "twist", "stretch", "particle"):
        given = [joint.attrib for joint in element.find_all("joint") if joint.get("kind") == tag]
        if len(given) > 1 and kind != "particle":
            raise element.error(f"has {len(given)} joints of kind {tag}; only type particle may have more than one")
        plan.joints[tag] = [_over("joint", {"group": 3}, _without(one)) for one in given or [{}]]
    base = _LOOSE if kind in SOFT else {}
    for tag in ("main", "shear"):
        given = [tendon.attrib for tendon in element.find_all("tendon") if tendon.get("kind") == tag]
        plan.tendons[tag] = _over("spatial", group, *map(_without, given))
        own = _HARD if tag == "main" and kind in (*SOFT, "grid") else base
        softness = [{_FIX[name]: one[name] for name in _FIX if name in one} for one in given]
        plan.fix[tag] = _over("equality_tendon", own, *softness)
    own = _HARD if kind == "loop" else base
    smooth = {name: element.attrib[f"{name}smooth"] for name in own or _HARD if f"{name}smooth" in element.attrib}
    plan.smooth = _over("connect", own, smooth)
    plan.fix["joint"] = _over("equality_joint", base)
    pins = [written_over(np.zeros(2), pin.get("coord")) for pin in element.find_all("pin") if "coord" in pin.attrib]
    plan.pins = frozenset((int(i), int(j)) for i, j in pins)


def _without(attrib: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attrib.items() if name not in _UNUSED}


def has(plan: Plan, tag: str, kind: str) -> bool:
    """Whether the composite asks for a kind of joint or tendon."""
    return any(part.get("kind") == kind for part in plan.element.find_all(tag))


def _check(plan: Plan) -> None:
    """Raise ModelError for a plan that no type can make."""
    kind, error, shape = plan.kind, plan.element.error, plan.geom.get("type", "sphere")
    if shape not in _ROUND and kind not in ("particle", "cable"):
        raise error(f"geom type must be one of {', '.join(_ROUND)}, not {shape}")
    if kind == "cable" and shape not in _CABLE_GEOMS:
        raise error(f"geom type of a cable must be one of {', '.join(_CABLE_GEOMS)}, not {shape}")
    if (plan.count < 1).any():
        raise error("count must be positive")
    size = np.max(plan.geom.get("size", 0.0))
    if (kind == "grid" or (kind == "particle" and plan.vertex is None)) and plan.spacing < size:
        raise error(f"spacing is {plan.spacing:g}, must be at least the size of the geoms, {size:g}")
    if plan.vertex is None and plan.size @ plan.size < MINVAL:
        raise error("size must be positive")
    if kind == "cable" and plan.spacing:
        raise error("a cable takes no spacing; give it size or vertex")
    for pin in plan.element.find_all("pin"):
        if "coord" not in pin.attrib:
            raise pin.error("missing attribute 'coord'")
    if plan.skin and (group := plan.skin["group"]) not in range(6):
        raise error(f"group of the skin is {group}, must be between 0 and 5")
    if plan.skin and plan.skin["subgrid"] < 0:
        raise error("subgrid of the skin must not be negative")


def _count(plan: Plan) -> None:
    """Set the number of points where they are named, and the dimension."""
    error = plan.element.error
    if plan.vertex is not None:
        if plan.count[0] > 1:
            raise error("vertex and count exclude one another")
        if not len(plan.vertex):
            raise error("vertex has no points")
        plan.count[:2] = len(plan.vertex), 1
    plan.dim = int(np.sum(plan.count > 1))
    if (plan.count[: plan.dim] == 1).any():
        raise error("counts of 1 must come last")
    total = float(np.prod(plan.count.astype(float)))
    if total > MAX_ELEMENTS:
        raise error(f"has {total:g} points; at most {MAX_ELEMENTS} are allowed")
    if plan.skin and plan.skin["subgrid"] > 0 and plan.kind != "cable" and (plan.count[:2] < 3).any():
        raise error("subgrid of the skin needs at least 3 x 3 points")


def _plugin(plan: Plan) -> str:
    """Name of the instance of the plugin that the bodies use, added to the model if it is given in place."""
    found = plan.element.find("plugin")
    if found is None:
        return ""
    name, instance = found.get("plugin", ""), found.get("instance", "")
    if plan.kind != "cable":
        raise found.error(f"a composite of type {plan.kind} takes no plugin; only a cable does")
    if instance:
        return instance
    if name != CABLE_PLUGIN:
        raise found.error(f"plugin '{name}' is none for a composite; known: {CABLE_PLUGIN}")
    declared = [element for element in plan.spec.sections["extension"] if element.get("plugin") == name]
    if not declared:
        raise found.error(f"plugin '{name}' is not declared; add it to <extension>")
    made = Element("instance", {"name": f"composite{plan.prefix}"}, found.children, found.where, "instance")
    declared[0].children.append(made)
    return made.get("name")
