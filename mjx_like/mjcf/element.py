"""One element of a model file, and one default class: what the reader makes and everything else reads."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mjx_like.errors import ModelError


@dataclass(frozen=True, slots=True)
class Where:
    """A location in a model file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(eq=False, frozen=True, slots=True)
class Origin:
    """Where the elements of an attached model were read: its compiler settings and the directory of its file."""

    compiler: dict[str, Any]
    directory: Path | None


@dataclass(eq=False, slots=True)
class Element:
    """One validated XML element: tag, given attributes (typed), children in document order, and its location.

    type: name of its row in the table of elements; differs from the tag where the parent decides ("equality_joint").
    origin: the attached model that it came with, None for the model itself.
    around: what copying put before and behind its name, and puts around the names that a file of it has.
    """

    tag: str
    attrib: dict[str, Any]
    children: list["Element"]
    where: Where
    type: str = ""
    origin: Origin | None = None
    around: tuple[str, str] = ("", "")

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
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if not tags or element.tag in tags:
                yield element
            waiting.extend(reversed(element.children))

    def check_depth(self, most: int, above: int = 0) -> None:
        """Raise ModelError for the first element within more than `most` others; above: those around this one."""
        level, depth = self.children, above + 1
        while level:
            if depth > most:
                raise level[0].error(f"is within {depth} others; {most} are the most")
            level, depth = [child for element in level for child in element.children], depth + 1

    def __deepcopy__(self, memo: dict[int, Any]) -> "Element":
        """A copy with all below it, made without recursion: trees are deeper than Python's stack."""
        found = _copied(self, memo)
        waiting = [found]
        while waiting:
            element = waiting.pop()
            element.children = [_copied(child, memo) for child in element.children]
            waiting.extend(element.children)
        return found

    @property
    def label(self) -> str:
        """`element <geom name='x'>`, as error messages call it."""
        name = self.attrib.get("name")
        return f"element <{self.tag} name='{name}'>" if name else f"element <{self.tag}>"

    def error(self, message: str) -> ModelError:
        """A ModelError that starts with the location and the label of this element."""
        return ModelError(f"{self.where}: {self.label}: {message}")


def _copied(element: Element, memo: dict[int, Any]) -> Element:
    """A copy of one element, its children still the old ones; `memo` as copy.deepcopy has it."""
    attrib = copy.deepcopy(element.attrib, memo)
    found = Element(element.tag, attrib, element.children, element.where, element.type, element.origin, element.around)
    memo[id(element)] = found
    return found


@dataclass(eq=False, slots=True)
class DefaultClass:
    """A default class: for each record kind (geom, joint, tendon, general, ...) the values that it sets.

    `records` already holds what was inherited from `parent` when the class was opened, so nothing is looked up there.
    `top` marks the outermost class of a model, also of one that was attached; then `parent` gave nothing.
    """

    name: str
    parent: str | None
    records: dict[str, dict[str, Any]]
    where: Where
    top: bool = False
