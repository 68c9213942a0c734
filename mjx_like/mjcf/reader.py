"""XML -> validated elements, and the entry points parse_file and parse_string."""

from pathlib import Path

from mjx_like.errors import InputError, ModelError, shown
from mjx_like.mjcf.build import build_spec
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.reading.file import path_of, read_bytes
from mjx_like.mjcf.reading.include import Source
from mjx_like.mjcf.reading.validate import read_element
from mjx_like.mjcf.reading.xml import parse_xml, tag_of
from mjx_like.mjcf.spec import Spec
from mjx_like.mjcf.urdf.model import read_robot
from mjx_like.mjcf.urdf.node import Node

MAIN = "<string>"


def parse_file(path: str | Path, assets: dict[str, bytes] | None = None) -> Spec:
    """Spec of a model file and all that it includes.

    path: the main file; other files are named relative to its directory.
    assets: contents by file name; they go before the disk.
    Raises ModelError with file, line and element, InputError for arguments of another kind.
    """
    path, assets = path_of(path), _contents(assets)
    try:
        data = read_bytes(path)
    except OSError as e:
        raise ModelError(f"cannot read model file '{path}': {e.strerror}") from None
    return parse(data, str(path), path.parent, assets)


def parse_string(xml: str | bytes, assets: dict[str, bytes] | None = None) -> Spec:
    """Spec of a model given as text; files that it names come from `assets`, else from the working directory.

    Raises as parse_file.
    """
    if not isinstance(xml, str | bytes):
        raise InputError(
            f"xml={shown(xml)}: must be the text of a model, a str or bytes; from_xml_path takes the name of a file"
        )
    data = xml.encode("utf-8", errors="replace") if isinstance(xml, str) else xml
    if data.strip() and b"<" not in data and b"\n" not in data:
        raise ModelError(f"{MAIN}:1: {shown(xml)} is no XML; to load a file, give its name to from_xml_path")
    return parse(data, MAIN, None, _contents(assets))


def _contents(assets: dict[str, bytes] | None) -> dict[str, bytes]:
    if assets is not None and not isinstance(assets, dict):
        raise InputError(f"assets={shown(assets)}: must be a dict of the contents of files, bytes, by their names")
    return assets or {}


def parse(
    data: bytes, file: str, directory: Path | None, assets: dict[str, bytes], around: tuple[str, ...] = ()
) -> Spec:
    """Spec of the main file's contents.

    around: the files whose models this one is attached to.
    """
    root = parse_xml(data, file)
    tag = tag_of(root)
    source = Source(assets, directory, file)

    def load(element: Element) -> Spec:
        return parse_model(element, directory, assets, (*around, file))

    if tag.lower() == "robot":
        found = read_robot(Node(root, file), source)
    elif tag == "mujoco":
        found = read_element(root, file, "mujoco", source)
    else:
        raise ModelError(f"{file}:{root.sourceline}: element <{tag}>: the root element must be <mujoco> or <robot>")
    return build_spec(found, assets, directory, load, part=bool(around))


def parse_model(element: Element, directory: Path | None, assets: dict[str, bytes], around: tuple[str, ...]) -> Spec:
    """Spec of the file that a model element names.

    directory: of the model that has the element; file names are relative to it.
    """
    name = element.get("file")
    path = (directory or Path()) / name
    data = next((assets[key] for key in (str(path), name, path.name) if key in assets), None)
    if str(path) in around:
        raise element.error(f"file '{name}' is a model that attaches this one; a model cannot be part of itself")
    try:
        data = read_bytes(path) if data is None else data
    except OSError as e:
        raise element.error(f"cannot read model file '{path}': {e.strerror}") from None
    return parse(data, str(path), path.parent, assets, around)
