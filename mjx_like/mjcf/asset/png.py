"""PNG files: gray values for height fields, pixels for textures."""

import io
import struct
import zlib

import numpy as np
from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_CELLS = 1 << 26  # values that a height field may have
_DAMAGED = (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error, Image.DecompressionBombError)


def read_gray(data: bytes) -> np.ndarray:
    """Return the gray values of a PNG, 0 to 255, first row on top, shape (rows, columns).

    Of a colour image they are its red channel and of 16-bit samples the high byte, as MuJoCo has it.

    Raises:
      ValueError: a damaged file, or one of more than MAX_CELLS pixels; the message says which.
    """
    return read_pixels(data, 1)[..., 0].astype(np.float64)


def has_chunk(data: bytes, kind: bytes) -> bool:
    """Return whether a PNG file has a chunk of a kind, of four letters, before its pixels."""
    at = len(SIGNATURE)
    while at + 8 <= len(data) and data[at + 4 : at + 8] not in (b"IDAT", b"IEND"):
        if data[at + 4 : at + 8] == kind:
            return True
        at += 12 + int.from_bytes(data[at : at + 4], "big")  # length, kind, contents, checksum
    return False


def read_pixels(data: bytes, channels: int) -> np.ndarray:
    """Return the pixels of a PNG, first row on top, shape (rows, columns, channels), uint8.

    channels: 1 for the red channel, as MuJoCo takes gray values of a colour image, 3 for colours, 4 for opacity too.
    Of 16-bit samples they are the high byte.

    Raises:
      ValueError: a damaged file, or one of more than MAX_CELLS pixels; the message says which.
    """
    if len(data) >= 24 and np.prod([float(n) for n in struct.unpack(">II", data[16:24])]) > MAX_CELLS:
        raise ValueError(f"has more than {MAX_CELLS} pixels")
    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            image.load()
            if image.mode.startswith("I"):
                image = Image.fromarray((np.asarray(image, np.int64) >> 8).astype(np.uint8))
            return np.asarray(image.convert("RGBA"))[..., :channels]
    except _DAMAGED:
        raise ValueError("is a damaged PNG") from None
