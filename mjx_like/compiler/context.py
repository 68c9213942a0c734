"""What the compilation of every element shares: settings, names and error messages."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.pose import PoseError, orientation
from mjx_like.errors import ModelError
from mjx_like.mjcf.element import Origin
from mjx_like.mjcf.schema import keywords
from mjx_like.mjcf.spec import Element, Spec
from mjx_like.types.enums import Limited, ObjType

# Kinds of objects in messages, as mju_type2Str has them.
KIND_NAMES = {
    ObjType.BODY: "body", ObjType.XBODY: "xbody", ObjType.JOINT: "joint", ObjType.DOF: "dof", ObjType.GEOM: "geom",
    ObjType.SITE: "site", ObjType.CAMERA: "camera", ObjType.LIGHT: "light", ObjType.FLEX: "flex",
    ObjType.MESH: "mesh", ObjType.SKIN: "skin", ObjType.HFIELD: "hfield", ObjType.TEXTURE: "texture",
    ObjType.MATERIAL: "material", ObjType.PAIR: "pair", ObjType.EXCLUDE: "exclude", ObjType.EQUALITY: "equality",
    ObjType.TENDON: "tendon", ObjType.ACTUATOR: "actuator", ObjType.SENSOR: "sensor", ObjType.NUMERIC: "numeric",
    ObjType.TEXT: "text", ObjType.TUPLE: "tuple", ObjType.KEY: "key", ObjType.PLUGIN: "plugin",
}  # fmt: skip
KINDS = {name: kind for kind, name in KIND_NAMES.items()}


def not_built(element: Element, what: str | None = None) -> ModelError:
    """Return the error of an element that the compiler does not know yet."""
    return element.error(f"{what or element.tag} is not built yet")


def numbers(values: Iterable[float]) -> str:
    """Return numbers as messages show them: "(0, 1.5)"."""
    return "(" + ", ".join(f"{float(value):.6g}" for value in values) + ")"


class Names:
    """Ids of named objects by kind; every object of a kind is registered before the first is looked up."""

    def __init__(self) -> None:
        self._ids: dict[ObjType, dict[str, int]] = {}
        self.lists: dict[ObjType, tuple[str, ...]] = {}
        self.elements: dict[ObjType, tuple[Element | None, ...]] = {}

    def register(self, kind: ObjType, elements: Iterable[Element | None], names: Iterable[str]) -> None:
        """Give ids in order to the objects of a kind; an unnamed object has the empty name.

        Raises:
          ModelError: two objects of the kind have one name.
        """
        elements, names = tuple(elements), tuple(names)
        ids: dict[str, int] = {}
        for index, (element, name) in enumerate(zip(elements, names, strict=True)):
            if name and name in ids:
                raise element.error(f"repeated name '{name}' in {KIND_NAMES[kind]}; names of a kind must differ")
            if name:
                ids[name] = index
        self._ids[kind], self.lists[kind], self.elements[kind] = ids, names, elements

    def find(self, kind: ObjType, name: str | None, element: Element, role: str) -> int:
        """Return the id of the object that an attribute of an element names.

        Args:
          role: the attribute, for the message.

        Raises:
          ModelError: there is no such object.
        """
        ids = self._ids.get(ObjType.BODY if kind == ObjType.XBODY else kind, {})
        if name in ids:
            return ids[name]
        what = KIND_NAMES[ObjType.BODY if kind == ObjType.XBODY else kind]
        if not name:
            raise element.error(f"attribute '{role}' must name a {what}")
        known = ", ".join(sorted(ids)[:20]) or "none is named"
        raise element.error(f"{role} '{name}' is no {what} of this model; known: {known}")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a <compiler> element says of single elements; each attached model has its own.

    degree: whether angles are in degrees. inertiafromgeom: a member of InertiaFromGeom.
    """

    degree: bool
    eulerseq: str
    autolimits: bool
    alignfree: bool
    balanceinertia: bool
    boundmass: float
    boundinertia: float
    inertiafromgeom: int
    inertiagrouprange: tuple[int, int]
    fitaabb: bool

    def radians(self, value: Any) -> Any:
        """Return an angle, or array of angles, of the file in radians."""
        return value * (np.pi / 180.0) if self.degree else value


