"""Convex hull of a mesh: its triangles, the graph of its vertices, and its flat polygons."""

import dataclasses

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError

from mjx_like.mjcf.asset.mesh_data import MeshError

_FLAT = 0.99999872  # faces whose normals have a larger cosine belong to one polygon; as mjCMesh::MakePolygons has it
_DIGITS = 13  # by which normals are compared when polygons are sorted


@dataclasses.dataclass
class Hull:
    """A convex hull.

    face: triangles, counter-clockwise from outside, as indices of the mesh's vertices, shape (nhullface, 3).
    graph: mesh_graph of this mesh: numvert, numface, vert_edgeadr, vert_globalid, edge_localid, face_globalid.
    polyvert, polynum: the flat sides, each a cycle of the mesh's vertices: vertices of all, and how many each has.
    """

    face: np.ndarray
    graph: np.ndarray
    polyvert: np.ndarray
    polynum: np.ndarray

    def mirrored(self) -> "Hull":
        """Return the hull of the mirrored mesh: all cycles run the other way."""
        face = self.face[:, [0, 2, 1]]
        graph = np.concatenate([self.graph[: len(self.graph) - face.size], face.ravel()])
        start = np.cumsum(self.polynum) - self.polynum
        place = np.repeat(2 * start + self.polynum - 1, self.polynum) - np.arange(len(self.polyvert))
        return Hull(face, graph, self.polyvert[place], self.polynum)


def convex_hull(vert: np.ndarray, maxhullvert: int) -> Hull:
    """Return the convex hull of points.

    Args:
      vert: shape (nvert, 3).
      maxhullvert: number of vertices after which it stops growing, -1 for no limit.

    Raises:
      MeshError: the points lie in a plane.
    Source: mjCMesh::MakeGraph. Faces and their order are Qhull's; hull vertices stand in the order of their ids, where
    MuJoCo has them in Qhull's internal order.
    """
    try:
        hull = ConvexHull(vert, qhull_options="Qt" if maxhullvert < 0 else f"Qt Q9 TA{maxhullvert - 4}")
    except (QhullError, ValueError) as error:
        raise MeshError("has no convex hull: its vertices lie in a plane or on a line") from error
    face = hull.simplices.astype(int)
    a, b, c = (vert[face[:, k]] for k in range(3))
    inward = np.sum(np.cross(b - a, c - a) * hull.equations[:, :3], axis=1) < 0
    face[inward] = face[inward][:, [1, 0, 2]]
    return Hull(face, _graph(face), *polygons(vert, face))


def _graph(face: np.ndarray) -> np.ndarray:
    """Return mesh_graph: from each hull vertex to its neighbours."""
    vert = np.unique(face)
    local = np.searchsorted(vert, face)
    start, end = local.ravel(), np.roll(local, -1, axis=1).ravel()
    edges = np.stack(np.divmod(np.unique(start * len(vert) + end), len(vert)), axis=1)  # a closed hull has both ways
    degree = np.bincount(edges[:, 0], minlength=len(vert))
    address = np.cumsum(degree + 1) - degree - 1
    edge = np.full(len(edges) + len(vert), -1)
    edge[np.arange(len(edges)) + edges[:, 0]] = edges[:, 1]
    return np.concatenate([[len(vert), len(face)], address, vert, edge, face.ravel()])


def polygons(vert: np.ndarray, face: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the flat sides of a convex hull, sorted by their normals, largest first: vertices and sizes.

    A side is what hangs together through edges at which the surface is flat, as long as no normal leaves that of its
    first face; MuJoCo also looks past edges and depends on the order of faces.
    """
    normal = triangle_normals(vert, face)
    side = _sides(face, normal)
    first = np.unique(side, return_index=True)[1]
    rank = np.empty(len(first), int)
    rank[np.lexsort(-np.round(normal[first], _DIGITS).T[::-1])] = np.arange(len(first))
    side = rank[side]
    size = np.bincount(side)
    cycles: list[np.ndarray] = [np.zeros(0, int)] * len(size)
    order = np.argsort(side, kind="stable")
    start = np.cumsum(size) - size
    for i, (at, count) in enumerate(zip(start.tolist(), size.tolist(), strict=True)):
        of_side = face[order[at : at + count]]
        cycles[i] = of_side[0] if count == 1 else _outline(of_side)
    return np.concatenate(cycles), np.array([len(cycle) for cycle in cycles])


def triangle_normals(vert: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return unit normals of triangles, shape (nface, 3); the x axis for one without area."""
    a, b, c = (vert[face[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.where(length > 0, normal / np.where(length > 0, length, 1), [1.0, 0.0, 0.0])


def _sides(face: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return for each triangle the number of the flat side that it belongs to."""
    nface = len(face)
    start, end = face.ravel(), np.roll(face, -1, axis=1).ravel()
    key = np.minimum(start, end) * (face.max() + 1) + np.maximum(start, end)
    owner, order = np.repeat(np.arange(nface), 3), np.argsort(key, kind="stable")
    shared = np.flatnonzero(np.diff(key[order]) == 0)
    a, b = owner[order[shared]], owner[order[shared + 1]]

    def joined(leader: np.ndarray) -> np.ndarray:
        flat = (np.sum(normal[a] * normal[b], axis=1) > _FLAT) & (leader[a] == leader[b])
        links = coo_matrix((np.ones(flat.sum()), (a[flat], b[flat])), (nface, nface))
        return connected_components(links, directed=False)[1]

    side = joined(np.zeros(nface, int))
    for _ in range(nface):
        first = np.unique(side, return_index=True)[1]
        away = np.sum(normal * normal[first[side]], axis=1) <= _FLAT
        if not away.any():
            break
        side = joined(2 * side + away)  # split what has bent away from the first face, as on a finely cut ball
    return side


def _outline(face: np.ndarray) -> np.ndarray:
    """Return the outline of triangles in one plane as a cycle of vertices."""
    edges = [(int(f[k]), int(f[(k + 1) % 3])) for f in face for k in range(3)]
    inner = set(edges)
    after = {start: end for start, end in edges if (end, start) not in inner}
    cycle = [next(iter(after))]
    while after[cycle[-1]] != cycle[0]:
        cycle.append(after[cycle[-1]])
    return np.array(cycle)


def polygon_normals(vert: np.ndarray, polyvert: np.ndarray, polynum: np.ndarray) -> np.ndarray:
    """Return the unit normal of each polygon by Newell's method, shape (npoly, 3)."""
    if not len(polynum):
        return np.zeros((0, 3))
    start = np.cumsum(polynum) - polynum
    corner = vert[polyvert] - np.repeat(vert[polyvert[start]], polynum, axis=0)
    place = np.arange(len(polyvert)) + 1
    place[start + polynum - 1] = start
    normal = np.add.reduceat(np.cross(corner, corner[place]), start, axis=0)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.where(length > 0, normal / np.where(length > 0, length, 1), [1.0, 0.0, 0.0])


def polygon_map(nvert: int, polyvert: np.ndarray, polynum: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the polygons at each vertex, and how many there are, shapes (nmap,) and (nvert,)."""
    polygon = np.repeat(np.arange(len(polynum)), polynum)
    return polygon[np.argsort(polyvert, kind="stable")], np.bincount(polyvert, minlength=nvert)
