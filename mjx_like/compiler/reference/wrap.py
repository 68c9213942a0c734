"""The shortest path of a tendon around a sphere or cylinder, in NumPy."""

import numpy as np

from mjx_like.errors import ModelError


def wrap(start, stop, center, frame, radius: float, cylinder: bool, side) -> tuple[float, tuple[np.ndarray, ...]]:
    """Return the arc length on the geom [m] and the points where the tendon meets it; 0 and () if it does not.

    Args:
      start: world position of the site before the geom, shape (3,) [m]; `stop`: of the one after.
      center: position of the geom, shape (3,) [m]; `frame`: its axes as columns, shape (3, 3).
      radius: of the geom [m].
      cylinder: whether the geom is a cylinder, endless along its z axis, and not a sphere.
      side: world position of the side site, shape (3,) [m], or None.
    Source: mju_wrap.
    """
    raise ModelError("a tendon that wraps around a geom is not built yet")
