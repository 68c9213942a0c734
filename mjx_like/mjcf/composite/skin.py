"""Skins of composites: sheets with two sides, the faces of blocks, the smooth surfaces of cylinders and ellipsoids.

A skin is bound to the bodies of its composite, so that most of its vertices are at the origin of their body.
Source: MuJoCo 3.1.6, mjCComposite::MakeSkin2, MakeSkin3 and what they call.
"""

from itertools import product

import numpy as np

from mjx_like.mjcf.composite.plan import Plan
from mjx_like.mjcf.composite.weights import bind_subgrid
from mjx_like.mjcf.frame import IDENTITY

_ORIGIN = np.zeros(3)
Bone = tuple[str, np.ndarray, list[int], list[float]]


def _add(plan: Plan, vertex: np.ndarray, texcoord: np.ndarray, face: np.ndarray, bones: list[Bone], inflate: float):
    """Append the skin to the model; texcoord is used if the composite asks for it."""
    a = plan.skin or {"material": "", "group": 0, "rgba": np.ones(4), "texcoord": False}
    attrib = {"name": f"{plan.prefix}Skin", "rgba": a["rgba"], "inflate": float(inflate), "group": a["group"]}
    attrib |= {"vertex": np.float32(vertex).astype(float).ravel(), "face": face.ravel()}
    if a["material"]:
        attrib["material"] = a["material"]
    if a["texcoord"]:
        attrib["texcoord"] = np.float32(texcoord).astype(float).ravel()
    children = [
        plan.made(
            "bone",
            {
                "body": plan.prefix + body, "bindpos": np.float32(pos).astype(float), "bindquat": IDENTITY,
                "vertid": np.array(ids, float), "vertweight": np.float32(weight).astype(float),
            },
        )
        for body, pos, ids, weight in bones
    ]  # fmt: skip
    plan.add("deformable", plan.made("skin", attrib, children))


def _grid_texcoord(n0: int, n1: int) -> np.ndarray:
    """Texture coordinates of the points of a grid, from 0 to 1 along each axis, single precision."""
    last = np.float32([n0 - 1, n1 - 1])
    return np.float32(list(product(range(n0), range(n1)))) / np.maximum(last, np.float32(1))


def two_sides(n0: int, n1: int) -> np.ndarray:
    """Triangles of a sheet of n0 x n1 points with two sides and thin edges between them, shape (m, 3)."""
    n = n0 * n1
    face = []
    for side in range(2):
        for i, j in product(range(n0 - 1), range(n1 - 1)):
            face += _cell(side * n + i * n1 + j, n1, 1, side == 1)
    for j, step in ((0, -1), (n1 - 1, 1)):
        face += [tri for i in range(n0 - 1) for tri in _seam(i * n1 + j, (i + 1) * n1 + j, n, step)]
    for i, step in ((0, 1), (n0 - 1, -1)):
        face += [tri for j in range(n1 - 1) for tri in _seam(i * n1 + j, i * n1 + j + 1, n, step)]
    return np.array(face, int).reshape(-1, 3)


def _cell(a: int, up: int, right: int, flip: bool) -> list[tuple[int, int, int]]:
    """Two triangles of a cell whose first corner is point a."""
    b, c, d = a + up, a + up + right, a + right
    return [(a, c, b), (a, d, c)] if flip else [(a, b, c), (a, c, d)]


def _seam(a: int, b: int, n: int, step: int) -> list[tuple[int, int, int]]:
    """Two triangles between the sides along an edge from a to b."""
    return [(a, b, n + b), (a, n + b, n + a)] if step > 0 else [(a, n + b, b), (a, n + a, n + b)]


def sheet_skin(plan: Plan, inflate: float, names: list[str], pos: np.ndarray | None = None) -> None:
    """Add the skin of a sheet whose points belong to bodies.

    names: body of each point; pos: where it is in its body, None for a flat sheet.
    """
    n0, n1 = plan.count[:2]
    n = n0 * n1
    subgrid = plan.skin["subgrid"] if plan.skin else 0
    if not subgrid:
        pos = np.zeros((n, 3)) if pos is None else pos
        bones = [(name, pos[i], [i, n + i], [1.0, 1.0]) for i, name in enumerate(names)]
        texcoord = np.tile(_grid_texcoord(n0, n1), (2, 1))
        _add(plan, np.zeros((2 * n, 3)), texcoord, two_sides(n0, n1), bones, inflate)
        return
    m0, m1 = (k + (k - 1) * subgrid for k in (n0, n1))
    flat = np.array(list(product(range(m0), range(m1), (0,))), float)
    if pos is None:
        pos = np.array(list(product(range(n0), range(n1), (0,)))) * plan.spacing
    bound = bind_subgrid(n0, n1, subgrid)
    bones = [(name, pos[i], *bound[i]) for i, name in enumerate(names)]
    vertex = np.tile(flat * (plan.spacing / (1 + subgrid)), (2, 1))
    _add(plan, vertex, np.tile(_grid_texcoord(m0, m1), (2, 1)), two_sides(m0, m1), bones, inflate)


