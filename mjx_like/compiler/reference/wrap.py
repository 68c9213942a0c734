"""The shortest path of a tendon around a sphere or an endless cylinder, in NumPy."""

import math

import numpy as np

from mjx_like.constants import MINVAL

Wrapped = tuple[float, tuple[np.ndarray, ...]]
_STRAIGHT: Wrapped = (0.0, ())


def wrap(start, stop, center, frame, radius: float, cylinder: bool, side) -> Wrapped:
    """Return the arc length on the geom [m] and the two points where the tendon meets it; 0 and () if it does not.

    Args:
      start: world position of the site before the geom, shape (3,) [m]; `stop`: of the one after.
      center: position of the geom, shape (3,) [m]; `frame`: its axes as columns, shape (3, 3).
      radius: of the geom [m].
      cylinder: whether the geom is a cylinder along its z axis, and not a sphere.
      side: world position of the side site, shape (3,) [m], or None. Outside the geom it says which way round the
        path goes; inside, that the path goes through the geom and touches it from within.
    Source: mju_wrap; XMLreference, spatial/geom/sidesite.
    """
    a, b = frame.T @ (start - center), frame.T @ (stop - center)
    if radius < MINVAL or np.linalg.norm(a) < MINVAL or np.linalg.norm(b) < MINVAL:
        return _STRAIGHT
    plane = np.eye(2, 3) if cylinder else _plane(a, b)
    a2, b2 = plane @ a, plane @ b
    if side is None:
        sweep = _signed_angle(a2, b2)
        found = _around(a2, b2, radius, math.pi if sweep == -math.pi else sweep)  # both ways are equal: MuJoCo's choice
    else:
        s = frame.T @ (side - center)
        if np.linalg.norm(s) < radius:
            found = _inside(a2, b2, radius)
        else:
            s2 = plane @ s
            if np.linalg.norm(s2) < MINVAL:
                s2 = np.array([1.0, 0])
            found = _around(a2, b2, radius, _signed_angle(a2, s2) + _signed_angle(s2, b2))
    if found is None:
        return _STRAIGHT
    arc, points = found[0], [p @ plane for p in found[1:]]
    if cylinder:
        before, after = np.linalg.norm(a2 - found[1]), np.linalg.norm(b2 - found[2])
        rise = (b[2] - a[2]) / (before + arc + after)
        points[0][2], points[1][2] = a[2] + rise * before, a[2] + rise * (before + arc)
        arc = math.hypot(arc, rise * arc)
    return arc, tuple(center + frame @ p for p in points)


def _plane(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return two axes, the first along `a`, of the plane of two points and the origin, shape (2, 3)."""
    first = a / np.linalg.norm(a)
    normal = np.cross(a, b)
    if np.linalg.norm(normal) < MINVAL:
        normal = np.cross(first, 1.0 - np.eye(3)[np.argmax(np.abs(first))])
    second = np.cross(normal, first)
    return np.stack([first, second / np.linalg.norm(second)])


def _signed_angle(a: np.ndarray, b: np.ndarray) -> float:
    """Return the signed angle from one direction to another in the plane, at most pi [rad]."""
    return math.atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])


def _around(a: np.ndarray, b: np.ndarray, radius: float, sweep: float):
    """Return arc length and tangent points on a circle of the path that turns by `turn` around it; None if straight."""
    if np.linalg.norm(a) < radius or np.linalg.norm(b) < radius:
        return None
    lead, trail = math.acos(radius / np.linalg.norm(a)), math.acos(radius / np.linalg.norm(b))
    angle, sign = abs(sweep) - lead - trail, math.copysign(1.0, sweep)
    if angle <= 0:
        return None
    return radius * angle, _rotated(a, sign * lead, radius), _rotated(b, -sign * trail, radius)


def _rotated(direction: np.ndarray, angle: float, radius: float) -> np.ndarray:
    heading = math.atan2(direction[1], direction[0]) + angle
    return radius * np.array([math.cos(heading), math.sin(heading)])


def _inside(a: np.ndarray, b: np.ndarray, radius: float):
    """Return a zero arc and, twice, the point of the circle where the path is reflected; None if straight."""
    len_a, len_b, step = np.linalg.norm(a), np.linalg.norm(b), b - a
    if len_a <= radius or len_b <= radius:
        return None
    square = step @ step
    along = -(step @ a) / square if square > MINVAL else 0.0
    if 0 < along < 1 and np.linalg.norm(a + along * step) <= radius:
        return None
    ratios, total = (radius / len_a, radius / len_b), _signed_angle(a, b)
    if math.cos(total) > 1 - MINVAL:
        point = (a + b) * (radius / np.linalg.norm(a + b))
        return 0.0, point, point
    phi = _reflection(ratios, abs(total))
    if total > 0:
        point = _rotated(a, phi - math.asin(ratios[0] * math.sin(phi)), radius)
    else:
        point = _rotated(b, phi - math.asin(ratios[1] * math.sin(phi)), radius)
    return 0.0, point, point


def _reflection(ratios: tuple[float, float], total: float) -> float:
    """Return the angle of both pieces with the radius where they meet on the circle [rad].

    Args:
      ratios: radius over the distance of each end; `total`: angle between the ends [rad].

    Newton's method starts at a right angle and stops at a residual of 1e-6, as MuJoCo's does.
    """
    phi = math.pi / 2
    for _ in range(20):
        sines = [ratio * math.sin(phi) for ratio in ratios]
        residual = sum(math.asin(s) for s in sines) - 2 * phi + total
        if abs(residual) <= 1e-6:
            break
        slope = sum(r * math.cos(phi) / math.sqrt(1 - s * s) for r, s in zip(ratios, sines, strict=True)) - 2
        phi -= residual / slope
    return phi
