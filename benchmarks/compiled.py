"""Which model files compile to MuJoCo's arrays, field by field: `python -m benchmarks.compiled FOLDER_OR_FILE ...`.

All XML and URDF files that are given or lie below a folder, those that MuJoCo itself refuses left out: fragments that
others include, and files whose meshes are elsewhere. One line for each that does not compile, or not to the same.
"""

import argparse
import pathlib
import sys
import warnings

from tqdm import tqdm

from mjx_like.errors import ModelError
from tests.compiler.compare import OURS, array_differences, compile_source, oracle

KINDS = (".xml", ".urdf")


def said_of(path: pathlib.Path) -> str | None:
    """Return what differs in a model, or how it is refused; empty where nothing does, None where MuJoCo refuses it."""
    try:
        theirs = oracle(str(path))
    except ValueError:
        return None
    try:
        found = array_differences(compile_source(str(path)), theirs, OURS)
    except ModelError as error:
        return f"refused: {error}"
    return ", ".join(f"{name} {by}" for name, by in found.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=pathlib.Path, metavar="FOLDER_OR_FILE")
    given = parser.parse_args().paths
    if missing := [str(path) for path in given if not path.exists()]:
        parser.error(f"no such file or folder: {', '.join(missing)}")
    paths = [p for path in given for p in (sorted(path.rglob("*")) if path.is_dir() else [path]) if p.suffix in KINDS]
    warnings.simplefilter("ignore")
    loaded = differing = 0
    for path in tqdm(paths, disable=not sys.stderr.isatty()):
        said = said_of(path)
        loaded += said is not None
        if said:
            differing += 1
            print(f"{path}: {said}", flush=True)
    print(f"{len(paths)} files, {loaded} that MuJoCo loads, {loaded - differing} of them equal")


if __name__ == "__main__":
    main()
