"""Signed distances of points to the surface of a mesh."""

import numpy as np

from mjx_like.compiler.mesh.normal import at_corners

_FEW = 32  # points that are compared with every face that may be nearest to one of them
_ON_EDGE = 1e-9  # barycentric coordinate below which the nearest point lies on an edge


def mesh_distance(point: np.ndarray, vert: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return the distances of points to a mesh, below zero behind the surface, shape (n,) [m].

    Args:
      point: shape (n, 3) [m].
      vert: shape (nvert, 3) [m].
      face: vertices of triangles, shape (nface, 3).

    The surface may be open. Which side is behind is told by the normal where it is nearest: of the face, else the mean
    of the faces that meet there, by their angles at a vertex (Baerentzen and Aanaes, "Signed distance computation using
    the angle weighted pseudonormal", 2005).
    Source: mjCOctree::ComputeSdfCoeffs, whose results these are.
    """
    triangle = vert[face]
    index = _nearest_face(point, triangle)
    near = _closest_point(triangle[index], point)
    offset = point - near
    side = np.sum(offset * _normal_at(near, index, vert, face), axis=1)
    return np.where(side < 0, -1.0, 1.0) * np.linalg.norm(offset, axis=1)


def _nearest_face(point: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """Return the nearest triangle of each point, by halving the points: near each other, few triangles are near all."""
    found = np.zeros(len(point), int)
    middle = triangle.mean(axis=1)
    radius = np.linalg.norm(triangle - middle[:, None], axis=2).max(axis=1)
    work = [(np.arange(len(point)), np.arange(len(triangle)))]
    while work:
        mine, faces = work.pop()
        low, high = point[mine].min(axis=0), point[mine].max(axis=0)
        center = 0.5 * (low + high)
        least = _gaps(center[None], triangle[faces], middle[faces], radius[faces]).min()
        reach = np.linalg.norm(high - low) * (1 + 1e-9) + 1e-12
        faces = faces[np.linalg.norm(middle[faces] - center, axis=1) - radius[faces] <= least + reach]
        if len(mine) <= _FEW or len(faces) == 1:
            found[mine] = faces[_gaps(point[mine], triangle[faces], middle[faces], radius[faces]).argmin(axis=1)]
            continue
        order = np.argsort(point[mine, np.argmax(high - low)], kind="stable")
        work += [(mine[half], faces) for half in np.array_split(order, 2)]
    return found


def _gaps(point: np.ndarray, triangle: np.ndarray, middle: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Return the distance of each point to each triangle that may be its nearest, else infinity, (npoint, ntriangle).

    middle, radius: of balls that hold the triangles, shape (ntriangle, 3), (ntriangle,).
    """
    far = np.linalg.norm(point[:, None] - middle, axis=2)
    row, column = np.nonzero(far - radius <= far.min(axis=1, keepdims=True) * (1 + 1e-9))
    gap = np.full(far.shape, np.inf)
    gap[row, column] = np.linalg.norm(_closest_point(triangle[column], point[row]) - point[row], axis=1)
    return gap


def _closest_point(triangle: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return the point of each triangle that is nearest to a point, shape (n, 3)."""
    from trimesh.triangles import closest_point  # here: few models need it, and it takes 0.2 s to import

    return closest_point(triangle, point)


def _normal_at(near: np.ndarray, index: np.ndarray, vert: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return a vector out of the surface at points on given faces; its length means nothing."""
    normal, corner, edge = _normals(vert, face)
    on = _barycentric(near, vert[face[index]]) < _ON_EDGE
    count = on.sum(axis=1)[:, None]
    across = edge[index, np.argmax(on, axis=1)]  # the edge opposite the corner whose coordinate is zero
    at = corner[face[index, np.argmin(on, axis=1)]]
    return np.where(count == 1, across, np.where(count == 2, at, normal[index]))


def _normals(vert: np.ndarray, face: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return normals of faces, of vertices, and of the edge opposite each corner of a face, shape (nface, 3, 3)."""
    triangle = vert[face]
    normal = _unit(np.cross(triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0]))
    after, before = (_unit(np.roll(triangle, -step, axis=1) - triangle) for step in (1, 2))
    angle = np.arccos(np.clip(np.sum(after * before, axis=2), -1, 1))
    corner = at_corners(len(vert), face, angle[..., None] * normal[:, None])
    keys = np.stack([np.sort(face[:, [(k + 1) % 3, (k + 2) % 3]], axis=1) for k in range(3)], axis=1).reshape(-1, 2)
    _, which = np.unique(keys, axis=0, return_inverse=True)
    edge = np.zeros((which.max() + 1, 3))
    np.add.at(edge, which.ravel(), np.repeat(normal, 3, axis=0))
    return normal, corner, edge[which.ravel()].reshape(len(face), 3, 3)


def _unit(x: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / np.where(length > 0, length, 1)


def _barycentric(point: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """Return the shares of the corners of triangles in points on them, shape (n, 3)."""
    a, b = triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0]
    normal, offset = np.cross(a, b), point - triangle[:, 0]
    square = np.sum(normal * normal, axis=1)
    square = np.where(square > 0, square, 1)
    second = np.sum(np.cross(offset, b) * normal, axis=1) / square
    third = np.sum(np.cross(a, offset) * normal, axis=1) / square
    return np.stack([1 - second - third, second, third], axis=1)
