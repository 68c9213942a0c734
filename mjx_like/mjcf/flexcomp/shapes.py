"""Points and elements of the flexcomp types that need no file: grids, boxes, cylinders, ellipsoids, squares, discs."""

from dataclasses import dataclass, field

import numpy as np

from mjx_like.constants import MINVAL

_SMALL = 1e-14  # a coordinate below it stands on an axis
_TETRAHEDRA = ((0, 3, 1, 7), (0, 1, 4, 7), (1, 3, 2, 7), (1, 2, 6, 7), (1, 5, 4, 7), (1, 6, 5, 7))
_CORNERS = np.array(
    [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
)  # of a cube, in the order that _TETRAHEDRA counts them


@dataclass
class Shape:
    """Points, shape (n, 3) [m]; elements, shape (m, dim + 1); texture coordinates, shape (n, 2) or (0, 2)."""

    point: np.ndarray
    element: np.ndarray
    texcoord: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    elemtexcoord: np.ndarray = field(default_factory=lambda: np.zeros(0, int))


def chain(count: np.ndarray, spacing: np.ndarray) -> Shape:
    """A straight line of points along x, around the origin."""
    n = count[0]
    point = np.zeros((n, 3))
    point[:, 0] = spacing[0] * (np.arange(n) - 0.5 * (n - 1))
    return Shape(point, np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))


def ring(count: np.ndarray, spacing: np.ndarray) -> Shape:
    """A closed ring of count - 1 points in the plane of x and y, `spacing` apart."""
    n = count[0] - 1
    theta = 2 * np.pi / n if n else 0.0
    radius = spacing[0] / np.sin(theta / 2) / 2 if n else 0.0
    angle = theta * np.arange(n)
    point = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(n)], axis=1)
    return Shape(point, np.stack([np.arange(n), (np.arange(n) + 1) % max(n, 1)], axis=1))


