"""Statistics of the model at qpos0, and the length that each degree of freedom acts on."""

from typing import Any

import numpy as np

from mjx_like.compiler.reference.kinematics import Fields, Frames
from mjx_like.types.enums import GeomType, JointType

_LEAST_SIZE = 1e-5  # of a body and of the model [m]
_EMPTY = {"meaninertia": 1.0, "meanmass": 1.0, "meansize": 0.2, "extent": 2.0}  # of a model with nothing to measure


def set_statistics(f: Fields, statistics: dict[str, Any], frames: Frames, inertia: np.ndarray) -> None:
    """Write dof_length, and the statistics that `statistics` does not hold yet.

    inertia: diagonal of the inertia matrix, shape (nv,).

    Source: setStat in engine_setconst.c.
    """
    low, high = _bounding_box(f, frames)
    sizes = _body_sizes(f, frames)
    f["dof_length"] = _dof_lengths(f, sizes)
    moving = f["nbody"] > 1
    meansize = float(np.mean(sizes[1:])) if moving else _EMPTY["meansize"]
    extent = max(_LEAST_SIZE, float(np.max(high - low))) if high[0] > low[0] else _EMPTY["extent"]
    computed = {
        "center": (low + high) / 2,
        "meansize": meansize,
        "extent": max(extent, 2 * meansize),
        "meanmass": float(np.mean(f["body_mass"][1:])) if moving else _EMPTY["meanmass"],
        "meaninertia": float(np.mean(inertia)) if f["nv"] else _EMPTY["meaninertia"],
    }
    statistics.update({name: value for name, value in computed.items() if name not in statistics})


def _bounding_box(f: Fields, frames: Frames) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the box around bodies, joints, sites and geoms; far apart and inverted if none."""
    points = np.concatenate([frames.xpos[1:], frames.xipos[1:], frames.xanchor, frames.site_xpos])
    radius = np.array([_drawn_radius(f, g) for g in range(f["ngeom"])])[:, None].reshape(-1, 1)
    low = np.concatenate([points, frames.geom_xpos - radius])
    high = np.concatenate([points, frames.geom_xpos + radius])
    if not len(low):
        return np.full(3, 1e10), np.full(3, -1e10)
    return np.min(low, axis=0), np.max(high, axis=0)


def _drawn_radius(f: Fields, geom: int) -> float:
    """Return the radius of a geom, or a tenth of the size of a plane or height field."""
    if f["geom_rbound"][geom] > 0:
        return f["geom_rbound"][geom]
    if f["geom_type"][geom] == GeomType.PLANE:
        return 0.1 * np.max(f["geom_size"][geom, :2]) if np.any(f["geom_size"][geom, :2]) else 0.01
    if f["geom_type"][geom] == GeomType.HFIELD:
        return 0.1 * np.max(f["hfield_size"][f["geom_dataid"][geom]])
    return 0.0


def _body_sizes(f: Fields, frames: Frames) -> np.ndarray:
    """Return the largest distance of a joint or of a geom's far side from each body's centre of mass [m]."""
    sizes = np.zeros(f["nbody"])
    for joint, body in enumerate(f["jnt_bodyid"]):
        for b in (body, f["body_parentid"][body]):
            sizes[b] = max(sizes[b], np.linalg.norm(frames.xipos[b] - frames.xanchor[joint]))
    for geom, body in enumerate(f["geom_bodyid"]):
        radius = f["geom_rbound"][geom]
        if radius > 0:
            sizes[body] = max(sizes[body], radius + np.linalg.norm(frames.xipos[body] - frames.geom_xpos[geom]))
    sizes[0] = 0
    for flex in range(f["nflex"]):
        for bodies, length in _flex_lines(f, frames, flex):
            np.maximum.at(sizes, bodies, length)
    return np.maximum(sizes, _LEAST_SIZE)


def _flex_lines(f: Fields, frames: Frames, flex: int):
    """Bodies at either end of each edge of a flex, or of each pair of nodes of an interpolated one, with the length."""
    if f["flex_interp"][flex]:
        first = f["flex_nodeadr"][flex]
        body = np.asarray(f["flex_nodebodyid"][first : first + f["flex_nodenum"][flex]], int)
        for start in np.unique(body):
            yield start, np.linalg.norm(frames.xpos[body] - frames.xpos[start], axis=1).max()
        return
    edges = slice(f["flex_edgeadr"][flex], f["flex_edgeadr"][flex] + f["flex_edgenum"][flex])
    ends = f["flex_vertbodyid"][f["flex_vertadr"][flex] + np.asarray(f["flex_edge"][edges], int)]
    for side in ends.T:
        yield side, f["flexedge_length0"][edges]


def _dof_lengths(f: Fields, sizes: np.ndarray) -> np.ndarray:
    joint = np.asarray(f["dof_jntid"], int)
    kind = np.asarray(f["jnt_type"])[joint]
    offset = np.arange(f["nv"]) - np.asarray(f["jnt_dofadr"])[joint]
    linear = (kind == JointType.SLIDE) | ((kind == JointType.FREE) & (offset < 3))
    return np.where(linear, 1.0, sizes[np.asarray(f["dof_bodyid"], int)])
