"""Files from the disk: regular ones, of a size that a model can have."""

import stat
from pathlib import Path

MAX_BYTES = 1 << 31


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
