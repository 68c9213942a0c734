"""Nodes of interpolated flexcomps: a grid of bodies around the points, empty cells left out."""

from typing import Any

import numpy as np

from mjx_like.mjcf.element import Element

_SIDES = np.array([(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)])
_SIMPSON = (1 / 6, 2 / 3)


def empty_cells(
    point: np.ndarray, element: np.ndarray, cells: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Which cells of a grid hold nothing of a mesh, shape (cx, cy, cz).

    The cells that an element's box touches are full; so are those inside a closed surface of triangles.

    point: shape (n, 3); element: shape (m, dim + 1); low, high: corners of the grid.
    Source: mjCFlex::ComputeCellEmpty.
    """
    box = point[element]
    first, last = (_cell_of(corner, cells, low, high) for corner in (box.min(axis=1), box.max(axis=1)))
    full = np.zeros(cells, bool)
    for a, b in zip(first, last, strict=True):
        full[a[0] : b[0] + 1, a[1] : b[1] + 1, a[2] : b[2] + 1] = True
    return _outside(full) if element.shape[1] == 3 else ~full


def _cell_of(place: np.ndarray, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    extent = high - low
    share = (place - low) / np.where(extent > 0, extent, 1) * cells
    return np.where(extent > 0, np.clip(share.astype(int), 0, cells - 1), 0)


def _outside(full: np.ndarray) -> np.ndarray:
    """Cells that are reached from the boundary without crossing a full one."""
    border = np.ones(full.shape, bool)
    border[1:-1, 1:-1, 1:-1] = False
    empty = border & ~full
    while True:
        padded = np.pad(empty, 1)
        grown = empty.copy()
        for side in _SIDES:
            grown |= padded[tuple(slice(1 + s, 1 + s + n) for s, n in zip(side, full.shape, strict=True))]
        grown &= ~full
        if (grown == empty).all():
            return empty
        empty = grown


def node_grid(cells: np.ndarray, order: int) -> np.ndarray:
    """Grid coordinates of all nodes, z fastest, shape (nnode, 3)."""
    return np.stack([i.ravel() for i in np.meshgrid(*map(np.arange, cells * order + 1), indexing="ij")], axis=1)


def nodes_of_empty(empty: np.ndarray, order: int) -> np.ndarray:
    """Which nodes belong to empty cells alone, shape (nnode,)."""
    touched = np.zeros(np.array(empty.shape) * order + 1, bool)
    for cell in np.argwhere(~empty):
        touched[tuple(slice(c * order, c * order + order + 1) for c in cell)] = True
    return ~touched.ravel()


def node_bodies(plan: Any, parent: str, body: Any) -> tuple[list[Element], dict[str, Any]]:
    """Bodies of the free nodes, and the attributes of the flex that name them.

    plan: the flexcomp's Plan; parent: body of the pinned nodes; body: makes a body of a Plan.
    """
    cells, order, point = plan.a["cellcount"], plan.order, plan.shape.point
    low, high = point.min(axis=0), point.max(axis=0)
    grid = node_grid(cells, order)
    pinned = plan.pinned[: len(grid)].copy()
    if plan.elasticity["elastic2d"] == "none":
        plan.empty = empty_cells(point, plan.shape.element, cells, low, high)
        pinned |= nodes_of_empty(plan.empty, order)
    else:
        pinned |= ((grid > 0) & (grid < cells * order)).all(axis=1)
    place = low + grid / (cells * order) * (high - low)
    weight = node_weights(cells, order)[tuple(grid.T)]
    mass = plan.a["mass"] * weight / weight[~pinned].sum()
    bodies, names, axes = [], [], [{"type": "slide", "axis": axis} for axis in np.eye(3)]
    for i, (gx, gy, gz) in enumerate(grid):
        if pinned[i]:
            names.append(parent)
            continue
        names.append(f"{plan.name}_{gx}_{gy}_{gz}")
        inertia = mass[i] * (2.0 * plan.a["inertiabox"] ** 2) / 3.0
        bodies.append(body(plan, names[i], place[i], mass[i], inertia, axes))
    attrib: dict[str, Any] = {"node": " ".join(names)}
    if pinned.any():
        attrib["nodecoord"] = np.where(pinned[:, None], place, 0.0).ravel()
    return bodies, attrib


def node_weights(cells: np.ndarray, order: int) -> np.ndarray:
    """Share of the mass of a full grid that falls on each node, shape (nx, ny, nz)."""
    lines = []
    for n in cells:
        line = np.zeros(n * order + 1)
        shares = (0.5, 0.5) if order == 1 else (*_SIMPSON, _SIMPSON[0])
        for cell in range(n):
            line[cell * order : cell * order + order + 1] += shares
        lines.append(line)
    return np.einsum("i,j,k->ijk", *lines)


def strained_cells(plan: Any) -> list[tuple[int, int, int]]:
    """Cells, or faces of a shell, that get a strain constraint."""
    cx, cy, cz = plan.a["cellcount"]
    if plan.elasticity["elastic2d"] != "none" and plan.order:
        return [(face, -1, -1) for face in range(2 * (cy * cz + cx * cz + cx * cy))]
    cells = [(i, j, k) for i in range(cx) for j in range(cy) for k in range(cz)]
    return [cell for cell in cells if plan.empty is None or not plan.empty[cell]]
