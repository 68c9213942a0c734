"""Interpolated flexes: the grid of cells around them, their stiffness, and the bending of a shell of cells."""

import dataclasses
from typing import Any

import numpy as np

from mjx_like.mjcf.flexnode import empty_cells, node_grid

_SQUARE = 1e-8  # a grid whose axes are further from a right angle is no grid


@dataclasses.dataclass
class Grid:
    """Cells of an interpolated flex.

    cells: their number along each axis; order: of the interpolation; node, vert: positions at qpos0 in axes along the
    grid; empty: cells that hold no mesh, shape (cx, cy, cz).
    """

    cells: np.ndarray
    order: int
    node: np.ndarray
    vert: np.ndarray
    empty: np.ndarray

    @staticmethod
    def make(flex: Any) -> "Grid":
        """Return the grid of a flex.

        Raises:
          ModelError: its nodes at qpos0 are no grid with right angles.
        Source: mjCFlex::ComputeUnrotatedNodePositions.
        """
        cells = np.asarray(flex.a["cellcount"], int)
        empty = np.zeros(cells, bool)
        axes = _axes(flex, cells, empty)
        node, vert = flex.xnode @ axes.T, flex.xvert @ axes.T
        if not flex.elastic2d and np.prod(cells) > 1:
            empty = empty_cells(vert, flex.elem, cells, node.min(axis=0), node.max(axis=0))
            axes = _axes(flex, cells, empty)
            node, vert = flex.xnode @ axes.T, flex.xvert @ axes.T
        return Grid(cells, flex.order, node, vert, empty)

    def corner(self, cell: np.ndarray) -> np.ndarray:
        """Ids of the nodes of a cell, z fastest."""
        steps = node_grid(np.ones(3, int), self.order)
        return (cell * self.order + steps) @ _strides(self.cells, self.order)


def _strides(cells: np.ndarray, order: int) -> np.ndarray:
    ny, nz = cells[1] * order + 1, cells[2] * order + 1
    return np.array([ny * nz, nz, 1])


def _axes(flex: Any, cells: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """Unit vectors along the edges of the first cell that is not empty, one a row."""
    full = np.argwhere(~empty)
    start = (full[0] if len(full) else np.zeros(3, int)) * flex.order
    strides = _strides(cells, flex.order)
    origin = start @ strides
    edges = np.array([flex.xnode[origin + flex.order * step] - flex.xnode[origin] for step in strides])
    lengths = np.linalg.norm(edges, axis=1, keepdims=True)
    axes = edges / np.where(lengths > 0, lengths, 1)
    if (np.abs(axes @ axes.T - np.eye(3)) > _SQUARE).any():
        raise flex.element.error("the nodes do not form a grid with right angles")
    return axes


def vertex_cells(flex: Any, vert0: np.ndarray) -> np.ndarray:
    """Return the cell in which each vertex lies."""
    cells = flex.grid.cells
    index = np.clip((vert0 * cells).astype(int), 0, cells - 1)
    return index @ np.array([cells[1] * cells[2], cells[2], 1])


def basis(order: int, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the polynomials of one axis and their derivatives at places from 0 to 1, shape (n, order + 1) each."""
    s = np.asarray(place, float)
    if order == 1:
        return np.stack([1 - s, s], axis=-1), np.stack([-np.ones_like(s), np.ones_like(s)], axis=-1)
    values = np.stack([2 * s * s - 3 * s + 1, 4 * (s - s * s), 2 * s * s - s], axis=-1)
    return values, np.stack([4 * s - 3, 4 - 8 * s, 4 * s - 1], axis=-1)


def quadrature(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gauss points from 0 to 1 of one axis, and their weights."""
    points, weights = np.polynomial.legendre.leggauss(order + 1)
    return (points + 1) / 2, weights / 2


def cell_stiffness(flex: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the stiffness of all cells or faces, and the bending records of a shell.

    Args:
      flex: an interpolated Flex.
    """
    e, grid = flex.elasticity, flex.grid
    if e["young"] <= 0 or flex.elastic2d:
        return np.zeros(0), np.zeros(0)
    out = [
        np.zeros((size, size)) if grid.empty[tuple(cell)] else solid_stiffness(grid, cell, e["young"], e["poisson"])
        for cell in node_grid(grid.cells - 1, 1)
        for size in (3 * (grid.order + 1) ** 3,)
    ]
    return np.concatenate([k.ravel() for k in out]), np.zeros(0)


def solid_stiffness(grid: Grid, cell: np.ndarray, young: float, poisson: float) -> np.ndarray:
    """Return the negative stiffness matrix of one full cell, shape (3 n, 3 n).

    Source: ComputeLinearStiffness in user_mesh.cc.
    """
    ids = grid.corner(cell)
    extent = grid.node[ids[-1]] - grid.node[ids[0]]
    points, weights = quadrature(grid.order)
    place = np.stack([p.ravel() for p in np.meshgrid(points, points, points, indexing="ij")], axis=1)
    weight = np.einsum("i,j,k->ijk", weights, weights, weights).ravel() * np.prod(extent)
    return -_elastic(gradients(grid.order, place) / extent, weight, young, poisson)


def gradients(order: int, place: np.ndarray) -> np.ndarray:
    """Return the gradients of all functions of a cell at places in it, shape (places, functions, 3)."""
    (x, dx), (y, dy), (z, dz) = (basis(order, place[:, axis]) for axis in range(3))
    parts = [np.einsum("qi,qj,qk->qijk", *p).reshape(len(place), -1) for p in ((dx, y, z), (x, dy, z), (x, y, dz))]
    return np.stack(parts, axis=-1)


def _elastic(gradient: np.ndarray, weight: np.ndarray, young: float, poisson: float) -> np.ndarray:
    """Stiffness of an isotropic solid from the gradients at quadrature points."""
    la = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    mu = young / (2 * (1 + poisson))
    n = gradient.shape[1]
    dot = np.einsum("q,qim,qjm->ij", weight, gradient, gradient)
    outer = np.einsum("q,qik,qjl->ijkl", weight, gradient, gradient)
    form = la * outer + mu * np.swapaxes(outer, 2, 3) + mu * dot[:, :, None, None] * np.eye(3)
    return form.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)
