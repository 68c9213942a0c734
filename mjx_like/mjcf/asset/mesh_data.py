"""What a mesh file, an inline mesh or a built-in shape says: vertices, faces, normals, texture coordinates."""

import dataclasses

import numpy as np


class MeshError(ValueError):
    """Data that make no mesh; the message is a predicate, the caller adds which element and file it is about."""


def _rows(width: int, kind: type = np.float64):
    return dataclasses.field(default_factory=lambda: np.zeros((0, width), kind))


@dataclasses.dataclass
class MeshData:
    """A mesh as it was given, before the compiler moves it.

    vert: positions, rounded to single precision as MuJoCo keeps them, shape (nvert, 3) [m].
    face: vertices of each triangle, counter-clockwise seen from outside, shape (nface, 3); none for the convex hull.
    normal: shape (nnormal, 3); none where they are to be made. texcoord: shape (ntexcoord, 2).
    facenormal, facetexcoord: normal and texture coordinate of each corner, shape (nface, 3), or none: as `face`.
    """

    vert: np.ndarray = _rows(3)
    face: np.ndarray = _rows(3, int)
    normal: np.ndarray = _rows(3)
    texcoord: np.ndarray = _rows(2)
    facenormal: np.ndarray = _rows(3, int)
    facetexcoord: np.ndarray = _rows(3, int)


def single(values, width: int, what: str) -> np.ndarray:
    """Return numbers rounded to single precision, in rows of `width`.

    Raises:
      MeshError: their number is no multiple of `width`.
    """
    values = np.asarray(values, np.float32).astype(np.float64).ravel()
    if values.size % width:
        raise MeshError(f"has {values.size} numbers in {what}, no multiple of {width}")
    return values.reshape(-1, width)
