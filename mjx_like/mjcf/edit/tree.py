"""Bodies and frames as the user holds them: what can be added to them and found in them."""

from collections.abc import Iterator
from typing import Any

from mjx_like.mjcf.edit.change import attach_item, frame_at
from mjx_like.mjcf.edit.item import Item, Orientation, made
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import ELEMENTS

# Attributes of a body in mjSpec -> attributes of its inertial element.
INERTIAL = {
    "mass": "mass",
    "ipos": "pos",
    "iquat": "quat",
    "iaxisangle": "axisangle",
    "ixyaxes": "xyaxes",
    "izaxis": "zaxis",
    "ieuler": "euler",
    "inertia": "diaginertia",
    "fullinertia": "fullinertia",
}
KINDS = ("body", "joint", "geom", "site", "camera", "light", "frame")


def class_name(default: Any) -> str | None:
    """Name of a default class that is given by itself or by name."""
    return default if default is None or isinstance(default, str) else default.name


def items_below(holder: "Tree", *kinds: str, deep: bool = True) -> Iterator[Item]:
    """Items of some kinds below a body or frame in document order; frames are passed through.

    kinds: "joint" stands for freejoint too.
    deep: also those in bodies further down.
    """
    for child in holder._element.children:
        item = item_of(holder._spec, child, holder)
        if child.tag.removeprefix("free") in kinds:
            yield item
        if isinstance(item, Tree) and (deep or child.tag == "frame"):
            yield from items_below(item, *kinds, deep=deep)


def item_of(spec: Any, element: Element, holder: Item | None) -> Item:
    """The item of an element of the tree."""
    return ITEMS.get(element.tag, Item)(spec, element, holder)


class Tree(Item):
    """What holds other elements of the tree: a body or a frame. Items returned by add_ methods can be edited further.

    Every add_ method takes a default class, by itself or by name, and the attributes of the new element by keyword.
    """

    def _add(self, tag: str, default: Any, values: dict[str, Any]) -> Any:
        element = made(self._spec, tag, tag)
        item = item_of(self._spec, element, self)
        if class_name(default) is not None:
            item._set("childclass" if tag == "body" else "class", class_name(default))
        item._update(values)
        self._element.children.append(element)
        return item

    def add_body(self, default: Any = None, **attributes: Any) -> "Body":
        """New body; mass, inertia, ipos, iquat and fullinertia give it an inertial element."""
        return self._add("body", default, attributes)

    def add_frame(self, default: Any = None, **attributes: Any) -> "Frame":
        """New frame: a pose, and a childclass, for what is added to it."""
        return self._add("frame", default, attributes)

    def add_joint(self, default: Any = None, **attributes: Any) -> Item:
        """New joint, a hinge if no type is given."""
        return self._add("joint", default, attributes)

    def add_freejoint(self, **attributes: Any) -> Item:
        """New free joint, which takes nothing from default classes."""
        return self._add("freejoint", None, attributes)

    def add_geom(self, default: Any = None, **attributes: Any) -> Item:
        """New geom, a sphere if no type is given."""
        return self._add("geom", default, attributes)

    def add_site(self, default: Any = None, **attributes: Any) -> "Site":
        """New site."""
        return self._add("site", default, attributes)

    def add_camera(self, default: Any = None, **attributes: Any) -> Item:
        """New camera."""
        return self._add("camera", default, attributes)

    def add_light(self, default: Any = None, **attributes: Any) -> Item:
        """New light."""
        return self._add("light", default, attributes)

    def attach_frame(self, frame: "Frame", prefix: str | None = None, suffix: str | None = None) -> "Frame":
        """Copy a frame of this or another Spec into this body, with all that belongs to it; return the copy.

        What the frame holds, and what refers to that (actuators, sensors, ...), gets prefix and suffix in its names.
        """
        return item_of(self._spec, attach_item(self, frame, prefix, suffix), self)

    def attach_body(self, body: "Body", prefix: str | None = None, suffix: str | None = None) -> "Body":
        """Copy a body of this or another Spec into this frame; as attach_frame."""
        return item_of(self._spec, attach_item(self, body, prefix, suffix), self)

    def find_all(self, kind: str) -> list[Item]:
        """All elements of a kind ("body", "joint", "geom", ...) below this one, in document order."""
        if kind not in KINDS:
            raise self._element.error(f"cannot hold a '{kind}'; kinds: {', '.join(KINDS)}")
        return list(items_below(self, kind))

    def find_child(self, name: str) -> "Body | None":
        """Body of that name below this one, None if there is none."""
        return next((item for item in items_below(self, "body") if item.name == name), None)

    def _following(self, kind: str, item: Item | None) -> Item | None:
        """The element of a kind after one of those directly in this one, the first if that is None; None at the end."""
        found = list(items_below(self, kind, deep=False))
        if item is not None and item not in found:
            raise item._element.error("is not directly in the body or frame whose elements are gone through")
        address = 0 if item is None else found.index(item) + 1
        return found[address] if address < len(found) else None

    @property
    def bodies(self) -> list[Item]:
        """Bodies directly in this one, those in its frames included; likewise joints, geoms and so on."""
        return list(items_below(self, "body", deep=False))

    @property
    def joints(self) -> list[Item]:
        return list(items_below(self, "joint", deep=False))

    @property
    def geoms(self) -> list[Item]:
        return list(items_below(self, "geom", deep=False))

    @property
    def sites(self) -> list[Item]:
        return list(items_below(self, "site", deep=False))

    @property
    def cameras(self) -> list[Item]:
        return list(items_below(self, "camera", deep=False))

    @property
    def lights(self) -> list[Item]:
        return list(items_below(self, "light", deep=False))

    @property
    def frames(self) -> list[Item]:
        return list(items_below(self, "frame", deep=False))


