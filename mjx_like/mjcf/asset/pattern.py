"""Procedural textures: gradient, checker and flat, with edges, crosses and random dots as marks.

Source: XMLreference, asset/texture; mjCTexture::Builtin2D, BuiltinCube of MuJoCo 4.0.0.
"""

import functools
from typing import NamedTuple

import numpy as np

SEED = 42  # of the random dots
_SIZE, _SHIFT = 312, 156  # words of the state of the generator, and how far apart those are that it combines
_UPPER, _LOWER = np.uint64(0xFFFFFFFF80000000), np.uint64(0x7FFFFFFF)
_TWIST = np.uint64(0xB5026F5AA96619E9)
_TEMPER = (
    (29, 0x5555555555555555, True), (17, 0x71D67FFFEDA60000, False),
    (37, 0xFFF7EEE000000000, False), (43, 0xFFFFFFFFFFFFFFFF, True),
)  # fmt: skip


class Pattern(NamedTuple):
    """What a procedural texture shows.

    builtin: gradient, checker or flat; mark: none, edge, cross or random; rgb1, rgb2, markrgb: colours from 0 to 1;
    random: share of pixels with a dot.
    """

    builtin: str
    mark: str
    rgb1: np.ndarray
    rgb2: np.ndarray
    markrgb: np.ndarray
    random: float


def flat_image(p: Pattern, width: int, height: int) -> np.ndarray:
    """Return the pixels of a texture of type 2d, shape (height, width, 3), uint8."""
    if p.builtin == "gradient":
        x, y = _grid(width, height)
        image = _blend(p.rgb2, p.rgb1, 2 * np.sqrt(x * x + y * y) - 1)
    elif p.builtin == "checker":
        image = _checker(p.rgb1, p.rgb2, width, height)
    else:
        image = _plain(p.rgb1, width, height)
    _mark(p, image[None])
    return image


def cube_image(p: Pattern, width: int) -> np.ndarray:
    """Return the six sides of a texture of type cube or skybox, one below the other, shape (6 width, width, 3), uint8.

    They are right, left, up, down, front and back.
    """
    if p.builtin == "gradient":
        x, y = _grid(width, width)
        slant = np.sqrt(1 + x * x + y * y)
        level = np.arcsin(y / slant) / (0.5 * np.pi)
        height = 1 - np.arccos(1 / slant) / (0.5 * np.pi)
        side, up, down = (_blend(p.rgb1, p.rgb2, where) for where in (level, height, -height))
        image = np.stack([side, side, up, down, side, side])
    elif p.builtin == "checker":
        one, other = _checker(p.rgb1, p.rgb2, width, width), _checker(p.rgb2, p.rgb1, width, width)
        image = np.stack([one, one, one, one, other, other])
    else:
        one, down = _plain(p.rgb1, width, width), _plain(p.rgb2, width, width)
        image = np.stack([one, one, one, down, one, one])
    _mark(p, image)
    return image.reshape(6 * width, width, 3)


def colour(rgb: np.ndarray) -> np.ndarray:
    """Return a colour with components from 0 to 1 as bytes."""
    return (255 * np.asarray(rgb, float)).astype(np.int64).astype(np.uint8)


def _grid(width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of the pixels from -1 to 1, to the right and up; infinite or none where there is one pixel alone."""
    with np.errstate(invalid="ignore", divide="ignore"):
        x = 2 * np.arange(width) / np.float64(width - 1) - 1
        y = 1 - 2 * np.arange(height) / np.float64(height - 1)
    return x[None], y[:, None]


def _blend(rgb1: np.ndarray, rgb2: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Colours between two, by a sigmoid of a number from -1 (the second) to 1 (the first)."""
    share = np.clip(0.5 * (1 + where / np.sqrt(1 + where * where) * np.sqrt(2)), 0, 1)[..., None]
    return colour(np.nan_to_num(share * rgb1 + (1 - share) * rgb2))


def _checker(rgb1: np.ndarray, rgb2: np.ndarray, width: int, height: int) -> np.ndarray:
    right, low = np.arange(width)[None] >= width // 2, np.arange(height)[:, None] >= height // 2
    return np.where((right == low)[..., None], colour(rgb1), colour(rgb2))


def _plain(rgb: np.ndarray, width: int, height: int) -> np.ndarray:
    return np.tile(colour(rgb), (height, width, 1))


def _mark(p: Pattern, image: np.ndarray) -> None:
    """Draw the mark on each of several images of one size, shape (n, height, width, 3)."""
    ink, (count, height, width) = colour(p.markrgb), image.shape[:3]
    if p.mark == "edge":
        image[:, :, [0, -1]] = ink
        image[:, [0, -1]] = ink
    elif p.mark == "cross":
        image[:, :, width // 2] = ink
        image[:, height // 2] = ink
    elif p.mark == "random" and p.random > 0:
        image[_dots(count * height * width, p.random).reshape(image.shape[:3])] = ink


@functools.lru_cache(2)
def _dots(count: int, share: float) -> np.ndarray:
    """Which of a number of pixels, row by row, have a dot."""
    return _uniform(count) < share


def _uniform(count: int) -> np.ndarray:
    """Numbers from 0 to 1 of the 64-bit Mersenne Twister, which NumPy does not have.  Source: Nishimura 2000."""
    words = _twister(SEED, count)
    for shift, mask, right in _TEMPER:
        moved = words >> np.uint64(shift) if right else words << np.uint64(shift)
        moved &= np.uint64(mask)
        words ^= moved
    return words.astype(np.float64) * 2.0**-64


def _twister(seed: int, count: int) -> np.ndarray:
    """The first words of the 64-bit Mersenne Twister, before tempering."""
    first = [seed]
    for i in range(1, _SIZE):
        first.append((6364136223846793005 * (first[-1] ^ (first[-1] >> 62)) + i) & (2**64 - 1))
    words = np.concatenate([np.array(first, np.uint64), np.zeros(-(-count // _SHIFT) * _SHIFT, np.uint64)])
    one, twist = np.uint64(1), _TWIST
    for start in range(0, count, _SHIFT):  # a word follows from three before it, the last of them _SHIFT words before
        stop = start + _SHIFT
        mixed = (words[start:stop] & _UPPER) | (words[start + 1 : stop + 1] & _LOWER)
        words[start + _SIZE : stop + _SIZE] = words[stop : stop + _SHIFT] ^ (mixed >> one) ^ ((mixed & one) * twist)
    return words[_SIZE : _SIZE + count]
