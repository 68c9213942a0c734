"""The shapes of MuJoCo's signed distance plugins, and the meshes that show them.

Source: plugin/sdf/{bolt,bowl,gear,nut,torus}.cc, and mjCMesh::LoadSDF.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mjx_like.mjcf.asset.isosurface import isosurface
from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError

_POINTS = 300  # along the three half sizes of the box together
_LARGEST = 512  # points along one side
_ROOT = np.sqrt(2.0) / 2
Point = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Shape:
    """A shape: its signed distance, the half sizes of a box around it, and its parameters with their defaults."""

    distance: Callable[..., np.ndarray]
    half: Callable[..., tuple[float, float, float]]
    parameters: Mapping[str, float]


def sdf_mesh(shape: Shape, config: Mapping[str, str]) -> MeshData:
    """Return the mesh of a shape with the parameters that a plugin's configuration gives.

    Raises:
      MeshError: a parameter that is no number, or a shape without surface.
    """
    given = shape.parameters | {name: _number(name, text) for name, text in config.items() if text.strip()}
    half = np.array(shape.half(**given), float)
    if not np.isfinite(half).all() or (half <= 0).any():
        raise MeshError("has plugin parameters that make no shape")
    count = np.floor(_POINTS / half.sum() * half).astype(int) + 1
    if (count < 2).any():
        raise MeshError("has plugin parameters that make a shape too flat for its mesh")
    grid = [-size + 2 * size * np.arange(n) / (n - 1) for size, n in zip(half, count, strict=True)]
    mesh = isosurface(shape.distance(np.meshgrid(*grid, indexing="ij", sparse=True), **given))
    if not len(mesh.face):
        raise MeshError("has plugin parameters that make a shape without surface")
    vert = 2 * half * mesh.vert.astype(float) / (count - 1) - half
    mesh.vert, mesh.normal = vert.astype(np.float32).astype(float), mesh.normal.astype(float)
    return mesh


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise MeshError(f"has plugin parameter {name} '{text}', which is no number") from None


def _subtract(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.maximum(a, -b)


def _torus(p: Point, radius1: float, radius2: float) -> np.ndarray:
    x, y, z = p
    ring = np.sqrt(x * x + y * y) - radius1
    return np.sqrt(ring * ring + z * z) - radius2


def _bowl(p: Point, height: float, radius: float, thickness: float) -> np.ndarray:
    x, y, z = p
    width = np.sqrt(radius * radius - height * height)
    across = np.sqrt(x * x + y * y)
    rim = np.sqrt((across - width) ** 2 + (z - height) ** 2)
    shell = np.abs(np.sqrt(across * across + z * z) - radius)
    return np.where(height * across < width * z, rim, shell) - thickness


def _thread(p: Point, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distance from a screw thread, from the cone that cuts it, and across the axis from its radius."""
    x, y, z = p
    across = np.sqrt(x * x + y * y) - radius
    wave = z * _SCREW - np.arctan2(y, x) / np.pi / 2
    triangle = np.abs(wave - np.floor(wave) - 0.5)
    return (across - triangle / _SCREW) * _ROOT, (z - across) * _ROOT, across


_SCREW = 12  # turns of the thread per unit of length


def _hexagon(p: Point, across: np.ndarray) -> np.ndarray:
    """Distance from a hexagonal head with rounded edges."""
    x, y, z = p
    sixth = 6 / np.pi / 2
    angle = -np.floor(np.arctan2(y, x) * sixth + 0.5) / sixth
    side = np.sin(angle + np.pi * 0.5) * x - np.sin(angle) * y
    head = np.maximum(side - 0.5, np.abs(z + 0.25) - 0.25)
    return np.maximum(head, (z + across - 0.22) * _ROOT)


def _bolt(p: Point, radius: float) -> np.ndarray:
    thread, cone, across = _thread(p, radius)
    shaft = _subtract(_subtract(thread, 0.5 - np.abs(p[2] + 0.5)), cone + _ROOT)
    return np.minimum(shaft, _hexagon(p, across))


def _nut(p: Point, radius: float) -> np.ndarray:
    thread, cone, across = _thread(p, radius)
    hole = np.minimum(_subtract(thread, cone + 0.5 * _ROOT), -cone - 0.05 * _ROOT)
    return _subtract(_hexagon(p, across), hole)


def _gear(p: Point, alpha: float, diameter: float, teeth: float, thickness: float, innerdiameter: float) -> np.ndarray:
    flat = _gear_section(p, alpha, diameter, teeth, innerdiameter)
    depth = np.abs(p[2]) - thickness / 2
    outside = np.sqrt(np.maximum(flat, 0) ** 2 + np.maximum(depth, 0) ** 2)
    return np.minimum(np.maximum(flat, depth), 0.0) + outside


def _gear_section(p: Point, alpha: float, diameter: float, teeth: float, innerdiameter: float) -> np.ndarray:
    """Distance in the plane from a gear with involute teeth."""
    x, y, _ = p
    rho = np.sqrt(x * x + y * y)
    pressure = 3.096e-5 * teeth * teeth - 6.557e-3 * teeth + 0.551
    pitch = teeth / diameter
    outer, depth = (diameter + 2 / pitch) / 2, 2.2 / pitch
    inner = innerdiameter / 2 if innerdiameter >= 0 else outer - depth - 0.14 * diameter
    base = diameter * np.cos(pressure) / 2
    angle = np.arctan2(y, x) + alpha
    stride = np.pi / pitch / (diameter / 2)
    lean = np.arccos(base / (diameter / 2))
    shift = stride / 2 - 2 * (np.tan(lean) - lean)
    sides = [_wrapped(turn + shift / 2, stride) - shift / 2 for turn in (angle, -angle - shift)]
    beyond = rho > base
    far = np.where(beyond, rho, base + 1.0)
    tangent = np.sqrt(far * far - base * base)
    flanks = [np.where(beyond, tangent - base * (side + np.arccos(base / far)), -1e6) for side in sides]
    walls = np.maximum(*(side - (stride - shift) for side in sides))
    cogs = np.maximum(walls, np.maximum(*flanks))
    cogs = _smooth_intersection(rho - outer, cogs, 0.0035 * diameter)
    cogs = _smooth_union(rho - (outer - depth), cogs, base - outer + depth)
    section = _subtract(cogs, rho - inner)
    section = np.where(outer - rho < -0.2, rho - outer, section)
    return np.where(inner - rho > 0, inner - rho, section)


def _wrapped(x: np.ndarray, period: float) -> np.ndarray:
    return x - period * np.floor(x / period)


def _smooth_union(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    share = np.clip(0.5 + 0.5 * (b - a) / width, 0.0, 1.0)
    return b * (1 - share) + a * share - width * share * (1 - share)


def _smooth_intersection(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    return _subtract(np.maximum(a, b), _smooth_union(_subtract(a, b), _subtract(b, a), width))


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
