"""Vertex normals of a mesh."""

import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.mjcf.frame import EPS

_SHARP = 0.8  # least cosine between a face and the mean normal at its corner for the face to count there


def vertex_normals(vert: np.ndarray, face: np.ndarray, smooth: bool) -> np.ndarray:
    """Return the mean normal at each vertex, faces weighted by area, shape (nvert, 3).

    Args:
      vert: shape (nvert, 3).
      face: shape (nface, 3).
      smooth: whether faces at a sharp angle to the mean count too.
    Source: mjCMesh::MakeNormal.
    """
    a, b, c = (vert[face[:, k]] for k in range(3))
    weighted = np.cross(b - a, c - a)
    square = np.sum(weighted * weighted, axis=1, keepdims=True)
    weighted = np.where(square < EPS, 0.0, weighted)  # MuJoCo takes so small a face for a point
    unit = weighted / np.where(square < EPS, 1.0, np.sqrt(square))
    mean = at_corners(len(vert), face, np.broadcast_to(weighted[:, None], (len(face), 3, 3)))
    if not smooth:
        square = np.sum(mean * mean, axis=1, keepdims=True)
        direction = mean / np.where(square < EPS, 1.0, np.sqrt(square))
        cosine = np.sum(unit[:, None] * direction[face], axis=2)
        removed = np.where((cosine < _SHARP)[..., None], weighted[:, None], 0.0)
        mean = mean - at_corners(len(vert), face, removed)
    return normalized(mean)


def normalized(normal: np.ndarray) -> np.ndarray:
    """Return unit vectors, shape (n, 3); the z axis where a vector is too short."""
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.where(length > MINVAL, normal / np.where(length > MINVAL, length, 1.0), [0.0, 0.0, 1.0])


def at_corners(nvert: int, face: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the sum at each vertex of one value a corner, shape (nvert, 3)."""
    corner = face.ravel()
    flat = values.reshape(-1, 3)
    return np.stack([np.bincount(corner, flat[:, k], nvert) for k in range(3)], axis=1)
