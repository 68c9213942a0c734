"""Segments with a thickness, as one surface of capsules: ropes."""

import numpy as np

from mjx_like.visual.surface import Surface

_SIDES = 12  # of a capsule's cross-section
_UNIT = 1e-9  # a segment shorter than this points along z [m]


def tubes(segment: np.ndarray, radius: float) -> Surface:
    """Return a capsule around each segment, shape (k, 2, 3) [m]; radius [m]."""
    from trimesh import creation  # here: it takes 0.2 s to import

    shape = creation.capsule(1.0, 1.0, count=(_SIDES, _SIDES))
    local, upper = np.array(shape.vertices), shape.vertices[:, 2] > 0.5
    local[:, 2] -= local[:, 2] > 0.5
    local, end = radius * (local + [0, 0, 0.5]), upper.astype(int)  # both caps about the origin
    point = segment[:, end] + np.einsum("kij,nj->kni", _frames(segment[:, 1] - segment[:, 0]), local)
    start = len(local) * np.arange(len(segment))
    return Surface(point.reshape(-1, 3), (shape.faces + start[:, None, None]).reshape(-1, 3))


def _frames(axis: np.ndarray) -> np.ndarray:
    """Return rotations whose third column is along axes of shape (k, 3); shape (k, 3, 3)."""
    length = np.linalg.norm(axis, axis=1, keepdims=True)
    z = np.where(length > _UNIT, axis / np.maximum(length, _UNIT), [0, 0, 1])
    other = np.eye(3)[np.argmin(np.abs(z), axis=1)]
    x = np.cross(other, z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=-1)
