"""Interpolated flexes: the grid of cells around them, its polynomials, and the stiffness of a cell."""

import dataclasses
from typing import Any

import numpy as np

from mjx_like.mjcf.flexcomp.node_grid import node_grid
from mjx_like.mjcf.flexcomp.partial_cell import cell_points, cell_weights, empty_cells

_SQUARE = 1e-8  # a grid whose axes are further from a right angle is no grid


@dataclasses.dataclass
class Grid:
    """Cells of an interpolated flex.

    cells: their number along each axis; order: of the interpolation; node, vert: positions at qpos0 in axes along the
    grid; empty: cells that hold no mesh, shape (cx, cy, cz); weights: for quadrature in the cells, see flexcut.
    """

    cells: np.ndarray
    order: int
    node: np.ndarray
    vert: np.ndarray
    empty: np.ndarray
    weights: np.ndarray | None = None

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
        if flex.elastic2d:
            return Grid(cells, flex.order, node, vert, empty)
        weights = cell_weights(in_cells(vert, node, cells), flex.elem, cells, np.ptp(node, axis=0) / cells, flex.order)
        empty = empty_cells(weights)
        axes = _axes(flex, cells, empty)
        return Grid(cells, flex.order, flex.xnode @ axes.T, flex.xvert @ axes.T, empty, weights)

    def corner(self, cell: np.ndarray) -> np.ndarray:
        """Ids of the nodes of a cell, z fastest."""
        steps = node_grid(np.ones(3, int), self.order)
        return (cell * self.order + steps) @ _strides(self.cells, self.order)


def in_cells(vert: np.ndarray, node: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return points in units of cells from the lower corner of the box of the nodes."""
    low, extent = node.min(axis=0), np.ptp(node, axis=0)
    return (vert - low) / np.where(extent > 0, extent, 1) * cells


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


def basis(order: int, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the polynomials of one axis and their derivatives at points from 0 to 1, shape (n, order + 1) each."""
    s = np.asarray(at, float)
    if order == 1:
        return np.stack([1 - s, s], axis=-1), np.stack([-np.ones_like(s), np.ones_like(s)], axis=-1)
    values = np.stack([2 * s * s - 3 * s + 1, 4 * (s - s * s), 2 * s * s - s], axis=-1)
    return values, np.stack([4 * s - 3, 4 - 8 * s, 4 * s - 1], axis=-1)


def quadrature(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gauss points from 0 to 1 of one axis, and their weights."""
    points, weights = np.polynomial.legendre.leggauss(order + 1)
    return (points + 1) / 2, weights / 2


def solid_stiffness(grid: Grid, cell: np.ndarray, weights: np.ndarray, young: float, poisson: float) -> np.ndarray:
    """Return the negative stiffness matrix of a cell, shape (3 n, 3 n).

    weights: its quadrature weights on the points of flexcut, shape (m, m, m).
    Source: ComputeLinearStiffness in user_mesh.cc.
    """
    ids = grid.corner(cell)
    extent = grid.node[ids[-1]] - grid.node[ids[0]]
    points = cell_points(grid.order)
    at = np.stack([p.ravel() for p in np.meshgrid(points, points, points, indexing="ij")], axis=1)
    la, mu = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))
    return -elastic(gradients(grid.order, at) / extent, weights.ravel() * np.prod(extent), la, mu)


def gradients(order: int, at: np.ndarray) -> np.ndarray:
    """Return the gradients of all functions of a cell at points in it, shape (points, functions, 3)."""
    (x, dx), (y, dy), (z, dz) = (basis(order, at[:, axis]) for axis in range(3))
    parts = [np.einsum("qi,qj,qk->qijk", *p).reshape(len(at), -1) for p in ((dx, y, z), (x, dy, z), (x, y, dz))]
    return np.stack(parts, axis=-1)


def elastic(gradient: np.ndarray, weight: np.ndarray, la: float, mu: float) -> np.ndarray:
    """Return the stiffness of an isotropic material with Lame constants from the gradients at quadrature points."""
    n = gradient.shape[1]
    dot = np.einsum("q,qim,qjm->ij", weight, gradient, gradient)
    outer = np.einsum("q,qik,qjl->ijkl", weight, gradient, gradient)
    form = la * outer + mu * np.swapaxes(outer, 2, 3) + mu * dot[:, :, None, None] * np.eye(3)
    return form.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)
