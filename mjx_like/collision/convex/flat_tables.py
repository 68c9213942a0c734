"""Tables of the corners, faces and edges of meshes, boxes and cylinders, in NumPy: what a flat contact reads."""

import itertools

import numpy as np

from mjx_like.types.enums import GeomType
from mjx_like.types.plans import SolidPlan
from mjx_like.types.topology import Topology

SIDES = 16  # corners of the polygon that stands for the cap of a cylinder
_SEARCH_ALL = 10  # meshes with fewer vertices offer all of them as support points (mjMESH_HILLCLIMB_MIN)
_BOX_FACES = np.array([[7, 3, 1, 5], [2, 6, 4, 0], [2, 3, 7, 6], [4, 5, 1, 0], [6, 7, 5, 4], [3, 2, 0, 1]])
_BOX_BITS = np.array([[v & 1, v >> 1 & 1, v >> 2 & 1] for v in range(8)])

# MuJoCo writes this polygon with 15 digits; the last ones decide which four corners span the largest area
_COS, _SIN, _HIGH, _LOW = 0.923879532511287, 0.382683432365090, 0.707106781186548, 0.707106781186547
_CAP_X = np.array([1, _COS, _HIGH, _SIN, 0, -_SIN, -_LOW, -_COS, -1, -_COS, -_HIGH, -_SIN, 0, _SIN, _LOW, _COS])
_CAP_Y = np.array([0, _SIN, _LOW, _COS, 1, _COS, _HIGH, _SIN, 0, -_SIN, -_LOW, -_COS, -1, -_COS, -_HIGH, -_SIN])
BOX_CORNERS = 2.0 * _BOX_BITS - 1
BOX_NORMALS = np.repeat(np.eye(3), 2, axis=0) * np.tile([1.0, -1.0], 3)[:, None]
CAP_CORNERS = np.concatenate(
    [np.stack([_CAP_X, -sign * _CAP_Y, np.full(SIDES, sign)], axis=1) for sign in (1.0, -1.0)]
)  # of both caps, in units of radius and half length
CAP_NORMALS = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])


def make_solid(t: Topology, meshes: list[int]) -> SolidPlan:
    """Return the tables for some meshes, boxes and cylinders.

    The order of corners, faces and edges is MuJoCo's: it decides which of equal ones is taken.
    Source: boxFace, meshFace, cylinderFace, meshNormals, meshEdgeNormals.
    """
    vertex, vertices = _entries(t.mesh_vertadr, t.mesh_vertnum, meshes)
    face, faces = _entries(t.mesh_polyadr, t.mesh_polynum, meshes)
    vertex0, face0 = vertex.size, face.size
    supports: list[tuple[int, list[int], list[int]]] = []
    polygons: list[list[int]] = []
    starts, hulls = [], []
    for mesh, first_vertex, first_face in zip(meshes, vertices, faces, strict=True):
        hull = hull_vertices(t, mesh)
        starts.append(len(supports))
        hulls.append(t.mesh_vertadr[mesh] + hull)
        supports += _mesh_supports(t, mesh, hull, first_vertex, first_face)
        polygons += _mesh_polygons(t, mesh, first_vertex)
    starts.append(len(supports))
    for v, sides in enumerate(_BOX_BITS):
        around = [face0 + 2 * k + (0 if positive else 1) for k, positive in enumerate(sides)]
        supports.append((vertex0 + v, around, [vertex0 + (v ^ bit) for bit in (1, 2, 4)]))
    starts.append(len(supports))
    supports += [(vertex0 + 8 + SIDES * cap, [face0 + 6 + cap], []) for cap in (0, 1)]

    polygons += (vertex0 + _BOX_FACES).tolist()
    polygons += [list(range(vertex0 + 8 + SIDES * cap, vertex0 + 8 + SIDES * (cap + 1))) for cap in (0, 1)]
    used = {k for _, around, _ in supports for k in around}
    width = max(len(polygons[k]) for k in used)
    most = max(len(around) for _, around, _ in supports)
    count = max((hull.size for hull in hulls), default=1)
    set_of_mesh = np.zeros(max(t.nmesh, 1), np.int32)
    set_of_mesh[meshes] = np.arange(len(meshes))
    return SolidPlan(
        vertex=vertex,
        polygon=face,
        hull=_rows(hulls or [np.zeros(1, np.int64)], count, None),
        set_of_mesh=set_of_mesh,
        support_start=np.array(starts, np.int32),
        support_corner=np.array([corner for corner, _, _ in supports], np.int32),
        support_face=_rows([around for _, around, _ in supports], most, -1),
        support_end=_rows([ends for _, _, ends in supports], most, -1),
        face_corner=_rows([p if k in used else p[:1] for k, p in enumerate(polygons)], width, None),
        face_size=np.array([len(p) for p in polygons], np.int32),
    )


