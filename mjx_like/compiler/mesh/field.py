"""Signed distance of a mesh as MuJoCo's octree has it, on the grid of its finest cells.

The octree is finest at the surface. Distances are exact at the corners of its leaves and linear along each axis
between them; a corner on a face or an edge of a larger leaf has the value there, so that the field is continuous. On
the grid of the finest cells it is the same field, because a leaf cut into smaller ones loses nothing.
Source: mjCOctree in MuJoCo's user_objects, by what it computes: `oct_aabb`, `oct_child` and `oct_coeff` of mjModel.
"""

from typing import NamedTuple

import numpy as np

from mjx_like.compiler.mesh.distance import mesh_distance

DEPTH = 6  # times that the box is halved at the surface
_LARGER = 1.1  # the box of the field over that of the mesh
_CORNERS = np.array([[j & 1, j >> 1 & 1, j >> 2 & 1] for j in range(8)])
_MANY = 1 << 20  # pairs of cells and triangles that are tested at once


class MeshField(NamedTuple):
    """box: center and half sizes, shape (6,) [m]; value: distances at the corners of cells, shape (n, n, n) [m]."""

    box: np.ndarray
    value: np.ndarray


def mesh_field(vert: np.ndarray, face: np.ndarray, depth: int = DEPTH) -> MeshField:
    """Return the field of a mesh, on a grid of 2**depth + 1 values along each axis."""
    low, high = vert.min(axis=0), vert.max(axis=0)
    center, half = 0.5 * (low + high), 0.5 * _LARGER * (high - low)
    leaf = _balanced(_leaf_depths(vert[face], center, half, depth), depth)
    coarse = _coarsest(leaf)
    index = np.indices(coarse.shape)
    hanging = (index % (2**depth >> coarse) != 0).any(axis=0)
    value = np.zeros(coarse.shape)
    at = np.stack(index, axis=-1)[~hanging]
    value[~hanging] = mesh_distance(center + half * (at / 2 ** (depth - 1) - 1), vert, face)
    for level in range(depth):
        mine = hanging & (coarse == level)
        if mine.any():
            value[mine] = _between(value[:: 2**depth >> level, :: 2**depth >> level, :: 2**depth >> level], depth)[mine]
    return MeshField(np.concatenate([center, half]), value)


def field_of_octree(child: np.ndarray, box: np.ndarray, value: np.ndarray) -> MeshField:
    """Return the field of an octree of MuJoCo.

    Args:
      child: nodes within each, -1 for none, shape (n, 8); the first node is the whole.
      box: center and half sizes, shape (n, 6) [m].
      value: at the corners, shape (n, 8) [m].
    """
    leaf = np.flatnonzero((child < 0).all(axis=1))
    depth = np.rint(np.log2(box[0, 3] / box[leaf, 3])).astype(int)
    finest = int(depth.max())
    grid = np.zeros((2**finest + 1,) * 3)
    start = box[0, :3] - box[0, 3:]
    for level in sorted(set(depth.tolist())):
        mine, width = leaf[depth == level], 2**finest >> level
        first = np.rint((box[mine, :3] - box[mine, 3:] - start) / (2 * box[0, 3:]) * 2**finest).astype(int)
        step = np.stack(np.indices((width + 1,) * 3), axis=-1).reshape(-1, 3)
        share = np.where(_CORNERS[None], (step / width)[:, None], 1 - (step / width)[:, None]).prod(axis=2)
        grid[tuple(np.moveaxis(first[:, None] + step, 2, 0))] = value[mine] @ share.T
    return MeshField(box[0].copy(), grid)


def _leaf_depths(triangle: np.ndarray, center: np.ndarray, half: np.ndarray, depth: int) -> np.ndarray:
    """Return how often the leaf of each finest cell was halved: wherever it met a triangle; shape (2**depth,)*3."""
    leaf = np.zeros((2**depth,) * 3, int)
    cell, index = np.zeros((1, 3), int), np.zeros(len(triangle), int)
    face = np.arange(len(triangle))
    for level in range(depth):
        size = half / 2**level
        meets = np.concatenate(
            [
                _meets(triangle[face[part]] - (center - half + size * (2 * cell[index[part]] + 1))[:, None], size)
                for part in np.array_split(np.arange(len(face)), 1 + len(face) // _MANY)
            ]
        )
        kept, index = np.unique(index[meets], return_inverse=True)
        face = np.tile(face[meets], 8)
        index = (8 * index + np.arange(8)[:, None]).ravel()
        cell = (2 * cell[kept][:, None] + _CORNERS).reshape(-1, 3)
        width = 2**depth >> (level + 1)
        within = np.stack(np.indices((width,) * 3), axis=-1).reshape(-1, 3)
        leaf[tuple(np.moveaxis(width * cell[:, None] + within, 2, 0))] = level + 1
    return leaf


def _meets(triangle: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return whether triangles, shape (n, 3, 3), meet a box about the origin, by its half sizes: no axis parts them."""
    found = np.zeros(len(triangle), bool)
    near = ((triangle.max(axis=1) >= -half) & (triangle.min(axis=1) <= half)).all(axis=1)
    triangle = triangle[near]
    edge = np.roll(triangle, -1, axis=1) - triangle
    meets = np.ones(len(triangle), bool)
    normal = np.cross(edge[:, 0], edge[:, 1])
    meets &= np.abs(np.sum(normal * triangle[:, 0], axis=1)) <= np.abs(normal) @ half
    for side in range(3):
        for axis in np.eye(3):
            across = np.cross(axis, edge[:, side])
            along, reach = np.einsum("nij,nj->ni", triangle, across), np.abs(across) @ half
            meets &= (along.max(axis=1) >= -reach) & (along.min(axis=1) <= reach)
    found[near] = meets
    return found


def _balanced(leaf: np.ndarray, depth: int) -> np.ndarray:
    """Return the depths after leaves are halved until those that share a face differ by one at most."""
    while True:
        edged = np.pad(leaf, 1)
        beside = [np.roll(edged, step, axis)[1:-1, 1:-1, 1:-1] for axis in range(3) for step in (1, -1)]
        deeper = np.max(beside, axis=0) > leaf + 1
        if not deeper.any():
            return leaf
        raised = leaf.copy()
        for level in range(depth):
            count, width = 2**level, 2**depth >> level
            block = (deeper & (leaf == level)).reshape(count, width, count, width, count, width).any(axis=(1, 3, 5))
            raised[np.kron(block, np.ones((width,) * 3, bool)).astype(bool) & (leaf == level)] = level + 1
        leaf = raised


def _coarsest(leaf: np.ndarray) -> np.ndarray:
    """Return the least depth of the leaves about each corner of the finest cells."""
    edged = np.pad(leaf, 1, mode="edge")
    ends = slice(None, -1), slice(1, None)
    return np.min([edged[a, b, c] for a in ends for b in ends for c in ends], axis=0)


def _between(value: np.ndarray, depth: int) -> np.ndarray:
    """Return the values at the corners of the finest cells, linear along each axis between those given."""
    at = np.linspace(0, len(value) - 1, 2**depth + 1)
    first = np.minimum(at.astype(int), len(value) - 2)
    share = at - first
    for axis in range(3):
        value = np.moveaxis(value, axis, -1)
        value = np.moveaxis((1 - share) * value[..., first] + share * value[..., first + 1], -1, axis)
    return value
