"""What refers into scaled frames: contact pairs, equalities, tendons, actuators, sensors and keyframes.

They are scaled like what they refer to. Where that is of different sizes, pairs, distances, slider-cranks and welds
take the geometric mean, connects and joints follow their first object, and tendons and flexes take the factors of the
innermost scaled frame that holds all of it.
Source: XML reference (frame: scale); the rules for different sizes were found by trial on MuJoCo 4.0.0.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.context import Context
from mjx_like.compiler.pose import quat_to_mat
from mjx_like.compiler.scale.actuator import scaled_actuator
from mjx_like.compiler.scale.deformable import scale_deformables
from mjx_like.compiler.scale.factors import UNSCALED, Attributes, Factors, powers, scaled, width
from mjx_like.compiler.scale.stretch import along_axis
from mjx_like.compiler.scale.target import Target, Targets, between, shared
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.spec import Spec
from mjx_like.types.enums import SENSOR_OF_TAG, Attachment, DataType, Measure, SensorType


@dataclasses.dataclass(eq=False)
class ScaledSpec(Spec):
    """A Spec whose sections are resolved with the factors of what they refer to."""

    resolved: Mapping[Element, Attributes] = dataclasses.field(default_factory=dict)

    def resolve(self, element: Element, childclass: str | None = None) -> Attributes:
        found = self.resolved.get(element)
        return dict(found) if found is not None else super().resolve(element, childclass)


def scale_sections(ctx: Context, bodies: list[Any]) -> None:
    """Scale the sections of a model with scaled frames; note the factors of the numbers in its keyframes.

    Raises:
      ModelError: what cannot be scaled, or joins parts of different sizes.
    """
    targets, spec = _tree_targets(bodies), ctx.spec
    resolved = scale_deformables(spec, targets)
    tendons = []
    for element in spec.sections["tendon"]:
        copy, attributes, target = _tendon(spec, element, targets)
        tendons.append(copy)
        resolved[copy] = attributes
        targets["tendon", element.get("name", "")] = target
    inputs: list[tuple[np.ndarray, float, Element]] = []
    for section, make in (("contact", _pair), ("equality", _equality)):
        for element in spec.sections[section]:
            if element.tag != "exclude":
                a = spec.resolve(element)
                resolved[element] = scaled(a, make(element, a, targets))
    for element in spec.sections["actuator"]:
        resolved[element], target, factors = scaled_actuator(spec, element, targets)
        targets["actuator", element.get("name", "")] = target
        inputs.append((*factors, element))
    for element in spec.sections["sensor"]:
        a = spec.resolve(element)
        factor = _sensor(element, a, targets)
        resolved[element] = scaled(a, {"cutoff": factor, "noise": 1.0 if _directed(element) else factor})
    parts = {field.name: getattr(spec, field.name) for field in dataclasses.fields(Spec)}
    parts["sections"] = spec.sections | {"tendon": tendons}
    ctx.spec = ScaledSpec(**parts, resolved=resolved)
    ctx.key_factors = _key_factors(bodies, inputs)


def _tree_targets(bodies: list[Any]) -> Targets:
    found: Targets = {}
    for body in bodies:
        found["body", body.element.get("name", "")] = Target(body.scale)
        for kind, part in (("geom", "geoms"), ("site", "sites"), ("camera", "cameras"), ("joint", "joints")):
            for placed in getattr(body, part):
                along = kind != "joint" or placed.attributes["type"] == "slide"
                slides = kind == "joint" and along
                own = along_axis(placed.element, placed.attributes["axis"], placed.scale) if slides else None
                free = kind == "joint" and placed.attributes["type"] == "free"
                found[kind, placed.element.get("name", "")] = Target(placed.scale, along, own, free)
    found["body", "world"] = Target(UNSCALED)
    return {(kind, name): target for (kind, name), target in found.items() if name}


def _tendon(spec: Spec, element: Element, targets: Targets) -> tuple[Element, Attributes, Target]:
    """A tendon, its attributes and its factors; a hinge beside a slide turns its angle into a length."""
    a = spec.resolve(element)
    parts = [targets.get((tag, part.get(tag, ""))) for part in element.children for tag in ("joint", "site", "geom")]
    parts = [part for part in parts if part is not None]
    scale = shared(parts)
    along = element.tag == "spatial" or any(part.along for part in parts)
    target = Target(scale, along)
    if element.tag == "fixed" and along:
        children = []
        for part in element.children:
            own = targets.get(("joint", part.get("joint", "")), target).length
            factor = scale.length / own
            attrib = part.attrib | {"coef": part.get("coef") * factor} if factor != 1 else part.attrib
            children.append(dataclasses.replace(part, attrib=attrib))
        element = dataclasses.replace(element, children=children)
    length, unit, force = target.length, target.unit, target.force
    spring = np.where(a["springlength"] == -1, 1, length)
    return element, scaled(a, {
        "range": length, "margin": length, "springlength": spring, "springyield": length, "width": scale.length,
        "solimplimit": width(length), "solimpfriction": width(length), "stiffness": powers(force / unit, unit),
        "damping": powers(force / unit, unit), "armature": force / unit, "frictionloss": force,
        "actuatorfrcrange": force,
    }), target  # fmt: skip


def _pair(element: Element, a: Attributes, targets: Targets) -> Factors:
    geoms = [targets.get(("geom", a.get(f"geom{i}", "")), Target(UNSCALED)) for i in (1, 2)]
    mean = between(geoms[0].scale, geoms[1].scale)
    length = mean.length
    return {
        "margin": length, "gap": length, "friction": (1, 1, length, length, length), "solimp": width(length),
        "adhesion": mean.force,
    }  # fmt: skip


def _equality(element: Element, a: Attributes, targets: Targets) -> Factors:
    if element.tag in ("flex", "flexstrain"):
        return {"solimp": width(targets.get(("flex", a["flex"]), Target(UNSCALED)).length)}
    kind = element.tag if element.tag in ("joint", "tendon") else "site" if a.get("site1") else "body"
    first, second = (targets.get((kind, a.get(f"{kind}{i}") or ""), Target(UNSCALED)) for i in (1, 2))
    if kind in ("joint", "tendon"):
        return {"polycoef": first.length / second.length ** np.arange(5), "solimp": width(first.length)}
    mean = between(first.scale, second.scale).length
    if kind == "site":
        return {"torquescale": mean, "solimp": width(mean)}
    if element.tag == "connect":
        return {"anchor": first.scale.map, "solimp": width(first.length)}
    rotation = np.eye(7)
    rotation[:3, :3] = first.scale.map
    return {"anchor": second.scale.map, "relpose": rotation, "torquescale": mean, "solimp": width(mean)}


def _directed(element: Element) -> bool:
    """Whether a sensor measures directions: they have no unit, their cutoff is one of distances."""
    return SENSOR_OF_TAG[element.tag].datatype == DataType.AXIS


def _sensor(element: Element, a: Attributes, targets: Targets) -> float:
    """Factor of what a sensor measures."""
    kind = SENSOR_OF_TAG[element.tag]
    ends = _ends(kind, a, targets)
    if kind.measure == Measure.UNKNOWN and not all(end.scale.plain for end in ends):
        raise element.error("tactile sensors and plugins cannot be scaled")
    if kind.measure in (Measure.UNSCALED, Measure.UNKNOWN):
        return 1.0
    law = kind.measure.name.lower()
    if kind.attachment.attribute in ("joint", "tendon", "actuator"):
        return getattr(ends[0], law)
    return getattr(between(ends[0].scale, ends[1].scale) if len(ends) > 1 else ends[0].scale, law)


def _ends(kind: SensorType, a: Attributes, targets: Targets) -> list[Target]:
    """Return what a sensor is attached to, and of pairs the other end."""
    to = kind.attachment

    def of(kind: str, attribute: str) -> Target:
        return targets.get((kind, a.get(attribute) or ""), Target(UNSCALED))

    if to.attribute:
        return [of(to.attribute, to.attribute)]
    if to == Attachment.PAIR:
        return [of("geom", f"geom{i}") if a.get(f"geom{i}") else of("body", f"body{i}") for i in (1, 2)]
    if a.get("objtype"):
        return [of({"xbody": "body"}.get(a["objtype"], a["objtype"]), "objname")]
    return [of(tag, tag) for tag in ("site", "camera", "geom") if a.get(tag)][:1] or [Target(UNSCALED)]


def _key_factors(bodies: list[Any], inputs: list[tuple[np.ndarray, float, Element]]) -> dict[str, dict[Element, Any]]:
    """For each vector of a keyframe, the factors of the numbers of joints, mocap bodies and actuators, or a matrix."""
    positions: dict[Element, Any] = {}
    velocities: dict[Element, Any] = {}
    for body in bodies:
        for placed in body.joints:
            kind, element = placed.attributes["type"], placed.element
            if kind == "free":
                positions[element] = _moved(body)
                velocities[element] = positions[element][:, :3]
            else:
                own = along_axis(element, placed.attributes["axis"], placed.scale) if kind == "slide" else 1.0
                positions[element] = velocities[element] = own
    return {
        "qpos": positions,
        "qvel": velocities,
        "mpos": {body.element: _moved(body) for body in bodies},
        "ctrl": {element: ctrl for ctrl, _, element in inputs},
        "act": {element: act for _, act, element in inputs},
    }


def _moved(body: Any) -> np.ndarray:
    """Where the frames around a body of the world put a point in the world: a matrix, and an offset as last column."""
    if body.frame is None:
        return np.eye(3, 4)
    axes = quat_to_mat(body.frame[1])
    rotation = axes @ body.around.map @ axes.T
    return np.column_stack([rotation, body.frame[0] - rotation @ body.unscaled[0]])
