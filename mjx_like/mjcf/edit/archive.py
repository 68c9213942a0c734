"""A Spec with the files that it names in one zip archive."""

import zipfile
from pathlib import Path, PurePosixPath
from typing import IO, Any

from mjx_like.errors import ModelError
from mjx_like.mjcf.asset.source import read_file
from mjx_like.mjcf.reading.file import check_file
from mjx_like.mjcf.spec import Spec

_FOLDERS = {"mesh": "meshdir", "hfield": "meshdir", "skin": "meshdir", "flexcomp": "meshdir", "texture": "texturedir"}
_LARGEST = 1 << 30  # bytes of all files together, unpacked


def files_of(spec: Spec) -> dict[str, bytes]:
    """Contents of the files that the assets of a Spec name, by the names under which the loader finds them.

    Raises ModelError for a file that is missing.
    """
    found = dict(spec.assets)
    for element in (*spec.sections["asset"], *spec.sections["deformable"], *spec.worldbody.iter("flexcomp")):
        folder = _FOLDERS.get(element.tag)
        names = [v for k, v in element.attrib.items() if k.startswith("file") and isinstance(v, str) and v]
        for name in names if folder else ():
            compiler = element.origin.compiler if element.origin else spec.compiler
            inner = PurePosixPath(name.replace("\\", "/")).name if compiler.get("strippath") else name
            path = PurePosixPath(compiler.get(folder) or compiler.get("assetdir") or "") / inner
            if not {str(path), path.name} & found.keys():
                found[str(path)] = read_file(spec, element, name, folder)
    return found


def write_zip(name: str, xml: str, files: dict[str, bytes], file: str | Path | IO[bytes]) -> None:
    """Write a model and the files that it names into an archive.  Raises InputError for what is no file."""
    check_file(file, "write")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.xml", xml)
        for path, content in files.items():
            archive.writestr(path, content)


def read_zip(file: str | Path | IO[bytes]) -> tuple[bytes, dict[str, Any]]:
    """Return the text of the model in an archive, and the other files by their paths from there.

    Raises ModelError for what is no archive, is too large, or holds no model or several; InputError for no file.
    """
    check_file(file, "read")
    try:
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if sum(entry.file_size for entry in entries) > _LARGEST:
                raise ModelError(f"{file}: holds more than {_LARGEST >> 20} MiB")
            contents = {entry.filename: archive.read(entry) for entry in entries}
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise ModelError(f"{file}: is no zip archive that can be read: {error}") from None
    models = [name for name in contents if name.lower().endswith((".xml", ".urdf"))]
    top = min((name.count("/") for name in models), default=0)
    models = [name for name in models if name.count("/") == top]
    if len(models) != 1:
        raise ModelError(f"{file}: holds {len(models)} models at its top, needs one .xml or .urdf")
    model = models[0]
    folder = model.rpartition("/")[0]
    start = f"{folder}/" if folder else ""
    return contents.pop(model), {name.removeprefix(start): content for name, content in contents.items()}
