"""Interpolated shells: the faces of the grid of cells, their membrane stiffness, and their bending.

Surfaces of the grid are counted x low, x high, y low, ...; the two axes of a face follow its normal cyclically, the
first one varying slowly. Source: XML reference, flex elasticity; ComputeLinearStiffness2D, ComputeInterpBending.
"""

import dataclasses
from itertools import product
from typing import Any

import numpy as np

from mjx_like.compiler.flex.cell import basis, elastic, quadrature

_FLAT = 1e-12  # a normal shorter than this has no direction


@dataclasses.dataclass(frozen=True)
class Surface:
    """One of the six surfaces: its normal axis, the axes along it, its faces along these, and the fixed node."""

    normal: int
    axes: tuple[int, int]
    count: tuple[int, int]
    fixed: int
    first: int


def surfaces(cells: np.ndarray, order: int) -> list[Surface]:
    """Return the six surfaces of a grid; `first` is the number of the first face of each."""
    found: list[Surface] = []
    first = 0
    for normal, high in product(range(3), range(2)):
        axes = (normal + 1) % 3, (normal + 2) % 3
        count = int(cells[axes[0]]), int(cells[axes[1]])
        found.append(Surface(normal, axes, count, int(high * cells[normal] * order), first))
        first += count[0] * count[1]
    return found


def face_nodes(grid: Any, surface: Surface, q0: int, q1: int) -> np.ndarray:
    """Return the positions of the nodes of a face, shape ((order + 1)^2, 3)."""
    order = grid.order
    index = np.zeros(((order + 1) ** 2, 3), int)
    steps = np.array(list(product(range(order + 1), repeat=2)))
    index[:, surface.normal] = surface.fixed
    index[:, surface.axes[0]], index[:, surface.axes[1]] = q0 * order + steps[:, 0], q1 * order + steps[:, 1]
    ny, nz = grid.cells[1] * order + 1, grid.cells[2] * order + 1
    return grid.node[index @ np.array([ny * nz, nz, 1])]


def faces(grid: Any) -> list[tuple[Surface, int, int]]:
    """Return all faces in order: their surface and their cell in it."""
    found = surfaces(grid.cells, grid.order)
    return [(s, q0, q1) for s in found for q0, q1 in product(range(s.count[0]), range(s.count[1]))]


def membrane_stiffness(grid: Any, face: tuple[Surface, int, int], e: dict[str, float]) -> np.ndarray:
    """Return the negative stiffness matrix of a face against strain in its plane, shape (3 n, 3 n)."""
    surface, order = face[0], grid.order
    node = face_nodes(grid, *face)
    extent = (node[-1] - node[0])[list(surface.axes)]
    points, weights = quadrature(order)
    value, slope = basis(order, points)
    slow = np.einsum("ai,bj->abij", slope, value) / extent[0]
    fast = np.einsum("ai,bj->abij", value, slope) / extent[1]
    gradient = np.zeros((len(points) ** 2, (order + 1) ** 2, 3))
    gradient[..., surface.axes[0]] = slow.reshape(len(points) ** 2, -1)
    gradient[..., surface.axes[1]] = fast.reshape(len(points) ** 2, -1)
    weight = np.outer(weights, weights).ravel() * np.prod(extent) * e["thickness"]
    la, mu = e["young"] * e["poisson"] / (1 - e["poisson"] ** 2), e["young"] / (2 * (1 + e["poisson"]))
    form = -elastic(gradient, weight, la, mu)
    across = np.arange(len(form)) % 3 == surface.normal
    form[across], form[:, across] = 0, 0
    return form


def bending_records(grid: Any, e: dict[str, float]) -> np.ndarray:
    """Return the number of edges between faces and ten numbers for each.

    These are the two faces, the middle of the edge in the coordinates of either, the stiffness, and the difference of
    the normals at qpos0.
    """
    rigidity = e["young"] * e["thickness"] ** 3 / (12 * (1 - e["poisson"] ** 2))
    found = surfaces(grid.cells, grid.order)
    records = []
    for number, surface in enumerate(found):
        for q0, q1 in product(range(surface.count[0]), range(surface.count[1])):
            here = surface.first + q0 * surface.count[1] + q1
            for direction, side in product(range(2), (-1, 1)):
                other, cell, local = _neighbor(grid, found, number, (q0, q1), direction, side)
                there = found[other].first + cell[0] * found[other].count[1] + cell[1]
                if here < there:
                    ends = (surface, (q0, q1), local[0]), (found[other], cell, local[1])
                    records.append([here, there, *local[0], *local[1], *_fold(grid, ends, rigidity)])
    return np.concatenate([[len(records)], np.array(records, float).ravel()])


def _neighbor(grid: Any, found: list[Surface], number: int, cell: tuple[int, int], direction: int, side: int):
    """Surface, cell and middle of the edge on both sides, of the face beyond an edge of a face."""
    surface, high = found[number], number % 2
    end = float(side > 0)
    here = (end, 0.5) if direction == 0 else (0.5, end)
    beyond = list(cell)
    beyond[direction] += side
    if 0 <= beyond[direction] < surface.count[direction]:
        return number, tuple(beyond), (here, (1 - end, 0.5) if direction == 0 else (0.5, 1 - end))
    other = 2 * surface.axes[direction] + int(side > 0)
    along = cell[1 - direction]
    last = int(grid.cells[surface.normal]) - 1 if high else 0
    if direction == 0:
        return other, (along, last), (here, (0.5, float(high)))
    return other, (last, along), (here, (float(high), 0.5))


def _fold(grid: Any, ends, rigidity: float) -> list[float]:
    """Stiffness of an edge and the difference of its normals; all zero where a face has no normal."""
    normals, across, along = [], [], []
    for surface, cell, local in ends:
        (s, ds), (t, dt) = (basis(grid.order, np.array([at])) for at in local)
        node = face_nodes(grid, surface, *cell)
        tangents = np.outer(ds, t).ravel() @ node, np.outer(s, dt).ravel() @ node
        normals.append(np.cross(*tangents))
        run = 0 if local[0] == 0.5 else 1
        along.append(np.linalg.norm(tangents[run]))
        across.append(np.linalg.norm(tangents[1 - run]))
    lengths = [np.linalg.norm(normal) for normal in normals]
    if min(lengths) < _FLAT:
        return [0.0] * 4
    difference = normals[0] / lengths[0] - normals[1] / lengths[1]
    return [rigidity * sum(along) / max(sum(across), 2 * _FLAT), *difference]
