"""Pictures at falling sizes, and their colours: OpenGL's GL_LINEAR_MIPMAP_LINEAR, without anisotropy."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math import safe
from mjx_like.math.select import rows

Array = jax.Array

_LINEAR_BELOW = 0.04045  # of sRGB


class Levels(NamedTuple):
    """A picture, or the six of a cube, at sizes that halve down to one pixel, below each other in one table.

    pixels: shape (total, 3), 0 to 255; width, height: of one side at each level, first: its row, static, shape
    (nlevel,); repeats: whether the picture repeats or ends at its border.
    """

    pixels: Array
    width: np.ndarray
    height: np.ndarray
    first: np.ndarray
    repeats: bool


def make_levels(image: np.ndarray, sides: int, repeats: bool, srgb: bool) -> Levels:
    """Return the levels of a picture.

    Args:
      image: shape (height, width, channels), uint8; `sides` of them below each other.
      sides: how many.
      repeats: as in Levels.
      srgb: whether it is decoded from sRGB.
    """
    image = image[..., :3] if image.shape[-1] >= 3 else np.repeat(image[..., :1], 3, axis=-1)
    level = (_decoded(image) if srgb else image).reshape(sides, -1, *image.shape[1:])
    levels = [level]
    while max(level.shape[1:3]) > 1:
        level = _halved(_halved(level, 1), 2)
        levels.append(level if srgb else np.round(level).astype(np.uint8))
    height, width = np.array([level.shape[1:3] for level in levels], np.int32).T
    size = sides * height * width
    table = np.concatenate([level.reshape(-1, 3) for level in levels])
    return Levels(jnp.asarray(table), width, height, (np.cumsum(size) - size).astype(np.int32), repeats)


def _decoded(image: np.ndarray) -> np.ndarray:
    x = image.astype(np.float32) / 255
    return 255 * np.where(x <= _LINEAR_BELOW, x / 12.92, ((x + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _halved(level: np.ndarray, axis: int) -> np.ndarray:
    """The picture at half the size along an axis, linear between the two pixels nearest to the middle of each."""
    size = level.shape[axis]
    half = max(1, size // 2)
    at = np.maximum((np.arange(half) + 0.5) * size / half - 0.5, 0)
    low = at.astype(int)
    share = (at - low).astype(np.float32).reshape([-1 if i == axis else 1 for i in range(level.ndim)])
    below, above = np.take(level, low, axis=axis), np.take(level, np.minimum(low + 1, size - 1), axis=axis)
    return below * (1 - share) + above * share


def color_at(levels: Levels, at: Array, step: Array, side: Array | int = 0) -> Array:
    """Return colours from 0 to 1, linear between pixels and between levels, shape (n, 3).

    Args:
      levels: of the picture.
      at: to the right and down from its upper left corner, shape (n, 2) [pixels].
      step: how `at` changes from a pixel of the image that is rendered to its neighbours, shape (2, n, 2) [pixels].
      side: of a cube, shape (n,).
    The level has no derivative. Source: OpenGL 4.6, section 8.14.
    """
    top = levels.width.size - 1
    wide = jnp.max(safe.norm(lax.stop_gradient(step)), axis=0)
    depth = jnp.clip(jnp.log2(jnp.maximum(wide, 1)), 0, top)
    low = jnp.floor(depth).astype(jnp.int32)
    level = jnp.stack([low, jnp.minimum(low + 1, top)], axis=1)
    size = jnp.stack([rows(levels.width, level), rows(levels.height, level)], axis=-1)

    at = at[:, None] * size / np.array([levels.width[0], levels.height[0]]) - 0.5  # pixel, level, axis
    corner = jnp.floor(lax.stop_gradient(at))
    share = at - corner
    near = corner.astype(jnp.int32)[..., None] + np.arange(2)  # pixel, level, axis, which of the two
    near = jnp.mod(near, size[..., None]) if levels.repeats else jnp.clip(near, 0, size[..., None] - 1)
    side = jnp.reshape(side, (-1, 1))
    start = rows(levels.first, level) + side * size[..., 0] * size[..., 1]
    index = start[..., None, None] + near[:, :, 1, :, None] * size[..., :1, None] + near[:, :, 0, None, :]
    found = rows(levels.pixels, index).astype(at.dtype) / 255  # pixel, level, row, column, channel

    weight = jnp.stack([1 - share, share], axis=-1)
    between = jnp.stack([1 - (depth - low), depth - low], axis=1)
    weight = between[:, :, None, None] * weight[:, :, 1, :, None] * weight[:, :, 0, None, :]
    return jnp.sum(weight[..., None] * found, axis=(1, 2, 3))
