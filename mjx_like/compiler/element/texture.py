"""Textures: procedural ones, images of files, and the six sides of cubes and skies."""

from typing import Any, NamedTuple

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context, keyword
from mjx_like.mjcf.asset import source
from mjx_like.mjcf.asset.pattern import Pattern, colour, cube_image, flat_image
from mjx_like.mjcf.asset.png import MAX_CELLS, SIGNATURE, has_chunk, read_pixels
from mjx_like.mjcf.schema import keywords
from mjx_like.mjcf.schema.asset import CUBE_FILES
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import ColorSpace, TextureType

SIDES = "RLUDFB"  # letters of a grid layout, in the order of the sides


class Texture(NamedTuple):
    """A compiled texture: its row without address, and its pixels, None where it is by reference."""

    row: Row
    data: np.ndarray | None


class _Image(NamedTuple):
    pixels: np.ndarray  # (height, width, channels), uint8
    space: int


def compile_texture(ctx: Context, element: Element) -> Texture:
    """Return a texture, without address.

    Raises:
      ModelError: bad sizes, or a file that cannot be read.
    Source: mjCTexture::Compile.
    """
    a = ctx.spec.resolve(element)
    kind = TextureType(keywords.TEXTURE[a["type"]])
    _check(element, a, kind)
    if a["embed"] == "false" or (a["embed"] == "auto" and ctx.spec.compiler["passthrough"] == "textures"):
        if _referable(a):
            source.read_file(ctx.spec, element, a["file"], "texturedir")  # raises if it is not there
            return Texture(_row(a, kind, keyword(ColorSpace, a["colorspace"]), 0, 0), None)
        if a["embed"] == "false":
            raise element.error(
                "embed 'false' needs a file that is taken as it is; a builtin texture, one of six files, "
                "a grid and one that is flipped are embedded"
            )
    image = _image(ctx, element, a, kind)
    height, width = image.pixels.shape[:2]
    space = image.space if a["colorspace"] == "auto" else keyword(ColorSpace, a["colorspace"])
    return Texture(_row(a, kind, space, width, height), image.pixels.ravel())


def place_textures(textures: list[Texture]) -> dict[str, np.ndarray]:
    """Return the pixels of all textures; their addresses are written into their rows."""
    parts, address = [np.zeros(0, np.uint8)], 0
    for row, data in textures:
        row["tex_adr"] = -1 if data is None else address
        if data is not None:
            parts.append(data)
            address += len(data)
    return {"tex_data": np.concatenate(parts)}


def _row(a: dict[str, Any], kind: TextureType, space: int, width: int, height: int) -> Row:
    return {
        "tex_type": int(kind),
        "tex_colorspace": int(space),
        "tex_height": height,
        "tex_width": width,
        "tex_nchannel": a["nchannel"],
    }


def _check(element: Element, a: dict[str, Any], kind: TextureType) -> None:
    made, flat = a["builtin"] != "none", kind == TextureType.TEXTURE_2D
    channels = (3,) if made or not flat else (1, 3, 4)
    if a["nchannel"] not in channels:
        allowed = ", ".join(str(n) for n in channels)
        raise element.error(f"nchannel {a['nchannel']} is not possible here; allowed: {allowed}")
    if made and (a["width"] < 1 or (flat and a["height"] < 1)):
        raise element.error("width and height must be positive")
    if made and a["width"] * (a["height"] if flat else 6 * a["width"]) > MAX_CELLS:
        raise element.error(f"has more than {MAX_CELLS} pixels")
    if not made and not a.get("file") and (flat or not any(a.get(name) for name in CUBE_FILES)):
        raise element.error("needs builtin or file" + ("" if flat else ", or files of its sides"))


def _referable(a: dict[str, Any]) -> bool:
    """Whether a texture may stay a reference to its file."""
    changed = a["hflip"] or a["vflip"] or tuple(a["gridsize"]) != (1, 1)
    return bool(a["builtin"] == "none" and a.get("file") and not changed)


