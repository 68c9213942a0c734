"""What a model file says, validated and typed, before anything is compiled: Where, Element, DefaultClass, Spec.

**Values.** `Element.attrib` holds what the file gives, and nothing else: `str`, `int`, `float`, `bool`, a keyword as
the keyword string, a numeric vector as an `np.float64` array of the length that was given, a list of keywords as a
tuple of strings. An attribute whose keywords are exactly false and true is a `bool`; one that also knows auto keeps its
keyword ("true"). What MuJoCo keeps in single precision is rounded to it. An empty number counts as not given. Keyword
strings become MuJoCo's numbers through `mjx_like.mjcf.schema.keyword_value`.

**Walk.** `Spec.worldbody` has the tree in document order. Children of a body or frame: body, geom, joint, freejoint,
site, camera, light, inertial, frame, plugin, attach, flexcomp, composite. Frames stay nested; replicate is expanded
into frames.
The default class of an element is its own `class`; else the `childclass` of the nearest enclosing frame or body that
has one; else main. A compiler therefore walks with one variable:

    def walk(parent, childclass):
        for child in parent.children:
            if child.tag in ("body", "frame"):
                walk(child, child.get("childclass", childclass))
            else:
                record = spec.resolve(child, childclass)

**Resolved records.** `Spec.resolve` overlays the schema's defaults, the class and the element, as MuJoCo copies its
structs: a vector given in part overwrites only the leading entries, so `size="1"` over a class with `size="2 3 4"` is
`[1, 3, 4]`. Attributes without any value are absent: read with `record.get(name)`.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mjx_like.errors import ModelError
from mjx_like.mjcf.attach.keyframe import Layout
from mjx_like.mjcf.default import resolve
from mjx_like.mjcf.element import DefaultClass, Element, Origin, Where
from mjx_like.mjcf.reading.file import read_bytes

__all__ = ["SECTIONS", "DefaultClass", "Element", "Spec", "Where"]


SECTIONS = (
    "extension",
    "asset",
    "contact",
    "deformable",
    "equality",
    "tendon",
    "actuator",
    "sensor",
    "custom",
    "keyframe",
)


@dataclass(eq=False)
class Spec:
    """A whole model as its files say it.

    modelname: name of the model, "MuJoCo Model" if none is given.
    compiler: merged attributes of all compiler elements, schema defaults included; `lengthrange` is a dict in it.
    option, flag, size, statistic: likewise; without a value an attribute is absent (statistic has no defaults).
    visual: {"global": {...}, "quality": {...}, "headlight", "map", "scale", "rgba"}, schema defaults included.
    worldbody: the tree; several worldbody sections are merged in order.
    sections: section name -> its elements, merged in order over repeated sections; every name of SECTIONS is a key.
    defaults: class name -> DefaultClass; "main" always exists.
    assets: file name -> contents, as the caller gave them.
    directory: directory of the main file, None for a string.
    authored: settings that the files give: "option", "flag", "size", "map" and "global" -> attribute -> value.
    locations: where the first element of each section stands, as far as files say it.
    layouts: for keyframes that came with an attached model, what their numbers belong to.
    """

    worldbody: Element
    modelname: str = "MuJoCo Model"
    compiler: dict[str, Any] = field(default_factory=dict)
    option: dict[str, Any] = field(default_factory=dict)
    flag: dict[str, str] = field(default_factory=dict)
    size: dict[str, Any] = field(default_factory=dict)
    statistic: dict[str, Any] = field(default_factory=dict)
    visual: dict[str, dict[str, Any]] = field(default_factory=dict)
    sections: dict[str, list[Element]] = field(default_factory=lambda: {name: [] for name in SECTIONS})
    defaults: dict[str, DefaultClass] = field(default_factory=dict)
    assets: dict[str, bytes] = field(default_factory=dict)
    directory: Path | None = None
    authored: dict[str, dict[str, Any]] = field(default_factory=dict)
    layouts: dict[Element, Layout] = field(default_factory=dict)
    locations: dict[str, Where] = field(default_factory=dict)

    def error(self, section: str, message: str) -> ModelError:
        """A ModelError that starts with the location and the name of a section."""
        at = f"{self.locations[section]}: " if section in self.locations else ""
        return ModelError(f"{at}element <{section}>: {message}")

    def resolve(self, element: Element, childclass: str | None = None) -> dict[str, Any]:
        """Full attributes of an element: schema default, overlaid by its default class, overlaid by its own.

        The kind of record follows the element: a spatial or fixed tendon reads class record `tendon`, an equality of
        any type `equality`, an actuator of any tag `general`; an element that has no class (freejoint, sensor, body)
        gets the schema's defaults and its own attributes. `name` of a mesh, texture, hfield or skin that has a file and
        no name is the file's stem.

        Orientation: of axisangle, xyaxes, zaxis and euler at most one is present; if it is, it wins over quat.
        Actuators: see mjx_like.mjcf.actuator; the record always has general's attributes, the shortcut worked in, and
        besides `trntype` (TrnType), `target` (name of the object), `ctrlspec` and `shortcut` (the tag).
        Tendons: a single springlength stands for both. Lights: `directional` has become `type`.
        Materials: `textures` is a dict role -> texture name, from the texture attribute (role rgb) and the layers.

        element: an Element of this Spec.
        childclass: class that encloses it (see the walk above); ignored where an element has no class.
        Raises ModelError for an unknown class.
        """
        return resolve(self.defaults, element, childclass)

    def read_asset(self, path: str, origin: Origin | None = None) -> bytes:
        """Contents of a file that the model names: from `assets` by its exact name or base name, else from the disk.

        path: as MuJoCo would open it, meshdir or texturedir already put in front; relative paths start at `directory`.
        origin: the attached model that names the file.
        Raises ModelError if there is no such file.
        """
        name = str(path)
        full = ((origin.directory if origin else self.directory) or Path()) / name
        for key in (str(full), name, full.name):
            if key in self.assets:
                return self.assets[key]
        try:
            return read_bytes(full)
        except OSError as e:
            raise ModelError(f"cannot read asset file '{full}': {e.strerror}") from None