def settings(compiler: Mapping[str, Any]) -> Settings:
    """Return the settings of a compiler element."""
    return Settings(
        degree=compiler["angle"] == "degree",
        eulerseq=compiler["eulerseq"],
        autolimits=compiler["autolimits"],
        alignfree=compiler["alignfree"],
        balanceinertia=compiler["balanceinertia"],
        boundmass=compiler["boundmass"],
        boundinertia=compiler["boundinertia"],
        inertiafromgeom=choice(compiler["inertiafromgeom"]),
        inertiagrouprange=tuple(compiler["inertiagrouprange"]),
        fitaabb=compiler["fitaabb"],
    )


@dataclasses.dataclass
class Context:
    """The model, its settings, the sizes of user data, and the names known so far.

    own: settings of the model itself; discards: whether visual elements are left out.
    user: kind of object -> number of its user values.
    key_factors: vector of a keyframe -> element -> factors of its numbers, or a matrix, where frames are scaled.
    """

    spec: Spec
    own: Settings
    discards: bool
    settotalmass: float
    znear: float
    names: Names
    user: dict[str, int]
    attached: dict[Origin, Settings] = dataclasses.field(default_factory=dict)
    key_factors: dict[str, dict[Element, Any]] = dataclasses.field(default_factory=dict)

    def settings(self, element: Element) -> Settings:
        """Return the compiler settings of the model that an element came with."""
        if element.origin is None:
            return self.own
        if element.origin not in self.attached:
            self.attached[element.origin] = settings(element.origin.compiler)
        return self.attached[element.origin]

    def orientation(self, element: Element, attributes: Mapping[str, Any]) -> np.ndarray:
        """Return the quaternion of an element's orientation attributes."""
        found = self.settings(element)
        try:
            return orientation(attributes, found.degree, found.eulerseq)
        except PoseError as error:
            raise element.error(str(error)) from None

    def user_data(self, element: Element, attributes: Mapping[str, Any], size: str) -> np.ndarray:
        """Return the user values of an element, zeros appended up to `nuser_*`."""
        values = np.asarray(attributes.get("user", ()), float)
        room = self.user[size]
        if len(values) > room:
            raise element.error(f"user has {len(values)} values, but {size} is {room}")
        return np.concatenate([values, np.zeros(room - len(values))])

    def limited(self, element: Element, choice: int, limits: np.ndarray, attribute: str) -> bool:
        """Return whether a range applies, and check it against its `limited` attribute.

        Raises:
          ModelError: a range without `limited` while autolimits is off.
        """
        if choice == Limited.AUTO and not self.settings(element).autolimits and np.any(limits != 0):
            prefix = attribute.removesuffix("range")
            raise element.error(
                f"has {attribute} but not {prefix}limited; set the compiler's autolimits, "
                f"give {prefix}limited as 'true' or 'false', or remove {attribute}",
            )
        return choice == Limited.TRUE or (choice == Limited.AUTO and limits[0] < limits[1])


def keyword(enum: type, word: str) -> int:
    """Return the enum member that an MJCF keyword names."""
    return enum[word.upper()]


def vector(value: Any, length: int, fill: Any = 0.0) -> np.ndarray:
    """Return up to `length` values as an array of that length, the rest taken from `fill`."""
    out = np.broadcast_to(np.asarray(fill, float), (length,)).copy()
    if value is not None:
        given = np.atleast_1d(np.asarray(value, float))
        out[: len(given)] = given
    return out


def choice(word: str) -> int:
    """Return 0, 1 or 2 for the keywords false, true and auto."""
    return keywords.TRISTATE[word]
