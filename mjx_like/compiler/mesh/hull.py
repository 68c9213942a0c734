"""Convex hull of a mesh: its triangles, the graph of its vertices, and its flat sides."""

import dataclasses

import numpy as np
import scipy

from mjx_like.compiler.mesh.polygon import polygons
from mjx_like.mjcf.asset.mesh_data import MeshError


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
        """Return the hull of the mirrored mesh: all cycles run the other way, from the same vertex."""
        face = self.face[:, [0, 2, 1]]
        graph = np.concatenate([self.graph[: len(self.graph) - face.size], face.ravel()])
        start = np.cumsum(self.polynum) - self.polynum
        order = np.repeat(2 * start + self.polynum, self.polynum) - np.arange(len(self.polyvert))
        order[start] = start
        return Hull(face, graph, self.polyvert[order], self.polynum)


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
        hull = scipy.spatial.ConvexHull(vert, qhull_options="Qt" if maxhullvert < 0 else f"Qt Q9 TA{maxhullvert - 4}")
    except (scipy.spatial.QhullError, ValueError) as error:
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
