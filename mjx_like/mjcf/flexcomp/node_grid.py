"""Nodes of interpolated flexcomps: a grid of bodies around the points, empty cells left out."""

from typing import Any

import numpy as np

from mjx_like.mjcf.element import Element
from mjx_like.mjcf.flexcomp.partial_cell import cell_weights, empty_cells, node_shares

_SIMPSON = (1 / 6, 2 / 3, 1 / 6)


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
    held = np.concatenate([point, plan.unused])
    low, high = held.min(axis=0), held.max(axis=0)
    grid = node_grid(cells, order)
    pinned = plan.pinned[: len(grid)].copy()
    if plan.elasticity["elastic2d"] == "none":
        coord = (point - low) / np.where(high > low, high - low, 1) * cells
        weights = cell_weights(coord, plan.shape.element, cells, (high - low) / cells, order)
        plan.empty = empty_cells(weights)
        pinned |= nodes_of_empty(plan.empty, order)
        weight = node_shares(weights, order).ravel()
    else:
        pinned |= ((grid > 0) & (grid < cells * order)).all(axis=1)
        weight = np.ones(len(grid)) if order == 1 else node_weights(cells).ravel()
    coord = low + grid / (cells * order) * (high - low)
    mass = plan.a["mass"] * weight / weight[~pinned].sum()
    bodies, names, axes = [], [], [{"type": "slide", "axis": axis} for axis in np.eye(3)]
    for i, (gx, gy, gz) in enumerate(grid):
        if pinned[i]:
            names.append(parent)
            continue
        names.append(f"{plan.name}_{gx}_{gy}_{gz}")
        inertia = mass[i] * (2.0 * plan.a["inertiabox"] ** 2) / 3.0
        bodies.append(body(plan, names[i], coord[i], mass[i], inertia, axes))
    attrib: dict[str, Any] = {"node": " ".join(names)}
    if pinned.any():
        attrib["nodecoord"] = np.where(pinned[:, None], coord, 0.0).ravel()
    return bodies, attrib


def node_weights(cells: np.ndarray) -> np.ndarray:
    """Share of the mass of a shell that falls on each node of a quadratic grid, shape (nx, ny, nz)."""
    lines = []
    for n in cells:
        line = np.zeros(2 * n + 1)
        for cell in range(n):
            line[2 * cell : 2 * cell + 3] += _SIMPSON
        lines.append(line)
    return np.einsum("i,j,k->ijk", *lines)


def strained_cells(plan: Any) -> list[tuple[int, int, int]]:
    """Cells, or faces of a shell, that get a strain constraint."""
    cx, cy, cz = plan.a["cellcount"]
    if plan.elasticity["elastic2d"] != "none" and plan.order:
        return [(face, -1, -1) for face in range(2 * (cy * cz + cx * cz + cx * cy))]
    cells = [(i, j, k) for i in range(cx) for j in range(cy) for k in range(cz)]
    return [cell for cell in cells if plan.empty is None or not plan.empty[cell]]
