"""Skins in .skn files: vertices, faces and bones."""

import struct
from typing import NamedTuple

import numpy as np

from mjx_like.mjcf.asset.source import read_file
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.spec import Spec

_NAME = 40  # bytes of a body's name


class Bone(NamedTuple):
    """A bone: its body, its pose when the skin was bound, and the vertices that it moves."""

    body: str
    pos: np.ndarray
    quat: np.ndarray
    vertid: np.ndarray
    vertweight: np.ndarray


class Skin(NamedTuple):
    """A skin; vertex and face: shape (n, 3); texcoord: shape (n, 2) or (0, 2)."""

    vertex: np.ndarray
    texcoord: np.ndarray
    face: np.ndarray
    bones: list[Bone]


def read_skin(spec: Spec, element: Element, file: str) -> Skin:
    """Return the skin of a file, its bodies named as they are in `spec`.

    Raises:
      ModelError: a file that does not exist or is no skin.
    Source: mjCSkin::LoadSKN.
    """
    data = read_file(spec, element, file, "meshdir")
    try:
        return _parsed(data, element.around)
    except (struct.error, ValueError):
        raise element.error(f"file '{file}' is no skin file") from None


def _parsed(data: bytes, around: tuple[str, str]) -> Skin:
    nvert, ntex, nface, nbone = struct.unpack("<4i", data[:16])
    at, arrays = 16, []
    for count, kind, width in ((3 * nvert, "<f4", 3), (2 * ntex, "<f4", 2), (3 * nface, "<i4", 3)):
        arrays.append(np.frombuffer(data, kind, count, at).reshape(-1, width))
        at += 4 * count
    bones = []
    for _ in range(nbone):
        name = data[at : at + _NAME].split(b"\0")[0].decode()
        pose = np.frombuffer(data, "<f4", 7, at + _NAME).astype(float)
        start = at + _NAME + 32
        (count,) = struct.unpack("<i", data[start - 4 : start])
        ids = np.frombuffer(data, "<i4", count, start)
        weights = np.frombuffer(data, "<f4", count, start + 4 * count).astype(float)
        bones.append(Bone(around[0] + name + around[1], pose[:3], pose[3:], ids, weights))
        at = start + 8 * count
    return Skin(*arrays, bones)