class Frame(Tree):
    """A frame."""


class Site(Item):
    """A site."""

    def attach_body(self, body: "Body", prefix: str | None = None, suffix: str | None = None) -> "Body":
        """Copy a body of this or another Spec into a new frame at this site; as Frame.attach_body."""
        return Frame(self._spec, frame_at(self), self._holder).attach_body(body, prefix, suffix)


class Body(Tree):
    """A body, or the world; its mass, ipos, iquat, inertia and fullinertia are those of its inertial element."""

    def __getattr__(self, name: str) -> Any:
        if name == "name" and self._element.tag == "worldbody":
            return "world"
        if name not in INERTIAL:
            return super().__getattr__(name)
        inertial = self._element.find("inertial")
        return None if inertial is None else getattr(Item(self._spec, inertial, self), INERTIAL[name])

    def _set(self, name: str, value: Any) -> None:
        if name not in INERTIAL:
            super()._set(name, value)
            return
        inertial = self._element.find("inertial")
        if inertial is None:
            if value is None:
                return
            inertial = made(self._spec, "inertial", "inertial")
            inertial.attrib["pos"] = ELEMENTS["body"].attributes["pos"].default
            self._element.children.insert(0, inertial)
        Item(self._spec, inertial, self)._set(INERTIAL[name], value)

    @property
    def ialt(self) -> Orientation:
        """mjSpec's field for the orientations of the inertial frame: euler, axisangle, xyaxes, zaxis."""
        return Orientation(self, "i")

    def to_frame(self) -> Frame:
        """Turn the body into a frame of the same pose with the same content, which moves with the parent from then on.

        Raises ModelError for the world, and for a body with joints, an inertial element or mocap: these go with it.
        """
        element = self._element
        kept = [child for child in element.children if child.tag not in ("joint", "freejoint", "inertial")]
        if element.tag == "worldbody" or len(kept) < len(element.children) or element.attrib.get("mocap"):
            raise element.error("is the world, or has joints, an inertial or mocap; it cannot become a frame")
        names = ELEMENTS["frame"].attributes
        element.tag = element.type = "frame"
        element.attrib = {name: value for name, value in element.attrib.items() if name in names}
        return Frame(self._spec, element, self._holder)

    @property
    def explicitinertial(self) -> bool:
        """Whether the body has an inertial element; False takes it away."""
        return self._element.find("inertial") is not None

    @explicitinertial.setter
    def explicitinertial(self, value: bool) -> None:
        if not value:
            self._element.children = [child for child in self._element.children if child.tag != "inertial"]


ITEMS = {"worldbody": Body, "body": Body, "frame": Frame, "site": Site}


def _first(kind: str):
    def first(self: Tree) -> Item | None:
        return self._following(kind, None)

    first.__name__, first.__doc__ = f"first_{kind}", f"First {kind} directly in this one, None if there is none."
    return first


def _next(kind: str):
    def following(self: Tree, item: Item) -> Item | None:
        return self._following(kind, item)

    following.__name__, following.__doc__ = (
        f"next_{kind}",
        f"The {kind} after one directly in this one, None at the end.",
    )
    return following


for _kind in KINDS:
    setattr(Tree, f"first_{_kind}", _first(_kind))
    setattr(Tree, f"next_{_kind}", _next(_kind))
