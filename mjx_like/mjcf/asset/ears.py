"""Polygons of OBJ files cut into triangles, as MuJoCo's reader of them does it."""

import numpy as np


def cut_ears(points: np.ndarray) -> np.ndarray:
    """Return the triangles of a polygon with five corners or more by cutting off ears, shape (n - 2, 3).

    points: shape (n, 3). A polygon that is not simple may give fewer triangles.  Source: tinyobjloader's
    exportGroupsToShape, in single precision, with its guess of which corners are convex.
    """
    points = points.astype(np.float32)
    plane = points[:, _plane_axes(points)]
    rest, triangles, at = np.arange(len(points)), [], 0
    before = tries = len(points)
    while len(rest) > 3 and tries > 0:
        tries = tries - 1 if len(rest) == before else len(rest)
        before = len(rest)
        at %= len(rest)
        turned = np.roll(rest, -at)
        if _is_ear(plane[turned[:3]], plane[turned[3:]]):
            triangles.append(turned[:3])
            rest = np.delete(rest, (at + 1) % len(rest))
        else:
            at += 1
    return np.array([*triangles, rest] if len(rest) == 3 else triangles, int).reshape(-1, 3)


def _plane_axes(points: np.ndarray) -> list[int]:
    """Return the two axes along which a polygon is seen: without the one of the normal at its first true corner."""
    edges = np.roll(points, -1, axis=0) - points
    normals = np.abs(np.cross(edges, np.roll(edges, -1, axis=0)))
    corners = normals[(normals > np.finfo(np.float32).eps).any(axis=1)]
    x, y, z = corners[0] if len(corners) else (1, 0, 0)
    if x > y and x > z:
        return [1, 2]
    return [0, 1] if z > x and z > y else [0, 2]


def _is_ear(trio: np.ndarray, others: np.ndarray) -> bool:
    """Return whether three corners, shape (3, 2), turn as they lie about the origin, and no other is inside."""
    (ax, ay), (bx, by), (cx, cy) = trio
    turn = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
    if turn * ((ax * by - ay * bx) * np.float32(0.5)) < 0:
        return False
    inside = np.zeros(len(others), bool)
    for (x, y), (px, py) in zip(trio, np.roll(trio, 1, axis=0), strict=True):
        crosses = (y > others[:, 1]) != (py > others[:, 1])
        if crosses.any():
            inside ^= crosses & (others[:, 0] < (px - x) * (others[:, 1] - y) / (py - y) + x)
    return not inside.any()