def cable_skin(plan: Plan) -> None:
    """Add the skin of a cable of boxes: a band of their width, as thick as they are.

    Raises ModelError for a subgrid of a cable too short for it.
    """
    n = int(plan.count[0])
    subgrid = plan.skin["subgrid"] if plan.skin else 0
    if subgrid and n < 3:
        raise plan.element.error("subgrid of the skin needs a cable of at least 3 points")
    half, width, thick = plan.geom.get("size", np.zeros(3))
    across = (-width, 0.0, width) if subgrid else (-width, width)
    names, pos = [], []
    for i in range(n):
        body = "B_first" if i == 0 else "B_last" if i >= n - 2 else f"B_{i}"
        for y in across:
            names.append(body)
            pos.append((-2 * half if i == n - 1 else 0.0, y, 0.0))
    plan.count[1] = len(across)
    sheet_skin(plan, 2 * thick, names, np.array(pos))
    plan.count[1] = 1


def surface_skin(plan: Plan, face: np.ndarray) -> None:
    """Add the skin of a surface of triangles with two sides, a body to each point."""
    n = len(plan.vertex)
    sides = np.concatenate([face, n + face[:, [0, 2, 1]]])
    bones = [(f"B{i % n}", _ORIGIN, [i], [1.0]) for i in range(2 * n)]
    skin, plan.skin = plan.skin, plan.skin | {"texcoord": False}
    _add(plan, np.zeros((2 * n, 3)), np.zeros((0, 2)), sides, bones, skin["inflate"])
    plan.skin = skin


class _Surface:
    """Vertices, faces and bones of a closed surface; `known` has the vertices of the smooth part by cell."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.texcoord: list[tuple[float, float]] = []
        self.face: list[tuple[int, int, int]] = []
        self.bones: list[Bone] = []
        self.known: dict[tuple[int, int, int], int] = {}

    def share(self, round_axes: tuple[int, ...]) -> None:
        """Make the vertices that sides share: cells that are first or last along one of the axes."""
        last = self.plan.count - 1
        for cell in product(*map(range, self.plan.count)):
            edge = [axis for axis in range(3) if cell[axis] in (0, last[axis])]
            if any(axis in round_axes for axis in edge):
                first, second = (axis for axis in range(3) if axis != edge[0])
                self.known[cell] = len(self.texcoord)
                at = (np.float32(cell[axis]) / np.float32(last[axis]) for axis in (first, second))
                self.texcoord.append(tuple(at))

    def side(self, axis: int, far: bool) -> None:
        """Add the side of the grid that is first or last along an axis."""
        count = self.plan.count
        first, second = (a for a in range(3) if a != axis)
        n0, n1 = int(count[first]), int(count[second])
        cells = [list(cell) for cell in product(range(n0), range(n1))]
        for cell in cells:
            cell.insert(axis, int(count[axis]) - 1 if far else 0)
        ids = [self.known.get(tuple(cell)) for cell in cells]
        if None in ids or axis not in self.round:
            base = len(self.texcoord)
            ids = list(range(base, base + n0 * n1))
            self.texcoord += [tuple(row) for row in _grid_texcoord(n0, n1)]
        flip = far if axis == 1 else not far
        for i, j in product(range(n0 - 1), range(n1 - 1)):
            self.face += [tuple(ids[k] for k in tri) for tri in self._cell(i * n1 + j, n1, flip, axis in self.round)]
        for cell, vertex in zip(cells, ids, strict=True):
            self.bones.append(("B{}_{}_{}".format(*cell), _ORIGIN, [vertex], [1.0]))

    @staticmethod
    def _cell(a: int, n1: int, flip: bool, smooth: bool) -> list[tuple[int, int, int]]:
        """Two triangles; where they are flipped, sides that share vertices begin with the other one."""
        cell = _cell(a, n1, 1, flip)
        return cell[::-1] if flip and smooth else cell

    def add(self, round_axes: tuple[int, ...], order: tuple[int, ...]) -> None:
        """Add the skin; sides across round_axes share vertices; order: axes across which sides are made."""
        self.round = round_axes
        self.share(round_axes)
        for axis in order:
            self.side(axis, False)
            self.side(axis, True)
        vertex = np.zeros((len(self.texcoord), 3))
        _add(self.plan, vertex, np.array(self.texcoord), np.array(self.face), self.bones, self.plan.skin["inflate"])


def block_skin(plan: Plan) -> None:
    """Add the skin of a block: six sides with vertices of their own."""
    _Surface(plan).add((), (2, 1, 0))


def cylinder_skin(plan: Plan) -> None:
    """Add the skin of a cylinder: a smooth wall, and two caps with vertices of their own."""
    _Surface(plan).add((0, 1), (1, 0, 2))


def ellipsoid_skin(plan: Plan) -> None:
    """Add the skin of an ellipsoid, smooth everywhere."""
    _Surface(plan).add((0, 1, 2), (2, 1, 0))
