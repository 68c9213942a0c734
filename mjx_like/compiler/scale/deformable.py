"""Flexes and skins on bodies in scaled frames.

Points are scaled like the body that carries them. What a flex has as a whole is scaled if all of its bodies are alike.
Source: XML reference (frame: scale); what it leaves open was found by trial on MuJoCo 4.0.0.
"""

import numpy as np

from mjx_like.compiler.pose import quat_to_mat
from mjx_like.compiler.scale.factors import UNSCALED, Attributes, scaled, width
from mjx_like.compiler.scale.target import Target, Targets, shared
from mjx_like.mjcf.asset.skn import read_skin
from mjx_like.mjcf.default import schema_defaults
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.spec import Spec

Resolved = dict[Element, Attributes]


def scale_deformables(spec: Spec, targets: Targets) -> Resolved:
    """Return the attributes of the flexes and skins whose bodies are scaled; note the flexes as targets.

    Raises:
      ModelError: bones of different sizes.
    """
    resolved: Resolved = {}
    for section in ("asset", "deformable"):
        for element in spec.sections[section]:
            make = {"flex": _flex, "skin": _skin}.get(element.tag)
            resolved |= make(spec, element, targets) if make else {}
    return resolved


def _bodies(names: str, targets: Targets) -> list[Target]:
    return [targets.get(("body", name), Target(UNSCALED)) for name in names.split()]


def _mapped(points: np.ndarray, bodies: list[Target]) -> np.ndarray:
    """Points, shape (3 n,), each by the map of its body; one body may carry all."""
    rows = np.reshape(np.asarray(points, float), (-1, 3))
    maps = [body.scale.map for body in bodies]
    maps = maps * len(rows) if len(maps) == 1 else maps
    return np.concatenate([m @ row for m, row in zip(maps, rows, strict=False)]) if len(maps) == len(rows) else points


def _flex(spec: Spec, element: Element, targets: Targets) -> Resolved:
    a = spec.resolve(element)
    carriers, nodes = _bodies(a["body"], targets), _bodies(a.get("node", ""), targets)
    scale = shared(carriers + nodes)
    targets["flex", element.get("name", "")] = Target(scale)
    found = scaled(a, {"radius": scale.length})
    for name, bodies in (("vertex", carriers), ("nodecoord", nodes)):
        if a.get(name) is not None and len(a[name]) % 3 == 0:
            found[name] = _mapped(a[name], bodies)
    if not element.find("contact"):
        found["contact"] = scaled(schema_defaults(ELEMENTS["flex_contact"]), _CHILDREN["contact"](scale))
    out = {element: found}
    for child in element.children:
        make = _CHILDREN.get(child.tag)
        if make is not None:
            out[child] = scaled(spec.resolve(child), make(scale))
    return out


_CHILDREN = {
    "contact": lambda s: {
        "margin": s.length, "gap": s.length, "friction": (1, s.length, s.length), "solimp": width(s.length),
    },
    "edge": lambda s: dict.fromkeys(("stiffness", "damping"), s.force / s.unit_length),
    "elasticity": lambda s: {
        "young": s.unit_mass / s.unit_length, "thickness": s.length, "sectionsize": s.length,
    },
}  # fmt: skip


def _skin(spec: Spec, element: Element, targets: Targets) -> Resolved:
    """The attributes of a skin, with the map of its points in the axes of its bind pose."""
    a = spec.resolve(element)
    if a.get("file"):
        bones = [(bone.body, bone.quat) for bone in read_skin(spec, element, a["file"]).bones]
    else:
        found = element.find_all("bone")
        bones = [(bone.get("body", ""), bone.get("bindquat", (1.0, 0.0, 0.0, 0.0))) for bone in found]
    scales = [targets.get(("body", name), Target(UNSCALED)).scale for name, _ in bones]
    if all(scale.plain for scale in scales):
        return {}
    if not all(np.allclose(scale.map, scales[0].map, rtol=1e-9, atol=0) for scale in scales):
        raise element.error("the bones of a skin must have the same scale")
    axes = quat_to_mat(np.asarray(bones[0][1], float))
    rotation = axes @ scales[0].map @ axes.T
    return {element: a | {"inflate": a["inflate"] * scales[0].length, "stretch": rotation}}
