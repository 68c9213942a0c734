"""Frames that stretch what is in them along three axes by different factors: what only some shapes and joints allow.

Positions are mapped exactly and orientations are kept, so each part is stretched in its own axes.
Source: XML reference (frame: scale); tolerances and what the text leaves open were found by trial on MuJoCo 4.0.0.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.pose import normalized, quat_from_z
from mjx_like.compiler.scale.factors import Attributes, Scale, scaled, width
from mjx_like.mjcf.frame import inertia_tensor, principal_axes
from mjx_like.mjcf.spec import Element

_ALIGNED = 0.0349  # largest sine of the angle by which the map rotates an axis, and largest difference of two factors


def direction(a: Mapping[str, Any]) -> np.ndarray | None:
    """Return the orientation of a shape that `fromto` gives, None where it does not."""
    return None if a.get("fromto") is None else quat_from_z(np.subtract(a["fromto"][3:], a["fromto"][:3]))


def stretched(
    element: Element, given: Mapping[str, Any], found: Attributes, around: Scale, quat: np.ndarray
) -> Attributes:  # fmt: skip
    """Return the attributes of an element of the tree in a stretched frame.

    Args:
      element: the element.
      given: its attributes as the file has them.
      found: the same with the factors of a frame whose directions are alike.
      around: the factors in the axes in which the element is placed.
      quat: its orientation there.

    Raises:
      ModelError: a shape or joint that cannot be stretched.
    """
    out = dict(found)
    if given.get("pos") is not None:
        out["pos"] = around.map @ given["pos"]
    if given.get("fromto") is not None:
        out["fromto"] = np.concatenate([around.map @ given["fromto"][:3], around.map @ given["fromto"][3:]])
    make = _PARTS.get(element.tag)
    return out if make is None else out | make(element, given, around, quat)


def along_axis(element: Element, axis: np.ndarray, around: Scale) -> float:
    """Return the factor of lengths along the axis of a joint.

    Raises:
      ModelError: an axis that the map rotates.
    """
    if around.stretch is None:
        return around.length
    unit = normalized(np.asarray(axis, float))[0]
    image = around.map @ unit
    length = float(np.linalg.norm(image))
    if np.linalg.norm(np.cross(unit, image)) > _ALIGNED * length:
        raise element.error("the axis of this joint is not aligned with the axes of the scale")
    return length


def _joint(element: Element, a: Mapping[str, Any], around: Scale, quat: np.ndarray) -> Attributes:
    if a["type"] not in ("hinge", "slide"):
        return {}
    length = along_axis(element, a["axis"], around)
    if a["type"] == "hinge":
        return {}
    lengths = dict.fromkeys(("range", "margin", "ref", "springref", "springyield"), length)
    widths = dict.fromkeys(("solimplimit", "solimpfriction"), width(length))
    found = scaled(a, lengths | widths)
    return {name: found[name] for name in lengths | widths if found.get(name) is not None}


def _size(kind: str, size: np.ndarray, own: Scale) -> np.ndarray:
    """Return the size of a shape; of what is round, the mean of its factors counts."""
    along, out = own.along, np.array(size, float)
    across = np.sqrt(along[0] * along[1])
    factors = {
        "sphere": [own.length, 1, 1], "capsule": [across, along[2], 1], "cylinder": [across, along[2], 1],
        "plane": [along[0], along[1], own.length],
    }.get(kind, along)  # fmt: skip
    return out * np.asarray(factors)[: len(out)]


def _site(element: Element, a: Mapping[str, Any], around: Scale, quat: np.ndarray) -> Attributes:
    return {"size": _size(a["type"], a["size"], around.rotated(quat))} if a.get("size") is not None else {}


def _geom(element: Element, a: Mapping[str, Any], around: Scale, quat: np.ndarray) -> Attributes:
    out: Attributes = {}
    own = around.rotated(quat)
    if a.get("mesh") is None:
        _check(element, a, own)
        if a.get("size") is not None:
            out["size"] = _size(a["type"], a["size"], own)
    if a.get("surfacevel") is not None:
        out["surfacevel"] = np.concatenate([own.map @ a["surfacevel"][:3], a["surfacevel"][3:]])
    return out


def _check(element: Element, a: Mapping[str, Any], own: Scale) -> None:
    """Raise ModelError for a shape that would not keep its type."""
    along, kind = own.along, a["type"]
    if kind == "sphere" and np.ptp(along) > _ALIGNED * along.max():
        raise element.error("a sphere can only be scaled uniformly; use an ellipsoid instead")
    if (np.sqrt(np.maximum(1 - (np.diag(own.map) / along) ** 2, 0)) > _ALIGNED).any():
        raise element.error("this shape is not aligned with the axes of the scale")
    across = along[:2]
    if (kind in ("capsule", "cylinder") or a.get("fromto") is not None) and np.ptp(across) > _ALIGNED * across.max():
        raise element.error("this shape can only be scaled equally across its axis")


_ORIENTATION = ("quat", "axisangle", "xyaxes", "zaxis", "euler")


def _inertial(element: Element, a: Mapping[str, Any], around: Scale, quat: np.ndarray) -> Attributes:
    """The inertia of the mass where the map puts it, in the axes around it."""
    given = a.get("fullinertia")
    if given is not None:
        tensor = np.asarray(given, float)[np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])]
    else:
        tensor = inertia_tensor(a["diaginertia"], quat, 0.0, np.zeros(3))
    spread = 0.5 * np.trace(tensor) * np.eye(3) - tensor  # second moments of the mass
    spread = around.mass * around.map @ spread @ around.map.T
    tensor = np.trace(spread) * np.eye(3) - spread
    if given is not None:
        return {"fullinertia": tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]}
    moments, axes = principal_axes(tensor)
    return dict.fromkeys(_ORIENTATION) | {"diaginertia": moments, "quat": axes}


_PARTS: dict[str, Callable[[Element, Mapping[str, Any], Scale, np.ndarray], Attributes]] = {
    "geom": _geom,
    "site": _site,
    "joint": _joint,
    "inertial": _inertial,
}
