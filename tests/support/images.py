"""Image files for tests."""

import io

import numpy as np
from PIL import Image


def image(width: int, height: int) -> bytes:
    """Return a PNG of one colour."""
    return png(np.full((height, width, 3), 99))


def png(pixels: np.ndarray) -> bytes:
    """Return a PNG of pixels: (rows, columns), with 3 or 4 channels or none; 16 bits deep where they need it."""
    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint16 if pixels.max() > 255 else np.uint8)).save(buffer, "png")
    return buffer.getvalue()
