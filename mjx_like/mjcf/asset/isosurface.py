"""The surface on which a field on a grid is zero: marching cubes, in the order of MuJoCo's library.

Source: the case table of MarchingCubeCpp (A. Paris), and the order in which it makes vertices and triangles.
"""

import numpy as np

from mjx_like.mjcf.asset.mesh_data import MeshData

# Triangles of a cube by the signs of its corners (bit i: corner i is inside; its bits are x, y, z): three edges each.
_CASES = """
. 048 509 495489 1a4 1801a8 1a4950 51a5a99a8 b15 5b1804 0b109b 14818bb89 a5ba45 05b0b88ba 40949aa9b 8ba89b 286
062046 950628 295256654 41a286 a62a21120 0958621a4 61a621251295 28615b 604620b15 b09b10628 46162916919b
5a45ba286 2a625a5ba052 286a9ba49409 2a629a9ba 927 048792 250275 827874475 1a4279 1801a8792 250275a41
827871175a81 b15279 0485b1279 7b1712210 48242112717b a5ba45279 7928ba80b05b ba7a407a0702 7827b8ba8 879867
904947746 086065567 467475 7867981a4 79661a916901 a41567506086 a51a65675 87986715b 15b746794904 08606bb6710b
17b147467 4ba45b698679 670ba0a605b0790 ba06707b0860a40 67b6ba 36a a36048 36a095 94895436a 341364 680603301
341364950 958836538513 36a5b1 15b48036a 0b109b6a3 6a3b89b18148 b36b65564 8368030b305b 6b360b09b406 6b368b89b
2a328a 4a3430032 a28a32509 34a394954293 841812213 013032 509213281841 529512132 2a328a5b1 b150320434a3
38a32819b109 9b4324294a34b14 5b4428b24b32 b05b30320 3249b4b34094284 32939b 792a36 2796a3048 527502a36
36a475487827 436413927 927301360680 164136075027 138758518278368 36a79215b 0486a379215b a362102717b1
36ab17127142482 2795645b6b36 2798060360535b3 02b64b40b36b27b 6838b387b827 37939aa98 a04a30390379 8a0a370a7075
34a374754 184178798371 937903013 758138378418508 137175 5b1a98a39379 15ba34304370790 8a7107087b17a37
37a74a7147b1 4539838437935b3 9070370b305b 08437b 7b3 73b 0483b7 5093b7 4954893b7 b7341a 81a80173b 1a4b73095
3b79a895a51a 173157 715731804 973930031 148187789317 3a4347745 80aa7307a057 a40a03309397 3973a9a89 286b73
062046b73 2869503b7 b73654625295 3b7a41286 73b1201a2a62 1a48629503b7 3b762a21a291951 173157862 246204357315
628031093973 469319149739629 8627457343a4 57a20a05a62a73a 2867393093a0a40 2969a693a973 3923b9 3923b9480
b50b03302 54b482b42b23 93b92341a 0a801a2b923b 41a3023b0b50 235a858251a53b5 592521123 804123152592 031023
814821231 3a4349945239 a852353a5925805 43a403023 23a2a8 63b6b88b9 63b6b00b9460 86383003b0b5 b63b56546
1a48b986b63b 016b969063b61a6 1a450b03b083863 a616516b563b 985863583531 319469639049159 608630310 314346
983453593a43863 3a6059 6383083403a4 3a6 6b76ab b6ab76048 6b76ab095 854895a76ab7 1b7174476 0680b6b761b0
9504764171b7 891761681b71951 a15a56657 0486576a5a15 7696a1961910 7618919714816a1 476457 068056576 940974764
897876 72878bb8a b7aa0470a720 095b8ab78728 ab25424a2952b72 4284121721b7 71b721201 0954181281b2b72 5191291721b7
872817157a18 20a57a72a15a04a 1078a7a17287097 14a297 872847457 205257 842472497409 972 26a2a99ab 4809ab92a26a
26a2a55ab025 542ab2b526a2482 4166921961b9 b960161b6806926 64b02b26b50b41b 2681b5 6a1612215259 0489252152616a1
a26a12102 a16126182148 259265645 058568526592 026064 268 8ab8b9 4904a9ab9 0b508b8ab ab5a54 1841b8b98 01b0b9
1b4b84b08b50 b51 5a159a98a 4a0a90a59a15 10818a 14a 459498 590 084 .
""".split()
_MOST = 5  # triangles in one cube
# Edges of a cube: axis along which it runs, and the corner (x, y, z) at which it starts.
_EDGES = [(axis, *corner) for axis, corners in enumerate((
    ((0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)),
    ((0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)),
    ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)),
)) for corner in corners]  # fmt: skip


