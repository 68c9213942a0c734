"""Elastic cables: the plugin mujoco.elasticity.cable, as MuJoCo 3.1.6 has it."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.plugin.registry import config, instance_of
from mjx_like.compiler.tree import Body
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.frame import normalized
from mjx_like.mjcf.spec import Spec
from mjx_like.types.enums import GeomType, JointType

_KEYS = ("twist", "bend", "flat", "vmax")
_COLUMNS = ("cable_bodyid", "cable_stiffness", "cable_curvature")


def compile_cables(spec: Spec, bodies: list[Body], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of all bodies that are elastically bound to the one before them.

    Args:
      bodies: the compiled tree.
      columns: those of bodies, joints and geoms.

    Raises:
      ModelError: a config that is not known or no number, or bodies that are no chain with ball joints.
    Source: Cable::Cable in plugin/elasticity/cable.cc.
    """
    chains: dict[str, list[Body]] = {}
    for body in bodies:
        if body.plugin is not None:
            chains.setdefault(instance_of(body.plugin) or f"body {body.id}", []).append(body)
    rows: list[tuple[int, np.ndarray, np.ndarray]] = []
    for chain in chains.values():
        twist, bend, flat = _material(chain[0].plugin, config(spec, chain[0].plugin))
        for before, body in zip(chain, chain[1:], strict=False):
            kinds = [joint.attributes["type"] for joint in body.joints]
            if body.parent is not before or kinds != [JointType.BALL.name.lower()]:
                raise body.plugin.error("the bodies of a cable must be a chain in which each has one ball joint")
            polar, wide, high = section_moments(columns, columns["body_geomadr"][body.id])
            stiffness = np.array([polar * twist, wide * bend, high * bend]) / np.linalg.norm(body.pos)
            rows.append((body.id, stiffness, np.zeros(3) if flat else rest_curvature(body.quat)))
    found = zip(*rows, strict=True) if rows else ((), (), ())
    return {name: list(column) for name, column in zip(_COLUMNS, found, strict=True)}


def _material(element: Element, given: dict[str, str]) -> tuple[float, float, bool]:
    """Moduli of twist and bending [Pa], and whether the cable is straight at rest."""
    for key in given:
        if key not in _KEYS:
            raise element.error(f"config has key '{key}', needs one of: {', '.join(_KEYS)}")
    values = []
    for key in ("twist", "bend"):
        text = given.get(key, "").strip() or "0"
        try:
            values.append(float(text))
        except ValueError:
            raise element.error(f"config '{key}' has '{text}', needs a number") from None
        if not math.isfinite(values[-1]):
            raise element.error(f"config '{key}' has '{text}', needs a finite number")
    return values[0], values[1], given.get("flat") == "true"


def section_moments(columns: Mapping[str, Any], geom: int) -> tuple[float, float, float]:
    """Torsion constant and both second moments of area of a geom's section [m^4]; zero for other shapes."""
    if geom < 0:
        return 0.0, 0.0, 0.0
    kind, size = columns["geom_type"][geom], columns["geom_size"][geom]
    if kind in (GeomType.CYLINDER, GeomType.CAPSULE):
        return math.pi * size[0] ** 4 / 2, math.pi * size[0] ** 4 / 4, math.pi * size[0] ** 4 / 4
    if kind != GeomType.BOX:
        return 0.0, 0.0, 0.0
    h, w = float(size[1]), float(size[2])
    a, b = max(h, w), min(h, w)
    torsion = a * b**3 * (16 / 3 - 3.36 * b / a * (1 - b**4 / a**4 / 12))
    return torsion, (2 * w) ** 3 * 2 * h / 12, (2 * h) ** 3 * 2 * w / 12


def rest_curvature(quat: np.ndarray) -> np.ndarray:
    """Rotation vector [rad] of a body's pose in the body before it."""
    axis, sine = normalized(quat[1:])
    angle = 2 * math.atan2(sine, quat[0])
    return axis * (angle - 2 * math.pi if angle > math.pi else angle)
