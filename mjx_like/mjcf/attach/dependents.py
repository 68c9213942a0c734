"""The elements outside the tree that refer into it: copied along with a part of the tree, dropped with it.

An element is copied if its references have a copy. Some may keep what they name: one of the two of a contact pair, an
exclude or a sensor, and single objects of a tendon's path as long as one of them has a copy. An element that refers to
nothing is copied too. Source: mjCModel::CopyList, RemoveFromList, ResolveReferences of each class.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from mjx_like.mjcf.attach.reference import Name, Renaming, copied, references
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.reading.names import name_of
from mjx_like.mjcf.schema import ELEMENTS

MAIN = "main"
# Section, tags (all, if none is given), and whether within one model there is nothing to copy.
ASSETS = (("asset", ("mesh",)), ("asset", ("hfield",)), ("asset", ("texture",)), ("asset", ("material",)))
VALUES = (("custom", ("numeric",)), ("custom", ("text",)))
REFERRERS = (
    ("deformable", ("flex",)), ("contact", ("pair",)), ("contact", ("exclude",)), ("tendon", ()), ("equality", ()),
    ("actuator", ()), ("sensor", ()), ("custom", ("tuple",)),
)  # fmt: skip
_EITHER = ("contact", "sensor")  # sections whose elements may keep one of two references
_WORLD = frozenset([("body", "world")])
_KEEPS_WORLD = ("equality", "deformable", "custom")

Sections = dict[str, list[Element]]


class Known:
    """The names that are in use, and what the elements of the sections refer to."""

    def __init__(self) -> None:
        self._names: dict[Name, int] = {("body", "world"): 1}
        self._references: dict[Element, tuple[Name, ...]] = {}

    def __contains__(self, name: Name) -> bool:
        return name in self._names

    def add(self, element: Element) -> None:
        """Note the names of an element and of all below it."""
        for name in named(element):
            self._names[name] = self._names.get(name, 0) + 1

    def remove(self, element: Element) -> set[Name]:
        """Forget the names of an element and of all below it; return those that are in use no more."""
        gone = set()
        for name in named(element):
            self._names[name] -= 1
            if not self._names[name]:
                del self._names[name]
                gone.add(name)
        return gone

    def touched(self, element: Element, renaming: Renaming) -> bool:
        """Whether an element of a section refers to nothing, or to something that has a copy."""
        prefix, suffix, names = renaming.prefix, renaming.suffix, self._names
        found = self.references(element)
        return not found or any((kind, prefix + name + suffix) in names for kind, name in found)

    def references(self, element: Element) -> tuple[Name, ...]:
        """What an element of a section refers to."""
        found = self._references.get(element)
        if found is None:
            found = self._references[element] = tuple(references(element))
        return found


def named(element: Element) -> Iterator[Name]:
    """(kind, name) of an element and of all below it that have a name."""
    pending = [element]
    while pending:
        found = pending.pop()
        pending += found.children
        row = ELEMENTS[found.type].attributes.get("name")
        if row is not None and row.declares and (name := name_of(found)):
            yield row.declares, name


def carry(source: Sections, target: Sections, known: Known, renaming: Renaming, made: dict[Element, Element]) -> None:
    """Copy into the target's sections the elements of the source's that refer into a copied part of the tree.

    known: names of the target.
    made: original -> copy; the copies of elements are added to it.
    """
    if renaming.classes is not None:
        for section, tags in ASSETS:
            _copy(source[section], tags, target[section], known, renaming, made)
    skins = _tagged(source["asset"], ("skin",)) + _tagged(source["deformable"], ("skin",))
    if renaming.classes is None:
        skins = [skin for skin in skins if not skin.get("file")]  # what a file says refers to nothing yet
    _copy(skins, (), target["deformable"], known, renaming, made)
    if renaming.classes is not None:
        for section, tags in (*VALUES, ("extension", ())):
            _copy(source[section], tags, target[section], known, renaming, made)
    for section, tags in REFERRERS:
        found = renaming
        if section in _KEEPS_WORLD:
            found = replace(renaming, fixed=_WORLD)
        _copy(source[section], tags, target[section], known, found, made, section in _EITHER)


def _tagged(elements: Iterable[Element], tags: tuple[str, ...]) -> list[Element]:
    return [element for element in elements if not tags or element.tag in tags]


def _copy(
    source: list[Element],
    tags: tuple[str, ...],
    target: list[Element],
    known: Known,
    renaming: Renaming,
    made: dict[Element, Element],
    either: bool = False,
) -> None:
    for element in _tagged(source, tags):
        if not known.touched(element, renaming):
            continue
        copy = _copy_of(element, known, renaming, made, either)
        if copy is not None:
            made[element] = copy
            known.add(copy)
            target.append(copy)


def _copy_of(
    element: Element, known: Known, renaming: Renaming, made: dict[Element, Element], either: bool
) -> Element | None:
    """Copy of an element, None if its references have none."""
    if element.type in ("spatial", "fixed"):
        return _tendon(element, known, renaming)
    names = known.references(element)
    lost = [name for name in names if name not in renaming.fixed and (name[0], renaming.own(name[1])) not in known]
    if lost and either and len(names) == 2 and len(lost) == 1 and lost[0] in known:
        renaming = replace(renaming, fixed=renaming.fixed | set(lost))
    elif lost:
        return None
    return _in_class(copied(element, renaming, made), renaming)


def _tendon(element: Element, known: Known, renaming: Renaming) -> Element | None:
    """Copy of a tendon; each object of its path is the copy if there is one, else what it was."""
    path, anew = [], False
    for child in element.children:
        names = tuple(references(child))
        if all((kind, renaming.own(name)) in known for kind, name in names):
            path.append(copied(child, renaming))
            anew |= bool(names)
        elif all(name in known for name in names):
            path.append(copied(child, replace(renaming, fixed=frozenset(names))))
        else:
            return None
    if not anew:
        return None
    top = Element(element.tag, element.attrib, [], element.where, element.type, element.origin)
    copy = copied(top, renaming)
    copy.children = path
    return _in_class(copy, renaming)


def _in_class(copy: Element, renaming: Renaming) -> Element:
    """The copy, with the class that it had by default in the model that it came from."""
    if renaming.classes is not None and ELEMENTS[copy.type].record and "class" not in copy.attrib:
        copy.attrib["class"] = renaming.classes[MAIN]
    return copy


def drop(sections: Sections, known: Known, gone: set[Name]) -> None:
    """Remove the elements that refer to a part of the tree that is no more, and those that refer to these.

    gone: the names of that part. An element that names what never was stays, to be reported later.
    """
    for section, tags in (("deformable", ("skin",)), ("asset", ("skin",)), *REFERRERS):
        found = -1
        while found != len(sections[section]):  # tuples may refer to tuples behind them
            found, kept = len(sections[section]), []
            for element in sections[section]:
                names = known.references(element) if not tags or element.tag in tags else ()
                lost = [name for name in names if name not in known]
                if lost and all(name in gone for name in lost):
                    gone |= known.remove(element)
                else:
                    kept.append(element)
            sections[section] = kept
