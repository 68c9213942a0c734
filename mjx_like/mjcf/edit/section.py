"""Actuators, sensors, tendons and equalities: what mjSpec tells by type, target and object names, MJCF tells by tag."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.errors import closest
from mjx_like.mjcf.actuator.record import TRANSMISSIONS
from mjx_like.mjcf.edit.item import Item, made
from mjx_like.mjcf.edit.tree import class_name
from mjx_like.mjcf.edit.value import shown
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import ELEMENTS, Child
from mjx_like.mjcf.schema.actuator import GENERAL, TARGETS
from mjx_like.types.enums import SENSOR_OF_TAG, Attachment, EqType, ObjType, SensorType

_ENDS = {"obj": "1", "ref": "2"}


def tag_of_type(section: str, value: Any, numbers: type | None, names: Mapping[int, str]) -> str:
    """Tag that a type stands for: the tag itself, or a number of MuJoCo's enum.

    Raises ValueError for a type that the section does not have.
    """
    tags = ELEMENTS[section].children
    if isinstance(value, str):
        tag = value
    else:
        tag = names.get(int(value)) or (numbers(int(value)).name.lower() if numbers else str(value))
    if tag not in tags:
        raise ValueError(f"{section} has no type {value!r}{closest(tag, tags)}; types: {', '.join(tags)}")
    return tag


def object_word(kind: Any) -> str:
    """Keyword of a kind of object that is given by it or by its number in ObjType."""
    return kind if isinstance(kind, str) else ObjType(int(kind)).name.lower()


class Sectioned(Item):
    """An element of a section whose tag is its type."""

    section = ""
    numbers: type | None = None
    names: Mapping[int, str] = {}

    @classmethod
    def new(cls, spec: Any, value: Any) -> "Sectioned":
        """New element of a type, not yet in the section."""
        element = made(spec, str(value), cls.section)
        try:
            tag = tag_of_type(cls.section, value, cls.numbers, cls.names)
        except ValueError as e:
            raise element.error(str(e)) from None
        return cls(spec, Element(tag, {}, [], element.where, cls._child(tag).type))

    @classmethod
    def _child(cls, tag: str) -> Child:
        return ELEMENTS[cls.section].children[tag]

    @property
    def type(self) -> str:
        """Type as the tag that MJCF has for it."""
        return self._element.tag


class Actuator(Sectioned):
    """An actuator; `target` and `trntype` are mjSpec's way to say joint, tendon, site, body, ...

    The attributes of a general actuator can be read of every shortcut.
    """

    section = "actuator"

    def __getattr__(self, name: str) -> Any:
        element = self._element
        if name in GENERAL and name not in ELEMENTS[element.type].attributes:
            return shown(self._spec.resolve(element).get(name), self, name)
        return super().__getattr__(name)

    @property
    def target(self) -> str:
        """Name of what it acts on."""
        given = [name for name in TARGETS if name in self._element.attrib]
        return self._element.attrib[given[-1]] if given else ""

    @target.setter
    def target(self, value: Any) -> None:
        row = ELEMENTS[self._element.type].attributes
        self._set(self.trntype or next(name for name in TARGETS if name in row), value)

    @property
    def trntype(self) -> str | None:
        """Attribute that names the target: joint, jointinparent, tendon, cranksite, site or body."""
        given = [name for name in TARGETS if name in self._element.attrib]
        return given[-1] if given else None

    @trntype.setter
    def trntype(self, value: Any) -> None:
        names = {int(number): name for name, number in TRANSMISSIONS.items()}
        name = value if isinstance(value, str) else names.get(int(value), str(value))
        if name not in TARGETS:
            raise self._element.error(f"has no transmission {value!r}; transmissions: {', '.join(TARGETS)}")
        target = self.target
        for other in TARGETS:
            self._element.attrib.pop(other, None)
        self._set(name, target)

    def _update(self, values: dict[str, Any]) -> None:
        """Set several attributes; the target before the kind of the target."""
        order = sorted(values, key=("target", "trntype").count)
        order.sort(key="trntype".__eq__)
        super()._update({name: values[name] for name in order})

    def _set_to(self, tag: str, parameters: dict[str, Any]) -> "Actuator":
        """Make it an actuator of another tag, and set parameters."""
        element, row = self._element, ELEMENTS[self._child(tag).type].attributes
        element.tag = element.type = tag
        element.attrib = {name: value for name, value in element.attrib.items() if name in row}
        self._update(parameters)
        return self

    def set_to_motor(self) -> "Actuator":
        """Make it a motor; likewise the other shortcuts, each with the attributes that MJCF gives it."""
        return self._set_to("motor", {})

    def set_to_position(self, kp: float = 1.0, **parameters: Any) -> "Actuator":
        return self._set_to("position", {"kp": kp} | parameters)

    def set_to_intvelocity(self, kp: float = 1.0, **parameters: Any) -> "Actuator":
        return self._set_to("intvelocity", {"kp": kp} | parameters)

    def set_to_velocity(self, kv: float = 1.0) -> "Actuator":
        return self._set_to("velocity", {"kv": kv})

    def set_to_damper(self, kv: float = 0.0) -> "Actuator":
        return self._set_to("damper", {"kv": kv})

    def set_to_cylinder(self, **parameters: Any) -> "Actuator":
        return self._set_to("cylinder", parameters)

    def set_to_muscle(self, **parameters: Any) -> "Actuator":
        return self._set_to("muscle", parameters)

    def set_to_adhesion(self, gain: float = 1.0) -> "Actuator":
        return self._set_to("adhesion", {"gain": gain})

    def set_to_orientation(self, **parameters: Any) -> "Actuator":
        return self._set_to("orientation", parameters)

    def set_to_pid(self, **parameters: Any) -> "Actuator":
        return self._set_to("pid", parameters)

    def set_to_dcmotor(self, **parameters: Any) -> "Actuator":
        return self._set_to("dcmotor", parameters)


class Sensor(Sectioned):
    """A sensor; objtype, objname, reftype and refname are mjSpec's way to say site, joint, geom1, body2, ..."""

    section, numbers = "sensor", SensorType
    names = {int(kind): kind.tag for kind in SensorType}

    def _update(self, values: dict[str, Any]) -> None:
        for name, value in self._of_objects(dict(values)).items():
            if value is not None:
                self._set(name, value)

    def _of_objects(self, values: dict[str, Any]) -> dict[str, Any]:
        """Attributes with MJCF's names for the objects that the sensor is attached to."""
        attachment, row = SENSOR_OF_TAG[self._element.tag].attachment, ELEMENTS[self._element.type].attributes
        for side, end in _ENDS.items():
            if f"{side}name" in row or f"{side}name" not in values:
                continue
            name, kind = values.pop(f"{side}name"), values.pop(f"{side}type", None)
            if attachment.attribute and side == "obj":
                values[attachment.attribute] = name
                continue
            word = object_word(kind or 0)
            values[word + end if attachment == Attachment.PAIR else word] = name
        for side in _ENDS:
            kind = values.get(f"{side}type")
            if kind is not None:
                values[f"{side}type"] = object_word(kind)
        return values

    def _object(self, side: str) -> tuple[str | None, str]:
        """Kind and name of an object that the sensor is attached to."""
        element, row = self._element, ELEMENTS[self._element.type].attributes
        if f"{side}name" in row:
            return element.attrib.get(f"{side}type"), element.attrib.get(f"{side}name", "")
        names = [n for n in element.attrib if n in row and row[n].refers and n != "name"]
        if SENSOR_OF_TAG[element.tag].attachment == Attachment.PAIR:
            names = [n for n in names if n.endswith(_ENDS[side])]
        return (names[0].rstrip("12"), element.attrib[names[0]]) if names and side in _ENDS else (None, "")