def isosurface(field: np.ndarray) -> MeshData:
    """Return the surface on which a field is zero, in units of the grid; normals point to where it grows.

    Args:
      field: values at the points of a grid, negative inside, shape (nx, ny, nz).
    """
    value = field.astype(np.float32)
    corners = [value[_cut(x), _cut(y), _cut(z)] for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    case = sum((corner < 0).astype(int) << bit for bit, corner in enumerate(corners))
    cell = np.argwhere((case.T > 0) & (case.T < 255))[:, ::-1]  # along x first, then y, then z
    case = case[tuple(cell.T)]
    vert, number = _vertices(value, cell)
    edges = _edge_numbers(cell, number, value.shape)
    face = _faces(case, edges)
    return MeshData(vert, face, _normals(vert, face))


def _cut(first: int) -> slice:
    return slice(first, -1 if first == 0 else None)


def _vertices(value: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the vertices, one on each edge of the grid that the surface cuts, and where each of them is.

    cell: the cubes that the surface cuts, shape (n, 3). A cube makes those of its edges that none before it has made.
    """
    new = np.zeros((len(cell), len(_EDGES)), bool)
    starts, ends = [], []
    for edge, (axis, *corner) in enumerate(_EDGES):
        start = cell + corner
        a, b = value[tuple(start.T)], value[tuple((start + np.eye(3, dtype=int)[axis]).T)]
        across = [i for i in range(3) if i != axis and corner[i] == 0]
        new[:, edge] = ((a < 0) != (b < 0)) & (cell[:, across] == 0).all(axis=1)
        starts.append(a)
        ends.append(b)
    made, edge = np.nonzero(new)
    axis, corner = np.array(_EDGES)[edge, 0], np.array(_EDGES)[edge, 1:]
    a, b = np.stack(starts, axis=1)[made, edge], np.stack(ends, axis=1)[made, edge]
    point = cell[made] + corner
    vert = point.astype(np.float32)
    vert[np.arange(len(vert)), axis] += a / (a - b)
    return vert, {"axis": axis, "point": point}


def _edge_numbers(cell: np.ndarray, made: dict[str, np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Return the number of the vertex on each edge of each cube, shape (n, 12)."""
    at = np.zeros((3, *shape), int)
    at[(made["axis"], *made["point"].T)] = np.arange(len(made["axis"]))
    return np.stack([at[(axis, *(cell + corner).T)] for axis, *corner in _EDGES], axis=1)


def _faces(case: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the triangles of all cubes, shape (nface, 3)."""
    table, count = np.zeros((256, 3 * _MOST), int), np.zeros(256, int)
    for number, text in enumerate(_CASES):
        if text != ".":
            table[number, : len(text)] = [int(letter, 16) for letter in text]
            count[number] = len(text) // 3
    face = np.take_along_axis(edges, table[case], axis=1).reshape(len(case), _MOST, 3)
    return face[np.arange(_MOST) < count[case][:, None]]


def _normals(vert: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return the normals of the vertices: of the triangles around each, weighted by their area."""
    a, b, c = (vert[face[:, k]] for k in range(3))
    normal = np.zeros_like(vert)
    np.add.at(normal, face.ravel(), np.repeat(_cross(c - b, a - b), 3, axis=0))
    x, y, z = normal.T
    length = np.sqrt(x * x + y * y + z * z)[:, None]
    return np.where(length > 0, normal / np.where(length > 0, length, 1), 0)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)
