"""Validated elements -> Spec: sections merged, defaults built, replicates expanded, names checked."""

from pathlib import Path
from typing import Any

import numpy as np

from mjx_like.mjcf.attach.assemble import Load, assemble
from mjx_like.mjcf.composite.expand import expand_composites
from mjx_like.mjcf.default import build_defaults, find_class, schema_defaults, written_over
from mjx_like.mjcf.element import Element, Where
from mjx_like.mjcf.flexcomp.expand import expand_flexcomps
from mjx_like.mjcf.reading.checks import memory_bytes
from mjx_like.mjcf.reading.names import check_references, collect_names
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.spec import SECTIONS, Spec


def merged(kind: str, elements: list[Element]) -> dict[str, Any]:
    """Schema defaults of a kind, overlaid by each of the elements in order."""
    found = schema_defaults(ELEMENTS[kind])
    for element in elements:
        for name, value in element.attrib.items():
            found[name] = written_over(found.get(name), value)
    return found


def within(sections: list[Element], tag: str) -> list[Element]:
    """Children with a tag of several elements."""
    return [child for section in sections for child in section.find_all(tag)]


def authored(root: Element) -> dict[str, dict[str, Any]]:
    """What the files give of the settings that may conflict with those of an attached model."""
    options, visuals = root.find_all("option"), root.find_all("visual")
    found = {
        "option": options,
        "flag": within(options, "flag"),
        "size": root.find_all("size"),
        "map": within(visuals, "map"),
        "global": within(visuals, "global"),
    }
    return {name: {k: v for part in parts for k, v in part.attrib.items()} for name, parts in found.items()}


def merge_compiler(sections: list[Element]) -> dict[str, Any]:
    """Compiler settings; assetdir stands in for meshdir and texturedir where they are not given."""
    found = merged("compiler", sections)
    found["lengthrange"] = merged("lengthrange", within(sections, "lengthrange"))
    for directory in ("meshdir", "texturedir"):
        found.setdefault(directory, found.get("assetdir", ""))
    found.setdefault("assetdir", "")
    return found


def merge_option(sections: list[Element]) -> dict[str, Any]:
    """Options; disabled actuator groups add up over repeated sections."""
    found = merged("option", sections)
    groups = [group for section in sections for group in section.get("actuatorgroupdisable", ())]
    if groups:
        found["actuatorgroupdisable"] = np.array(sorted(set(groups)))
    return found


def merge_size(sections: list[Element]) -> dict[str, Any]:
    """Sizes; memory in bytes, -1 if it is left to the compiler."""
    found = merged("size", sections)
    found["memory"] = memory_bytes(found.get("memory", "-1"))
    return found


def merge_visual(sections: list[Element]) -> dict[str, dict[str, Any]]:
    """Visual settings by group."""
    return {group: merged(group, within(sections, group)) for group in ELEMENTS["visual"].children}


def check_classes(spec: Spec, element: Element) -> None:
    """Raise ModelError if an element, or one below it, names an unknown class."""
    for found in element.iter():
        for attribute in ("class", "childclass"):
            if attribute in found.attrib:
                find_class(spec.defaults, found, attribute)


def build_spec(root: Element, assets: dict[str, bytes], directory: Path | None, load: Load, part: bool = False) -> Spec:
    """Spec of the whole model.

    root: the validated mujoco element, includes spliced in.
    load: makes the Spec of a model that is to be attached.
    part: the model is to be attached to another; its names are checked there.
    Raises ModelError for unknown classes, repeated names and dangling references.
    """
    worlds = root.find_all("worldbody")
    where = worlds[0].where if worlds else root.where
    world = Element("worldbody", {}, [child for found in worlds for child in found.children], where, "worldbody")
    spec = Spec(
        worldbody=world,
        modelname=root.get("model", "MuJoCo Model"),
        compiler=merge_compiler(root.find_all("compiler")),
        option=merge_option(root.find_all("option")),
        flag=merged("flag", within(root.find_all("option"), "flag")),
        size=merge_size(root.find_all("size")),
        statistic=merged("statistic", root.find_all("statistic")),
        visual=merge_visual(root.find_all("visual")),
        sections={name: [child for part in root.find_all(name) for child in part.children] for name in SECTIONS},
        defaults=build_defaults(root.find_all("default"), Where(root.where.file, root.where.line)),
        assets=assets,
        directory=directory,
        authored=authored(root),
        locations={child.tag: child.where for child in (*reversed(root.children), root)},
    )
    complete(spec, load)
    if not part:
        check_spec(spec)
    return spec


def complete(spec: Spec, load: Load) -> None:
    """Make the tree what it is meant to be: composites, flexcomps and replicates expanded, other models attached."""
    for section in spec.sections.values():
        for element in section:
            check_classes(spec, element)
    for element in spec.worldbody.iter("frame", "replicate"):
        for attribute in ("class", "childclass"):
            if attribute in element.attrib:
                find_class(spec.defaults, element, attribute)  # a replicate of none leaves nothing to check later
        if "class" in element.attrib and "childclass" not in element.attrib:
            element.attrib["childclass"] = element.attrib.pop("class")  # in a frame the two mean the same
    expand_composites(spec)
    expand_flexcomps(spec)
    assemble(spec, load)
    check_classes(spec, spec.worldbody)


def check_spec(spec: Spec) -> None:
    """Check all default classes and names.

    Raises ModelError for the first that does not exist, is repeated, or contradicts another.
    """
    elements = [spec.worldbody, *(element for section in spec.sections.values() for element in section)]
    for element in elements:
        check_classes(spec, element)
    for actuator in spec.sections["actuator"]:
        spec.resolve(actuator)  # raises where a shortcut's parameters contradict one another
    names = collect_names(spec.worldbody, spec.sections.values())
    check_references(elements, names)