class Equality(Sectioned):
    """An equality constraint; name1, name2, objtype and data are mjSpec's way to say body1, site2, anchor, ..."""

    section, numbers = "equality", EqType

    def _update(self, values: dict[str, Any]) -> None:
        values = dict(values)
        tag, objtype, data = self._element.tag, values.pop("objtype", None), values.pop("data", None)
        side = (
            "site"
            if objtype == "site" or (not isinstance(objtype, str | None) and int(objtype) == ObjType.SITE)
            else "body"
        )
        word = side if tag in ("connect", "weld") else tag
        for end in "12":
            if f"name{end}" in values:
                values[word if tag.startswith("flex") else word + end] = values.pop(f"name{end}")
        if data is not None:
            values |= self._of_data(tag, np.asarray(data, float).ravel(), side == "body")
        super()._update(values)

    def _side(self, end: str) -> tuple[str, str]:
        """Kind and name of the object on one side."""
        found = [n for n in self._element.attrib if n in (f"body{end}", f"site{end}", f"{self._element.tag}{end}")]
        if self._element.tag.startswith("flex") and end == "1":
            found = ["flex"]
        return (found[0].rstrip("12"), self._element.attrib.get(found[0], "")) if found else ("body", "")

    @property
    def objtype(self) -> str:
        """Kind of the objects that it joins."""
        return self._side("1")[0]

    @staticmethod
    def _of_data(tag: str, data: np.ndarray, of_bodies: bool) -> dict[str, Any]:
        """Attributes that mjSpec keeps in data."""
        if tag == "connect":
            return {"anchor": data[:3]} if of_bodies else {}
        if tag == "weld":
            pose = {"anchor": data[:3], "relpose": data[3:10]} if of_bodies else {}
            return pose | ({"torquescale": data[10]} if len(data) > 10 else {})
        return {"polycoef": data[:5]}


