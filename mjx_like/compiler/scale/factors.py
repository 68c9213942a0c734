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

from mjx_like.compiler.pose import quat_to_mat
from mjx_like.mjcf.spec import Element

Attributes = dict[str, Any]
Factors = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Scale:
    """The factors of what is in a frame: lengths, masses, and the units of both that forces follow.

    stretch: where lengths have different factors in different directions, the linear map of positions, shape (3, 3),
    in the axes of what these are the factors of; `length` is then the geometric mean. None: all directions are alike.
    frames: the factors of each scaled frame around, in its own axes, the outermost first.
    """

    length: float = 1.0
    mass: float = 1.0
    unit_length: float = 1.0
    unit_mass: float = 1.0
    stretch: np.ndarray | None = dataclasses.field(default=None, compare=False)
    frames: tuple["Scale", ...] = dataclasses.field(default=(), compare=False, repr=False)

    @property
    def plain(self) -> bool:
        """Whether nothing is scaled."""
        return self.stretch is None and self == UNSCALED

    @property
    def force(self) -> float:
        return self.unit_mass * self.unit_length

    @property
    def torque(self) -> float:
        return self.force * self.unit_length

    @property
    def inertia(self) -> float:
        return self.mass * self.length**2

    @property
    def along(self) -> np.ndarray:
        """Factors of lengths along the three axes."""
        return np.full(3, self.length) if self.stretch is None else np.linalg.norm(self.stretch, axis=0)

    @property
    def map(self) -> np.ndarray:
        """The linear map of positions."""
        return self.length * np.eye(3) if self.stretch is None else self.stretch

    def rotated(self, quat: np.ndarray) -> "Scale":
        """Return the factors in the axes of what is turned by `quat` here."""
        if self.stretch is None:
            return self
        axes = quat_to_mat(quat)
        return dataclasses.replace(self, stretch=axes.T @ self.stretch @ axes)

    def within(self, element: Element) -> "Scale":
        """Return the factors of what is in a frame, in whose axes these are.

        Raises:
          ModelError: a factor that is not positive and finite, or three that differ where forces are to follow.
        """
        given = np.atleast_1d(np.asarray(element.get("scale", 1.0), float))
        if not np.isfinite(given).all() or (given <= 0).any():
            raise element.error(f"scale {given} must be positive and finite")
        if len(given) == 2:
            raise element.error("scale needs one number or three, has 2")
        mass = float(element.get("massscale", 0.0))
        if not 0 <= mass < np.inf:
            raise element.error(f"massscale {mass:g} must be finite and not negative")
        similar, differ = element.get("scaling", "similar") == "similar", (given != given[0]).any()
        if similar and differ:
            raise element.error("a scale that differs between the axes needs scaling 'geometry'")
        length = float(np.cbrt(np.prod(given))) if differ else float(given[0])
        mass = mass or (float(np.prod(given)) if differ else length**3)
        unit = (length, mass) if similar else (1.0, 1.0)
        found = Scale(
            self.length * length,
            self.mass * mass,
            self.unit_length * unit[0],
            self.unit_mass * unit[1],
            self.map * given if differ or self.stretch is not None else None,
        )
        return dataclasses.replace(found, frames=(*self.frames, found))


UNSCALED = Scale()


def scaled(attributes: Mapping[str, Any], factors: Factors) -> Attributes:
    """Return attributes with some of them multiplied by their factors.

    A factor is a number, one for each component, or a matrix.
    """
    found = dict(attributes)
    for name, factor in factors.items():
        value = found.get(name)
        if value is None:
            continue
        if np.ndim(factor) == 2:
            found[name] = factor @ value
        elif np.ndim(value) and np.ndim(factor):
            found[name] = value * np.asarray(factor, float)[: len(value)]
        else:
            found[name] = value * factor
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
    """Return the resolved attributes of an element of the tree with the factors of the frames around it.

    They are those of frames whose directions are alike; `stretched` does the rest.
    """
    return attributes if scale.plain else scaled(attributes, _FACTORS[tag](attributes, scale))
