"""Flat sides of a convex hull: its triangles, merged where their normals fall into one bin of directions."""

import itertools

import numpy as np

from mjx_like.compiler.mesh.bucket_order import bucket_order
from mjx_like.constants import MINVAL

_BIN = 0.01  # width of a bin of azimuth and polar angle [rad]
_POLE = 1 - 1e-7  # vertical component beyond which a normal counts as a pole
_MASK = (1 << 64) - 1

Edges = dict[tuple[int, int], int]


def polygons(vert: np.ndarray, face: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the flat sides of a convex hull in MuJoCo's order: vertices of all, and how many each has.

    Triangles whose normals fall into one bin merge where they share an edge. Contacts between meshes clip these
    sides, so their number, their order and their first vertices are MuJoCo's, the order of its hash table included.

    Args:
      vert: as the file has them, before scale and reference pose, shape (nvert, 3).
      face: triangles of the hull, counter-clockwise from outside, shape (nface, 3).
    Source: mjCMesh::MakePolygons.
    """
    bins, triangles = _bins(vert, face)
    keys, first, group = np.unique(bins.view(np.complex128)[:, 0], return_index=True, return_inverse=True)
    rank = np.argsort(first)  # bins in the order in which the triangles bring them
    grouped = triangles[np.argsort(group, kind="stable")].tolist()
    size = np.bincount(group, minlength=len(keys))
    stop = np.cumsum(size)
    start, stop = (stop - size)[rank].tolist(), stop[rank].tolist()
    order = bucket_order(_hashes(bins[first[rank]]))
    cycles = []
    for i in order:
        members = grouped[start[i] : stop[i]]
        cycles += members if len(members) == 1 else _outlines(members)
    return np.fromiter(itertools.chain.from_iterable(cycles), int), np.fromiter(map(len, cycles), int)


def _bins(vert: np.ndarray, face: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bin of each triangle's normal as whole azimuth and polar angle, and the triangles that have one."""
    a, b, c = (vert[face[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    large = length >= MINVAL
    x, y, z = (normal[large] / length[large, None] + 0.0).T  # no negative zero, which would turn the azimuth round
    pole = np.abs(z) > _POLE
    azimuth = np.where(pole, 0.0, np.arctan2(y, x) / _BIN)
    polar = np.where(pole, np.where(z < 0, np.pi, 0.0), np.arccos(np.clip(z, -1, 1))) / _BIN
    return _rounded(np.stack([azimuth, polar], axis=1)), face[large]


def _rounded(value: np.ndarray) -> np.ndarray:
    """Return the nearest whole numbers, halves away from zero."""
    return np.copysign(np.floor(np.abs(value) + 0.5), value) + 0.0


def _hashes(keys: np.ndarray) -> list[int]:
    """Return the hash of each pair of numbers: their bits, combined."""
    pairs = keys.view(np.uint64).tolist()
    return [a ^ (b + 0x9E3779B9 + (a << 6) + (a >> 2) & _MASK) for a, b in pairs]


def _outlines(triangles: list[list[int]]) -> list[list[int]]:
    """Return the outline of each connected part of triangles in one bin, as a cycle of vertices."""
    edges: Edges = {}
    count = 0
    for triangle in triangles:
        count = _insert(edges, count, triangle)
    return [cycle for part in range(count) if (cycle := _cycle(edges, part)) is not None]


def _insert(edges: Edges, count: int, triangle: list[int]) -> int:
    """Add a triangle to the directed outline `edges`, which maps each to its part; return the number of parts.

    Source: MeshPolygon::InsertFace.
    """
    a, b, c = triangle
    part, added = -1, []
    for start, end in ((a, b), (b, c), (c, a)):
        other = edges.pop((end, start), None)
        if other is None:
            added.append((start, end))
        elif part == -1:
            part = other
        elif other != part:
            low, high = min(part, other), max(part, other)
            for edge, old in edges.items():
                edges[edge] = low if old == high else old - (old > high)
            part, count = low, count - 1
    if part == -1:
        part, count = count, count + 1
    edges.update(dict.fromkeys(added, part))
    return count


def _cycle(edges: Edges, part: int) -> list[int] | None:
    """Return the first cycle of the outline of one part, or None if its edges close none."""
    own = [edge for edge, of in edges.items() if of == part]
    if not own:
        return None
    after = dict(reversed(own))  # where the outline touches itself the first edge leads on
    cycle = list(own[0])
    for _ in own:
        following = after.get(cycle[-1])
        if following is None or following == cycle[0]:
            return None if following is None else cycle
        cycle.append(following)
    return None


def polygon_normals(vert: np.ndarray, polyvert: np.ndarray, polynum: np.ndarray) -> np.ndarray:
    """Return the unit normal of each polygon by Newell's method, shape (npoly, 3); the x axis for one without area."""
    if not len(polynum):
        return np.zeros((0, 3))
    start = np.cumsum(polynum) - polynum
    corner = vert[polyvert] - np.repeat(vert[polyvert[start]], polynum, axis=0)
    following = np.arange(len(polyvert)) + 1
    following[start + polynum - 1] = start
    normal = np.add.reduceat(np.cross(corner, corner[following]), start, axis=0)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.where(length > 0, normal / np.where(length > 0, length, 1), [1.0, 0.0, 0.0])


def polygon_map(nvert: int, polyvert: np.ndarray, polynum: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the polygons at each vertex, and how many there are, shapes (nmap,) and (nvert,)."""
    polygon = np.repeat(np.arange(len(polynum)), polynum)
    return polygon[np.argsort(polyvert, kind="stable")], np.bincount(polyvert, minlength=nvert)
