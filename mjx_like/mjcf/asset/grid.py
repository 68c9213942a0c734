"""Built-in meshes on a regular grid: grid, square, disc, box, cylinder, ellipsoid; also the shapes of flexes."""

import math
from collections.abc import Callable

import numpy as np

from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError, single

MAX_VERTICES = 1_000_000


def _grid(kind: str, params: np.ndarray) -> tuple[MeshData, bool]:
    """Return a grid of vertices: with faces and no volume where dim is 2, else without faces."""
    count, spacing, dim = _parameters(kind, params)
    if (count[:dim] < 2).any() or (count[dim:] != 1).any():
        raise MeshError(
            f"has count {tuple(count.tolist())} in params of builtin {kind}; it needs 2 or more, and 1 beyond dim"
        )
    index = np.stack(np.meshgrid(*(np.arange(n) for n in count), indexing="ij"), axis=-1).reshape(-1, 3)
    vert = spacing * (index - (count - 1) / 2)
    if kind == "disc":
        vert = _round(vert) * spacing * (count - 1) / 2
    return MeshData(single(vert, 3, "vertex"), _sheet(count, kind == "disc") if dim == 2 else _NO_FACE), dim == 2


def _sheet(count: np.ndarray, quarters: bool) -> np.ndarray:
    """Return the triangles of a sheet of vertices; with `quarters` its diagonals change sides at the middle lines."""
    nx, ny = int(count[0]), int(count[1])
    i, j = (index.ravel() for index in np.meshgrid(np.arange(nx - 1), np.arange(ny - 1), indexing="ij"))
    a = ny * i + j
    b, c, d = a + ny, a + 1, a + ny + 1
    rising = np.stack([a, b, d, a, d, c], axis=1)
    if quarters:
        falling = np.stack([a, b, c, b, d, c], axis=1)
        rising = np.where(((i < nx // 2) == (j < ny // 2))[:, None], rising, falling)
    return rising.reshape(-1, 3)


def _shell(kind: str, params: np.ndarray) -> tuple[MeshData, bool]:
    """Return the surface of a block: an open top and faces where dim is 2, else a vertex in the middle and no faces."""
    count, spacing, dim = _parameters(kind, params)
    if (count < 2).any():
        raise MeshError(f"has count {tuple(count.tolist())} in params of builtin {kind}; 2 are the least on each axis")
    nx, ny, nz = (int(n) for n in count)
    above = np.arange(1, nz if dim == 2 else nz - 1)
    parts = [_block(np.arange(nx), np.arange(ny), [0])]
    if dim == 3:
        parts.append(_block(np.arange(nx), np.arange(ny), [nz - 1]))
    parts += [_block(np.arange(nx), [y], above) for y in (0, ny - 1)]
    parts += [_block([x], np.arange(1, ny - 1), above) for x in (0, nx - 1)]
    index = np.concatenate(parts)
    vert = 2 * index / (count - 1) - 1
    if kind == "cylinder":
        vert[:, :2] = _round(vert[:, :2])
    elif kind == "ellipsoid":
        vert = _round(vert)
    vert = vert * spacing * (count - 1) / 2
    if dim == 3:
        return MeshData(single(np.concatenate([np.zeros((1, 3)), vert]), 3, "vertex")), False
    return MeshData(single(vert, 3, "vertex"), _open_box(index, nx, ny, nz)), True


def _open_box(index: np.ndarray, nx: int, ny: int, nz: int) -> np.ndarray:
    """Return the triangles of bottom and sides of a block of vertices with given indices, shape (nface, 3)."""
    at = np.full((nx, ny, nz), -1)
    at[tuple(index.T)] = np.arange(len(index))
    bottom = at[:, :, 0]
    a, b, c, d = bottom[:-1, :-1], bottom[1:, :-1], bottom[:-1, 1:], bottom[1:, 1:]
    faces = [np.stack([a, d, b, a, c, d], axis=-1).reshape(-1, 3)]
    # sides seen from outside: columns of vertices, right ones first where they run backwards
    for side, backward in ((at[:, 0], False), (at[:, ny - 1], True), (at[0], True), (at[nx - 1], False)):
        left, right = (side[1:], side[:-1]) if backward else (side[:-1], side[1:])
        a, b, c, d = left[:, :-1], right[:, :-1], left[:, 1:], right[:, 1:]
        faces.append(np.stack([a, b, d, a, d, c], axis=-1).reshape(-1, 3))
    return np.concatenate(faces)


def _block(x, y, z) -> np.ndarray:
    return np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1).reshape(-1, 3)


def _round(points: np.ndarray) -> np.ndarray:
    """Return points of a square or cube moved along their rays so that squares become circles, cubes spheres."""
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return points * np.max(np.abs(points), axis=1, keepdims=True) / np.where(length > 0, length, 1)


def _parameters(kind: str, params: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    flat = kind in ("square", "disc")
    if len(params) not in ((6,) if flat else (6, 7)):
        names = "count[3], spacing[3]" + ("" if flat else ", [dim]")
        raise MeshError(f"has {len(params)} numbers in params, but builtin {kind} takes {names}")
    dim = 2 if flat else int(params[6]) if len(params) == 7 else 3
    if dim not in (2, 3):
        raise MeshError(f"has dim {dim} in params of builtin {kind}; it must be 2 or 3")
    if not 1 <= math.prod(abs(float(n)) for n in params[:3]) <= MAX_VERTICES:
        raise MeshError(f"has counts in params of builtin {kind} that are not 1 to {MAX_VERTICES} together")
    return params[:3].astype(int), params[3:6], dim


_NO_FACE = np.zeros((0, 3), int)
GRIDS: dict[str, Callable[[str, np.ndarray], tuple[MeshData, bool]]] = {
    "grid": _grid, "square": _grid, "disc": _grid, "box": _shell, "cylinder": _shell, "ellipsoid": _shell,
}  # fmt: skip
