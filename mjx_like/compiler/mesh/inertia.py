"""Volume, centre of mass and inertia of a mesh, and the frame in which its axes are principal."""

import dataclasses

import numpy as np

from mjx_like.compiler.pose import principal_axes
from mjx_like.constants import MINVAL
from mjx_like.mjcf.asset.mesh_data import MeshError
from mjx_like.types.enums import MeshInertia

_SLACK_RELATIVE, _SLACK_ABSOLUTE = 1e-6, 1e-9  # by which moments may violate the triangle inequality
_SINGLE = 1e-7  # relative precision of the vertices, beyond which their axes have no meaning
_LARGEST = 1e40  # coordinate [m], so that no moment overflows
_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@dataclasses.dataclass
class MeshMass:
    """Mass properties at unit density.

    content: volume [m^3], or surface [m^2] of a shell. pos, quat: frame of the principal axes, in that of the vertices.
    box: half sizes of the box of equal inertia, shape (3,) [m].
    """

    content: float
    pos: np.ndarray
    quat: np.ndarray
    box: np.ndarray


def mesh_mass(vert: np.ndarray, face: np.ndarray, solid: np.ndarray, kind: MeshInertia) -> MeshMass:
    """Return the mass properties of a mesh at unit density.

    Args:
      vert: shape (nvert, 3) [m].
      face: its triangles, shape (nface, 3).
      solid: triangles that bound the mass: those of the convex hull for CONVEX, else `face`.
      kind: how the mass is distributed.

    Raises:
      MeshError: no area, no volume, or an inertia that no body has.
    Source: mjCMesh::Process, ComputeVolume, ComputeInertia.
    """
    if np.abs(vert).max() > _LARGEST:
        raise MeshError(f"has a vertex beyond {_LARGEST:g}")
    area, _, centre = triangles(vert, face)
    if area.sum() < MINVAL:
        raise MeshError("has a surface that is too small")
    centroid = _sum(area[:, None] * centre) / _sum(area)
    weight, centre = _weights(vert, solid, kind, centroid)
    content = _sum(weight)
    if content < MINVAL and kind != MeshInertia.SHELL:
        raise MeshError(
            "has a negative volume: its triangles face inward"
            if content < 0
            else "has a volume that is too small; inertia='shell' takes its mass from the surface"
        )
    pos = _sum(weight[:, None] * (centre * 0.75 + centroid / 4)) / content
    tensor, content = _inertia(vert - pos, solid, kind)
    moments, quat = principal_axes(tensor, _SINGLE, _SINGLE)
    if moments[2] <= 0:
        raise MeshError("has an inertia with an eigenvalue that is not positive")
    if (2 * moments - moments.sum() > moments * _SLACK_RELATIVE + _SLACK_ABSOLUTE).any():
        raise MeshError("has an inertia whose eigenvalues violate A + B >= C")
    squares = 6 * (moments.sum() - 2 * moments) / content
    return MeshMass(content, pos, quat, 0.5 * np.sqrt(np.maximum(squares, 0)))


def triangles(vert: np.ndarray, face: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return area, unit normal and centre of triangles; a triangle without area has area 0."""
    a, b, c = (vert[face[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.sqrt(np.sum(normal * normal, axis=1))
    ok = length >= MINVAL
    return np.where(ok, 0.5 * length, 0.0), normal / np.where(ok, length, 1.0)[:, None], (a + b + c) / 3


def _weights(vert: np.ndarray, face: np.ndarray, kind: MeshInertia, tip=0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return volume of the pyramid over each triangle with its tip at a point, or area, and the centres."""
    area, normal, centre = triangles(vert, face)
    if kind == MeshInertia.SHELL:
        return area, centre
    volume = np.sum((centre - tip) * normal, axis=1) * area / 3
    return np.abs(volume) if kind == MeshInertia.LEGACY else volume, centre


def _inertia(vert: np.ndarray, face: np.ndarray, kind: MeshInertia) -> tuple[np.ndarray, float]:
    """Return the inertia about the origin, shape (3, 3), and the content."""
    weight, _ = _weights(vert, face, kind)
    d, e, f = (vert[face[:, k]] for k in range(3))
    share = weight / (12 if kind == MeshInertia.SHELL else 20)
    xx, yy, zz, xy, xz, yz = (
        _sum(share * (2 * (d[:, i] * d[:, j] + e[:, i] * e[:, j] + f[:, i] * f[:, j])
                      + d[:, i] * e[:, j] + d[:, j] * e[:, i]
                      + d[:, i] * f[:, j] + d[:, j] * f[:, i]
                      + e[:, i] * f[:, j] + e[:, j] * f[:, i]))
        for i, j in _PAIRS
    )  # fmt: skip
    return np.array([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]]), float(_sum(weight))


def _sum(values: np.ndarray) -> np.ndarray:
    """Return the sum over the first axis, added one by one as MuJoCo adds: symmetric meshes depend on it."""
    return np.cumsum(values, axis=0)[-1]