class Tendon(Sectioned):
    """A tendon; what it wraps makes it spatial or fixed."""

    section = "tendon"

    def _wrap(self, tag: str, kind: str, attributes: dict[str, Any]) -> Item:
        element = made(self._spec, tag, "")
        wanted = "fixed" if tag == "joint" else "spatial"
        if self._element.tag != wanted:
            if self._element.children:
                raise self._element.error(f"wraps what a {self._element.tag} tendon does; a {tag} does not fit")
            self._element.tag = self._element.type = wanted
        element.type = kind
        item = Item(self._spec, element, self)
        item._update(attributes)
        self._element.children.append(element)
        return item

    def wrap_joint(self, joint: Any, coef: float) -> Item:
        """Add a joint to the path of a fixed tendon."""
        return self._wrap("joint", "fixed_joint", {"joint": joint, "coef": coef})

    def wrap_site(self, site: Any) -> Item:
        """Add a site to the path of a spatial tendon."""
        return self._wrap("site", "spatial_site", {"site": site})

    def wrap_geom(self, geom: Any, sidesite: Any = None) -> Item:
        """Add a geom that the tendon wraps around, with a site on the side where it passes."""
        return self._wrap("geom", "spatial_geom", {"geom": geom, "sidesite": sidesite or None})

    def wrap_pulley(self, divisor: float) -> Item:
        """Add a pulley, which starts a new branch."""
        return self._wrap("pulley", "pulley", {"divisor": divisor})

    @property
    def path(self) -> list[Item]:
        """What it wraps, in order."""
        return [Item(self._spec, child, self) for child in self._element.children]


class Material(Item):
    """A material; `textures` maps a role ("rgb", "normal", ...) to a texture."""

    @property
    def textures(self) -> dict[str, str]:
        return dict(self._spec.resolve(self._element)["textures"])

    @textures.setter
    def textures(self, value: Mapping[str, Any]) -> None:
        self._element.attrib.pop("texture", None)
        self._element.children = []
        for role, texture in value.items():
            layer = made(self._spec, "layer", "layer")
            Item(self._spec, layer)._update({"role": role, "texture": texture})
            self._element.children.append(layer)


class Key(Item):
    """A keyframe; after a part was attached or deleted its numbers belong to the joints that there were."""

    def _set(self, name: str, value: Any) -> None:
        if self._element in self._spec.layouts and name not in ("name", "time"):
            raise self._element.error(
                f"attribute '{name}' is held for the model as it was before a part was attached or deleted; "
                "delete the keyframe and add another"
            )
        super()._set(name, value)


class Group(Item):
    """An element that lists others: a tuple, a skin, a plugin."""

    def add(self, default: Any = None, **attributes: Any) -> Item:
        """Append an entry: an element of a tuple, a bone of a skin, a config of a plugin."""
        tag, child = next(iter(ELEMENTS[self._element.type].children.items()))
        item = Item(self._spec, made(self._spec, tag, child.type), self)
        if class_name(default) is not None:
            item._set("class", class_name(default))
        item._update(attributes)
        self._element.children.append(item._element)
        return item


def _kind_of(side: str, what: str) -> property:
    """Property of a Sensor: the kind of an object."""

    def write(self: Sensor, value: Any) -> None:
        self._set(f"{side}type", object_word(value))

    return property(lambda self: self._object(side)[0], write, doc=f"Kind of the object that {what}.")


def _name_of(side: str, what: str) -> property:
    """Property of a Sensor: the name of an object."""

    def write(self: Sensor, value: Any) -> None:
        self._update({f"{side}name": value, f"{side}type": self._object(side)[0]})

    return property(lambda self: self._object(side)[1], write, doc=f"Name of the object that {what}.")


def _name_at(end: str, which: str) -> property:
    """Property of an Equality: the name of the object on one side."""

    def write(self: Equality, value: Any) -> None:
        self._update({f"name{end}": value, "objtype": self.objtype})

    return property(lambda self: self._side(end)[1], write, doc=f"Name of the {which} object, empty if there is none.")


for _side, _what in (("obj", "the sensor is attached to"), ("ref", "it is measured against")):
    setattr(Sensor, f"{_side}type", _kind_of(_side, _what))
    setattr(Sensor, f"{_side}name", _name_of(_side, _what))
for _end, _which in (("1", "first"), ("2", "second")):
    setattr(Equality, f"name{_end}", _name_at(_end, _which))
