"""Cells of an interpolated flex that its mesh fills in part: quadrature weights for what is inside.

Tetrahedra, or for a closed surface signed ones from one point to its triangles, are cut along the planes between the
cells; an open surface is sampled, see flexopen. A piece contributes the integrals of the Lagrange polynomials on a
grid of points in its cell, which so becomes a quadrature rule for the polynomials that a stiffness matrix is made of.
"""

import numpy as np

from mjx_like.mjcf.flexcomp.open_surface import open_shares, sample_points

_PIECES = 200  # that are integrated at once
_VOID = 1e-6  # share of a full cell's stiffness that the part without mesh has
_LEAST = 0.02  # share of the mass in a full grid that every node has at least
_FULL = 1e-9  # share of a cell that may be missing in a full one
_SAME = 1e-9  # distance of vertices that are one, relative to the extent of the mesh
_THIN = 1e-12  # volume of a surface that encloses none, likewise


def cell_weights(coord: np.ndarray, elem: np.ndarray, cells: np.ndarray, size: np.ndarray, order: int) -> np.ndarray:
    """Return quadrature weights of all cells on the points of `cell_points`, shape (cx, cy, cz, n, n, n).

    Weights of a full cell add up to one, those of an empty one are zero. In a cell that the mesh fills in part, the
    rest keeps a small share of its weight.

    local: coordinates of the vertices in units of cells, from the lower corner of the grid, shape (n, 3).
    elem: lines, triangles or tetrahedra; cells: number along each axis; size: edges of a cell, 0 where the mesh has
    no extent [m]; order: of the interpolation.
    """
    if elem.shape[1] == 2:
        return _line_weights(coord, elem, cells, order)
    if elem.shape[1] == 3 and not _encloses(coord * size, elem):
        return _open_weights((coord * size)[elem], cells, size, order)
    tet = coord[elem] if elem.shape[1] == 4 else _cones(coord[elem])
    sign = np.ones(len(tet)) if elem.shape[1] == 4 else np.sign(_volume(tet))
    sign = sign * np.sign(np.sum(sign * np.abs(_volume(tet))))
    for axis in range(3):
        tet, sign = _sliced(tet, sign, axis, int(cells[axis]))
    cell = np.clip(np.floor(tet.mean(axis=1)).astype(int), 0, cells - 1)
    share = np.zeros(cells)
    np.add.at(share, tuple(cell.T), sign * np.abs(_volume(tet)))
    full = np.abs(share - 1) < _FULL
    rest = ~full[tuple(cell.T)]
    tet, sign, cell = tet[rest], sign[rest], cell[rest]
    weights = full[..., None, None, None] * _full_cell(order)
    for start in range(0, len(tet), _PIECES):
        part = slice(start, start + _PIECES)
        local = tet[part] - cell[part][:, None]
        np.add.at(weights, tuple(cell[part].T), sign[part][:, None, None, None] * _integrals(local, order))
    return _closed(weights, order)


def _encloses(vert: np.ndarray, face: np.ndarray) -> bool:
    """Whether a surface has a volume: every edge is run through as often in one direction as in the other."""
    extent = np.ptp(vert, axis=0)
    welded = np.round((vert - vert.min(axis=0)) / (_SAME * max(extent.max(), 1e-6)))
    joined = np.unique(welded, axis=0, return_inverse=True)[1].reshape(-1)[face]
    joined = joined[(joined != np.roll(joined, 1, axis=1)).all(axis=1)]
    ends = joined[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    ends, back = ends[np.lexsort(ends.T)], ends[:, ::-1]
    if len(joined) < 4 or not np.array_equal(ends, back[np.lexsort(back.T)]):
        return False
    return extent.min() > 0 and abs(_volume(_cones(vert[face])).sum()) > _THIN * np.prod(extent)


def _line_weights(coord: np.ndarray, elem: np.ndarray, cells: np.ndarray, order: int) -> np.ndarray:
    """Weights where the cells that lines touch are full."""
    full = np.zeros(cells, bool)
    box = np.clip(coord[elem].astype(int), 0, cells - 1)
    for low, high in zip(box.min(axis=1), box.max(axis=1), strict=True):
        full[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))] = True
    return full[..., None, None, None] * _full_cell(order)


