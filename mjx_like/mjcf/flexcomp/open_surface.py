"""Cells of an interpolated flex in which an open surface lies: what it winds around, at sample points."""

import itertools

import numpy as np

from mjx_like.mjcf.flexcomp.winding_number import Surface

_INSIDE = 0.49999  # winding number of the surface around a point that is inside
_BAND = 0.02  # share of a cell's edge at its sides where a triangle does not yet count as in it
_SLACK = 1e-9  # of a box, relative to its largest edge


def open_shares(corner: np.ndarray, cells: np.ndarray, size: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each sample point in each cell and which cells hold something.

    The samples are the Gauss points of a cell's eight parts, `sample_points` along each axis. A surface that winds
    around none of them, as one in a plane does, fills the cells in which it lies.

    corner: of the triangles from the lower corner of the grid, shape (n, 3, 3) [m]; cells: number along each axis;
    size: edges of a cell [m]; order: of the interpolation.
    Returns shares of 0 or 1, shape (cx, cy, cz, n, n, n), and a mask, shape (cx, cy, cz).
    Source: mjCFlex::ComputeCellEmpty.
    """
    number = 2 * (order + 1)
    band = np.where(cells > 1, _BAND, 0) * size
    touched, within = np.zeros(cells, bool), np.zeros(cells, bool)
    triangles = {}
    for cell in itertools.product(*map(range, cells)):
        low = np.array(cell) * size
        found = corner[meets_box(corner, low, low + size)]
        touched[cell], triangles[cell] = len(found) > 0, found
        within[cell] = meets_box(found, low + band, low + size - band).any()
    shares = np.zeros((*cells, number, number, number))
    if (size > 0).all():
        surface = Surface.make(corner)
        solid, kept = np.zeros(cells, bool), np.zeros(cells, bool)
        for cell in itertools.product(*map(range, cells)):
            if not touched[cell]:
                before = [tuple(np.array(cell) - step) for step in np.eye(3, dtype=int)[::-1] if cell[step.argmax()]]
                known = [solid[c] for c in before if not touched[c]]
                solid[cell] = known[0] if known else _inside(surface, (np.array(cell) + 0.5) * size)
                shares[cell], kept[cell] = solid[cell], solid[cell] or cells.prod() == 1
            elif within[cell] or cells.prod() == 1 or _inside(surface, (np.array(cell) + 0.5) * size):
                shares[cell] = _samples(surface, triangles[cell], np.array(cell) * size, size, order)
                solid[cell], kept[cell] = shares[cell].all(), True
        if shares.any():
            return shares, kept
    kept = np.ones(cells, bool) if cells.prod() == 1 else within if within.any() else touched
    shares[kept] = 1
    return shares, kept


def sample_points(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples of one axis of a cell, from 0 to 1, and their weights."""
    points, weights = np.polynomial.legendre.leggauss(order + 1)
    return np.concatenate([points + 1, points + 3]) / 4, np.concatenate([weights, weights]) / 4


def _samples(surface: Surface, corner: np.ndarray, low: np.ndarray, size: np.ndarray, order: int) -> np.ndarray:
    """Shares of the sample points of a cell; a part of it without triangles is inside where its middle is."""
    points, half = sample_points(order)[0], order + 1
    shares = np.zeros([len(points)] * 3)
    for part in itertools.product(range(2), repeat=3):
        start = low + np.array(part) * size / 2
        block = tuple(slice(p * half, (p + 1) * half) for p in part)
        if meets_box(corner, start, start + size / 2).any():
            local = np.stack(np.meshgrid(*(points[b] for b in block), indexing="ij"), axis=-1)
            shares[block] = _inside(surface, (low + local * size).reshape(-1, 3)).reshape(half, half, half)
        else:
            shares[block] = _inside(surface, start + size / 4)
    return shares


def _inside(surface: Surface, point: np.ndarray) -> np.ndarray:
    return np.abs(surface.winding(np.atleast_2d(point))) >= _INSIDE


def meets_box(corner: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return which triangles meet a box, by the separating axes of both, shape (n,).

    Source: Akenine-Moeller, Fast 3D Triangle-Box Overlap Testing, 2001.
    """
    half = (high - low) / 2
    half = half + _SLACK * max(half.max(), 1e-6)
    x = corner - (low + high) / 2
    meets = ((x.min(axis=1) <= half) & (x.max(axis=1) >= -half)).all(axis=1)
    x = x[meets]
    edge = np.roll(x, -1, axis=1) - x
    axes = np.concatenate([*(np.cross(axis, edge) for axis in np.eye(3)), np.cross(edge[:, :1], edge[:, 1:2])], axis=1)
    at = np.einsum("nak,nck->nac", axes, x)
    reach = np.abs(axes) @ half
    meets[meets] = ((at.min(axis=2) <= reach) & (at.max(axis=2) >= -reach)).all(axis=1)
    return meets
