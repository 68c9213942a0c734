"""The shapes of MuJoCo's signed distance plugins.

What divides here are sizes of the shape, far above the smallest numbers, so divisions have no guard.
Source: plugin/sdf/{bolt,bowl,gear,nut,torus}.cc.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

_ROOT = np.sqrt(2.0) / 2
Point = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Shape:
    """A shape: its signed distance, the half sizes of a box around it, and its parameters with their defaults.

    The distance takes the functions to use, those of NumPy or others of their names, then points and parameters.
    """

    distance: Callable[..., np.ndarray]
    half: Callable[..., tuple[float, float, float]]
    parameters: Mapping[str, float]


def _subtract(xp, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return xp.maximum(a, -b)


def _torus(xp, p: Point, radius1: float, radius2: float) -> np.ndarray:
    x, y, z = p
    ring = xp.sqrt(x * x + y * y) - radius1
    return xp.sqrt(ring * ring + z * z) - radius2


def _bowl(xp, p: Point, height: float, radius: float, thickness: float) -> np.ndarray:
    x, y, z = p
    width = xp.sqrt(radius * radius - height * height)
    across = xp.sqrt(x * x + y * y)
    rim = xp.sqrt((across - width) ** 2 + (z - height) ** 2)
    shell = xp.abs(xp.sqrt(across * across + z * z) - radius)
    return xp.where(height * across < width * z, rim, shell) - thickness


def _thread(xp, p: Point, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distance from a screw thread, from the cone that cuts it, and across the axis from its radius."""
    x, y, z = p
    across = xp.sqrt(x * x + y * y) - radius
    wave = z * _SCREW - xp.arctan2(y, x) / np.pi / 2
    triangle = xp.abs(wave - xp.floor(wave) - 0.5)
    return (across - triangle / _SCREW) * _ROOT, (z - across) * _ROOT, across


_SCREW = 12  # revolutions of the thread per unit of length


def _hexagon(xp, p: Point, across: np.ndarray) -> np.ndarray:
    """Distance from a hexagonal head with rounded edges."""
    x, y, z = p
    sixth = 6 / np.pi / 2
    angle = -xp.floor(xp.arctan2(y, x) * sixth + 0.5) / sixth
    side = xp.sin(angle + np.pi * 0.5) * x - xp.sin(angle) * y
    head = xp.maximum(side - 0.5, xp.abs(z + 0.25) - 0.25)
    return xp.maximum(head, (z + across - 0.22) * _ROOT)


def _bolt(xp, p: Point, radius: float) -> np.ndarray:
    thread, cone, across = _thread(xp, p, radius)
    shaft = _subtract(xp, _subtract(xp, thread, 0.5 - xp.abs(p[2] + 0.5)), cone + _ROOT)
    return xp.minimum(shaft, _hexagon(xp, p, across))


def _nut(xp, p: Point, radius: float) -> np.ndarray:
    thread, cone, across = _thread(xp, p, radius)
    hole = xp.minimum(_subtract(xp, thread, cone + 0.5 * _ROOT), -cone - 0.05 * _ROOT)
    return _subtract(xp, _hexagon(xp, p, across), hole)


def _gear(xp, p: Point, alpha: float, diameter: float, teeth: float, thickness: float, innerdiameter: float):
    flat = _gear_section(xp, p, alpha, diameter, teeth, innerdiameter)
    depth = xp.abs(p[2]) - thickness / 2
    outside = xp.sqrt(xp.maximum(flat, 0) ** 2 + xp.maximum(depth, 0) ** 2)
    return xp.minimum(xp.maximum(flat, depth), 0.0) + outside


def _gear_section(xp, p: Point, alpha: float, diameter: float, teeth: float, innerdiameter: float) -> np.ndarray:
    """Distance in the plane from a gear with involute teeth."""
    x, y, _ = p
    rho = xp.sqrt(x * x + y * y)
    pressure = 3.096e-5 * teeth * teeth - 6.557e-3 * teeth + 0.551
    pitch = teeth / diameter
    outer, depth = (diameter + 2 / pitch) / 2, 2.2 / pitch
    inner = xp.where(innerdiameter >= 0, innerdiameter / 2, outer - depth - 0.14 * diameter)
    base = diameter * xp.cos(pressure) / 2
    angle = xp.arctan2(y, x) + alpha
    stride = np.pi / pitch / (diameter / 2)
    lean = xp.arccos(base / (diameter / 2))
    shift = stride / 2 - 2 * (xp.tan(lean) - lean)
    sides = [_wrapped(xp, rotation + shift / 2, stride) - shift / 2 for rotation in (angle, -angle - shift)]
    beyond = rho > base
    far = xp.where(beyond, rho, base + 1.0)
    tangent = xp.sqrt(far * far - base * base)
    flanks = [xp.where(beyond, tangent - base * (side + xp.arccos(base / far)), -1e6) for side in sides]
    walls = xp.maximum(*(side - (stride - shift) for side in sides))
    cogs = xp.maximum(walls, xp.maximum(*flanks))
    cogs = _smooth_intersection(xp, rho - outer, cogs, 0.0035 * diameter)
    cogs = _smooth_union(xp, rho - (outer - depth), cogs, base - outer + depth)
    section = _subtract(xp, cogs, rho - inner)
    section = xp.where(outer - rho < -0.2, rho - outer, section)
    return xp.where(inner - rho > 0, inner - rho, section)


def _wrapped(xp, x: np.ndarray, period: float) -> np.ndarray:
    return x - period * xp.floor(x / period)


def _smooth_union(xp, a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    share = xp.clip(0.5 + 0.5 * (b - a) / width, 0.0, 1.0)
    return b * (1 - share) + a * share - width * share * (1 - share)


def _smooth_intersection(xp, a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    return _subtract(xp, xp.maximum(a, b), _smooth_union(xp, _subtract(xp, a, b), _subtract(xp, b, a), width))


_SCREW_BOX = (0.6, 0.6, 1.0)
SHAPES: dict[str, Shape] = {
    "mujoco.sdf.bolt": Shape(_bolt, lambda radius: _SCREW_BOX, {"radius": 0.26}),
    "mujoco.sdf.nut": Shape(_nut, lambda radius: _SCREW_BOX, {"radius": 0.26}),
    "mujoco.sdf.torus": Shape(
        _torus, lambda radius1, radius2: (radius1 + radius2, radius1 + radius2, radius2),
        {"radius1": 0.35, "radius2": 0.15},
    ),
    "mujoco.sdf.bowl": Shape(
        _bowl, lambda height, radius, thickness: (radius + thickness,) * 3,
        {"height": 0.4, "radius": 1.0, "thickness": 0.02},
    ),
    "mujoco.sdf.gear": Shape(
        _gear, lambda alpha, diameter, teeth, thickness, innerdiameter: (
            diameter / 2 * 1.25, diameter / 2 * 1.25, thickness / 2 * 1.1
        ),
        {"alpha": 0.0, "diameter": 2.8, "teeth": 25.0, "thickness": 0.2, "innerdiameter": -1.0},
    ),
}  # fmt: skip
