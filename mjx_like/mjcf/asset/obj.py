"""Wavefront OBJ files: the first shape with faces, polygons cut into triangles.

trimesh's reader does not serve: it joins all shapes of a file, splits vertices where normals or texture coordinates
differ, triangulates polygons in its own way and gives up the order of vertices, by which mjModel and its inertias are
laid out; damaged files raise errors of NumPy's.
"""

import itertools
import warnings

import numpy as np

from mjx_like.mjcf.asset.ears import cut_ears
from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError, single

MAX_VERTICES = 2_000_000
MAX_WORK = 1_000_000  # bound on the sum of squares of corners of the faces with more than four
_WIDTH = {"v": 3, "vn": 3, "vt": 2}
_BREAKS = ("o", "g")  # statements that end a shape
_DIGITS = b"0123456789"
# What is left of a triangle without its digits -> numbers a corner -> which of vertex, normal, texture they are.
_TRIANGLE = {b"f   ": {1: (0,)}, b"f / / /": {2: (0, 2)}, b"f // // //": {3: (0, 2, 1), 2: (0, 1)}}


def read_obj(data: bytes) -> MeshData:
    """Return all vertices of an OBJ file and the faces of its first shape.

    Raises:
      MeshError: too many vertices, no text, a number that cannot be read, or a face with a vertex that does not exist.
    Source: LoadOBJ in user_mesh.cc; tinyobjloader's reading of `f`, `o` and `g`, found by trial.
    """
    found = data.count(b"\nv ")
    if found > MAX_VERTICES:
        raise MeshError(f"has {found} vertices; {MAX_VERTICES} are the most")
    if b"\0" in data:
        raise MeshError("has a byte 0; is it an OBJ file?")
    values, corners = _read_plain(data) or _read_any(data)
    mesh = MeshData(values["v"], normal=values["vn"], texcoord=values["vt"])
    if not len(corners):
        return mesh
    mesh.face = corners[..., 0]
    if len(mesh.normal) and (corners[..., 1] >= 0).all():
        mesh.facenormal = corners[..., 1]
    elif len(mesh.normal):
        raise MeshError("has normals, but a face without them")
    if len(mesh.texcoord) and (corners[..., 2] >= 0).all():
        mesh.facetexcoord = corners[..., 2]
        mesh.texcoord = np.stack([mesh.texcoord[:, 0], np.float32(1) - mesh.texcoord[:, 1].astype(np.float32)], 1)
    else:
        mesh.texcoord = mesh.texcoord[:0]
    return mesh


