"""STL files, binary and text.

trimesh's reader does not serve: it merges no vertices, or merges those within a tolerance, where MuJoCo merges equal
ones in the order of their first use; and a file that is cut off is an empty scene to it.
"""

import numpy as np

from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError

MAX_FACES = 200_000  # what MuJoCo takes in an STL file
_BOUND = 2.0**30
_HEADER = 84
_FACET = np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(data: bytes) -> MeshData:
    """Return the triangles of an STL file, repeated vertices merged in the order of their first use.

    Raises:
      MeshError: a file that is empty, cut off, too large or has a coordinate out of bounds.
    Source: stl_decoder, mjCMesh::ProcessVertices; the text variant goes beyond MuJoCo.
    """
    if not data:
        raise MeshError("is empty")
    corners = _text(data) if _is_text(data) else _binary(data)
    if not np.isfinite(corners).all():
        raise MeshError("has a vertex that is not finite")
    if np.abs(corners).max() > _BOUND:
        raise MeshError("has a vertex beyond 2^30")
    vert, face = merge_repeated(corners.reshape(-1, 3))
    return MeshData(vert.astype(np.float64), face.reshape(-1, 3))


def merge_repeated(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different rows in the order of their first occurrence, and for each row its place among them.

    Args:
      rows: single precision, shape (n, 3).
    """
    rows = np.ascontiguousarray(rows + np.float32(0), np.float32)  # adding zero makes -0 into 0
    bits = rows.view(np.uint32).astype(np.uint64)
    keys = ((bits[:, 0] * np.uint64(0x9E3779B97F4A7C15)) ^ bits[:, 1]) * np.uint64(0xC2B2AE3D27D4EB4F) ^ bits[:, 2]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][inverse], rows):  # two different rows with one key
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), int)
    rank[order] = np.arange(len(first))
    return rows[first[order]], rank[inverse.ravel()]


def _is_text(data: bytes) -> bool:
    """Whether a file is text: it starts with `solid`, names a facet, and has not the size that its header tells."""
    if not data.lstrip()[:5].lower() == b"solid" or b"facet" not in data[:4096].lower():
        return False
    return len(data) < _HEADER or len(data) != _HEADER + 50 * int.from_bytes(data[80:84], "little")


def _binary(data: bytes) -> np.ndarray:
    if len(data) < _HEADER:
        raise MeshError("is too short for the header of an STL file")
    count = int.from_bytes(data[80:84], "little")
    if not 1 <= count <= MAX_FACES:
        raise MeshError(f"has {count} faces in its STL header, not 1 to {MAX_FACES}; is it an STL file?")
    if len(data) != _HEADER + 50 * count:
        raise MeshError(f"has {len(data)} bytes, not the {_HEADER + 50 * count} of an STL file with {count} faces")
    return np.frombuffer(data, _FACET, count, _HEADER)["corner"]


def _text(data: bytes) -> np.ndarray:
    found = data.lower().count(b"vertex")
    if found > 3 * MAX_FACES:
        raise MeshError(f"has {found} vertices in its text, not three for each of 1 to {MAX_FACES} faces")
    words = data.lower().split()
    at = np.flatnonzero(np.array([word == b"vertex" for word in words]))
    if not len(at) or len(at) % 3:
        raise MeshError(f"has {len(at)} vertices in its text, not three for each of 1 to {MAX_FACES} faces")
    try:
        return np.array([[float(word) for word in words[i + 1 : i + 4]] for i in at], np.float32).reshape(-1, 3, 3)
    except ValueError as error:
        raise MeshError("has a vertex in its text that is not three numbers") from error
