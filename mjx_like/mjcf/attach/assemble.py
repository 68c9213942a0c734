"""The tree as it is meant: replicates expanded, models and parts of models attached, in the order of the document.

An attach or a replicate sees the tree as far as it was read before it; what refers into the copied part is copied
along. Source: mjXReader::Body, mjs_attach; documents: XML reference (replicate, attach), model editing (attachment).
"""

from collections.abc import Callable, Mapping
from typing import Any

from mjx_like.mjcf.attach.conflict import merge_settings
from mjx_like.mjcf.attach.dependents import MAIN, Known, carry, drop
from mjx_like.mjcf.attach.keyframe import Layout, layout
from mjx_like.mjcf.attach.reference import Renaming, copied, renamed_record
from mjx_like.mjcf.attach.replicate import poses
from mjx_like.mjcf.element import DefaultClass, Element, Origin, Where
from mjx_like.mjcf.reading.xml import MAX_DEPTH
from mjx_like.mjcf.spec import Spec

MAX_ELEMENTS = 300_000
_CLASS = 10  # elements that a default class counts for
Load = Callable[[Element], Spec]


def assemble(spec: Spec, load: Load) -> None:
    """Expand every replicate and attach of a model.

    load: makes the Spec of a model element of the assets.
    Raises ModelError for a model, body or frame that does not exist, and for copies too many to be meant.
    """
    models: dict[str, Spec] = {}
    for element in spec.sections["asset"]:
        if element.tag == "model":
            child = load(element)
            models.setdefault(element.get("name") or child.modelname, child)
    spec.sections["asset"] = [element for element in spec.sections["asset"] if element.tag != "model"]
    if any(True for _ in spec.worldbody.iter("replicate", "attach")):
        _Assembly(spec, models).run()


def attach(
    spec: Spec, parent: Element, source: Spec, found: Element, inherited: str | None, where: Where, **names: str
) -> Element:
    """Attach a part of a model to a body or frame of another, or of the same; return the copy.

    found: body or frame of the source, or its world; inherited: default class around it.
    names: prefix and suffix of all that is copied.
    Raises ModelError where the settings of the two models contradict one another.
    """
    assembly = _Assembly(spec, {})
    for top in (spec.worldbody, *(element for elements in spec.sections.values() for element in elements)):
        assembly.known.add(top)
    return assembly.graft(parent, Element("attach", dict(names), [], where, "attach"), source, found, inherited)


