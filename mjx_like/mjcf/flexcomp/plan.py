"""A flexcomp made into points and elements: its shape, what is pinned, and its attributes checked."""

import dataclasses
import math
from typing import Any

import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.mjcf.default import schema_defaults
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.flexcomp import file_mesh, shapes
from mjx_like.mjcf.flexcomp.shapes import Shape
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.spec import Spec

FROM_DATA = ("direct", "mesh", "gmsh")
_INTERPOLATED = {"trilinear": 1, "quadratic": 2}


@dataclasses.dataclass
class Plan:
    """A flexcomp with its points and elements made: attributes of it and of its children, with their defaults.

    dim: of the elements; pinned: per point or node, whether it belongs to the parent body.
    used: numbers of the points, as their bodies are called; rigid: all of them belong to the parent body.
    empty: cells without mesh of an interpolated volume, None if not known.
    unused: points that no element has; the grid of an interpolated flexcomp holds them too, shape (n, 3).
    """

    element: Element
    a: dict[str, Any]
    edge: dict[str, Any]
    elasticity: dict[str, Any]
    contact: dict[str, Any]
    dim: int
    shape: Shape
    pinned: np.ndarray
    used: np.ndarray
    rigid: bool
    empty: np.ndarray | None = None
    unused: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def name(self) -> str:
        return self.a["name"]

    @property
    def order(self) -> int:
        """Order of the interpolation, 0 for none."""
        return _INTERPOLATED.get(self.a["dof"], 0)


def _child(spec: Spec, element: Element, tag: str, kind: str) -> dict[str, Any]:
    found = element.find(tag)
    return spec.resolve(found) if found else schema_defaults(ELEMENTS[kind])


def make_plan(spec: Spec, element: Element) -> Plan:
    """The plan of a flexcomp. Raises ModelError for one that is not well-formed."""
    a = spec.resolve(element)
    a["count"], a["cellcount"] = a["count"].astype(int), a["cellcount"].astype(int)
    if "mesh" in a and "type" not in element.attrib:
        a["type"] = "mesh"
    if element.find("plugin"):
        raise element.error("a flexcomp takes no plugin: none that is known makes passive forces; use elasticity")
    contact = _child(spec, element, "contact", "flex_contact")
    _check(element, a, contact)
    shape, dim = _make(spec, element, a)
    if a.get("texcoord") is not None:
        shape.texcoord = np.reshape(a["texcoord"], (-1, 2)) if len(a["texcoord"]) % 2 == 0 else a["texcoord"]
    elif a["type"] not in FROM_DATA and "material" not in a:
        shape.texcoord = np.zeros((0, 2))
    if a["type"] not in FROM_DATA:
        _prepend_given(element, a, shape, dim)
    _check_shape(element, shape, dim)
    if a["type"] in FROM_DATA:
        shape.point = shape.point * a["scale"]
    plan = Plan(
        element, a, _child(spec, element, "edge", "flexcomp_edge"), _child(spec, element, "elasticity", "elasticity"),
        contact, dim, shape, np.zeros(0, bool), np.arange(len(shape.point)), a["rigid"],
    )  # fmt: skip
    plan.pinned = _pins(plan)
    if a["type"] in FROM_DATA:
        _drop_unused(plan)
    return plan


MAX_POINTS = 100_000  # most of them become bodies


def _check(element: Element, a: dict[str, Any], contact: dict[str, Any]) -> None:
    if not 1 <= a["dim"] <= 3:
        raise element.error(f"dim {a['dim']} is none of 1, 2, 3")
    least = 2 if a["dof"] == "radial" and a["dim"] == 3 else 1
    if (a["count"] < least).any():
        raise element.error(f"count must be at least {least} in each dimension")
    shown = a["count"][: a["dim"]] if a["type"] not in FROM_DATA else ()
    for name, asked in (("count", shown), ("cellcount", 2 * a["cellcount"] + 1)):
        made = math.prod(int(n) for n in asked)
        if made > MAX_POINTS:
            raise element.error(f"attribute '{name}' makes {made} points; {MAX_POINTS} are the most")
    room = 2 * a["radius"] + contact["margin"]
    if a["type"] not in FROM_DATA and (a["spacing"] < room).any():
        raise element.error(f"spacing must be at least twice the radius plus the margin, {room:g}")
    if (a["scale"] < MINVAL).any():
        raise element.error("scale must be positive")
    if a["mass"] < MINVAL or a["inertiabox"] < MINVAL:
        raise element.error("mass and inertiabox must be positive")
    if "mesh" in a and a["type"] not in ("mesh", "gmsh"):
        raise element.error(f"attribute 'mesh' goes with type mesh or gmsh, not {a['type']}")


