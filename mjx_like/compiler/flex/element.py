"""A flex as its element says it: numbers checked, bodies found, elements oriented outwards, edges and grid made."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.context import Context
from mjx_like.compiler.flex.cell import Grid
from mjx_like.compiler.pose import rotate
from mjx_like.mjcf.default import schema_defaults
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema.keywords import ELASTIC2D
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import ObjType

EDGES = {1: ((0, 1),), 2: ((1, 2), (2, 0), (0, 1)), 3: ((0, 1), (1, 2), (2, 0), (2, 3), (0, 3), (1, 3))}
_MIRRORED = [0, 2, 1, 3]
_ORDER = {"trilinear": 1, "quadratic": 2}


@dataclasses.dataclass
class Flex:
    """A flex while it is compiled.

    a, contact, edge, elasticity: attributes of the element and of its children, with their defaults.
    vert, node: positions in their bodies [m]; vertbody, nodebody: ids; xvert, xnode: positions in the world at qpos0.
    elem: vertices of the elements; edges: of the edges, lower first; elemedge: edges of the elements.
    order: of the interpolation, 0 for none; grid: of its cells; twisted: whether a rod has joints for its twist.
    """

    element: Element
    a: Mapping[str, Any]
    contact: Mapping[str, Any]
    edge: Mapping[str, Any]
    elasticity: Mapping[str, Any]
    dim: int
    order: int
    elem: np.ndarray
    vert: np.ndarray
    vertbody: np.ndarray
    node: np.ndarray
    nodebody: np.ndarray
    rigid: bool
    centered: bool
    xvert: np.ndarray
    xnode: np.ndarray
    radius: float
    strained: bool = False
    edges: np.ndarray | None = None
    elemedge: np.ndarray | None = None
    grid: Grid | None = None
    twisted: bool = False

    @property
    def elastic2d(self) -> int:
        return ELASTIC2D[self.elasticity["elastic2d"]]


def read_flex(ctx: Context, element: Element, poses: list, strained: set[str]) -> Flex:
    """Return a flex with its vertices and nodes found and its elements, edges and grid worked out."""
    spec = ctx.spec
    a = spec.resolve(element)

    def child(tag: str, kind: str) -> Mapping[str, Any]:
        found = element.find(tag)  # a flex in a scaled frame carries the scaled defaults of a child that it lacks
        return spec.resolve(found) if found else a.get(tag) or schema_defaults(ELEMENTS[kind])

    contact, edge = child("contact", "flex_contact"), child("edge", "flex_edge")
    elasticity = child("elasticity", "elasticity")
    dim, order = a["dim"], _ORDER.get(a.get("dof", ""), 0)
    nodebody = _body_ids(ctx, element, a.get("node", ""))
    elem, vert, bodies = _counts(ctx, element, a, order, len(nodebody))
    rigid = not order and len(set(bodies)) == 1
    vertbody = np.full(len(vert), bodies[0]) if len(bodies) == 1 else np.array(bodies, int)
    given = a.get("nodecoord", np.zeros(3 * len(nodebody))) if len(nodebody) else np.zeros(0)
    if len(given) % 3:
        raise element.error("nodecoord must have three numbers a node")
    node = np.reshape(given, (-1, 3))
    if len(node) != len(nodebody):
        raise element.error(f"nodecoord has {len(node)} nodes, but node names {len(nodebody)} bodies")
    flex = Flex(
        element, a, contact, edge, elasticity, dim, order, elem, vert, vertbody, node, nodebody, rigid,
        not (node if order else vert).any(), _placed(poses, vertbody, vert), _placed(poses, nodebody, node),
        _radius(element, a, elasticity, dim), element.get("name") in strained,
    )  # fmt: skip
    check_flex(flex)
    _orient(flex)
    flex.edges, flex.elemedge = _edges(flex)
    if order:
        flex.grid = Grid.make(flex)
    return flex


def _body_ids(ctx: Context, element: Element, names: str) -> np.ndarray:
    return np.array([ctx.names.find(ObjType.BODY, name, element, "body") for name in names.split()], int)


def _counts(ctx: Context, element: Element, a: Mapping[str, Any], order: int, nnode: int):
    """Elements, vertices and bodies of a flex, their numbers checked."""
    dim = a["dim"]
    if not 1 <= dim <= 3:
        raise element.error(f"dim {dim} is none of 1, 2, 3")
    elem = np.asarray(a["element"], int)
    if not len(elem) or len(elem) % (dim + 1):
        raise element.error(f"element must have a multiple of dim+1={dim + 1} numbers, not {len(elem)}")
    bodies = _body_ids(ctx, element, a["body"])
    if not len(bodies):
        raise element.error("body must name the bodies of the vertices")
    given = a.get("vertex", np.zeros(0))
    if len(given) % 3:
        raise element.error("vertex must have three numbers a vertex")
    vert = np.reshape(given, (-1, 3)) if len(given) else np.zeros((len(bodies), 3))
    if len(bodies) not in (1, len(vert)):
        raise element.error(
            f"body names {len(bodies)} bodies for {len(vert)} vertices; give one or as many as vertices"
        )
    if len(vert) < dim + 1:
        raise element.error(f"has {len(vert)} vertices, too few for dim {dim}")
    elem = elem.reshape(-1, dim + 1)
    if elem.min() < 0 or elem.max() >= len(vert):
        raise element.error(f"element must name vertices 0 to {len(vert) - 1}")
    if (np.diff(np.sort(elem, axis=1), axis=1) == 0).any():
        raise element.error("an element has a vertex twice")
    if nnode and not order:
        raise element.error("node needs dof trilinear or quadratic")
    if order:
        cells = np.asarray(a["cellcount"], int)
        if (cells < 1).any():
            raise element.error("cellcount must be at least 1 in each dimension")
        if nnode != np.prod(cells * order + 1):
            raise element.error(f"node names {nnode} bodies; dof and cellcount make {np.prod(cells * order + 1)} nodes")
    return elem, vert, bodies.tolist()


def _radius(element: Element, a: Mapping[str, Any], elasticity: Mapping[str, Any], dim: int) -> float:
    """Radius of the elements; that of a rod with a box section is the smaller half-size."""
    if dim == 1 and elasticity["section"] == "box" and elasticity["young"] > 0:
        minor = float(np.min(elasticity["sectionsize"]))
        if minor <= 0:
            raise element.error("section box needs a positive sectionsize")
        if "radius" in element.attrib and a["radius"] != minor:
            raise element.error(f"radius of a box section must be omitted or its smaller half-size {minor:g}")
        return minor
    return a["radius"]


def check_flex(flex: Flex) -> None:
    """Raise ModelError where properties of a flex do not go together."""
    error, e = flex.element.error, flex.elasticity
    if flex.edge["stiffness"] > 0 and flex.dim > 1:
        raise error("edge stiffness is for dim 1; use elasticity")
    if e["poisson"] < 0 or e["poisson"] >= 0.5:
        raise error(f"poisson {e['poisson']:g} must be in [0, 0.5)")
    if e["shear"] < 0:
        raise error("shear must not be negative")
    if (np.asarray(e["yield"]) < 0).any():
        raise error("yield must not be negative")
    if flex.elastic2d:
        if e["thickness"] <= 0:
            raise error("elastic2d needs a positive thickness")
        if flex.dim != 2 and not flex.order:
            raise error("elastic2d needs dim 2")


def _placed(poses: list, bodies: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points of bodies in the world."""
    out = np.zeros((len(points), 3))
    for i, (body, point) in enumerate(zip(bodies, points, strict=True)):
        pos, quat = poses[body]
        out[i] = pos + rotate(quat, point) if point.any() else pos
    return out


def _orient(flex: Flex) -> None:
    """Order the vertices of tetrahedra so that their faces look outwards."""
    if flex.dim != 3:
        return
    v0, v1, v2, v3 = np.moveaxis(flex.xvert[flex.elem], 1, 0)
    inside_out = np.sum(np.cross(v1 - v0, v2 - v0) * (v3 - v0), axis=1) > 0
    flex.elem = np.where(inside_out[:, None], flex.elem[:, _MIRRORED], flex.elem)
    corners = np.asarray(flex.a.get("elemtexcoord", ()), int)
    if corners.size == flex.elem.size:
        corners = corners.reshape(-1, 4)
        rotated = np.where(inside_out[:, None], corners[:, _MIRRORED], corners)
        flex.a = {**flex.a, "elemtexcoord": rotated.ravel()}


def _edges(flex: Flex) -> tuple[np.ndarray, np.ndarray]:
    """Edges in the order in which the elements bring them, and the edges of each element."""
    pairs = np.sort(flex.elem[:, np.array(EDGES[flex.dim])], axis=-1).reshape(-1, 2)
    _, first, inverse = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), int)
    rank[order] = np.arange(len(first))
    return pairs[first[order]], rank[inverse.ravel()]
