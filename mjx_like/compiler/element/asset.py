"""Textures, materials, height fields and skins: what the compiled model keeps of them."""

import struct
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context, keyword, numbers
from mjx_like.mjcf.asset import source
from mjx_like.mjcf.asset.png import MAX_CELLS, SIGNATURE, read_gray
from mjx_like.mjcf.schema import keywords
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import ColorSpace, ObjType, TextureType

_CUBE_FILES = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")


class HField(NamedTuple):
    """A compiled height field."""

    row: Row
    data: np.ndarray  # its elevation, from 0 to 1, row by row


def asset_name(element: Element) -> str:
    """Return the name of an asset: its own, else that of its file without folder and ending."""
    name, file = element.get("name"), element.get("file")
    return name or (PurePosixPath(file.replace("\\", "/")).stem if file else "")


def compile_texture(ctx: Context, element: Element, address: int) -> Row:
    """Return type, size and address of a texture; its pixels are read by the viewer, not here.

    Raises:
      ModelError: bad sizes, or a file that cannot be read.
    Source: mjCTexture::Compile.
    """
    a = ctx.spec.resolve(element)
    kind = TextureType(keywords.TEXTURE[a["type"]])
    width, height, space = _texture_size(ctx, element, a, kind)
    if width < 1 or height < 1:
        raise element.error("width and height must be positive")
    return {
        "tex_type": int(kind),
        "tex_colorspace": int(space),
        "tex_height": height,
        "tex_width": width,
        "tex_nchannel": a["nchannel"],
        "tex_adr": address,
    }


def _texture_size(ctx: Context, element: Element, a, kind: TextureType) -> tuple[int, int, int]:
    """Width, height and colour space.  Source: mjCTexture::Compile, LoadCubeSingle, LoadCubeSeparate."""
    width, height = a["width"], a["height"]
    space = keyword(ColorSpace, a["colorspace"])
    flat = kind == TextureType.TEXTURE_2D
    files = [a[name] for name in _CUBE_FILES if a.get(name)]
    made = a["builtin"] != "none"
    if a["embed"] == "false" and (made or (files and not a.get("file"))):
        raise element.error("embed 'false' needs one file; a builtin texture and one of six files are embedded")
    channels = (3,) if made or not flat else (1, 3, 4)
    if a["nchannel"] not in channels:
        allowed = ", ".join(str(n) for n in channels)
        raise element.error(f"nchannel {a['nchannel']} is not possible here; allowed: {allowed}")
    if made:
        return width, height if flat else 6 * width, space
    if a.get("file"):
        width, height, found = _image_size(ctx, element, a["file"])
        if not flat:
            width, height = _cube_size(element, a, width, height)
        return width, height, found if space == ColorSpace.AUTO else space
    if flat or not files:
        raise element.error("needs builtin or file" + ("" if flat else ", or files of its sides"))
    sizes = [_image_size(ctx, element, file) for file in files]
    width, height, found = sizes[0]
    if any(size[:2] != (width, width) for size in sizes):
        raise element.error("the files of its sides must be squares of one size")
    return width, 6 * width, found if space == ColorSpace.AUTO else space


def _cube_size(element: Element, a, width: int, height: int) -> tuple[int, int]:
    """Width and height of a cube or skybox whose sides stand in one image."""
    rows, columns = (int(n) for n in a["gridsize"])
    if rows < 1 or columns < 1 or rows * columns > 12:
        raise element.error("gridsize must have 1 to 12 squares")
    if width % columns or height % rows or width // columns != height // rows:
        raise element.error(
            f"file '{a['file']}' has {width} x {height} pixels, "
            f"which gridsize {rows} {columns} does not cut into squares"
        )
    width = width // columns
    return width, width if (rows, columns) == (1, 1) else 6 * width


def _image_size(ctx: Context, element: Element, file: str) -> tuple[int, int, int]:
    data = read_file(ctx, element, file, "texturedir")
    if data[:8] == SIGNATURE and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height, int(ColorSpace.SRGB if b"sRGB" in data[:256] else ColorSpace.LINEAR)
    if file.lower().endswith(".ktx"):
        return len(data), 1, int(ColorSpace.LINEAR)
    if len(data) < 8:
        raise element.error(f"file '{file}' is no texture")
    width, height = struct.unpack("<ii", data[:8])
    if width < 1 or height < 1 or len(data) != 8 + 3 * width * height:
        raise element.error(f"file '{file}' is neither a PNG nor MuJoCo's own texture format")
    return width, height, int(ColorSpace.LINEAR)


