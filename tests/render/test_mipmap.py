"""Levels of pictures, and colours between them."""

import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.render.mipmap import color_at, make_levels

ROWS, COLUMNS = 8, 4
IMAGE = np.random.default_rng(0).integers(0, 256, size=(ROWS, COLUMNS, 3)).astype(np.uint8)


@pytest.fixture(scope="module")
def levels():
    return make_levels(IMAGE, 1, True, False)


def test_each_level_is_the_mean_of_four_pixels_of_the_one_before(levels):
    assert list(zip(levels.width, levels.height, strict=True)) == [(4, 8), (2, 4), (1, 2), (1, 1)]
    second = np.asarray(levels.pixels[levels.first[1] : levels.first[2]], float).reshape(4, 2, 3)
    mean = IMAGE.reshape(4, 2, 2, 2, 3).astype(float).mean(axis=(1, 3))
    assert np.abs(second - mean).max() <= 0.5
    assert np.abs(np.asarray(levels.pixels[-1], float) - IMAGE.mean(axis=(0, 1))).max() <= 2  # rounded at each level


def _color(levels, at, wide):
    step = jnp.array([[[wide, 0.0]], [[0.0, wide / 2]]])
    return np.asarray(color_at(levels, jnp.array([at], float), step))[0] * 255


def test_a_small_footprint_sees_pixels_and_a_large_one_their_mean(levels):
    np.testing.assert_allclose(_color(levels, [1.5, 2.5], 0.1), IMAGE[2, 1], atol=1e-3)
    np.testing.assert_allclose(_color(levels, [2.0, 2.5], 0.1), IMAGE[2, 1:3].mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(_color(levels, [9.5, -0.5], 0.1), IMAGE[7, 1], atol=1e-3)  # it repeats
    np.testing.assert_allclose(_color(levels, [1.0, 1.0], 2.0), np.asarray(levels.pixels[levels.first[1]]), atol=1e-3)
    np.testing.assert_allclose(_color(levels, [1.0, 1.0], 1e9), np.asarray(levels.pixels[-1]), atol=1e-3)


def test_between_two_levels_it_is_their_mean(levels):
    one, two = _color(levels, [1.0, 1.0], 1.0), _color(levels, [1.0, 1.0], 2.0)
    np.testing.assert_allclose(_color(levels, [1.0, 1.0], 2**0.5), (one + two) / 2, atol=1e-2)


def test_srgb_is_decoded():
    table = np.asarray(make_levels(np.full((1, 1, 3), 188, np.uint8), 1, True, True).pixels)
    np.testing.assert_allclose(table / 255, 0.5029, atol=1e-3)
