"""Tendon lengths and Jacobians in NumPy."""

import numpy as np

from mjx_like.compiler.reference.com import Motion, jacobian
from mjx_like.compiler.reference.kinematics import Fields, Frames
from mjx_like.compiler.reference.wrap import wrap
from mjx_like.constants import MINVAL
from mjx_like.types.enums import TendonType, WrapType


def tendons(f: Fields, qpos: np.ndarray, frames: Frames, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Return tendon lengths, shape (ntendon,), and their Jacobian, shape (ntendon, nv).

    Source: mj_tendon.
    """
    lengths, rows = np.zeros(f["ntendon"]), np.zeros((f["ntendon"], f["nv"]))
    for i in range(f["ntendon"]):
        path = range(f["tendon_adr"][i], f["tendon_adr"][i] + f["tendon_num"][i])
        if f["tendon_type"][i] == TendonType.FIXED:
            joints, coef = f["wrap_objid"][path], f["wrap_prm"][path]
            lengths[i] = coef @ qpos[f["jnt_qposadr"][joints]]
            rows[i, f["jnt_dofadr"][joints]] = coef
        else:
            lengths[i], rows[i] = _spatial(f, path, frames, motion)
    return lengths, rows


def _spatial(f: Fields, path: range, frames: Frames, motion: Motion) -> tuple[float, np.ndarray]:
    """Return length and Jacobian of one spatial tendon."""
    kind, obj = f["wrap_type"], f["wrap_objid"]
    length, row, divisor, j = 0.0, np.zeros(f["nv"]), 1.0, path.start
    while j < path.stop - 1:
        if kind[j] == WrapType.PULLEY:
            divisor = f["wrap_prm"][j]
        if kind[j] == WrapType.PULLEY or kind[j + 1] == WrapType.PULLEY:
            j += 1
            continue
        points = [_site(f, frames, obj[j])]
        if kind[j + 1] in (WrapType.SPHERE, WrapType.CYLINDER):
            end = _site(f, frames, obj[j + 2])
            arc, touch = _wrapped(f, frames, j + 1, points[0][0], end[0])
            points += [(p, f["geom_bodyid"][obj[j + 1]]) for p in touch] + [end]
            length += arc / divisor
            j += 2
        else:
            points.append(_site(f, frames, obj[j + 1]))
            j += 1
        for start, stop in zip(points[::2], points[1::2], strict=True):
            distance, gradient = _segment(motion, *start, *stop)
            length += distance / divisor
            row += gradient / divisor
    return length, row


def _site(f: Fields, frames: Frames, site: int) -> tuple[np.ndarray, int]:
    return frames.site_xpos[site], f["site_bodyid"][site]


def _wrapped(f: Fields, frames: Frames, j: int, start, stop) -> tuple[float, tuple[np.ndarray, ...]]:
    """Return the arc on the geom of path entry `j` and the two points where the tendon touches it, if it does."""
    geom, side = f["wrap_objid"][j], int(round(f["wrap_prm"][j]))
    return wrap(
        start,
        stop,
        frames.geom_xpos[geom],
        frames.geom_xmat[geom],
        f["geom_size"][geom, 0],
        f["wrap_type"][j] == WrapType.CYLINDER,
        frames.site_xpos[side] if side >= 0 else None,
    )


def _segment(motion: Motion, start, body1: int, stop, body2: int) -> tuple[float, np.ndarray]:
    """Return length and Jacobian of a straight piece between points of two bodies."""
    vector = stop - start
    length = float(np.linalg.norm(vector))
    unit = vector / length if length >= MINVAL else np.array([1.0, 0, 0])
    if body1 == body2:
        return length, np.zeros(len(motion.cdof))
    return length, unit @ (jacobian(motion, stop, body2)[0] - jacobian(motion, start, body1)[0])