def _open_weights(corner: np.ndarray, cells: np.ndarray, size: np.ndarray, order: int) -> np.ndarray:
    """Weights of what an open surface winds around, from samples: a rule that is exact for the same polynomials."""
    shares, kept = open_shares(corner, cells, size, order)
    points, line = sample_points(order)
    rule = line[:, None] * _lagrange(points, order)
    weights = np.einsum("xyzabc,ai,bj,ck->xyzijk", shares, rule, rule, rule, optimize=True)
    return np.where(kept[..., None, None, None], weights + _VOID * (_full_cell(order) - weights), 0)


def empty_cells(weights: np.ndarray) -> np.ndarray:
    """Which cells hold nothing of the mesh, shape (cx, cy, cz)."""
    return ~weights.any(axis=(3, 4, 5))


def node_shares(weights: np.ndarray, order: int) -> np.ndarray:
    """Share of the volume that falls on each node, shape (nx, ny, nz), in units of cells.

    It is distributed by linear functions, or by quadratic B-splines; a node has at least a small part of what it would
    have if all cells but the empty ones were full.
    """
    s = cell_points(order)
    values = np.array([1 - s, s] if order == 1 else [(1 - s) ** 2 / 2, 0.5 + s * (1 - s), s**2 / 2])
    shares = np.einsum("xyzijk,ai,bj,ck->xyzabc", weights, values, values, values)
    line = values @ lagrange_integrals(order)
    least = _LEAST * np.einsum("i,j,k->ijk", line, line, line)
    found = np.zeros(np.array(weights.shape[:3]) * order + 1)
    for coord in np.argwhere(~empty_cells(weights)):
        block = tuple(slice(p * order, p * order + order + 1) for p in coord)
        found[block] += np.maximum(shares[tuple(coord)], least)
    return found


def _closed(weights: np.ndarray, order: int) -> np.ndarray:
    """Weights where parts without mesh are nearly void, and cells without any are empty."""
    share = weights.sum(axis=(3, 4, 5))
    weights = weights + _VOID * (_full_cell(order) - weights)
    return np.where((share > _FULL)[..., None, None, None], weights, 0)


def _full_cell(order: int) -> np.ndarray:
    """Weights of a full cell, shape (n, n, n)."""
    line = lagrange_integrals(order)
    return np.einsum("i,j,k->ijk", line, line, line)


def cell_points(order: int) -> np.ndarray:
    """The points of one axis, from 0 to 1: as many as polynomials of degree 2 order need."""
    return (np.polynomial.legendre.leggauss(2 * order + 1)[0] + 1) / 2


def lagrange_integrals(order: int) -> np.ndarray:
    """Integrals of the Lagrange polynomials of one axis from 0 to 1."""
    return np.polynomial.legendre.leggauss(2 * order + 1)[1] / 2


def _cones(face: np.ndarray) -> np.ndarray:
    """Tetrahedra from the middle of a surface to its triangles."""
    middle = face.mean(axis=(0, 1))
    return np.concatenate([np.broadcast_to(middle, (len(face), 1, 3)), face], axis=1)


def _volume(tet: np.ndarray) -> np.ndarray:
    """Signed volumes."""
    return np.linalg.det(tet[:, 1:] - tet[:, :1]) / 6


