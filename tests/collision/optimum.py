"""The exact optimum of the separation of two convex geoms by their support functions, in NumPy and SciPy.

The separation along a unit vector n is (p2 - p1) . n - h1(n) - h2(-n). Where it is greatest, the points of the two
geoms that it leads between differ by n times the distance. That is a square system of equations, once the corners that
touch are known; a solution is certified by the support functions themselves.
"""

from typing import NamedTuple

import numpy as np
import scipy.optimize

_NEAR = 1e-4  # corners this much below the highest count as touching [m]
_CAP = 2e-3  # sine of the angle to its axis below which a normal meets the cap of a cylinder
_ROUND = ("sphere", "capsule")


class Geom(NamedTuple):
    """A geom in the world; vert are the points of a mesh."""

    kind: str
    pos: np.ndarray
    mat: np.ndarray
    size: np.ndarray
    vert: np.ndarray | None = None


class Optimum(NamedTuple):
    """The optimum, with the numbers of corners that touch on both sides, and whether it lies between two that do."""

    dist: float
    pos: np.ndarray
    normal: np.ndarray
    touching: tuple[int, int]
    between: bool


def corners(geom: Geom, n: np.ndarray) -> np.ndarray:
    """Return the points whose hull, grown by `bulge`, is the geom; n, in its frame, tells a cap from a rim."""
    r, half = geom.size[:2]
    ends = np.array([[0, 0, -1.0], [0, 0, 1]]) * half
    if geom.kind == "cylinder" and np.hypot(*n[:2]) < _CAP:
        turn = 2 * np.pi / 3 * np.arange(3)
        return np.stack([r * np.cos(turn), r * np.sin(turn), np.full(3, np.sign(n[2]) * half)], axis=1)
    if geom.kind in ("capsule", "cylinder"):
        return ends
    if geom.kind == "box":
        return geom.size * (2.0 * np.array([[k & 1, k >> 1 & 1, k >> 2 & 1] for k in range(8)]) - 1)
    return geom.vert if geom.kind == "mesh" else np.zeros((1, 3))


def bulge(geom: Geom, n: np.ndarray) -> np.ndarray:
    """Return the point of the smooth part in the direction n, in its frame."""
    r, scaled = geom.size[0], geom.size * n
    if geom.kind in _ROUND:
        return r * n
    if geom.kind == "ellipsoid":
        return geom.size * scaled / np.linalg.norm(scaled)
    if geom.kind == "cylinder" and np.hypot(*n[:2]) >= _CAP:
        return r * np.array([n[0], n[1], 0]) / np.hypot(*n[:2])
    return np.zeros(3)


def height(geom: Geom, n: np.ndarray) -> float:
    """Return the support function about the world's origin."""
    local = geom.mat.T @ n
    r, half, scaled = geom.size[0], geom.size[1], geom.size * local
    values = {
        "sphere": lambda: r,
        "capsule": lambda: r + half * abs(local[2]),
        "ellipsoid": lambda: np.linalg.norm(scaled),
        "cylinder": lambda: r * np.hypot(*local[:2]) + half * abs(local[2]),
        "box": lambda: np.abs(scaled).sum(),
        "mesh": lambda: (geom.vert @ local).max(),
    }
    return geom.pos @ n + values[geom.kind]()


def separation(a: Geom, b: Geom, n: np.ndarray) -> float:
    """Return the separation along a unit vector."""
    return -height(b, -n) - height(a, n)


def touching(geom: Geom, n: np.ndarray) -> np.ndarray:
    """Return the ids of the corners that touch a plane across n."""
    local = geom.mat.T @ n
    level = corners(geom, local) @ local
    return np.flatnonzero(level > level.max() - _NEAR)


def optimum(a: Geom, b: Geom, guess: np.ndarray, ids: tuple[np.ndarray, np.ndarray]) -> Optimum:
    """Return the optimum near a unit vector, for the corners that touch there."""
    geoms, signs, sizes = (a, b), (1.0, -1.0), [i.size for i in ids]

    def points(n, shares):
        out, heights = [], []
        for geom, sign, i, share in zip(geoms, signs, ids, shares, strict=True):
            local = geom.mat.T @ (sign * n)
            own = corners(geom, geom.mat.T @ (sign * guess))[i]
            out.append(geom.pos + geom.mat @ (share @ own + bulge(geom, local)))
            heights.append((own[1:] - own[0]) @ local)
        return out, heights

    def split(x):
        return x[:3], x[3], (x[4 : 4 + sizes[0]], x[4 + sizes[0] :])

    def equations(x):
        n, dist, shares = split(x)
        (p, q), heights = points(n, shares)
        return np.concatenate([p + dist * n - q, [n @ n - 1], *heights, [s.sum() - 1 for s in shares]])

    start = np.concatenate([guess, [separation(a, b, guess)], *(np.full(k, 1 / k) for k in sizes)])
    x = scipy.optimize.root(equations, start, method="lm", options={"xtol": 1e-15, "ftol": 1e-15}).x
    n, dist, shares = split(x)
    between = all(np.all(np.abs(s - 0.5) < 0.5 + 1e-9) for s in shares if s.size == 2)
    return Optimum(dist, np.mean(points(n, shares)[0], axis=0), n, tuple(sizes), between)


def certified(a: Geom, b: Geom, found: Optimum) -> bool:
    """Return whether a solution is a local maximum of the separation."""
    around = np.random.default_rng(0).normal(size=(200, 3))
    turned = found.normal + 1e-3 * np.concatenate([around, 1e-2 * around])
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    here = separation(a, b, found.normal)
    return found.between and abs(here - found.dist) < 1e-10 and max(separation(a, b, n) for n in turned) < here + 1e-12
