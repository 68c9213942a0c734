"""Materials and height fields."""

import struct
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context, numbers
from mjx_like.mjcf.asset import source
from mjx_like.mjcf.asset.png import MAX_CELLS, SIGNATURE, read_gray
from mjx_like.mjcf.schema import keywords
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import ObjType


class HField(NamedTuple):
    """A compiled height field."""

    row: Row
    data: np.ndarray  # its elevation, from 0 to 1, row by row


def asset_name(element: Element) -> str:
    """Return the name of an asset: its own, else that of its file without folder and ending."""
    name, file = element.get("name"), element.get("file")
    return name or (PurePosixPath(file.replace("\\", "/")).stem if file else "")


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
    data = source.read_file(ctx.spec, element, file, "meshdir")
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