def sheet(count: np.ndarray, spacing: np.ndarray, radial: bool = False) -> Shape:
    """A triangulated rectangle in the plane of x and y; `radial` turns the diagonals towards the centre."""
    nx, ny, nz = count
    ix, iy = (i.ravel() for i in np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij"))
    point = np.zeros((nx * ny, 3))
    point[:, 0] = spacing[0] * (ix - 0.5 * (nx - 1))
    point[:, 1] = spacing[1] * (iy - 0.5 * (ny - 1))
    texcoord = np.stack([ix / max(nx - 1, 1), iy / max(ny - 1, 1)], axis=1)
    inner = (ix < nx - 1) & (iy < ny - 1)
    jx, jy, x, y = ix[inner], iy[inner], point[inner, 0], point[inner, 1]
    a, b, c, d = (nz * ny * (jx + dx) + nz * (jy + dy) for dx, dy in ((0, 0), (1, 0), (1, 1), (0, 1)))
    flip = radial & (((x < -_SMALL) & (y > -_SMALL)) | ((x > -_SMALL) & (y < -_SMALL)))
    first = np.stack([a, b, np.where(flip, d, c)], axis=1)
    second = np.stack([np.where(flip, b, a), c, d], axis=1)
    return Shape(point, np.stack([first, second], axis=1).reshape(-1, 3), texcoord)


def disc(count: np.ndarray, spacing: np.ndarray) -> Shape:
    """A sheet projected onto a disc."""
    shape = sheet(count, spacing, radial=True)
    xy = shape.point[:, :2]
    reach = np.max(np.abs(xy), axis=1, keepdims=True)
    length = np.linalg.norm(xy, axis=1, keepdims=True)
    unit = np.where(length < MINVAL, [1.0, 0.0], xy / np.where(length < MINVAL, 1, length))
    shape.point[:, :2] = unit * (0.5 * spacing[:2] * (count[:2] - 1)) * reach
    return shape


def block(count: np.ndarray, spacing: np.ndarray) -> Shape:
    """A box of tetrahedra, six to a cube."""
    index = np.stack([i.ravel() for i in np.meshgrid(*map(np.arange, count), indexing="ij")], axis=1)
    point = spacing * (index - 0.5 * (count - 1))
    texcoord = index[:, :2] / np.maximum(count[:2] - 1, 1)
    inner = index[(index < count - 1).all(axis=1)]
    vertex = (inner[:, None] + _CORNERS) @ np.array([count[1] * count[2], count[2], 1])
    return Shape(point, vertex[:, np.array(_TETRAHEDRA)].reshape(-1, 4), texcoord)


def surface(kind: str, count: np.ndarray, spacing: np.ndarray, solid: bool) -> Shape:
    """A box, cylinder or ellipsoid with points on its surface alone.

    solid: tetrahedra from a point at the centre, which is point 0, to all faces; else triangles, the top left open.
    """
    index, side = _surface_points(count, solid)
    point = _project(kind, 2.0 * index / (count - 1) - 1, 0.5 * spacing * (count - 1))
    axes = np.array([(0, 1), (0, 2), (1, 2)])[side]
    texcoord = (np.take_along_axis(index, axes, 1) / np.maximum(count[axes] - 1, 1)).astype(np.float32).astype(float)
    numbers = -np.ones(count, int)
    numbers[tuple(index.T)] = np.arange(len(index))
    element = _surface_elements(numbers, count, solid)
    if solid:
        point = np.concatenate([np.zeros((1, 3)), point])
        texcoord = np.concatenate([np.zeros((1, 2)), texcoord])
        element = np.concatenate([np.zeros((len(element), 1), int), element + 1], axis=1)
    return Shape(point, element, texcoord)


def _surface_points(count: np.ndarray, solid: bool) -> tuple[np.ndarray, np.ndarray]:
    """Grid coordinates of the points on the surface, bottom and top first, and the axis pair that each side spans."""
    nx, ny, nz = count
    top = (nz - 1,) if solid else ()
    rows = [(ix, iy, iz) for iz in (0, *top) for ix in range(nx) for iy in range(ny)]
    high = range(1, nz - 1 if solid else nz)
    found = [(row, 0) for row in rows]
    found += [((ix, iy, iz), 1) for iy in (0, ny - 1) for ix in range(nx) for iz in high]
    found += [((ix, iy, iz), 2) for ix in (0, nx - 1) for iy in range(1, ny - 1) for iz in high]
    return np.array([row for row, _ in found]), np.array([side for _, side in found])


def _project(kind: str, unit: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Points of the cube from -1 to 1, moved onto the shape."""
    if kind == "cylinder":
        reach = np.max(np.abs(unit[:, :2]), axis=1, keepdims=True)
        return np.concatenate([_normalized(unit[:, :2]) * size[:2] * reach, unit[:, 2:] * size[2]], axis=1)
    return (_normalized(unit) if kind == "ellipsoid" else unit) * size


def _normalized(vector: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector, axis=1, keepdims=True)
    first = np.eye(vector.shape[1])[0]
    return np.where(length < MINVAL, first, vector / np.where(length < MINVAL, 1, length))


def _surface_elements(numbers: np.ndarray, count: np.ndarray, solid: bool) -> np.ndarray:
    """Triangles of the six sides as point numbers, two to a cell."""
    last = count - 1
    cells: list[list[tuple[int, int, int]]] = []
    for axis, ends in ((2, (0, last[2])), (1, (0, last[1])), (0, (0, last[0]))):
        first, second = (a for a in range(3) if a != axis)
        for end in ends:
            if axis == 2 and end and not solid:
                continue
            for i in range(last[first]):
                for j in range(last[second]):
                    for corners in _corners(axis, end != 0, solid):
                        cells.append([_at(axis, end, i + di, j + dj) for di, dj in corners])
    index = np.array(cells).reshape(-1, 3, 3)
    return numbers[tuple(np.moveaxis(index, -1, 0))]


def _at(axis: int, end: int, i: int, j: int) -> tuple[int, int, int]:
    pair = [i, j]
    pair.insert(axis, end)
    return tuple(pair)


# Corners of the two triangles of a cell, as offsets along the side's two axes.
_SOLID = (((0, 0), (1, 0), (1, 1)), ((0, 0), (0, 1), (1, 1)))
_OPEN = {
    (2, False): (((0, 0), (1, 1), (1, 0)), ((0, 0), (0, 1), (1, 1))),
    (2, True): (((0, 0), (1, 0), (1, 1)), ((0, 0), (1, 1), (0, 1))),
    (1, False): (((0, 0), (1, 0), (1, 1)), ((0, 0), (1, 1), (0, 1))),
    (1, True): (((1, 0), (0, 0), (0, 1)), ((1, 0), (0, 1), (1, 1))),
    (0, True): (((0, 0), (1, 0), (1, 1)), ((0, 0), (1, 1), (0, 1))),
    (0, False): (((1, 0), (0, 0), (0, 1)), ((1, 0), (0, 1), (1, 1))),
}


def _corners(axis: int, far: bool, solid: bool):
    return _SOLID if solid else _OPEN[axis, far]
