"""Changes of a Spec as a whole: attaching a part of a model to another, taking elements away."""

from typing import Any

from mjx_like.errors import ModelError
from mjx_like.mjcf.attach.assemble import attach
from mjx_like.mjcf.attach.dependents import Known, drop
from mjx_like.mjcf.attach.keyframe import layout
from mjx_like.mjcf.default import ALTERNATIVES
from mjx_like.mjcf.edit.item import Item, made
from mjx_like.mjcf.edit.value import caller
from mjx_like.mjcf.element import DefaultClass, Element
from mjx_like.mjcf.spec import Spec


def hold_keyframes(spec: Spec) -> None:
    """Let the numbers of the keyframes belong to the joints and actuators that there are now, whatever comes."""
    free = [key for key in spec.sections["keyframe"] if key not in spec.layouts]
    found = layout(spec) if free else None
    spec.layouts |= dict.fromkeys(free, found)


def attach_item(holder: Item, part: Item, prefix: str | None, suffix: str | None) -> Element:
    """Copy a body, frame or world with all that belongs to it into a body or frame; return the copy."""
    spec, source = holder._spec, part._spec
    hold_keyframes(spec)
    for name, content in source.assets.items():
        if spec.assets.setdefault(name, content) != content:
            raise ModelError(f"{caller()}: both models have an asset file '{name}', and the contents differ")
    names = {"prefix": prefix or "", "suffix": suffix or ""}
    return attach(spec, holder._element, source, part._element, part._childclass(), caller(), **names)


def frame_at(site: Item) -> Element:
    """New frame beside a site, at its pose."""
    record = site._spec.resolve(site._element, site._childclass())
    frame = made(site._spec, "frame", "frame")
    given = [name for name in ALTERNATIVES if record.get(name) is not None]
    frame.attrib = {name: record[name] for name in ("pos", *(given or ["quat"]))}
    frame.origin = site._element.origin
    site._holder._element.children.append(frame)
    return frame


def remove(spec: Spec, item: Any) -> None:
    """Take an element away, with all below it and all that refers to any of it.

    Raises ModelError for what is not in this model, and for the world.
    """
    element, tops = item._element, [spec.worldbody, *(e for elements in spec.sections.values() for e in elements)]
    known = Known()
    for top in tops:
        known.add(top)
    children = spec.worldbody.children if item._holder is None else item._holder._element.children
    homes = [children, *spec.sections.values()]
    home = next((home for home in homes if any(child is element for child in home)), None)
    if home is None or item._spec is not spec:
        raise element.error("is not in this model, or is its world; it cannot be deleted")
    hold_keyframes(spec)
    home.remove(element)
    before = {e for top in tops for e in top.iter()}
    drop(spec.sections, known, known.remove(element))
    after = {e for top in (spec.worldbody, *(e for es in spec.sections.values() for e in es)) for e in top.iter()}
    gone = dict.fromkeys(before - after)
    spec.layouts = {key: found.replaced(gone) for key, found in spec.layouts.items() if key not in gone}


def remove_class(spec: Spec, found: DefaultClass) -> None:
    """Take a default class away, with the classes nested in it; main stays."""
    if found.parent is None:
        raise ModelError(f"{caller()}: default class '{found.name}' is the root of all; it cannot be deleted")
    for name in [child.name for child in spec.defaults.values() if child.parent == found.name]:
        remove_class(spec, spec.defaults[name])
    del spec.defaults[found.name]
