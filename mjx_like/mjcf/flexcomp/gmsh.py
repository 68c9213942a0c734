"""GMSH files, formats 2.2 and 4.1, ASCII and binary: nodes and the triangles or tetrahedra of one block.

Source: GMSH reference manual, MSH file format.
"""

import struct

import numpy as np

from mjx_like.mjcf.element import Element

_VERTICES = {2: 3, 4: 4}  # element type -> vertices: triangles and tetrahedra
_ALL_VERTICES = {1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 6: 6, 7: 5, 8: 3, 9: 6, 15: 1}


def read_gmsh(data: bytes, element: Element) -> tuple[np.ndarray, np.ndarray]:
    """Nodes, shape (n, 3), and elements of the highest dimension as node indices, shape (m, 3) or (m, 4).

    data: contents of the file; element: whose file it is, for messages.
    Raises ModelError for a file that is damaged or has other kinds of elements.
    """
    try:
        version, binary = _format(data)
        nodes, elements = _section(data, b"Nodes"), _section(data, b"Elements")
        if version == "4.1":
            reader = (_nodes41_binary, _elements41_binary) if binary else (_nodes41, _elements41)
        elif version == "2.2":
            reader = (_nodes22_binary, _elements22_binary) if binary else (_nodes22, _elements22)
        else:
            raise ValueError(f"format {version} is neither 2.2 nor 4.1")
        tags, point = reader[0](nodes)
        vertices = reader[1](elements)
        return point, _indices(tags, vertices)
    except (ValueError, IndexError, KeyError, struct.error, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise element.error(f"not a GMSH file that can be read: {error}") from None


def _format(data: bytes) -> tuple[str, bool]:
    words = _section(data, b"MeshFormat").split(maxsplit=3)
    version, binary, size = words[0].decode(), int(words[1]), int(words[2])
    if binary not in (0, 1) or size != 8:
        raise ValueError("its header is wrong")
    return version, bool(binary)


def _section(data: bytes, name: bytes) -> bytes:
    start = data.find(b"$" + name)
    end = data.find(b"$End" + name)
    if start < 0 or end < start:
        raise ValueError(f"it has no section ${name.decode()}")
    newline = data.index(b"\n", start)
    return data[newline + 1 : end]


def _indices(tags: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Places of the node tags that the elements have."""
    order = np.argsort(tags, kind="stable")
    address = np.searchsorted(tags, vertices, sorter=order)
    found = order[np.minimum(address, len(tags) - 1)]
    if (tags[found] != vertices).any():
        raise ValueError("an element has a node that does not exist")
    return found


def _numbers(section: bytes) -> np.ndarray:
    found = np.array(section.split(), float)
    if not np.isfinite(found).all():
        raise ValueError("it has a number that is not finite")
    return found


def _nodes22(section: bytes) -> tuple[np.ndarray, np.ndarray]:
    numbers = _numbers(section)
    rows = numbers[1 : 1 + 4 * int(numbers[0])].reshape(-1, 4)
    return rows[:, 0].astype(int), rows[:, 1:]


def _elements22(section: bytes) -> np.ndarray:
    found: list[list[int]] = []
    kinds: list[int] = []
    for line in section.splitlines()[1:]:
        row = [int(word) for word in line.split()]
        if row:
            kinds.append(row[1])
            found.append(row[3 + row[2] :])
    return _highest(kinds, found)


def _nodes41(section: bytes) -> tuple[np.ndarray, np.ndarray]:
    numbers = _numbers(section)
    blocks, at = int(numbers[0]), 4
    tags, points = [], []
    for _ in range(blocks):
        count = int(numbers[at + 3])
        at += 4
        tags.append(numbers[at : at + count].astype(int))
        points.append(numbers[at + count : at + 4 * count].reshape(count, 3))
        at += 4 * count
    return np.concatenate(tags), np.concatenate(points)


def _elements41(section: bytes) -> np.ndarray:
    numbers = np.array(section.split(), np.int64)
    blocks, at = int(numbers[0]), 4
    kinds: list[int] = []
    found: list[list[int]] = []
    for _ in range(blocks):
        kind, count = int(numbers[at + 2]), int(numbers[at + 3])
        width = 1 + _ALL_VERTICES[kind]
        rows = numbers[at + 4 : at + 4 + width * count].reshape(count, width)
        kinds += [kind] * count
        found += rows[:, 1:].tolist()
        at += 4 + width * count
    return _highest(kinds, found)


def _highest(kinds: list[int], found: list[list[int]]) -> np.ndarray:
    """The tetrahedra, or the triangles if there are none."""
    wanted = max((kind for kind in kinds if kind in _VERTICES), default=0)
    if not wanted:
        raise ValueError("it has neither triangles nor tetrahedra")
    rows = [row for kind, row in zip(kinds, found, strict=True) if kind == wanted]
    return np.array(rows, int).reshape(-1, _VERTICES[wanted])


def _nodes22_binary(section: bytes) -> tuple[np.ndarray, np.ndarray]:
    head, body = section.split(b"\n", 1)
    rows = np.frombuffer(body, np.dtype([("tag", "<i4"), ("point", "<f8", 3)]), int(head))
    return rows["tag"].astype(int), _finite(rows["point"])


def _elements22_binary(section: bytes) -> np.ndarray:
    head, body = section.split(b"\n", 1)
    total, at = int(head), 0
    kinds: list[int] = []
    found: list[list[int]] = []
    while len(kinds) < total:
        kind, count, tags = struct.unpack_from("<3i", body, at)
        width = 1 + tags + _ALL_VERTICES[kind]
        rows = np.frombuffer(body, "<i4", width * count, at + 12).reshape(count, width)
        at += 12 + 4 * width * count
        kinds += [kind] * count
        found += rows[:, 1 + tags :].tolist()
        if count <= 0:
            raise ValueError("a block of elements is empty")
    return _highest(kinds, found)


def _nodes41_binary(section: bytes) -> tuple[np.ndarray, np.ndarray]:
    blocks, at = struct.unpack_from("<Q", section)[0], 32
    tags, points = [], []
    for _ in range(blocks):
        count = struct.unpack_from("<Q", section, at + 12)[0]
        at += 20
        tags.append(np.frombuffer(section, "<u8", count, at).astype(int))
        points.append(np.frombuffer(section, "<f8", 3 * count, at + 8 * count).reshape(count, 3))
        at += 32 * count
    return np.concatenate(tags), _finite(np.concatenate(points))


def _elements41_binary(section: bytes) -> np.ndarray:
    blocks, at = struct.unpack_from("<Q", section)[0], 32
    kinds: list[int] = []
    found: list[list[int]] = []
    for _ in range(blocks):
        kind, count = struct.unpack_from("<iQ", section, at + 8)
        width = 1 + _ALL_VERTICES[kind]
        rows = np.frombuffer(section, "<u8", width * count, at + 20).reshape(count, width)
        at += 20 + 8 * width * count
        kinds += [kind] * count
        found += rows[:, 1:].astype(int).tolist()
    return _highest(kinds, found)


def _finite(point: np.ndarray) -> np.ndarray:
    if not np.isfinite(point).all():
        raise ValueError("it has a number that is not finite")
    return point.astype(float)