def hull_vertices(t: Topology, mesh: int) -> np.ndarray:
    """Return the vertices of a mesh that can be support points: of its convex hull, or all of a small mesh."""
    graph = t.mesh_graphadr[mesh]
    if graph < 0 or t.mesh_vertnum[mesh] < _SEARCH_ALL:
        return np.arange(t.mesh_vertnum[mesh])
    count = t.mesh_graph[graph]
    return t.mesh_graph[graph + 2 + count : graph + 2 + 2 * count].astype(np.int64)


def polygon(t: Topology, mesh: int, face: int) -> np.ndarray:
    """Return the vertices of a face of the convex hull of a mesh, counter-clockwise seen from outside."""
    k = t.mesh_polyadr[mesh] + face
    return t.mesh_polyvert[t.mesh_polyvertadr[k] : t.mesh_polyvertadr[k] + t.mesh_polyvertnum[k]]


def _entries(start: np.ndarray, count: np.ndarray, meshes: list[int]) -> tuple[np.ndarray, list[int]]:
    """Return the rows of some meshes in a table of all, one mesh after the other, and where each of them begins."""
    rows = [np.arange(start[mesh], start[mesh] + count[mesh], dtype=np.int32) for mesh in meshes]
    begins = np.cumsum([0, *(own.size for own in rows)])[:-1]
    return np.concatenate([np.zeros(0, np.int32), *rows]), begins.tolist()


def _mesh_polygons(t: Topology, mesh: int, first: int) -> list[list[int]]:
    """Return the corners of the faces of a mesh, clockwise seen from outside; first: the number of its first vertex."""
    faces = slice(t.mesh_polyadr[mesh], t.mesh_polyadr[mesh] + t.mesh_polynum[mesh])
    size, start = t.mesh_polyvertnum[faces], t.mesh_polyvertadr[faces]
    if not size.size:
        return []
    corner = (first + t.mesh_polyvert[start[0] : start[-1] + size[-1]])[::-1].tolist()
    end = len(corner) + start[0] - start
    return [corner[i:j] for i, j in zip((end - size).tolist(), end.tolist(), strict=True)]


def _mesh_supports(
    t: Topology, mesh: int, hull: np.ndarray, first: int, face0: int
) -> list[tuple[int, list[int], list[int]]]:
    """Return for each vertex of a hull its corner, the faces around it, and for each face the corner before it.

    first, face0: the numbers of the first vertex and the first face of the mesh.
    """
    begin = int(t.mesh_polyadr[mesh])
    faces = slice(begin, begin + t.mesh_polynum[mesh])
    size, start = t.mesh_polyvertnum[faces], t.mesh_polyvertadr[faces]
    if not size.size:
        return [(first + vertex, [], []) for vertex in hull.tolist()]
    corner = t.mesh_polyvert[start[0] : start[-1] + size[-1]]
    before = np.roll(corner, 1)
    before[start - start[0]] = corner[start - start[0] + size - 1]
    order = np.argsort(corner, kind="stable")  # as mesh_polymap has the faces around each vertex
    face, vertex = np.repeat(np.arange(size.size), size)[order], corner[order]
    twice = (np.diff(face) == 0) & (np.diff(vertex) == 0)
    before = first + before[order]
    before[:-1] = np.where(twice, before[1:], before[:-1])  # of a vertex twice in a face the last counts
    around, ends = (face0 + face).tolist(), before.tolist()
    starts, stops = (np.searchsorted(vertex, hull, side).tolist() for side in ("left", "right"))
    return [(first + v, around[i:j], ends[i:j]) for v, i, j in zip(hull.tolist(), starts, stops, strict=True)]


def _rows(rows: list, width: int, fill: int | None) -> np.ndarray:
    """Return rows of unequal length in one array; `fill`, or the first entry of each, beyond."""
    size = np.fromiter(map(len, rows), np.int64, len(rows))
    flat = np.fromiter(itertools.chain.from_iterable(rows), np.int32, int(size.sum()))
    first = flat[np.cumsum(size) - size] if fill is None else np.full(len(rows), fill, np.int32)
    out = np.repeat(first[:, None], width, axis=1)
    out[np.arange(width) < size[:, None]] = flat
    return out


def solid_of(t: Topology, geom: np.ndarray, plan: SolidPlan) -> np.ndarray:
    """Return the entry of `plan.support_start` of geoms, -1 where a geom has no flat face."""
    kind, meshes = t.geom_type[geom], plan.support_start.size - 2
    mesh = plan.set_of_mesh[np.maximum(t.geom_dataid[geom], 0)]
    out = np.where(kind == GeomType.MESH, mesh, np.full(geom.shape, -1))
    return np.where(kind == GeomType.BOX, meshes, np.where(kind == GeomType.CYLINDER, meshes + 1, out)).astype(np.int32)
