"""Meshes made from parameters: closed shapes, and the plates of tactile sensors."""

import math
from collections.abc import Callable

import numpy as np

from mjx_like.mjcf.asset.grid import GRIDS
from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError, single

MAX_RESOLUTION = 1000


def builtin_mesh(kind: str, params: np.ndarray) -> tuple[MeshData, bool]:
    """Return a mesh made from parameters, and whether it is a surface without volume.

    Args:
      kind: keyword of the attribute builtin.
      params: numbers of the attribute params.

    Raises:
      MeshError: parameters of wrong number or out of their bounds.
    Source: XMLreference, mesh/builtin; vertex order of the oracle.
    """
    if not np.isfinite(params).all():
        raise MeshError("has a number in params that is not finite")
    if kind in GRIDS:
        return GRIDS[kind](kind, params)
    names, make = _SHAPES[kind]
    if len(params) != len(names):
        raise MeshError(
            f"has {len(params)} numbers in params, but builtin {kind} takes {len(names)}: {', '.join(names)}"
        )
    for name, value in zip(names, params, strict=True):
        low, high, whole = _BOUNDS[kind, name] if (kind, name) in _BOUNDS else _BOUNDS[name]
        if not low <= value <= high:
            raise MeshError(f"has {name} {value:g} in params of builtin {kind}; it must be from {low:g} to {high:g}")
    values = [
        int(v) if _BOUNDS.get((kind, n), _BOUNDS.get(n))[2] else float(v) for n, v in zip(names, params, strict=True)
    ]
    return make(*values), kind == "plate"


def _mesh(vert, face=(), normal=()) -> MeshData:
    faces = np.asarray(face, int).reshape(-1, 3)
    return MeshData(single(vert, 3, "vertex"), faces, single(normal, 3, "normal"))