def _read_plain(data: bytes) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """Return numbers by statement and the corners of all triangles of a file without peculiarities, else None.

    Plain are complete numbers, triangles only, their corners of one form, counted from the start of the file.
    """
    if b"\\" in data or b"\t" in data:
        return None
    lines = [line.strip() for line in data.splitlines()]
    values = {}
    for kind, width in _WIDTH.items():
        prefix = kind.encode() + b" "
        size = len(prefix)
        own = [line[size:] for line in lines if line[:size] == prefix] if prefix in data else []
        given = len(own[0].split()) if own else width
        numbers = _parsed(own, np.float64)
        if given < width or len(numbers) != given * len(own) or any(len(line.split()) != given for line in own):
            return None
        values[kind] = single(numbers.reshape(-1, given)[:, :width], width, kind)  # colours may follow
    faces = _first_faces(lines)
    forms = {line.translate(None, _DIGITS) for line in faces}
    if not faces or len(forms) > 1 or not forms <= _TRIANGLE.keys():
        return None
    numbers = _parsed([line[2:].replace(b"/", b" ") for line in faces], np.int64)
    columns = _TRIANGLE[forms.pop()].get(len(numbers) // (3 * len(faces)))
    if columns is None or len(numbers) != 3 * len(columns) * len(faces):
        return None
    corners = np.full((len(faces), 3, 3), -1)
    corners[..., columns] = numbers.reshape(len(faces), 3, -1) - 1
    return (values, corners) if _exist(corners, values) else None


def _first_faces(lines: list[bytes]) -> list[bytes]:
    """Return the face statements of the first shape that has any."""
    breaks = [i for i, line in enumerate(lines) if line[:1] in b"og" and line[:2] in (b"o ", b"g ", b"o", b"g")]
    for start, end in itertools.pairwise([0, *breaks, len(lines)]):
        faces = [line for line in lines[start:end] if line[:2] == b"f "]
        if faces:
            return faces
    return []


def _parsed(lines: list[bytes], kind: type) -> np.ndarray:
    """Return the numbers of lines, none if one of them cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # how older NumPy says so
        try:
            return np.fromstring(b" ".join(lines), kind, sep=" ")
        except (ValueError, DeprecationWarning):
            return np.zeros(0, kind)


def _exist(corners: np.ndarray, values: dict[str, np.ndarray]) -> bool:
    limits = [len(values[kind]) for kind in ("v", "vn", "vt")]
    return bool((corners[..., 0] >= 0).all() and (corners < limits).all())


def _read_any(data: bytes) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return numbers by statement, and the corners of all triangles, shape (n, 3, 3), line by line."""
    words_of: dict[str, list[str]] = {kind: [] for kind in _WIDTH}
    counts = dict.fromkeys(_WIDTH, 0)
    polygons: list[list[tuple[int, int, int]]] = []
    closed = False
    text = data.decode("utf-8", "replace").replace("\\\r\n", " ").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        kind = words[0]
        if kind in _WIDTH:
            given = words[1 : _WIDTH[kind] + 1]
            words_of[kind] += given + ["0"] * (_WIDTH[kind] - len(given))
            counts[kind] += 1
        elif kind == "f" and not closed and len(words) > 3:
            polygons.append([_corner(word, counts, number) for word in words[1:]])
        elif kind in _BREAKS and polygons:
            closed = True
    values = {kind: single(_numbers(words), _WIDTH[kind], kind) for kind, words in words_of.items()}
    return values, _triangles(values["v"], polygons)


def _numbers(words: list[str]) -> np.ndarray:
    try:
        return np.array(words, np.float64)
    except ValueError as error:
        raise MeshError("has a coordinate that is no number") from error


def _corner(word: str, counts: dict[str, int], line: int) -> tuple[int, int, int]:
    """Return vertex, normal and texture coordinate of a corner, counted from 0, -1 for none."""
    parts = [*word.split("/"), "", ""]
    return (
        _index(parts[0], counts["v"], line),
        _index(parts[2], counts["vn"], line) if parts[2] else -1,
        _index(parts[1], counts["vt"], line) if parts[1] else -1,
    )


def _index(word: str, count: int, line: int) -> int:
    try:
        index = int(word)
    except ValueError:
        raise MeshError(f"has '{word[:20]}' in line {line}, which is no index of a face") from None
    if abs(index) > 2**31:
        raise MeshError(f"has index {word[:20]} in line {line}, which is too large")
    if index == 0:
        raise MeshError(f"has index 0 in line {line}; the first is 1")
    return index - 1 if index > 0 else count + index


def _triangles(vert: np.ndarray, polygons: list[list[tuple[int, int, int]]]) -> np.ndarray:
    """Return the corners of all polygons as triangles, shape (n, 3, 3): triangle, corner, kind of index."""
    sizes = np.array([len(polygon) for polygon in polygons], int)
    if not len(sizes):
        return np.zeros((0, 3, 3), int)
    flat = np.array([corner for polygon in polygons for corner in polygon], int)
    if flat[:, 0].min() < 0 or flat[:, 0].max() >= len(vert):
        raise MeshError(f"has a face with a vertex that does not exist; there are {len(vert)}")
    if np.sum(sizes[sizes > 4] ** 2) > MAX_WORK:
        raise MeshError(f"has faces of up to {sizes.max()} corners, too many to cut into triangles; triangulate it")
    start = np.cumsum(sizes) - sizes
    cuts: list[np.ndarray] = []
    owner: list[np.ndarray] = []
    threes = np.flatnonzero(sizes == 3)
    cuts.append(start[threes, None] + [0, 1, 2])
    owner.append(threes)
    fours = np.flatnonzero(sizes == 4)
    if len(fours):
        a, b, c, d = (vert[flat[start[fours] + k, 0]].astype(np.float32) for k in range(4))
        along, across = np.sum((c - a) ** 2, axis=1), np.sum((d - b) ** 2, axis=1)
        shape = np.where((along < across)[:, None, None], [[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]])
        cuts.append((start[fours, None, None] + shape).reshape(-1, 3))
        owner.append(np.repeat(fours, 2))
    for i in np.flatnonzero(sizes > 4):
        ears = start[i] + cut_ears(vert[flat[start[i] : start[i] + sizes[i], 0]])
        cuts.append(ears)
        owner.append(np.full(len(ears), i))
    order = np.argsort(np.concatenate(owner), kind="stable")
    return flat[np.concatenate(cuts)[order]]
