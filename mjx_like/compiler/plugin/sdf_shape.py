"""The meshes that show the shapes of MuJoCo's signed distance plugins.

Source: mjCMesh::LoadSDF.
"""

from collections.abc import Mapping

import numpy as np

from mjx_like.geometry.plugin_shape import Shape
from mjx_like.mjcf.asset.isosurface import isosurface
from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError

_POINTS = 300  # along the three half sizes of the box together
_LARGEST = 512  # points along one side


def sdf_mesh(shape: Shape, config: Mapping[str, str]) -> MeshData:
    """Return the mesh of a shape with the parameters that a plugin's configuration gives.

    Raises:
      MeshError: a parameter that is no number, or a shape without surface.
    """
    given = parameters_of(shape, config)
    half = np.array(shape.half(**given), float)
    if not np.isfinite(half).all() or (half <= 0).any():
        raise MeshError("has plugin parameters that make no shape")
    count = np.floor(_POINTS / half.sum() * half).astype(int) + 1
    if (count < 2).any():
        raise MeshError("has plugin parameters that make a shape too flat for its mesh")
    grid = [-size + 2 * size * np.arange(n) / (n - 1) for size, n in zip(half, count, strict=True)]
    mesh = isosurface(shape.distance(np, np.meshgrid(*grid, indexing="ij", sparse=True), **given))
    if not len(mesh.face):
        raise MeshError("has plugin parameters that make a shape without surface")
    vert = 2 * half * mesh.vert.astype(float) / (count - 1) - half
    mesh.vert, mesh.normal = vert.astype(np.float32).astype(float), mesh.normal.astype(float)
    return mesh


def parameters_of(shape: Shape, config: Mapping[str, str]) -> dict[str, float]:
    """Return the parameters of a shape, in their order, with those that a plugin's configuration gives.

    Raises:
      MeshError: a parameter that is no number.
    """
    return dict(shape.parameters) | {name: _number(name, text) for name, text in config.items() if text.strip()}


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise MeshError(f"has plugin parameter {name} '{text}', which is no number") from None