def _sphere(subdivision: int) -> MeshData:
    """Icosahedron whose faces are cut into four, new vertices pushed out to the unit sphere."""
    golden = (1 + math.sqrt(5)) / 2
    x, z = 1 / math.sqrt(1 + golden**2), golden / math.sqrt(1 + golden**2)
    vert = [
        (-x, z, 0), (x, z, 0), (-x, -z, 0), (x, -z, 0), (0, -x, z), (0, x, z), (0, -x, -z), (0, x, -z),
        (z, 0, -x), (z, 0, x), (-z, 0, -x), (-z, 0, x),
    ]  # fmt: skip
    face = [
        (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
        (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10),
        (8, 6, 7), (9, 8, 1),
    ]  # fmt: skip
    points = [np.array(v, np.float32) for v in vert]  # MuJoCo makes them in single precision
    for _ in range(subdivision):
        middle: dict[tuple[int, int], int] = {}
        finer = []
        for a, b, c in face:
            ab, bc, ca = (_midpoint(points, middle, *edge) for edge in ((a, b), (b, c), (c, a)))
            finer += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        face = finer
    return _mesh(points, face)


def _midpoint(points: list[np.ndarray], known: dict[tuple[int, int], int], a: int, b: int) -> int:
    key = (min(a, b), max(a, b))
    if key not in known:
        known[key] = len(points)
        between = points[a] + points[b]
        points.append(between / np.sqrt(np.sum(between * between)))
    return known[key]


def _hemisphere(resolution: int) -> MeshData:
    """Rows of 4, 8, 12 ... vertices from the pole down to the equator, closed by a fan around the origin."""
    last = resolution + 1
    vert, face = [(0.0, 0.0, 1.0)], []
    for row in range(1, last + 1):
        for quarter in range(4):
            for j in range(row):
                point = np.array([row - j, j, last - row], float)
                x, y, z = point / np.linalg.norm(point)
                vert.append(((x, y), (-y, x), (-x, -y), (y, -x))[quarter] + (z,))
    start = [0] + [1 + 2 * row * (row - 1) for row in range(1, last + 2)]
    for row in range(last):

        def at(level: int, quarter: int, j: int) -> int:
            return start[level] + (level * quarter + j) % (4 * level) if level else 0

        for quarter in range(4):
            for j in range(row + 1):
                face.append((at(row, quarter, j), at(row + 1, quarter, j), at(row + 1, quarter, j + 1)))
                if j < row:
                    face.append((at(row, quarter, j), at(row + 1, quarter, j + 1), at(row, quarter, j + 1)))
    rim, centre = np.arange(start[last], start[last] + 4 * last), len(vert)
    face += [(rim[i], centre, rim[(i + 1) % len(rim)]) for i in range(len(rim))]
    return _mesh([*vert, (0.0, 0.0, 0.0)], face)


def _cone(nvert: int, radius: float) -> MeshData:
    angle = 2 * np.pi * np.arange(2 * nvert) / nvert  # the upper ring is a second revolution
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    low = np.column_stack([ring[:nvert], np.full(nvert, -1.0)])
    high = np.column_stack([radius * ring[nvert:], np.ones(nvert)]) if radius > 0 else np.array([[0.0, 0, 1]])
    return _mesh(np.concatenate([low, high]))


def _power(value: np.ndarray, exponent: float) -> np.ndarray:
    """Power of the size, with the sign kept."""
    return np.sign(value) * np.abs(value) ** exponent


def _supersphere(resolution: int, e: float, n: float) -> MeshData:
    """Superellipsoid of unit half axes: rings of vertices between two poles."""
    res = resolution
    south = (-np.pi / 2 + np.pi * np.arange(1, res) / res)[:, None]
    east = (-np.pi + 2 * np.pi * np.arange(res) / res)[None]
    around = _power(np.cos(south), n)
    x, y = around * _power(np.cos(east), e), around * _power(np.sin(east), e)
    rings = np.stack([x, y, np.broadcast_to(_power(np.sin(south), n), x.shape)], axis=-1).reshape(-1, 3)
    j = np.arange(res)
    after = (j + 1) % res
    low = 1 + res * np.arange(res - 2)[:, None]
    side = np.stack([low + j, low + after, low + res + j, low + after, low + res + after, low + res + j], axis=-1)
    top, pole = 1 + res * (res - 2), 1 + res * (res - 1)
    face = np.concatenate([
        np.stack([0 * j, 1 + after, 1 + j], axis=1),
        side.reshape(-1, 3),
        np.stack([top + j, top + after, 0 * j + pole], axis=1),
    ])  # fmt: skip
    return _mesh(np.concatenate([[[0, 0, -1.0]], rings, [[0, 0, 1.0]]]), face)


def _supertorus(resolution: int, radius: float, s: float, t: float) -> MeshData:
    """Supertoroid around z with major radius 1."""
    res = resolution
    angle = 2 * np.pi * np.arange(res) / res
    major, minor = angle[:, None], angle[None]
    out = 1 + radius * _power(np.cos(minor), s)
    x, y = out * _power(np.cos(major), t), out * _power(np.sin(major), t)
    vert = np.stack([x, y, np.broadcast_to(radius * _power(np.sin(minor), s), x.shape)], axis=-1)
    i, j = np.meshgrid(np.arange(res), np.arange(res), indexing="ij")
    a, b = res * i + j, res * ((i + 1) % res) + j
    c, d = res * i + (j + 1) % res, res * ((i + 1) % res) + (j + 1) % res
    return _mesh(vert.reshape(-1, 3), np.stack([a, b, c, b, d, c], axis=-1).reshape(-1, 3))


def _middles(count: int, gamma: float = 0.0) -> np.ndarray:
    """Middles of bins on [-1, 1]; gamma draws the edges of the bins to 0.  Source: touch_grid plugin, Fovea."""
    edges = np.linspace(-1, 1, count + 1)
    edges = gamma * edges**5 + (1 - gamma) * edges
    return (edges[1:] + edges[:-1]) / 2


def _wedge(res_phi: int, res_theta: int, fov_phi: float, fov_theta: float, gamma: float) -> MeshData:
    """Part of the unit sphere around -z; each vertex has its radius and two tangents as normals."""
    phi = np.deg2rad(fov_phi * _middles(res_phi, gamma))[:, None] + np.zeros(res_theta)
    theta = np.deg2rad(fov_theta * _middles(res_theta, gamma))[None] + np.zeros((res_phi, 1))
    sin, cos = np.sin, np.cos
    radius = np.stack([cos(theta) * sin(phi), sin(theta), -cos(theta) * cos(phi)], axis=-1)
    first = np.stack([cos(phi), 0 * phi, sin(phi)], axis=-1)
    second = np.stack([-sin(theta) * sin(phi), cos(theta), sin(theta) * cos(phi)], axis=-1)
    return _mesh(radius.reshape(-1, 3), (), np.stack([radius, first, second], axis=-2).reshape(-1, 3))


def _plate(res_x: int, res_y: int) -> MeshData:
    """Plate at z = -1; each vertex has the three axes as normals."""
    x, y = np.meshgrid(_middles(res_x), _middles(res_y), indexing="ij")
    vert = np.stack([x, y, np.full_like(x, -1)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(res_x - 1), np.arange(res_y - 1), indexing="ij")
    a = res_y * i + j
    face = np.stack([a, a + res_y, a + 1, a + res_y + 1, a + 1, a + res_y], axis=-1).reshape(-1, 3)
    return _mesh(vert, face, np.tile(np.eye(3), (len(vert), 1)))


_SHAPES: dict[str, tuple[tuple[str, ...], Callable[..., MeshData]]] = {
    "sphere": (("subdivision",), _sphere),
    "hemisphere": (("resolution",), _hemisphere),
    "cone": (("nvert", "radius"), _cone),
    "supersphere": (("resolution", "e", "n"), _supersphere),
    "supertorus": (("resolution", "radius", "s", "t"), _supertorus),
    "wedge": (("res_phi", "res_theta", "fov_phi", "fov_theta", "gamma"), _wedge),
    "plate": (("res_x", "res_y"), _plate),
}
_TINY = np.nextafter(0, 1)
# Bounds of a parameter, both included, and whether it is a whole number.
_BOUNDS: dict[str | tuple[str, str], tuple[float, float, bool]] = {
    "subdivision": (0, 4, True), ("hemisphere", "resolution"): (0, 10, True), "resolution": (3, MAX_RESOLUTION, True),
    "nvert": (3, MAX_RESOLUTION, True), "radius": (0, 1, False), ("supertorus", "radius"): (_TINY, 1, False),
    "e": (0, 1e10, False), "n": (0, 1e10, False), "s": (_TINY, 1e10, False), "t": (_TINY, 1e10, False),
    "res_phi": (1, MAX_RESOLUTION, True), "res_theta": (1, MAX_RESOLUTION, True), "fov_phi": (_TINY, 180, False),
    "fov_theta": (_TINY, 90, False), "gamma": (0, 1, False), "res_x": (1, MAX_RESOLUTION, True),
    "res_y": (1, MAX_RESOLUTION, True),
}  # fmt: skip