class _Assembly:
    """The walk over a tree; `size` counts the elements made so far, `depth` those around."""

    def __init__(self, spec: Spec, models: Mapping[str, Spec]) -> None:
        self.spec = spec
        self.models = models
        self.known = Known()
        self.size = 0
        self.depth = 0  # of what is filled, in the tree

    def run(self) -> None:
        for elements in self.spec.sections.values():
            for element in elements:
                self.known.add(element)
        world = self.spec.worldbody
        pending, world.children = world.children, []
        self._fill(world, pending)

    def _fill(self, parent: Element, pending: list[Element]) -> None:
        """Give a body or frame its children, what makes others expanded."""
        self.depth += 1
        for child in pending:
            if child.tag == "replicate":
                self._replicate(parent, child)
            elif child.tag == "attach":
                self._attach(parent, child)
            else:
                inner, child.children = child.children, []
                parent.children.append(child)
                self.known.add(child)
                self._fill(child, inner)
        self.depth -= 1

    def _grow(self, element: Element, size: int) -> None:
        self.size += size
        if self.size > MAX_ELEMENTS:
            raise element.error(f"makes {self.size} elements; at most {MAX_ELEMENTS} are allowed")

    def _replicate(self, parent: Element, element: Element) -> None:
        template = Element("body", {}, [], element.where, "body", element.origin)
        parent.children.append(template)
        self._fill(template, element.children)
        parent.children.pop()
        first: dict[Element, Element] = {}
        self._grow(element, sum(1 for _ in template.iter()) * max(element.get("count"), 0))
        for suffix, attrib in poses(element, self._compiler(element)):
            made: dict[Element, Element] = {}
            renaming = Renaming("", suffix)
            children = [copied(child, renaming, made) for child in template.children]
            frame = Element("frame", attrib, children, element.where, "frame", element.origin)
            parent.children.append(frame)
            self._take(frame, self.spec, renaming, made)
            first = first or made
        drop(self.spec.sections, self.known, self.known.remove(template))
        self.spec.layouts = {key: found.replaced(first) for key, found in self.spec.layouts.items()}

    def _compiler(self, element: Element) -> dict[str, Any]:
        return element.origin.compiler if element.origin else self.spec.compiler

    def _take(self, part: Element, source: Spec, renaming: Renaming, made: dict[Element, Element]) -> None:
        """Note the names of a copied part of a tree, and copy along what refers into it."""
        self.known.add(part)
        count = len(made)
        carry(source.sections, self.spec.sections, self.known, renaming, made)
        self._grow(part, len(made) - count)

    def _attach(self, parent: Element, element: Element) -> None:
        source = self._source(element)
        self.graft(parent, element, source, *self._target(element, source))

    def graft(self, parent: Element, element: Element, source: Spec, found: Element, inherited: str | None) -> Element:
        """Copy a body, a frame or a whole world into a body or frame, with what refers into it; return the copy.

        element: the attach element.
        inherited: default class around what is copied.
        """
        renaming = self._renaming(element, source)
        made: dict[Element, Element] = {}
        found.check_depth(MAX_DEPTH, self.depth)
        self._grow(element, sum(1 for _ in found.iter()) + _CLASS * len(renaming.classes or ()))
        if found is source.worldbody:
            made_children = [copied(child, renaming, made) for child in found.children]
            body = element.get("body")
            attrib = {"name": renaming.own(body)} if body else {}
            tag = "body" if body else "frame"
            part = Element(tag, attrib, made_children, element.where, tag, renaming.origin)
        else:
            part = copied(found, renaming, made)
        inherited = found.get("childclass") or inherited or MAIN
        part.attrib["childclass"] = renaming.other("default", inherited)
        parent.children.append(part)
        self._take(part, source, renaming, made)
        if source is not self.spec:
            self._keyframes(element, source, renaming, made)
        return part

    def _source(self, element: Element) -> Spec:
        """The model that an attach element names."""
        model = element.get("model")
        if not model:
            if not element.get("body") and not element.get("frame"):
                raise element.error("missing attribute: without 'model' it needs 'body' or 'frame'")
            return self.spec
        if model not in self.models:
            known = ", ".join(self.models) or "none"
            raise element.error(f"attribute 'model' names model '{model}', which is no asset; known: {known}")
        return self.models[model]

    def _target(self, element: Element, source: Spec) -> tuple[Element, str | None]:
        """The body or frame to attach, the world if none is named, and the default class around it."""
        tag = next((tag for tag in ("body", "frame") if element.get(tag)), None)
        if tag is None or (tag == "body" and element.get("body") == "world"):
            return source.worldbody, None
        found = _find(source.worldbody, tag, element.get(tag), None)
        if found is None:
            where = f"model '{element.get('model')}'" if element.get("model") else "the tree before it"
            raise element.error(f"attribute '{tag}' names {tag} '{element.get(tag)}', which is not in {where}")
        return found

    def _renaming(self, element: Element, source: Spec) -> Renaming:
        prefix, suffix = element.get("prefix"), element.get("suffix", "")
        if source is self.spec:
            return Renaming(prefix, suffix)
        merge_settings(element, self.spec, source)
        classes: dict[str, str] = {}
        for name in source.defaults:
            classes[name] = _free_name(prefix + name + suffix, self.spec.defaults)
        renaming = Renaming(prefix, suffix, classes, Origin(source.compiler, source.directory))
        for name, old in source.defaults.items():
            parent = MAIN if old.parent is None else classes[old.parent]
            records = {kind: renamed_record(kind, record, renaming) for kind, record in old.records.items()}
            self.spec.defaults[classes[name]] = DefaultClass(classes[name], parent, records, old.where, old.top)
        return renaming

    def _keyframes(self, element: Element, source: Spec, renaming: Renaming, made: dict[Element, Element]) -> None:
        """Add the keyframes of an attached model; those that it attached itself come last and keep their names."""
        keys = source.sections["keyframe"]
        own = layout(source) if len(source.layouts) < len(keys) else None
        for key in sorted(keys, key=lambda key: key in source.layouts):
            pending = source.layouts.get(key)
            copy = copied(key, Renaming("") if pending else renaming)
            if pending is None:
                copy.attrib["name"] = renaming.own(key.get("name", ""))
                _check_lengths(element, key, own)
            self.spec.sections["keyframe"].append(copy)
            self.spec.layouts[copy] = (pending or own).moved(made)


def _find(holder: Element, tag: str, name: str, childclass: str | None) -> tuple[Element, str | None] | None:
    """First body or frame with a name, and the default class around it."""
    for child in holder.children:
        if child.tag == tag and child.get("name") == name:
            return child, childclass
        if child.tag in ("body", "frame"):
            found = _find(child, tag, name, child.get("childclass", childclass))
            if found is not None:
                return found
    return None


def _free_name(name: str, taken: Mapping[str, DefaultClass]) -> str:
    """The name, lengthened until no default class has it."""
    while name in taken:
        name += "'"
    return name


def _check_lengths(element: Element, key: Element, found: Layout) -> None:
    for vector, size in found.sizes().items():
        given = len(key.get(vector, ()))
        if given > size:
            raise element.error(f"keyframe '{key.get('name', '')}' has {given} numbers in {vector}, needs {size}")
