"""Actuators whose targets stand in scaled frames: gears, ranges, gains and biases."""

import dataclasses

import numpy as np

from mjx_like.compiler.scale.factors import UNSCALED, Attributes, Factors, powers, scaled
from mjx_like.compiler.scale.target import Target, Targets, between
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import keywords
from mjx_like.mjcf.spec import Spec
from mjx_like.types.enums import BiasType, CtrlInput, GainType, Parameters

_SERVO = CtrlInput.POS | CtrlInput.VEL


def scaled_actuator(
    spec: Spec, element: Element, targets: Targets
) -> tuple[Attributes, Target, tuple[np.ndarray, float]]:  # fmt: skip
    """Attributes of an actuator, the factors of its target, and those of its control and of its activation."""
    a = spec.resolve(element)
    kinds = {"jointinparent": "joint", "cranksite": "site", "joint": "joint"}
    attribute = next((t for t in ("joint", "jointinparent", "tendon", "cranksite", "site", "body") if a.get(t)), "")
    target = targets.get((kinds.get(attribute, attribute), a.get(attribute, "")), Target(UNSCALED))
    if attribute == "cranksite":
        target = Target(between(target.scale, targets.get(("site", a["slidersite"]), Target(UNSCALED)).scale))
    scale, angle = target.scale, a["gaintype"] == "so3"
    screw = attribute == "site" or target.free  # translates and rotates, as its gear says; a length as soon as it moves
    if screw and not angle:
        target = dataclasses.replace(target, along=bool(np.any(np.asarray(a["gear"])[:3])))
    if scale.plain:
        return a, target, (np.ones(1), 1.0)
    similar = scale.unit_length != 1 or scale.unit_mass != 1
    gain, bias = GainType(keywords.GAIN[a["gaintype"]]), BiasType(keywords.BIAS[a["biastype"]])
    if similar and Parameters.UNKNOWN in (gain.parameters, bias.parameters):
        raise element.error("the parameters of this actuator cannot be scaled; give the frame scaling 'geometry'")
    if element.tag == "plugin":
        raise element.error("an actuator with a plugin cannot be scaled")
    length, unit, force = target.length, target.unit, target.force
    gear = (1, 1, 1, scale.length, scale.length, scale.length) if screw and target.along else 1
    follows = bool(a["ctrlspec"] & _SERVO) and not angle
    found = scaled(a, {
        "gear": gear, "forcerange": force, "cranklength": scale.length, "lengthrange": length,
        "ctrlrange": length if follows else 1.0, "velrange": length, "ffrange": force,
        "actrange": length if follows else 1.0, "armature": force / unit, "damping": powers(force / unit, unit),
        **_LAWS[gain.parameters](a, target),
    })  # fmt: skip
    ctrl = length if follows else 1.0
    inputs = {CtrlInput.POS: length, CtrlInput.VEL: length, CtrlInput.FF: force}
    each = [factor for kind, factor in inputs.items() if a["ctrlspec"] & kind] if not angle else []
    return found, target, (np.array(each or [ctrl]), ctrl if a["dyntype"] == "integrator" else 1.0)


def _affine(a: Attributes, target: Target) -> Factors:
    unit, force, spec = target.unit, target.force, a["ctrlspec"]
    pressure = target.scale.unit_mass / target.scale.unit_length
    entry = pressure if spec & CtrlInput.PRESSURE else unit if spec & _SERVO else 1.0
    gain, bias = np.ones(10), np.ones(10)
    gain[:3] = force / entry, force / unit, force / unit
    bias[:3] = force, force / unit, force / unit if a["biasprm"][2] <= 0 else 1.0  # positive: a damping ratio
    if a["biastype"] == "muscle":
        bias = _muscle(a, target)["biasprm"]
    return {"gainprm": gain, "biasprm": bias}


def _muscle(a: Attributes, target: Target) -> Factors:
    """A muscle that is given its peak force has it scaled; that of another follows from how its target accelerates."""
    gain, bias = np.ones(10), np.ones(10)
    for factors, prm in ((gain, a["gainprm"]), (bias, a["biasprm"])):
        factors[2] = target.force if prm[2] >= 0 else 1.0
    if a["biastype"] != "muscle":
        bias = _affine(a | {"biastype": "none"}, target)["biasprm"]
    return {"gainprm": gain, "biasprm": bias}


def _pid(a: Attributes, target: Target) -> Factors:
    gain, bias, prm = np.ones(10), np.ones(10), np.ones(10)
    gain[0] = target.force / target.unit
    bias[:3] = target.force, target.force / target.unit, target.force / target.unit
    prm[:2] = target.length
    return {"gainprm": gain, "biasprm": bias, "dynprm": prm}


def _rotation(a: Attributes, target: Target) -> Factors:
    """The norm of a force bounds a rotation, its gain is a torque."""
    torque = target.scale.torque
    return {"gainprm": torque, "biasprm": torque}


_LAWS = {
    Parameters.AFFINE: _affine,
    Parameters.MUSCLE: _muscle,
    Parameters.PID: _pid,
    Parameters.ROTATION: _rotation,
    Parameters.UNKNOWN: _affine,  # in units that stay as they are
}
