"""Lengths and inverse weights of flex edges at qpos0, in NumPy."""

import numpy as np

from mjx_like.compiler.reference.com import Motion, jacobian
from mjx_like.compiler.reference.inertia import Inertia
from mjx_like.compiler.reference.kinematics import Fields, Frames
from mjx_like.constants import MINVAL

_FORCES = ("flex_edgeequality", "flex_edgestiffness", "flex_edgedamping", "flex_damping")


def set_flex_edges(f: Fields, frames: Frames, motion: Motion, mass: Inertia, slides: np.ndarray) -> None:
    """Write flexedge_length0 and flexedge_invweight0.

    Args:
      slides: which bodies move on axis-aligned slides alone, shape (nbody,).

    Source: mj_flex, set0 in engine_setconst.c.
    """
    length, weight = np.zeros(f["nflexedge"]), np.zeros(f["nflexedge"])
    for flex in range(f["nflex"]):
        if f["flex_interp"][flex]:
            continue
        first = f["flex_vertadr"][flex]
        verts = slice(first, first + f["flex_vertnum"][flex])
        body = np.asarray(f["flex_vertbodyid"][verts], int)
        point = frames.xpos[body] + np.einsum("bij,bj->bi", frames.xmat[body], f["flex_vert"][verts])
        edges = slice(f["flex_edgeadr"][flex], f["flex_edgeadr"][flex] + f["flex_edgenum"][flex])
        ends = np.asarray(f["flex_edge"][edges], int)
        vector = point[ends[:, 1]] - point[ends[:, 0]]
        length[edges] = np.linalg.norm(vector, axis=1)
        weight[edges] = _weights(f, flex, motion, mass, slides, point, body, ends, vector)
    f["flexedge_length0"], f["flexedge_invweight0"] = length, weight


def _weights(f: Fields, flex: int, motion: Motion, mass: Inertia, slides, point, body, ends, vector) -> np.ndarray:
    """Mean inverse mass of two sliding ends; else the inverse inertia along the edge; 0 within one body.

    An edge without forces has no Jacobian, hence 0 unless both ends slide.
    """
    first, second = body[ends.T]
    per_mass = 1 / np.maximum(f["body_mass"], MINVAL)
    weight = (per_mass[first] + per_mass[second]) / 2
    general = np.flatnonzero((first != second) & ~(slides[first] & slides[second]))
    weight[general] = 0
    acts = any(f[name][flex] for name in _FORCES)
    if len(general) and f["nv"] and acts:
        rows = np.zeros((len(general), f["nv"]))
        for row, edge in zip(rows, general, strict=True):
            length = np.linalg.norm(vector[edge])
            unit = vector[edge] / length if length >= MINVAL else np.array([1.0, 0, 0])
            start, stop = (jacobian(motion, point[v], body[v])[0] for v in ends[edge])
            row[:] = unit @ (stop - start)
        weight[general] = np.sum(rows * mass.solve(rows), axis=1)
    weight[first == second] = 0
    return weight if f["nv"] else np.zeros(len(ends))