def _image(ctx: Context, element: Element, a: dict[str, Any], kind: TextureType) -> _Image:
    """The pixels of a texture, the sides of a cube one below the other.

    Source: mjCTexture::Load2D, LoadCubeSingle, LoadCubeSeparate.
    """
    flat = kind == TextureType.TEXTURE_2D
    if a["builtin"] != "none":
        p = Pattern(a["builtin"], a["mark"], a["rgb1"], a["rgb2"], a["markrgb"], a["random"])
        made = flat_image(p, a["width"], a["height"]) if flat else cube_image(p, a["width"])
        return _Image(made, int(ColorSpace.AUTO))
    if a.get("file"):
        image = _read(ctx, element, a, a["file"])
        return image if flat else _Image(_from_grid(element, a, image.pixels), image.space)
    images = {number: _read(ctx, element, a, a[name]) for number, name in enumerate(CUBE_FILES) if a.get(name)}
    sizes = {image.pixels.shape[:2] for image in images.values()}
    width = next(iter(sizes))[0]
    if sizes != {(width, width)}:
        raise element.error("the files of its sides must be squares of one size")
    sides = {number: image.pixels for number, image in images.items()}
    return _Image(_cube(a, width, sides), next(iter(images.values())).space)


def _cube(a: dict[str, Any], width: int, sides: dict[int, np.ndarray]) -> np.ndarray:
    """Six sides one below the other; those that are not given have the first colour."""
    plain = np.tile(colour(a["rgb1"]), (width, width, 1))
    return np.concatenate([sides.get(number, plain) for number in range(6)])


def _from_grid(element: Element, a: dict[str, Any], pixels: np.ndarray) -> np.ndarray:
    """The sides of a cube or sky that stand in one image; the image itself where it shows one side for all."""
    (height, width), (rows, columns) = pixels.shape[:2], (int(n) for n in a["gridsize"])
    if rows < 1 or columns < 1 or rows * columns > 12:
        raise element.error("gridsize must have 1 to 12 squares")
    if width % columns or height % rows or width // columns != height // rows:
        raise element.error(
            f"file '{a['file']}' has {width} x {height} pixels, "
            f"which gridsize {rows} {columns} does not cut into squares"
        )
    if (rows, columns) == (1, 1):
        return pixels
    layout, width, sides = (a["gridlayout"] or "").ljust(rows * columns, "."), width // columns, {}
    for cell, letter in enumerate(layout[: rows * columns]):
        if letter in SIDES:
            row, column = divmod(cell, columns)
            sides[SIDES.index(letter)] = pixels[row * width :, column * width :][:width, :width]
        elif letter != ".":
            raise element.error(f"gridlayout has '{letter}', which is not among '.{SIDES}'")
    return _cube(a, width, sides)


def _read(ctx: Context, element: Element, a: dict[str, Any], file: str) -> _Image:
    """The pixels of a file, flipped as the texture says, and its colour space."""
    data = source.read_file(ctx.spec, element, file, "texturedir")
    if data[:8] == SIGNATURE:
        try:
            pixels = read_pixels(data, a["nchannel"])
        except ValueError as error:
            raise element.error(f"file '{file}' {error}") from None
        space = ColorSpace.SRGB if has_chunk(data, b"sRGB") else ColorSpace.LINEAR
    else:
        pixels, space = _ktx(element, a, file, data), ColorSpace.LINEAR
    if (a["hflip"] or a["vflip"]) and a["nchannel"] != 3:
        raise element.error("hflip and vflip need nchannel 3")
    pixels = pixels[:, ::-1] if a["hflip"] else pixels
    return _Image(pixels[::-1] if a["vflip"] else pixels, int(space))


def _ktx(element: Element, a: dict[str, Any], file: str, data: bytes) -> np.ndarray:
    """The bytes of a KTX file in one row; MuJoCo hands them to a renderer that reads it."""
    if not file.lower().endswith(".ktx"):
        raise element.error(f"file '{file}' is no PNG")
    if a["hflip"] or a["vflip"]:
        raise element.error("a KTX file cannot be flipped")
    row = np.frombuffer(data.ljust(a["nchannel"] * len(data), b"\0"), np.uint8)
    return row.reshape(1, len(data), a["nchannel"])
