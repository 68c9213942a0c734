"""Scaled frames: the factors of what is in them, and the attributes of the tree multiplied by these.

A frame multiplies lengths by `scale` and masses by `massscale`. Under `scaling` similar the units of length and mass
change along with them, so that forces, stiffnesses and gains follow; under geometry these keep their values. Sizes are
scaled where attributes are resolved, so that a Spec keeps what its files say.

Source: XML reference (frame: scale, scaling, massscale), XMLunits; what they leave open was found by trial on 4.0.0.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mjx_like.mjcf.spec import Element

Attributes = dict[str, Any]
Factors = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Scale:
    """The factors of what is in a frame: lengths, masses, and the units of both that forces follow."""

    length: float = 1.0
    mass: float = 1.0
    unit_length: float = 1.0
    unit_mass: float = 1.0

    @property
    def force(self) -> float:
        return self.unit_mass * self.unit_length

    @property
    def torque(self) -> float:
        return self.force * self.unit_length

    @property
    def inertia(self) -> float:
        return self.mass * self.length**2

    def within(self, element: Element) -> "Scale":
        """Return the factors of what is in a frame that stands where these are those.

        Raises:
          ModelError: a factor that is not positive and finite, or three that differ.
        """
        given = np.atleast_1d(np.asarray(element.get("scale", 1.0), float))
        if not np.isfinite(given).all() or (given <= 0).any():
            raise element.error(f"scale {given} must be positive and finite")
        if len(given) == 2:
            raise element.error("scale needs one number or three, has 2")
        if (given != given[0]).any():
            raise element.error("a scale that differs between the axes is not built yet; give one number")
        mass = float(element.get("massscale", 0.0))
        if not 0 <= mass < np.inf:
            raise element.error(f"massscale {mass:g} must be finite and not negative")
        length = float(given[0])
        mass = mass or length**3
        unit = (length, mass) if element.get("scaling", "similar") == "similar" else (1.0, 1.0)
        found = Scale(
            self.length * length, self.mass * mass, self.unit_length * unit[0], self.unit_mass * unit[1]
        )  # fmt: skip
        return found


UNSCALED = Scale()


def scaled(attributes: Mapping[str, Any], factors: Factors) -> Attributes:
    """Return attributes with some of them multiplied by their factors, a number or one for each component."""
    found = dict(attributes)
    for name, factor in factors.items():
        value = found.get(name)
        if value is not None:
            many = np.ndim(value) > 0 and np.ndim(factor) > 0
            found[name] = value * (np.asarray(factor, float)[: len(value)] if many else factor)
    return found


def powers(first: float, step: float) -> np.ndarray:
    """Factors of the coefficients of a polynomial: the first, and those of the next powers."""
    return first / step ** np.arange(3)


def width(factor: float) -> tuple[float, ...]:
    """Factors of an impedance, whose third number is a width."""
    return (1, 1, factor, 1, 1)


_USED = {"sphere": (1, 0, 0), "capsule": (1, 1, 0), "cylinder": (1, 1, 0)}  # sizes that a shape has


def _shape(a: Mapping[str, Any], s: Scale) -> Factors:
    size = np.where(_USED.get(a["type"], (1, 1, 1)), s.length, 1.0)
    return {"size": size, "pos": s.length, "fromto": s.length}


def _geom(a: Mapping[str, Any], s: Scale) -> Factors:
    length = s.length
    density = s.mass / length ** (2 if a.get("shellinertia") else 3)
    return _shape(a, s) | {
        "margin": length, "gap": length,
        "friction": (1, length, length), "solimp": width(length), "surfacevel": (*[length] * 3, 1, 1, 1),
        "mass": s.mass, "density": density, "adhesion": s.force,
    }  # fmt: skip


def _joint(a: Mapping[str, Any], s: Scale) -> Factors:
    if a["type"] == "free":
        return {}
    slide = a["type"] == "slide"
    length, unit, force = (s.length, s.unit_length, s.force) if slide else (1.0, 1.0, s.torque)
    return {
        "pos": s.length, "range": length, "margin": length, "ref": length, "springref": length, "springyield": length,
        "solimplimit": width(length), "solimpfriction": width(length), "stiffness": powers(force / unit, unit),
        "damping": powers(force / unit, unit), "armature": force / unit, "frictionloss": force,
        "actuatorfrcrange": force,
    }  # fmt: skip


def _camera(a: Mapping[str, Any], s: Scale) -> Factors:
    return dict.fromkeys(("pos", "ipd", "focal", "principal", "sensorsize"), s.length)


def _light(a: Mapping[str, Any], s: Scale) -> Factors:
    return dict.fromkeys(("pos", "bulbradius", "range"), s.length) | {
        "attenuation": (1, 1 / s.length, 1 / s.length**2)
    }  # fmt: skip


def _inertial(a: Mapping[str, Any], s: Scale) -> Factors:
    return {"pos": s.length, "mass": s.mass, "diaginertia": s.inertia, "fullinertia": s.inertia}


_FACTORS: dict[str, Callable[[Mapping[str, Any], Scale], Factors]] = {
    "body": lambda a, s: {"pos": s.length},
    "frame": lambda a, s: {"pos": s.length},
    "site": _shape,
    "geom": _geom,
    "joint": _joint,
    "freejoint": lambda a, s: {},
    "camera": _camera,
    "light": _light,
    "inertial": _inertial,
}


def in_frame(tag: str, attributes: Attributes, scale: Scale) -> Attributes:
    """Return the resolved attributes of an element of the tree with the factors of the frames around it."""
    return attributes if scale == UNSCALED else scaled(attributes, _FACTORS[tag](attributes, scale))
