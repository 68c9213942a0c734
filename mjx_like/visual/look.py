"""Colours, materials and textures of objects, as they are drawn."""

from typing import NamedTuple

import numpy as np

from mjx_like.types.enums import TextureRole, TextureType
from mjx_like.types.model import Model

PLAIN = np.array([0.5, 0.5, 0.5, 1.0], np.float32)  # the colour of an object that says none, where its material's holds


class Look(NamedTuple):
    """How the surface of an object looks.

    rgba: shape (4,), from 0 to 1; picture: pixels of a texture, shape (height, width, channels), uint8, or None;
    repeat, uniform: how it repeats; sides: 0 of a flat picture, of a cube map how many are below each other, 6 or 1;
    the rest as in mjModel's materials.
    """

    rgba: np.ndarray
    picture: np.ndarray | None = None
    repeat: np.ndarray | None = None
    uniform: bool = False
    sides: int = 0
    emission: float = 0.0
    specular: float = 0.5
    shininess: float = 0.5
    reflectance: float = 0.0


def look_of(m: Model, rgba: np.ndarray, material: int) -> Look:
    """Return the look of an object from its own colour, shape (4,), and the id of its material, -1 for none."""
    rgba = np.asarray(rgba, float)
    if material < 0:
        return Look(rgba)
    if np.array_equal(rgba.astype(np.float32), PLAIN):
        rgba = np.asarray(m.mat_rgba[material], float)
    picture, sides, texture = None, 0, texture_of_material(m)[material]
    if texture >= 0:
        picture = pixels(m, texture)
        if m.tex_type[texture] != TextureType.TEXTURE_2D:
            sides = len(picture) // picture.shape[1]
    return Look(
        rgba, picture, np.asarray(m.mat_texrepeat[material], float), bool(m.mat_texuniform[material]), sides,
        float(m.mat_emission[material]), float(m.mat_specular[material]), float(m.mat_shininess[material]),
        float(m.mat_reflectance[material]),
    )  # fmt: skip


def mean_color(look: Look) -> np.ndarray:
    """Return the colour of a look whose picture cannot be drawn, shape (4,)."""
    if look.picture is None:
        return look.rgba
    mean = look.picture.reshape(-1, look.picture.shape[-1]).mean(axis=0)[:3] / 255
    return look.rgba * np.append(np.broadcast_to(mean, 3), 1)


def texture_of_material(m: Model) -> np.ndarray:
    """Return the id of the texture that colours each material, -1 for none with pixels, shape (nmat,)."""
    rgb, rgba = m.mat_texid[:, TextureRole.RGB], m.mat_texid[:, TextureRole.RGBA]
    found = np.where(rgb >= 0, rgb, rgba)
    with_pixels = np.append(m.tex_adr >= 0, False)  # -1, for no texture, reads the last
    return np.where(with_pixels[found], found, -1)


def pixels(m: Model, texture: int) -> np.ndarray:
    """Return the pixels of a texture, shape (height, width, channels), uint8; six sides of a cube below each other."""
    shape = (int(m.tex_height[texture]), int(m.tex_width[texture]), int(m.tex_nchannel[texture]))
    return m.tex_data[m.tex_adr[texture] :][: np.prod(shape)].reshape(shape)