def _sliced(tet: np.ndarray, sign: np.ndarray, axis: int, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Tetrahedra cut at the planes 1, 2, ... across an axis."""
    for plane in range(1, cells):
        height = tet[:, :, axis] - plane
        crossed = (height.min(axis=1) < 0) & (height.max(axis=1) > 0)
        order = np.argsort(height[crossed], axis=1)
        cut = np.take_along_axis(tet[crossed], order[:, :, None], axis=1)
        pieces, owner = _halves(cut, np.take_along_axis(height[crossed], order, axis=1))
        tet = np.concatenate([tet[~crossed], pieces])
        sign = np.concatenate([sign[~crossed], sign[crossed][owner]])
    return tet, sign


def _halves(tet: np.ndarray, height: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pieces of tetrahedra on both sides of the plane at height 0, and which tetrahedron each is of.

    height: of the corners, in ascending order.
    """
    below = (height < 0).sum(axis=1)
    pieces, owner = [], []
    for number in (1, 2, 3):
        rows = np.flatnonzero(below == number)
        x, h = tet[rows], height[rows]

        def cross(i: int, j: int, x=x, h=h) -> np.ndarray:
            rise = h[:, j] - h[:, i]
            share = -h[:, i] / np.where(rise > 0, rise, 1)
            return x[:, i] + share[:, None] * (x[:, j] - x[:, i])

        for corners in _PARTS[number]:
            pieces.append(np.stack([x[:, c] if isinstance(c, int) else cross(*c) for c in corners], axis=1))
            owner.append(rows)
    return np.concatenate(pieces), np.concatenate(owner)


# Pieces by how many corners are below: corners, and points on edges as pairs of corners.
_PARTS = {
    1: (
        (0, (0, 1), (0, 2), (0, 3)),
        ((0, 1), (0, 2), (0, 3), 3), ((0, 1), (0, 2), 2, 3), ((0, 1), 1, 2, 3),
    ),
    2: (
        (0, 1, (0, 2), (0, 3)), (1, (0, 2), (0, 3), (1, 3)), (1, (0, 2), (1, 2), (1, 3)),
        (3, 2, (0, 2), (1, 2)), (3, (0, 2), (1, 2), (1, 3)), (3, (0, 2), (0, 3), (1, 3)),
    ),
    3: (
        (3, (0, 3), (1, 3), (2, 3)),
        ((0, 3), (1, 3), (2, 3), 0), ((1, 3), (2, 3), 0, 1), ((2, 3), 0, 1, 2),
    ),
}  # fmt: skip


def _integrals(tet: np.ndarray, order: int) -> np.ndarray:
    """Integrals over tetrahedra of the Lagrange polynomials of the unit cube, shape (n, m, m, m)."""
    coord, weight = _rule(3 * order + 1)  # exact for what stiffness integrates: degree 4 or 10
    corner = np.concatenate([1 - coord.sum(axis=1, keepdims=True), coord], axis=1)
    x, y, z = np.moveaxis(_lagrange(np.einsum("qc,tcd->tqd", corner, tet), order), 2, 0)
    weight = np.abs(_volume(tet))[:, None] * 6 * weight
    return np.einsum("tq,tqi,tqj,tqk->tijk", weight, x, y, z, optimize=True)


def _lagrange(coord: np.ndarray, order: int) -> np.ndarray:
    """Values of the Lagrange polynomials of `cell_points` at points, one axis more."""
    points = cell_points(order)
    others = [np.delete(points, i) for i in range(len(points))]
    values = [np.prod([(coord - p) / (points[i] - p) for p in others[i]], axis=0) for i in range(len(points))]
    return np.stack(values, axis=-1)


def _rule(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights in the unit tetrahedron, exact for degree 2 n - 3: a cube's rule, one side collapsed."""
    points, weights = np.polynomial.legendre.leggauss(n)
    points, weights = (points + 1) / 2, weights / 2
    a, b, c = (p.ravel() for p in np.meshgrid(points, points, points, indexing="ij"))
    weight = np.einsum("i,j,k->ijk", weights, weights, weights).ravel() * (1 - a) ** 2 * (1 - b)
    return np.stack([a, b * (1 - a), c * (1 - a) * (1 - b)], axis=1), weight
