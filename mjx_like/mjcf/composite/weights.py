"""Weights that bind the vertices of a refined sheet to its points: bicubic interpolation within each cell.

Derivatives at the corners are central differences, one-sided at the border. Source: bicubic interpolation;
MuJoCo 3.1.6, mjCComposite::MakeSkin2Subgrid, for the order in which things are summed.
"""

from itertools import product

import numpy as np

# Hermite: coefficients of 1, t, t^2, t^3 from the values at 0 and 1 and the derivatives at 0 and 1.
_HERMITE = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [-3, 3, -2, -1], [2, -2, 1, 1]], float)
_CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))  # of a cell, in the order in which corner values are stacked
_INNER = (1, 2)  # places of the cell's own points among the four of a row around it


def _derivative(corner: int, border: int) -> np.ndarray:
    """Weights of the four points of a row for the derivative at a corner of the cell between the middle two.

    corner: 0 or 1; border: 0 if the cell is first in its row, 2 if it is last, 1 in between.
    """
    low = corner if (corner, border) != (0, 0) else 1
    high = corner + 2 if (corner, border) != (1, 2) else 2
    found = np.zeros(4)
    found[low], found[high] = -1.0 / (high - low), 1.0 / (high - low)
    return found


def _corner_values(border: tuple[int, int]) -> np.ndarray:
    """Weights of the 16 points around a cell for f, f_x, f_y and f_xy at its four corners, shape (16, 16)."""
    rows = []
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        for x, y in _CORNERS:
            along = _derivative(x, border[0]) if dx else np.eye(4)[_INNER[x]]
            across = _derivative(y, border[1]) if dy else np.eye(4)[_INNER[y]]
            rows.append(np.outer(along, across).ravel())
    return np.array(rows)


def _polynomial() -> np.ndarray:
    """Coefficients of x^i y^j, row 4 i + j, from the stacked corner values, shape (16, 16)."""
    found = np.zeros((16, 16))
    for i, j in product(range(4), range(4)):
        for order, (dx, dy) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1))):
            for corner, (x, y) in enumerate(_CORNERS):
                found[4 * i + j, 4 * order + corner] = _HERMITE[i, 2 * dx + x] * _HERMITE[j, 2 * dy + y]
    return found


def _terms(x: float, y: float) -> list[float]:
    """x^i y^j for i and j from 0 to 3, each multiplied up from the left."""
    return [float(np.multiply.accumulate([1.0] + [x] * i + [y] * j)[-1]) for i, j in product(range(4), range(4))]


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Matrix product with terms added one after the other, so that what cancels there cancels here."""
    found = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        found += a[:, k : k + 1] * b[k]
    return found


def bind_subgrid(n0: int, n1: int, subgrid: int) -> list[tuple[list[int], list[float]]]:
    """Vertices and weights of each of n0 x n1 points, both sides of the sheet, `subgrid` vertices between two points.

    n0, n1: points along each axis, at least 3.
    """
    step, parts = 1.0 / (1 + subgrid), 1 + subgrid
    m0, m1 = n0 + (n0 - 1) * subgrid, n1 + (n1 - 1) * subgrid
    coords = [s * step for s in range(parts + 1)]
    terms = np.array([_terms(x, y) for x, y in product(coords, coords)])
    terms = _product(terms, _polynomial())
    weight = {border: _product(terms, _corner_values(border)) for border in product(range(3), range(3))}
    found: list[tuple[list[int], list[float]]] = [([], []) for _ in range(n0 * n1)]
    for ix, iy in product(range(n0 - 1), range(n1 - 1)):
        border = tuple(0 if i == 0 else 2 if i == n - 2 else 1 for i, n in ((ix, n0), (iy, n1)))
        bones = [(ix + dx) * n1 + iy + dy for dx, dy in product(range(-1, 3), range(-1, 3))]
        for dx, dy in product(range(parts + (ix == n0 - 2)), range(parts + (iy == n1 - 2))):
            vertex = (ix * parts + dx) * m1 + iy * parts + dy
            row = weight[border][dx * (parts + 1) + dy]
            for k in np.flatnonzero(row):
                found[bones[k]][0].extend((vertex, vertex + m0 * m1))
                found[bones[k]][1].extend((row[k], row[k]))
    return found
