"""The editable model: what `mjx.Spec` is."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mjx_like.errors import ModelError, closest
from mjx_like.loaders import compiler
from mjx_like.mjcf import spec as record
from mjx_like.mjcf.attach.keyframe import Layout
from mjx_like.mjcf.build import check_classes, check_spec
from mjx_like.mjcf.default import ALTERNATIVES, MAIN
from mjx_like.mjcf.edit.access import Elements
from mjx_like.mjcf.edit.archive import read_zip
from mjx_like.mjcf.edit.change import attach_item, frame_at, remove, remove_class
from mjx_like.mjcf.edit.item import Item, made
from mjx_like.mjcf.edit.part import Flex, Mesh
from mjx_like.mjcf.edit.section import Actuator, Equality, Group, Key, Material, Sensor, Tendon
from mjx_like.mjcf.edit.settings import Compiler, Default, Option, Settings
from mjx_like.mjcf.edit.tree import Body, Frame, class_name, items_below
from mjx_like.mjcf.edit.value import caller
from mjx_like.mjcf.element import DefaultClass, Element
from mjx_like.mjcf.frame import PoseError
from mjx_like.mjcf.frame import orientation as resolved
from mjx_like.mjcf.reader import parse_file, parse_string
from mjx_like.mjcf.reading.checks import check_element
from mjx_like.mjcf.reading.validate import check_rule
from mjx_like.mjcf.reading.xml import MAX_DEPTH
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.types.hooks import NO_HOOKS, Hooks

if TYPE_CHECKING:
    from mjx_like.types.data import Data
    from mjx_like.types.model import Model

# Kind of element -> section and tag, for those that a section holds under one tag.
LISTED = {
    "mesh": ("asset", "mesh"),
    "hfield": ("asset", "hfield"),
    "texture": ("asset", "texture"),
    "material": ("asset", "material"),
    "skin": ("deformable", "skin"),
    "flex": ("deformable", "flex"),
    "pair": ("contact", "pair"),
    "exclude": ("contact", "exclude"),
    "numeric": ("custom", "numeric"),
    "text": ("custom", "text"),
    "tuple": ("custom", "tuple"),
    "key": ("keyframe", "key"),
}
# Kind of element -> section that holds all of it, its tag being its type.
TYPED = {"actuator": Actuator, "sensor": Sensor, "tendon": Tendon, "equality": Equality}
ITEMS = {"material": Material, "tuple": Group, "skin": Group, "key": Key, "flex": Flex, "mesh": Mesh}
TREE = ("body", "joint", "geom", "site", "camera", "light", "frame")


class Spec(Elements):
    """A model that is built or edited in Python, then compiled; names and use are those of MuJoCo's mjSpec.

    `worldbody` is the root of the tree; `option`, `compiler`, `size`, `stat`, `visual` are the settings; `default` is
    the class main; `spec.geom("x")` finds an element, None if there is none; `spec.geoms` lists all of a kind. What is
    set is checked against the table of MJCF at once, what belongs together when the model is compiled or written.
    """

    _layout: Layout | None = None  # which joints, mocap bodies and actuators there were when it was last compiled

    def __init__(self) -> None:
        self._record = parse_string("<mujoco/>")

    @classmethod
    def from_string(cls, xml: str | bytes, assets: dict[str, bytes] | None = None) -> "Spec":
        """Spec of a model given as text; `assets` has the contents of the files that it names."""
        return cls.from_record(parse_string(xml, assets))

    @classmethod
    def from_file(cls, path: str | Path, assets: dict[str, bytes] | None = None) -> "Spec":
        """Spec of a model file and all that it includes."""
        return cls.from_record(parse_file(path, assets))

    @classmethod
    def from_zip(cls, file: str | Path | IO[bytes]) -> "Spec":
        """Spec of the model in a zip archive, which has the files that it names beside it."""
        xml, files = read_zip(file)
        return cls.from_string(xml, files)

    @classmethod
    def from_record(cls, found: record.Spec) -> "Spec":
        """Editable Spec over what the reader made; it is edited in place."""
        spec = cls.__new__(cls)
        spec._record = found
        return spec

    @staticmethod
    def from_model(m: "Model") -> "Spec":
        """Return a Spec that compiles to this Model, values that were changed in it included.

        Frames are resolved, inertias and ranges written out, angles in radians; actuators are general.

        Args:
          m: one model, without a batch axis on any leaf.

        Raises:
          InputError: leaves that are traced or carry a batch axis.
          ModelError: what no MJCF can say, by name.
        """
        return compiler().spec_of_model(m)

    def compile(
        self,
        nconmax: int | None = None,
        njmax: int | None = None,
        dtype: Any = None,
        hooks: Hooks = NO_HOOKS,
        active: tuple[str, ...] = (),
        contact: str | None = None,
        gap: float | None = None,
        slip: float | None = None,
        integrator: int | str | None = None,
    ) -> "Model":
        """Return the Model of this Spec, which stays as it is; arguments and errors as `Model.from_xml_path`."""
        return compiler().compile_model(self, nconmax, njmax, dtype, hooks, active, contact, gap, slip, integrator)

    def recompile(self, m: "Model", d: "Data") -> "tuple[Model, Data]":
        """Return the Model of this Spec, edited since it was compiled to `m`, and the state of `d` in it.

        Joints, mocap bodies and actuators that are still there keep their positions, velocities, warm start, applied
        forces, activations and controls; new ones begin as at qpos0. Capacities, dtype, hooks and contact are those of
        `m`.

        Args:
          m: the Model that it was last compiled to.
          d: one world of `m`.

        Raises:
          InputError: `m` is not that Model, or `d` has a batch axis.
          ModelError: as `compile`.
        Source: mj_recompile.
        """
        return compiler().recompile(self, m, d)

    def to_xml(self) -> str:
        """Return the MJCF of this Spec; it compiles to the same Model.

        Raises:
          ModelError: what contradicts, repeats, names nothing, or cannot be said by MJCF.
        """
        return compiler().spec_to_xml(self)

    def to_file(self, path: str | Path) -> None:
        """Write the MJCF of this Spec to a file; files that it names are found from there. Raises as `to_xml`."""
        compiler().spec_to_file(self, path)

    def to_zip(self, file: str | Path | IO[bytes]) -> None:
        """Write the MJCF of this Spec and the files that it names into a zip archive, for `from_zip`.

        Raises:
          ModelError: as `to_xml`; a file that is missing.
        """
        compiler().spec_to_zip(self, file)

    def copy(self) -> "Spec":
        """A Spec of its own that says the same."""
        return Spec.from_record(copy.deepcopy(self._record))

    @staticmethod
    def resolve_orientation(degree: bool, sequence: str = "xyz", orientation: Any = None) -> np.ndarray:
        """Quaternion (wxyz) that an orientation gives, as `body.alt` of an element holds it.

        degree: whether angles are in degrees; sequence: axes of Euler angles, upper case for fixed ones.
        orientation: has euler, axisangle, xyaxes or zaxis.
        """
        given = {name: getattr(orientation, name, None) for name in ALTERNATIVES}
        try:
            return resolved({name: v for name, v in given.items() if v is not None}, degree, str(sequence))
        except PoseError as error:
            raise ModelError(f"{caller()}: {error}") from None

    def checked(self) -> record.Spec:
        """A copy as the reader would have made it from a file, for the compiler.

        Raises ModelError for what contradicts, repeats, or names nothing.
        """
        found = copy.deepcopy(self._record)
        found.worldbody.check_depth(MAX_DEPTH)
        for top in (found.worldbody, *(element for elements in found.sections.values() for element in elements)):
            for element in top.iter():
                check_whole(element)
            check_classes(found, top)
        for actuator in found.sections["actuator"]:
            found.resolve(actuator)  # raises where a shortcut's parameters contradict one another
        check_spec(found)
        return found

    @property
    def copy_during_attach(self) -> bool:
        """Whether what is attached is a copy; it always is."""
        return True

    @copy_during_attach.setter
    def copy_during_attach(self, value: bool) -> None:
        if not value:
            raise ModelError(f"{caller()}: what is attached is always a copy; copy_during_attach cannot be False")

    @property
    def modelfiledir(self) -> str:
        """Directory of the model's file, empty if it came from a string."""
        return str(self._record.directory or "")

    @property
    def modelname(self) -> str:
        """Name of the model."""
        return self._record.modelname

    @modelname.setter
    def modelname(self, value: str) -> None:
        self._record.modelname = str(value)

    @property
    def worldbody(self) -> Body:
        """The world, root of the tree."""
        return Body(self._record, self._record.worldbody)

    @property
    def assets(self) -> dict[str, bytes]:
        """Contents of files by name, which go before the disk."""
        return self._record.assets

    @property
    def option(self) -> Option:
        given = self._record.authored
        flag = Settings("flag", self._record.flag, given["flag"])
        return Option("option", self._record.option, given["option"], flag=flag)

    @property
    def compiler(self) -> Compiler:
        lengthrange = Settings("lengthrange", self._record.compiler["lengthrange"])
        return Compiler("compiler", self._record.compiler, lengthrange=lengthrange, LRopt=lengthrange)

    @property
    def size(self) -> Settings:
        return Settings("size", self._record.size, self._record.authored["size"])

    @property
    def stat(self) -> Settings:
        return Settings("statistic", self._record.statistic)

    @property
    def visual(self) -> Settings:
        given = self._record.authored
        groups = {group: Settings(group, values, given.get(group)) for group, values in self._record.visual.items()}
        return Settings("visual", {}, **groups)

    @property
    def default(self) -> Default:
        """The class main, of which every other class and every element takes."""
        return Default(self._record.defaults[MAIN])

    def find_default(self, name: str) -> Default | None:
        """Default class of that name, None if there is none."""
        found = self._record.defaults.get(name)
        return None if found is None else Default(found)

    def add_default(self, name: str, parent: Any = None) -> Default:
        """New default class that begins as a copy of its parent, main if none is given."""
        above = class_name(parent) or MAIN
        classes = self._record.defaults
        where = caller()
        if not name or name in classes:
            raise ModelError(f"{where}: default class '{name}' " + ("exists already" if name else "needs a name"))
        if above not in classes:
            raise ModelError(f"{where}: default class '{above}' does not exist{closest(above, classes)}")
        records = copy.deepcopy(classes[above].records)
        classes[name] = DefaultClass(name, above, records, where)
        return Default(classes[name])

    def _items(self, kind: str) -> Iterator[Item]:
        """All elements of a kind, in document order."""
        if kind in TREE:
            if kind == "body":
                yield self.worldbody
            yield from items_below(self.worldbody, kind)
        elif kind in TYPED:
            yield from (TYPED[kind](self._record, element) for element in self._record.sections[kind])
        else:
            section, tag = LISTED[kind]
            sections = (section, "asset") if kind == "skin" else (section,)
            elements = [element for name in sections for element in self._record.sections[name] if element.tag == tag]
            yield from (ITEMS.get(kind, Item)(self._record, element) for element in elements)

    def _find(self, kind: str, name: str) -> Any:
        found = (item for item in self._items(kind) if item.name == name)
        return next(found, None) if name else None

    def _add_listed(self, kind: str, default: Any, attributes: dict[str, Any]) -> Any:
        section, tag = LISTED[kind]
        element = made(self._record, tag, ELEMENTS[section].children[tag].type)
        return self._append(section, ITEMS.get(kind, Item)(self._record, element), default, attributes)

    def _add_typed(self, kind: str, value: Any, default: Any, attributes: dict[str, Any]) -> Any:
        return self._append(kind, TYPED[kind].new(self._record, value), default, attributes)

    def _append(self, section: str, item: Item, default: Any, attributes: dict[str, Any]) -> Item:
        if class_name(default) is not None:
            item._set("class", class_name(default))
        item._update(attributes)
        self._record.sections[section].append(item._element)
        return item

    def delete(self, item: Item | Default) -> None:
        """Take an element away, with all below it and all that refers to any of it; or a default class."""
        if isinstance(item, Default):
            remove_class(self._record, item._class)
        else:
            remove(self._record, item)

    def attach(
        self, child: "Spec", prefix: str | None = None, suffix: str | None = None, site: Any = None, frame: Any = None
    ) -> Frame:
        """Copy all of another Spec to a site or frame of this one; return the frame that holds its world.

        prefix, suffix: of all names of the child.
        site, frame: one of them, by itself or by name.
        The child's assets, classes and keyframes come along; its compiler settings go on to hold for its elements.
        Raises ModelError where the settings of both contradict one another (compiler attribute `conflict`).
        """
        given = site if frame is None else frame
        kind = "site" if frame is None else "frame"
        target = self._find(kind, given) if isinstance(given, str) else given
        if target is None or (site is None) == (frame is None):
            raise ModelError(f"{caller()}: attach needs one site or frame of this Spec; there is none {given!r}")
        holder = target if kind == "frame" else Frame(self._record, frame_at(target), target._holder)
        return Frame(self._record, attach_item(holder, child.worldbody, prefix, suffix), holder)

    def add_actuator(self, default: Any = None, type: Any = "general", **attributes: Any) -> Actuator:
        """New actuator of a type ("general", "motor", "position", ...)."""
        return self._add_typed("actuator", type, default, attributes)

    def add_sensor(self, type: Any, **attributes: Any) -> Sensor:
        """New sensor of a type, by its MJCF tag or its number in SensorType."""
        return self._add_typed("sensor", type, None, attributes)

    def add_tendon(self, default: Any = None, type: Any = "spatial", **attributes: Any) -> Tendon:
        """New tendon; its wrap_ methods give it a path."""
        return self._add_typed("tendon", type, default, attributes)

    def add_equality(self, default: Any = None, type: Any = "connect", **attributes: Any) -> Equality:
        """New equality constraint of a type, by its MJCF tag or its number in EqType."""
        return self._add_typed("equality", type, default, attributes)


def check_whole(element: Element) -> None:
    """Raise ModelError for an element that lacks what it must have, or whose attributes contradict one another."""
    row = ELEMENTS[element.type]
    for name, attribute in row.attributes.items():
        if attribute.required and name not in element.attrib:
            raise element.error(f"missing attribute '{name}'")
    for rule in row.rules:
        check_rule(element, rule)
    check_element(element)
