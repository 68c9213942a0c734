"""The composite element: the bodies, tendons, equalities and skin that it stands for.

What a composite makes takes its place in the body around it, outside the frames that hold it: these move nothing of
it, its attribute offset does. A frame around one is therefore split. Source: XML reference of MuJoCo 3.1.6.
"""

from collections.abc import Callable

from mjx_like.mjcf.attach.frame_split import Piece, split
from mjx_like.mjcf.composite.chain import cable, loop
from mjx_like.mjcf.composite.grid import grid, particle
from mjx_like.mjcf.composite.plan import Plan, make_plan
from mjx_like.mjcf.composite.shell import shell
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.spec import Spec

TYPES: dict[str, Callable[[Plan], list[Element]]] = {
    "particle": particle,
    "grid": grid,
    "cable": cable,
    "loop": loop,
    "box": shell,
    "cylinder": shell,
    "ellipsoid": shell,
}


def expand_composites(spec: Spec) -> None:
    """Replace every composite of a model by what it stands for.

    Raises ModelError for one that is not well-formed.
    """
    if any(True for _ in spec.worldbody.iter("composite")):
        _expand(spec, spec.worldbody, spec.worldbody)


def _expand(spec: Spec, holder: Element, owner: Element) -> None:
    holder.children = [child for _, child in _pieces(spec, holder, owner)]


def _pieces(spec: Spec, holder: Element, owner: Element) -> list[Piece]:
    """Children of a body or frame after expansion, each with whether it stands outside of the frames."""
    out: list[Piece] = []
    for child in holder.children:
        if child.tag == "composite":
            plan = make_plan(spec, child, owner)
            out += [(True, made) for made in TYPES[plan.kind](plan)]
        elif child.tag == "frame":
            out += split(child, _pieces(spec, child, owner))
        else:
            if child.tag in ("body", "replicate"):
                _expand(spec, child, child if child.tag == "body" else owner)
            out.append((False, child))
    return out
