"""Interpolated flexes of a compiled model: their nodes, the body of their vertices, and their elasticity."""

from typing import Any

import numpy as np

from mjx_like.compiler.decompile.source import Source
from mjx_like.compiler.pose import rotate
from mjx_like.compiler.reference.kinematics import kinematics
from mjx_like.errors import ModelError
from mjx_like.types.enums import EqType, ObjType

_NEAR = 1e-5  # distance of a vertex from its point in the grid, relative to the extent, single precision included
_DOF = {1: "trilinear", 2: "quadratic"}
_STIFFNESS = 6  # index of the stiffness in the record of an edge between faces
_RECORD = 10  # numbers in such a record


def nodes(s: Source, i: int) -> dict[str, Any]:
    """Return the attributes of a flex that say its nodes and the body of its vertices."""
    label = s.label(ObjType.FLEX, i)
    part = slice(s["flex_nodeadr"][i], s["flex_nodeadr"][i] + s["flex_nodenum"][i])
    names = [s.named(ObjType.BODY, body, label) for body in s["flex_nodebodyid"][part]]
    node = np.array(s["flex_node"][part])
    owner = s.named(ObjType.BODY, _owner(s, i, part), label)
    return {
        "body": " ".join([owner] * int(s["flex_vertnum"][i])), "node": " ".join(names),
        "nodecoord": node.ravel() if node.any() else None, "cellcount": np.array(s["flex_cellnum"][i], float),
        "dof": _DOF[abs(int(s["flex_interp"][i]))],
    }  # fmt: skip


def _owner(s: Source, i: int, part: slice) -> int:
    """Body in whose frame the vertices are where the grid puts them.

    Raises ModelError if there is none.
    """
    frames = kinematics(s.arrays.fields, s["qpos0"])
    poses = list(zip(frames.xpos, frames.xquat, strict=True))
    bodies, node, node0 = s["flex_nodebodyid"][part], s["flex_node"][part], s["flex_node0"][part]
    world = np.array([poses[b][0] + rotate(poses[b][1], x) for b, x in zip(bodies, node, strict=True)])
    low, extent = node0.min(axis=0), np.ptp(node0, axis=0)
    axes = np.linalg.lstsq(world - world.mean(axis=0), node0 - node0.mean(axis=0), rcond=None)[0]
    verts = slice(s["flex_vertadr"][i], s["flex_vertadr"][i] + s["flex_vertnum"][i])
    point = low + np.array(s["flex_vert0"][verts]) * extent - node0.mean(axis=0)
    wanted = world.mean(axis=0) + point @ axes.T
    for body, (pos, quat) in enumerate(poses):
        found = np.array([pos + rotate(quat, x) for x in s["flex_vert"][verts]])
        if np.abs(found - wanted).max() <= _NEAR * max(extent.max(), np.abs(wanted).max()):
            return body
    raise ModelError(f"{s.label(ObjType.FLEX, i)}: its flex_vert is in the frame of no body")


def strained(s: Source, i: int) -> bool:
    """Whether strain constraints hold a flex, so that flex_stiffness has their modes."""
    return bool(((s["eq_type"] == EqType.FLEXSTRAIN) & (s["eq_obj1id"] == i)).any())


def kind(s: Source, i: int) -> str:
    """Which elasticity an interpolated flex has, none for a solid."""
    if s["flex_interp"][i] > 0:
        return "none"
    bend = s["flex_bendingadr"][i] >= 0
    stretch = s["flex_stiffnessadr"][i] >= 0 and not strained(s, i)
    return "both" if stretch and bend else "bend" if bend else "stretch"


def stiffness(s: Source, i: int) -> np.ndarray:
    """Stiffness of all cells or faces; for strain constraints the sum of the squares of the modes of the first one.

    Squares, because the modes are free in their signs; of the first one, because a thickness is all that they tell.
    """
    start = int(s["flex_stiffnessadr"][i])
    if start < 0:
        return np.zeros(0)
    cells, order = s["flex_cellnum"][i].astype(int), abs(int(s["flex_interp"][i]))
    cx, cy, cz = cells
    faces = 2 * (cx * cy + cy * cz + cz * cx)
    count, size = (faces, 2) if s["flex_interp"][i] < 0 else (cells.prod(), 3)
    size = 3 * (order + 1) ** size
    found = np.array(s["flex_stiffness"][start : start + count * size * size], float)
    if not strained(s, i):
        return found
    modes = int(found[0]) - (s["flex_interp"][i] < 0)  # the twist of a face comes last and goes with its bending
    return np.array([np.sum(found[1 : 1 + modes * size] ** 2)])


def bending(s: Source, i: int) -> np.ndarray:
    """Stiffness of the edges between faces."""
    start = int(s["flex_bendingadr"][i])
    if start < 0:
        return np.zeros(0)
    size = _RECORD * int(s["flex_bending"][start])
    return np.array(s["flex_bending"][start + 1 : start + 1 + size], float).reshape(-1, _RECORD)[:, _STIFFNESS]