def read_file(ctx: Context, element: Element, file: str, directory: str) -> bytes:
    """Return the contents of an asset file, from the folder that the compiler attribute `directory` gives."""
    return source.read_file(ctx.spec, element, file, directory)


def compile_material(ctx: Context, element: Element) -> Row:
    """Return the fields of a material.

    Raises:
      ModelError: an unknown texture or role.
    Source: mjCMaterial, OneMaterial in xml_native_reader.cc.
    """
    a = ctx.spec.resolve(element)
    textures = np.full(10, -1)
    for role, name in ({} if ctx.discards else a["textures"]).items():
        if role not in keywords.TEXTURE_ROLE:
            raise element.error(f"role '{role}' is none of {', '.join(keywords.TEXTURE_ROLE)}")
        textures[keywords.TEXTURE_ROLE[role]] = ctx.names.find(ObjType.TEXTURE, name, element, "texture")
    return {
        "mat_texid": textures,
        "mat_texuniform": a["texuniform"],
        "mat_texrepeat": a["texrepeat"],
        "mat_emission": a["emission"],
        "mat_specular": a["specular"],
        "mat_shininess": a["shininess"],
        "mat_reflectance": a["reflectance"],
        "mat_metallic": a["metallic"],
        "mat_roughness": a["roughness"],
        "mat_rgba": a["rgba"],
    }


def compile_hfield(ctx: Context, element: Element) -> HField:
    """Return a height field, without address.

    Raises:
      ModelError: bad sizes or data.
    Source: mjCHField::Compile.
    """
    a = ctx.spec.resolve(element)
    size = a["size"]
    if (size <= 0).any():
        raise element.error(f"size {numbers(size)}: all four values must be positive")
    data = _hfield_file(ctx, element, a["file"]) if a.get("file") else _elevation(element, a)
    nrow, ncol = data.shape
    if nrow < 2 or ncol < 2:
        raise element.error(f"has {nrow} rows and {ncol} columns; 2 of each are the least")
    if not np.isfinite(data).all():
        raise element.error("has an elevation that is not a finite number")
    data = data.astype(np.float32)
    data -= data.min()
    if data.max() > 1e-14:
        data /= data.max()
    return HField({"hfield_size": size, "hfield_nrow": nrow, "hfield_ncol": ncol}, data.ravel())


def _elevation(element: Element, a) -> np.ndarray:
    nrow, ncol = a["nrow"], a["ncol"]
    if nrow < 1 or ncol < 1:
        raise element.error("needs a file, or nrow and ncol")
    given = a.get("elevation")
    if given is None:
        if nrow * ncol > MAX_CELLS:
            raise element.error(f"has {nrow} rows and {ncol} columns; together they can have {MAX_CELLS} values")
        return np.zeros((nrow, ncol))
    if np.size(given) != nrow * ncol:
        raise element.error(f"elevation has {np.size(given)} values, not nrow * ncol = {nrow * ncol}")
    return np.asarray(given, float).reshape(nrow, ncol)[::-1]


def _hfield_file(ctx: Context, element: Element, file: str) -> np.ndarray:
    data = read_file(ctx, element, file, "meshdir")
    if data[:8] == SIGNATURE:
        try:
            return read_gray(data)[::-1]
        except ValueError as error:
            raise element.error(f"file '{file}' {error}") from None
    if len(data) < 8:
        raise element.error(f"file '{file}' is no height field")
    nrow, ncol = struct.unpack("<ii", data[:8])
    if nrow < 1 or ncol < 1 or len(data) != 8 + 4 * nrow * ncol:
        raise element.error(f"file '{file}' is neither a PNG nor MuJoCo's own height field format")
    return np.frombuffer(data, "<f4", offset=8).reshape(nrow, ncol)


def place_hfields(hfields: list[HField]) -> dict[str, np.ndarray]:
    """Return the data of all height fields; their addresses are written into their rows."""
    parts, address = [np.zeros(0, np.float32)], 0
    for row, data in hfields:
        row["hfield_adr"] = address
        parts.append(data)
        address += len(data)
    return {"hfield_data": np.concatenate(parts)}
