"""The order of triangles along a curve that fills space, so that neighbours on it are neighbours in space."""

import numpy as np

_BITS = 10  # of each coordinate


def along_curve(vert: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return the faces of a mesh in the order of their middles on a Z-order curve, shape (nface,).

    vert: shape (n, 3); face: vertices of each, shape (nface, 3).  Source: Morton, A computer oriented geodetic data
    base (1966).
    """
    middle = vert[face].mean(axis=1)
    low, high = middle.min(axis=0, initial=np.inf), middle.max(axis=0, initial=-np.inf)
    size = np.max(high - low, initial=0)
    cell = ((middle - low) * ((2**_BITS - 1) / size if size > 0 else 0)).astype(np.int64)
    code = np.zeros(len(face), np.int64)
    for bit in range(_BITS):
        for axis in range(3):
            code |= ((cell[:, axis] >> bit) & 1) << (3 * bit + axis)
    return np.argsort(code, kind="stable")
