"""The include element: other files, spliced in where it stands."""

import posixpath
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from mjx_like.errors import ModelError
from mjx_like.mjcf.element import Where
from mjx_like.mjcf.reading.file import read_bytes
from mjx_like.mjcf.reading.xml import parse_xml, tag_of


class Source:
    """Where the files of a model come from, and which were already included.

    assets: contents by name; they go before the disk.
    directory: directory of the main file, None for a string.
    """

    def __init__(self, assets: dict[str, bytes], directory: Path | None, main: str):
        self.assets = assets
        self.directory = directory or Path()
        self.main = main
        self.included = {Path(main).name}

    def find(self, file: str, beside: str) -> tuple[str, bytes] | None:
        """Name and contents of a file named relative to the main file, else to the file that includes it."""
        for name in (file, str(Path(beside).parent / file)):
            if name in self.assets:
                return name, self.assets[name]
            path = self.directory / name
            if path.is_file():
                return name, read_bytes(path)
        return None

    def children(self, node: etree._Element, file: str) -> Iterator[tuple[etree._Element, str]]:
        """Child elements of a node with the file they stand in, includes replaced by what they name."""
        for child in node:
            if not isinstance(child.tag, str):
                continue
            if tag_of(child) == "include":
                yield from self.include(child, file)
            else:
                yield child, file

    def include(self, node: etree._Element, file: str) -> Iterator[tuple[etree._Element, str]]:
        """Elements of an included file, its root removed."""
        where = Where(file, node.sourceline)
        name = node.get("file")
        if not name:
            raise ModelError(f"{where}: element <include>: missing attribute 'file'")
        if len(node):
            raise ModelError(f"{where}: element <include>: may not have children")
        beside = "" if file == self.main else file
        try:
            found = self.find(name, beside)
        except (OSError, ValueError) as e:
            reason = getattr(e, "strerror", None) or e
            raise ModelError(f"{where}: element <include file='{name}'>: cannot read it: {reason}") from None
        if found is None:
            raise ModelError(
                f"{where}: element <include file='{name}'>: no such file in '{self.directory}' "
                "(file names are relative to the main file)"
            )
        name, data = found
        key = posixpath.normpath(Path(name).as_posix())
        if key in self.included:
            raise ModelError(f"{where}: element <include file='{name}'>: already included; a file may be included once")
        self.included.add(key)
        root = parse_xml(data, name)
        if not len(root):
            raise ModelError(f"{where}: element <include file='{name}'>: the file has no elements")
        yield from self.children(root, name)
