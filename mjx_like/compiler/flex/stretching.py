"""Stretching stiffness of triangles and tetrahedra: a quadratic form of the squared lengths of their edges."""

from typing import Any

import numpy as np

# For each edge of EDGES, the two faces whose normals span its strain, as vertices of the element.
_SIDES = {
    2: (((2, 0), (0, 1)), ((0, 1), (1, 2)), ((1, 2), (2, 0))),
    3: (
        ((1, 2, 3), (2, 0, 3)), ((0, 1, 3), (2, 0, 3)), ((1, 2, 3), (0, 1, 3)),
        ((0, 1, 3), (2, 1, 0)), ((2, 1, 0), (1, 2, 3)), ((2, 1, 0), (2, 0, 3)),
    ),
}  # fmt: skip
_ROOM = 24  # numbers that mjModel keeps for each element


def stretch_stiffness(flex: Any, folds: bool) -> np.ndarray:
    """Return the stiffness of all elements, the upper triangle of a symmetric matrix over their edges.

    The energy of an element is that of Saint Venant and Kirchhoff, plane stress in a shell.

    Args:
      flex: a Flex of dimension 2 or 3; folds: bending is plastic, and the thickness follows the first matrix.

    Source: ComputeStiffness in user_mesh.cc; XML reference, flex elasticity.
    """
    e, dim = flex.elasticity, flex.dim
    young, poisson = e["young"], e["poisson"]
    out = np.zeros((len(flex.elem), _ROOM if dim == 3 else 21))
    if folds:
        out[0, 6] = e["thickness"]
    if dim == 2 and not flex.elastic2d & 2:
        return out.ravel()
    x = flex.xvert[flex.elem]
    volume, strain = _shell_strains(x) if dim == 2 else _solid_strains(x)
    mu = young / (2 * (1 + poisson))
    if dim == 2:
        first, amount = young * poisson / (1 - poisson**2), volume * e["thickness"]
    else:
        first, amount = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), np.abs(volume)
    trace = np.einsum("neii->ne", strain)
    product = np.einsum("neij,nfji->nef", strain, strain)
    form = amount[:, None, None] * (mu * product + 0.5 * first * trace[:, :, None] * trace[:, None, :])
    rows, columns = np.triu_indices(form.shape[1])
    out[:, : len(rows)] = form[:, rows, columns]
    return out.ravel()


def _shell_strains(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Areas, and per edge the strain that its squared length measures, shape (n, 3, 3, 3)."""
    normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    area = np.linalg.norm(normal, axis=1) / 2
    strains = []
    for left, right in _SIDES[2]:
        along_left, along_right = x[:, left[0]] - x[:, left[1]], x[:, right[1]] - x[:, right[0]]
        up = np.cross(along_right, along_left)
        up = up / np.linalg.norm(up, axis=1, keepdims=True)
        a, b = np.cross(up, along_left), np.cross(along_right, up)
        strains.append(_symmetric(a, b) / (8 * area**2)[:, None, None])
    return area, np.stack(strains, axis=1)


def _solid_strains(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Volumes, and per edge the strain that its squared length measures, shape (n, 6, 3, 3)."""
    volume = np.sum(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 0]), axis=1) / 6
    strains = []
    for left, right in _SIDES[3]:
        a, b = (np.cross(x[:, f[1]] - x[:, f[0]], x[:, f[2]] - x[:, f[0]]) for f in (left, right))
        strains.append(_symmetric(a, b) / (72 * volume**2)[:, None, None])
    return volume, np.stack(strains, axis=1)


def _symmetric(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, :, None] * b[:, None, :] + b[:, :, None] * a[:, None, :]
