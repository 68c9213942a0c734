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

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mjx_like.errors import ModelError


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a model file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(eq=False, slots=True)
class Element:
    """One validated XML element: tag, given attributes (typed), children in document order, and its place.

    type: name of its row in the table of elements; differs from the tag where the place decides ("equality_joint").
    """

    tag: str
    attrib: dict[str, Any]
    children: list["Element"]
    where: Where
    type: str = ""

    def get(self, name: str, default: Any = None) -> Any:
        """Value of attribute `name` as given in the file, or `default`."""
        return self.attrib.get(name, default)

    def find(self, tag: str) -> "Element | None":
        """First direct child with this tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def find_all(self, *tags: str) -> list["Element"]:
        """Direct children with one of these tags, in document order."""
        return [child for child in self.children if child.tag in tags]

    def iter(self, *tags: str) -> Iterator["Element"]:
        """This element and all below it in document order, if their tag is among `tags` (all, if none is given)."""
        if not tags or self.tag in tags:
            yield self
        for child in self.children:
            yield from child.iter(*tags)

    @property
    def label(self) -> str:
        """`element <geom name='x'>`, as error messages call it."""
        name = self.attrib.get("name")
        return f"element <{self.tag} name='{name}'>" if name else f"element <{self.tag}>"

    def error(self, message: str) -> ModelError:
        """A ModelError that starts with the place and the label of this element."""
        return ModelError(f"{self.where}: {self.label}: {message}")


@dataclass(eq=False, slots=True)
class DefaultClass:
    """A default class: for each record kind (geom, joint, tendon, general, ...) the values that it sets.

    `records` already holds what was inherited from `parent` when the class was opened, so nothing is looked up there.
    """

    name: str
    parent: str | None
    records: dict[str, dict[str, Any]]
    where: Where


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

    def resolve(self, element: Element, childclass: str | None = None) -> dict[str, Any]:
        """Full attributes of an element: schema default, overlaid by its default class, overlaid by its own.

        The kind of record follows the element: a spatial or fixed tendon reads class record `tendon`, an equality of
        any type `equality`, a freejoint nothing but the schema, and an actuator of any tag `general`.

        An actuator's record always has `general`'s attributes: a shortcut has been written into gaintype, gainprm,
        biastype, biasprm, dyntype, dynprm, actdim, ... as MuJoCo does, and its own attributes (kp, kv, timeconst,
        diameter, ...) are gone. `biasprm[2]` of a position-like actuator holds -kv, or +dampratio to be converted by
        the compiler. Transmission targets (joint, tendon, site, refsite, slidersite, cranksite, body) are as given.

        Orientation: of axisangle, xyaxes, zaxis and euler at most one is present; if it is, it wins over quat.

        element: an Element of this Spec.
        childclass: class that encloses it (see the walk above); ignored where an element has no class.
        Raises ModelError for an unknown class.
        Source: mjXReader of MuJoCo (OneGeom, OneJoint, ...), documents: modeling, default settings.
        """
        from mjx_like.mjcf.default import resolve

        return resolve(self.defaults, element, childclass)

    def read_asset(self, path: str) -> bytes:
        """Contents of a file that the model names: from `assets` by its exact name or base name, else from the disk.

        path: as MuJoCo would open it, meshdir or texturedir already put in front; relative paths start at `directory`.
        Raises ModelError if there is no such file.
        """
        name = str(path)
        for key in (name, Path(name).name):
            if key in self.assets:
                return self.assets[key]
        full = (self.directory or Path()) / name
        try:
            return full.read_bytes()
        except OSError as e:
            raise ModelError(f"cannot read asset file '{full}': {e.strerror}") from None
