"""The constants of an interpolated flex: stiffness of its cells or faces, modes of its strain constraints, bending."""

from typing import Any

import numpy as np

from mjx_like.compiler.flex.cell import solid_stiffness
from mjx_like.compiler.flex.face import bending_records, face_nodes, faces, membrane_stiffness
from mjx_like.mjcf.flexcomp.node_grid import node_grid

_STRAIN = {"young": 10.0, "poisson": 0.3}  # material of strain constraints, whose modes are all that matters
_RIGID = 1e-8  # modes softer than this share of the stiffest are rigid


def cell_stiffness(flex: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the stiffness of all cells or faces, or the modes of their strain, and the bending records of a shell.

    Args:
      flex: an interpolated Flex.
    Source: mjCFlex::Compile.
    """
    e, grid = dict(flex.elasticity), flex.grid
    bending = bending_records(grid, e) if flex.elastic2d & 1 and e["young"] > 0 else np.zeros(0)
    if flex.strained:
        e |= _STRAIN
    elif e["young"] <= 0 or flex.elastic2d == 1:
        return np.zeros(0), bending
    if flex.elastic2d:
        blocks = [(membrane_stiffness(grid, face, e), face) for face in faces(grid)]
        out = [_modes(k, _twist(grid, face, e)) if flex.strained else k for k, face in blocks]
    else:
        out = []
        for cell in node_grid(grid.cells - 1, 1):
            inside = grid.weights[tuple(cell)]
            block = solid_stiffness(grid, cell, inside, e["young"], e["poisson"])
            out.append(_modes(block, None) if flex.strained else block)
    return np.concatenate([k.ravel() for k in out]), bending


def _modes(stiffness: np.ndarray, twist: np.ndarray | None) -> np.ndarray:
    """The number of modes of a negative stiffness matrix, then each scaled by the root of its stiffness."""
    values, vectors = np.linalg.eigh(-stiffness)
    kept = values > _RIGID * np.abs(values).max()
    rows = list((np.sqrt(values[kept]) * vectors[:, kept]).T)
    rows += [twist] if twist is not None else []
    out = np.zeros(stiffness.size)
    out[0] = len(rows)
    if rows:
        out[1 : 1 + len(rows) * len(stiffness)] = np.concatenate(rows)
    return out


def _twist(grid: Any, face: tuple, e: dict[str, float]) -> np.ndarray:
    """The mode in which a face is twisted out of its plane, scaled by the root of its bending stiffness.

    Source: ComputeWarpMode, ComputeWarpStiffness.
    """
    surface, n = face[0], grid.order + 1
    node = face_nodes(grid, *face)
    extent = np.abs(node[-1] - node[0])[list(surface.axes)]
    rigidity = e["young"] * e["thickness"] ** 3 / (12 * (1 - e["poisson"] ** 2))
    stiffness = rigidity * (1 - e["poisson"]) * 4 / np.prod(extent)
    line = 1 - 2 * np.arange(n) / (n - 1)
    mode = np.zeros((n * n, 3))
    mode[:, surface.normal] = np.outer(line, line).ravel()
    return np.sqrt(stiffness) * mode.ravel() / np.linalg.norm(mode)