def _make(spec: Spec, element: Element, a: dict[str, Any]) -> tuple[Shape, int]:
    """Points and elements before any scaling, and their dimension."""
    kind, count, spacing, dim = a["type"], a["count"], a["spacing"], a["dim"]
    if kind in ("mesh", "gmsh"):
        return file_mesh.load(spec, element, a)
    if kind == "direct":
        point, vertices = a.get("point", np.zeros(0)), np.asarray(a.get("element", ()), int)
        if not len(point) or not len(vertices):
            raise element.error("type direct needs point and element")
        if len(point) % 3:
            raise element.error("point must have three numbers a point")
        if len(vertices) % (dim + 1):
            raise element.error("element must have dim+1 numbers an element")
        return Shape(np.reshape(point, (-1, 3)), vertices.reshape(-1, dim + 1)), dim
    if kind in ("box", "cylinder", "ellipsoid"):
        if (count < 2).any():
            raise element.error(f"count must be at least 2 in each dimension for type {kind}")
        return shapes.surface(kind, count, spacing, solid=dim == 3), dim
    if kind in ("square", "disc"):
        return (shapes.disc if kind == "disc" else shapes.sheet)(count, spacing), 2
    if dim == 1:
        return (shapes.ring if kind == "circle" else shapes.chain)(count, spacing), 1
    return (shapes.sheet if dim == 2 else shapes.block)(count, spacing), dim


def _prepend_given(element: Element, a: dict[str, Any], shape: Shape, dim: int) -> None:
    """Put points and elements that the file gives before those that a type makes, as MuJoCo does."""
    point, vertices = np.asarray(a.get("point", ()), float), np.asarray(a.get("element", ()), int)
    if len(point) % 3:
        raise element.error("point must have three numbers a point")
    if len(vertices) % (dim + 1):
        raise element.error("element must have dim+1 numbers an element")
    shape.point = np.concatenate([point.reshape(-1, 3), shape.point])
    shape.element = np.concatenate([vertices.reshape(-1, dim + 1), shape.element])


def _check_shape(element: Element, shape: Shape, dim: int) -> None:
    if not len(shape.point) or not len(shape.element):
        raise element.error("makes no elements; count is too small")
    bad = np.flatnonzero((shape.element.ravel() < 0) | (shape.element.ravel() >= len(shape.point)))
    if len(bad):
        number = shape.element.ravel()[bad[0]]
        raise element.error(f"entry {bad[0]} of element is point {number}, but there are {len(shape.point)} points")


def _pins(plan: Plan) -> np.ndarray:
    """Which points, or nodes of an interpolated flexcomp, are pinned; sets `plan.rigid` if all points are."""
    npoint = len(plan.shape.point)
    nodes = plan.a["cellcount"] * plan.order + 1
    size = max(npoint, int(np.prod(nodes))) if plan.order else npoint
    pinned = np.full(size, plan.rigid)
    if plan.rigid:
        return pinned
    grid = nodes if plan.order else plan.a["count"]
    limit = int(np.prod(nodes)) if plan.order else npoint
    for pin in plan.element.find_all("pin"):
        _pin(plan, pin, pinned, grid, limit)
    if plan.a["dof"] == "radial":
        pinned[0] = True
    plan.rigid = bool(pinned[:limit].all())
    return pinned


def _pin(plan: Plan, pin: Element, pinned: np.ndarray, grid: np.ndarray, limit: int) -> None:
    dim = plan.dim
    ids, ranges, grid_points, boxes = (
        np.asarray(pin.get(key, ()), int) for key in ("id", "range", "grid", "gridrange")
    )  # fmt: skip
    for key, values, group in (("range", ranges, 2), ("grid", grid_points, dim), ("gridrange", boxes, 2 * dim)):
        if len(values) % group:
            raise pin.error(f"{key} must have a multiple of {group} numbers")
    if len(grid_points) or len(boxes):
        if plan.a["type"] != "grid" and not plan.order:
            raise pin.error("grid and gridrange go with type grid or with trilinear or quadratic dofs")
        if dim == 1:
            raise pin.error("grid and gridrange cannot be used with dim 1")
    for key, values in (("id", ids), ("range", ranges)):
        if len(values) and (values.min() < 0 or values.max() >= limit):
            raise pin.error(f"{key} must be from 0 to {limit - 1}")
    pinned[ids] = True
    for first, last in ranges.reshape(-1, 2):
        pinned[first : last + 1] = True
    corners = [(point, point) for point in grid_points.reshape(-1, dim)]
    corners += [(box[:dim], box[dim:]) for box in boxes.reshape(-1, 2 * dim)]
    for low, high in corners:
        if (np.minimum(low, high) < 0).any() or (np.maximum(low, high) >= grid[:dim]).any():
            raise pin.error("grid coordinates are out of range")
        spans = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
        index = np.stack([i.ravel() for i in np.meshgrid(*spans, indexing="ij")], axis=1)
        step = np.array([grid[1], 1]) if dim == 2 else np.array([grid[1] * grid[2], grid[2], 1])
        pinned[index @ step] = True


def _drop_unused(plan: Plan) -> None:
    """Remove points that no element has."""
    used = np.unique(plan.shape.element)
    npoint = len(plan.shape.point)
    if len(used) == npoint:
        return
    number = np.zeros(npoint, int)
    number[used] = np.arange(len(used))
    shape = plan.shape
    plan.unused = np.delete(shape.point, used, axis=0)
    shape.point, shape.element = shape.point[used], number[shape.element]
    if len(shape.texcoord) == npoint and not len(shape.elemtexcoord):
        shape.texcoord = shape.texcoord[used]
    plan.pinned = np.concatenate([plan.pinned[used], np.zeros(max(0, len(plan.pinned) - len(used)), bool)])
    plan.used = np.arange(len(used))
    if not plan.order:
        plan.pinned = plan.pinned[: len(used)]
