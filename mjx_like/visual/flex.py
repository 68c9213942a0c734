"""Flexes: where their vertices are, and the triangles that they are drawn with."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mjx_like.compiler.flex.cell import basis
from mjx_like.mjcf.flexcomp.node_grid import node_grid
from mjx_like.types.model import Model
from mjx_like.visual.look import Look, look_of, mean_color
from mjx_like.visual.part import GROUPS, rotation
from mjx_like.visual.surface import Surface
from mjx_like.visual.tube import tubes

_TET_FACES = np.array(
    [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]
)  # opposite to each corner, outwards if it is positive


class Flex(NamedTuple):
    """The elements of a flex that have one material.

    id: of the flex; dim: 1 for lines, 2 for surfaces, 3 for solids, whose shell is drawn; radius: of its vertices [m];
    vertex: ids in flexvert_xpos, shape (n,); face: rows of them, shape (k, 2) for lines, else (k, 3); texcoord: where
    each of them is in the picture, shape (n, 2), or None; look: of the material.
    """

    id: int
    dim: int
    radius: float
    vertex: np.ndarray
    face: np.ndarray
    texcoord: np.ndarray | None
    look: Look

    def surface(self, point: np.ndarray) -> Surface:
        """Return the triangles; point: of all flex vertices, shape (nflexvert, 3) [m]."""
        own = point[self.vertex]
        return tubes(own[self.face], self.radius) if self.dim == 1 else Surface(own, self.face, self.texcoord)


def flexes(m: Model, groups: Iterable[int] = GROUPS) -> list[Flex]:
    """Return what is drawn of the flexes: one record for each flex and material."""
    groups, rgba = frozenset(groups), np.asarray(m.flex_rgba)
    shown = [f for f in range(m.nflex) if m.flex_group[f] in groups and rgba[f, 3] > 0]
    return [flex for index in shown for flex in _by_material(m, index)]


def flex_points(m: Model, xpos: np.ndarray, xquat: np.ndarray) -> np.ndarray:
    """Return the positions of all flex vertices, shape (nflexvert, 3) [m, world].

    xpos, xquat: of the bodies, shapes (nbody, 3) and (nbody, 4) [m; wxyz, world].
    Source: mj_flex.
    """
    turn, vert, node = rotation(xquat), np.asarray(m.flex_vert, float), np.asarray(m.flex_node, float)
    point = _on_bodies(xpos, turn, m.flex_vertbodyid, vert)
    for flex in np.flatnonzero(m.flex_interp):
        own = slice(m.flex_nodeadr[flex], m.flex_nodeadr[flex] + m.flex_nodenum[flex])
        corner, weight = _interpolation(m, flex)
        nodes = _on_bodies(xpos, turn, m.flex_nodebodyid[own], node[own])
        point[_vertices(m, flex)] = np.einsum("vn,vni->vi", weight, nodes[corner])
    return point


def _on_bodies(xpos: np.ndarray, turn: np.ndarray, body: np.ndarray, local: np.ndarray) -> np.ndarray:
    return xpos[body] + np.einsum("nij,nj->ni", turn[body], local)


def _vertices(m: Model, flex: int) -> slice:
    return slice(m.flex_vertadr[flex], m.flex_vertadr[flex] + m.flex_vertnum[flex])


def _interpolation(m: Model, flex: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes of the cell of each vertex and their shares in it, shapes (n, (order + 1)^3)."""
    order, cells, own = int(m.flex_interp[flex]), m.flex_cellnum[flex], _vertices(m, flex)
    cell = np.stack(np.unravel_index(m.flex_vertcell[own], cells), axis=-1)
    inside = np.asarray(m.flex_vert0, float)[own] * cells - cell
    steps = node_grid(np.ones(3, int), order)
    corner = np.ravel_multi_index(np.moveaxis(cell[:, None] * order + steps, -1, 0), cells * order + 1)
    x, y, z = (basis(order, inside[:, axis])[0] for axis in range(3))
    return corner, np.einsum("vi,vj,vk->vijk", x, y, z).reshape(len(inside), -1)


def _by_material(m: Model, flex: int) -> list[Flex]:
    dim, first = int(m.flex_dim[flex]), int(m.flex_elemadr[flex])
    element = np.arange(first, first + m.flex_elemnum[flex])
    data = int(m.flex_elemdataadr[flex]) + np.arange(len(element) * (dim + 1)).reshape(-1, dim + 1)
    if dim == 3:
        element, data = _shell(m, flex, element, data)
    material = m.flex_matid[element]
    return [_flex(m, flex, int(one), data[material == one]) for one in np.unique(material)]


def _shell(m: Model, flex: int, element: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the element and the corners, as entries of flex_elem, of each face that belongs to one element alone."""
    vert = (np.asarray(m.flex_vert0, float) * np.repeat(m.flex_size, m.flex_vertnum, axis=0))[_vertices(m, flex)]
    edge = np.diff(vert[m.flex_elem[data]], axis=1)
    turned = np.linalg.det(edge) < 0
    face = data[:, _TET_FACES]
    face[turned] = face[turned][..., ::-1]
    face, element = face.reshape(-1, 3), np.repeat(element, 4)
    _, index, count = np.unique(np.sort(m.flex_elem[face], axis=1), axis=0, return_inverse=True, return_counts=True)
    outer = count[index.ravel()] == 1
    return element[outer], face[outer]


def _flex(m: Model, flex: int, material: int, data: np.ndarray) -> Flex:
    """The elements with corners at these entries of flex_elem; where texture coordinates differ a vertex is split."""
    look, start = look_of(m, m.flex_rgba[flex], material), int(m.flex_texcoordadr[flex])
    pictured = look.picture is not None and not look.sides and start >= 0 and m.flex_dim[flex] > 1
    coord = m.flex_elemtexcoord[data] if pictured else np.zeros_like(data)
    pair, face = np.unique(np.stack([m.flex_elem[data], coord], axis=-1).reshape(-1, 2), axis=0, return_inverse=True)
    texcoord = np.asarray(m.flex_texcoord, float)[start + pair[:, 1]] if pictured else None
    look = look if pictured else look._replace(rgba=mean_color(look), picture=None, sides=0)
    return Flex(
        flex, int(m.flex_dim[flex]), float(m.flex_radius[flex]), int(m.flex_vertadr[flex]) + pair[:, 0],
        face.reshape(data.shape), texcoord, look,
    )  # fmt: skip
