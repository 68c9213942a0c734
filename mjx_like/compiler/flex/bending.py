"""Bending stiffness of flexes of triangles: one quadratic form for each edge between two triangles."""

from typing import Any

import numpy as np

_EDGES = ((1, 2), (2, 0), (0, 1))
_RECORD = 17  # sixteen entries of the form and one for the curved reference


def edge_flaps(flex: Any) -> np.ndarray:
    """Return the vertices opposite each edge, shape (nedge, 2); the second is -1 on the border.

    Source: CreateFlapStencil in user_mesh.cc.
    """
    flaps = np.full((len(flex.edges), 2), -1)
    numbers = flex.elemedge.reshape(-1, 3)
    opposite = np.stack([flex.elem[:, (end + 1) % 3] for _, end in _EDGES], axis=1).ravel()
    for edge, vertex in zip(numbers.ravel(), opposite, strict=True):
        flaps[edge, 0 if flaps[edge, 0] < 0 else 1] = vertex
    return flaps


def hinge_stiffness(flex: Any, flaps: np.ndarray) -> np.ndarray:
    """Return the bending stiffness of all edges, 17 numbers each, zero on the border.

    The last number belongs to the angle of the fold at qpos0, and is zero for a flat one.
    The form acts on the four vertices of an edge and its flaps; a sheet bent to a cylinder has the energy of a plate.

    Args:
      flex: a Flex of dimension 2; flaps: vertices opposite its edges.

    Source: ComputeBending in user_mesh.cc; XML reference, flex elasticity.
    """
    e = flex.elasticity
    rigidity = e["young"] * e["thickness"] ** 3 / (12 * (1 - e["poisson"] ** 2))
    out = np.zeros((len(flex.edges), _RECORD))
    inner = np.flatnonzero(flaps[:, 1] >= 0)
    if not len(inner):
        return out.ravel()
    v = [flex.xvert[i] for i in (*flex.edges[inner].T, *flaps[inner].T)]
    a01, a02 = _cotangent(v[0], v[1], v[2]), _cotangent(v[0], v[3], v[1])
    a03, a04 = _cotangent(v[1], v[2], v[0]), _cotangent(v[1], v[0], v[3])
    c = np.stack([a03 + a04, a01 + a02, -(a01 + a03), -(a02 + a04)], axis=1)
    areas = _area(v[0], v[1], v[2]), _area(v[1], v[0], v[3])
    stiffness = rigidity / (areas[0] + areas[1])
    edge, square = v[1] - v[0], np.sum((v[1] - v[0]) ** 2, axis=1)
    first = -(a03[:, None] * (v[2] - v[0]) + a01[:, None] * (v[2] - v[1]))
    second = -(a04[:, None] * (v[3] - v[0]) + a02[:, None] * (v[3] - v[1]))
    cosine = -np.sum(first * second, axis=1) / square
    out[inner, :16] = (c[:, :, None] * c[:, None, :] * (cosine * stiffness)[:, None, None]).reshape(-1, 16)
    normal = np.cross(edge, v[2] - v[0])
    lift = np.sum(normal * (v[3] - v[0]), axis=1)
    out[inner, 16] = -stiffness * lift * square**2 / (4 * areas[0] * areas[1]) ** 2
    return out.ravel()


def _cotangent(corner: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    a, b = first - corner, second - corner
    return np.sum(a * b, axis=1) / np.linalg.norm(np.cross(a, b), axis=1)


def _area(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
