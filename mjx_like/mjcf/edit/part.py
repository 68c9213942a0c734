"""Assets, flexes and skins as the user holds them: what mjSpec keeps in one struct and MJCF in several elements."""

from collections.abc import Sequence
from typing import Any

from mjx_like.mjcf.edit.item import Item, made
from mjx_like.mjcf.schema import ELEMENTS

# Children of a flex, and mjSpec's names of their attributes where they are others.
_FLEX_PARTS = {"contact": "flex_contact", "edge": "flex_edge", "elasticity": "elasticity"}
_FLEX_NAMES = {
    "edgestiffness": ("edge", "stiffness"),
    "edgedamping": ("edge", "damping"),
    "stressyield": ("elasticity", "yield"),
}


class Flex(Item):
    """A flex; the attributes of its contact, edge and elasticity are its own, edge's as edgestiffness, edgedamping."""

    def _part(self, name: str) -> tuple[str, str] | None:
        """Child and attribute that a name stands for, None for one of the flex itself."""
        if name in _FLEX_NAMES:
            return _FLEX_NAMES[name]
        parts = (tag for tag, kind in _FLEX_PARTS.items() if tag != "edge" and name in ELEMENTS[kind].attributes)
        tag = next(parts, None)
        return None if tag is None else (tag, name)

    def _child(self, tag: str) -> Item:
        element = self._element.find(tag)
        return Item(self._spec, element or made(self._spec, tag, _FLEX_PARTS[tag]), self)

    def __getattr__(self, name: str) -> Any:
        part = self._part(name.rstrip("_"))
        return super().__getattr__(name) if part is None else getattr(self._child(part[0]), part[1])

    def _set(self, name: str, value: Any) -> None:
        part = self._part(name.rstrip("_"))
        if part is None:
            super()._set(name, value)
            return
        child = self._child(part[0])
        child._set(part[1], value)
        if self._element.find(part[0]) is None:
            self._element.children.append(child._element)


class Mesh(Item):
    """A mesh; its make_ methods give it a built-in shape. Source: XML reference, mesh, builtin."""

    def _make(self, kind: str, *params: Any) -> None:
        self._update({"builtin": kind, "params": [float(p) for p in params]})

    def make_sphere(self, subdivision: int) -> None:
        """Make it an icosahedron whose faces are divided as often as that."""
        self._make("sphere", subdivision)

    def make_hemisphere(self, resolution: int) -> None:
        self._make("hemisphere", resolution)

    def make_cone(self, nedge: int, radius: float) -> None:
        """Make it a cone with that many edges, cut off at a radius."""
        self._make("cone", nedge, radius)

    def make_supersphere(self, resolution: int, e: float, n: float) -> None:
        self._make("supersphere", resolution, e, n)

    def make_supertorus(self, resolution: int, radius: float, s: float, t: float) -> None:
        self._make("supertorus", resolution, radius, s, t)

    def make_wedge(self, resolution: Sequence[int], fov: Sequence[float], gamma: float = 0.0) -> None:
        self._make("wedge", *resolution, *fov, gamma)

    def make_plate(self, resolution: Sequence[int]) -> None:
        self._make("plate", *resolution)

    def make_grid(self, count: Sequence[int], spacing: Sequence[float], dim: int = 3) -> None:
        """Make it a grid of vertices; likewise box, cylinder and ellipsoid, the surface of one with dim 2."""
        self._make("grid", *count, *spacing, dim)

    def make_box(self, count: Sequence[int], spacing: Sequence[float], dim: int = 3) -> None:
        self._make("box", *count, *spacing, dim)

    def make_cylinder(self, count: Sequence[int], spacing: Sequence[float], dim: int = 3) -> None:
        self._make("cylinder", *count, *spacing, dim)

    def make_ellipsoid(self, count: Sequence[int], spacing: Sequence[float], dim: int = 3) -> None:
        self._make("ellipsoid", *count, *spacing, dim)

    def make_square(self, count: Sequence[int], spacing: Sequence[float]) -> None:
        self._make("square", *count, 1, *spacing, 1.0)

    def make_disc(self, count: Sequence[int], spacing: Sequence[float]) -> None:
        self._make("disc", *count, 1, *spacing, 1.0)
