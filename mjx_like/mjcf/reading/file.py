"""Files from the disk: regular ones, of a size that a model can have."""

import os
import stat
from pathlib import Path
from typing import Any

from mjx_like.errors import InputError, shown

MAX_BYTES = 1 << 29
_NAME = "must be the name of a file, a str or a pathlib.Path"


def path_of(value: Any) -> Path:
    """The path that an argument `path` gives.  Raises InputError for what is no name of a file."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"path={shown(value)}: {_NAME}")
    return Path(value)


def check_file(value: Any, method: str) -> None:
    """Raise InputError unless an argument `file` names a file, or is an open one, which has the method."""
    if not isinstance(value, str | os.PathLike) and not hasattr(value, method):
        raise InputError(f"file={shown(value)}: {_NAME}, or an open file")


def read_bytes(path: Path) -> bytes:
    """Contents of a file.

    Raises OSError, its strerror saying why, for what is missing, no regular file (a device would never end), too large,
    or has a name that no file can have.
    """
    try:
        found = path.stat()
    except ValueError as e:
        raise OSError(0, str(e)) from None
    if stat.S_ISDIR(found.st_mode):
        raise OSError(0, "is a directory")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, "is not a regular file")
    if found.st_size > MAX_BYTES:
        raise OSError(0, f"has {found.st_size} bytes; {MAX_BYTES} are the most")
    return path.read_bytes()
