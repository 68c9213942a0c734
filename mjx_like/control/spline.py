"""Controls from a few knots, evenly spaced in time: splines as one matrix."""

import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, shown

KINDS = ("zero", "linear", "cubic")


def spline_matrix(knots: int, steps: int, kind: str = "linear") -> np.ndarray:
    """Return W, shape (steps, knots), with which `W @ knots` are controls of each step.

    The first knot is at the first step, the last at the last.

    Args:
      knots: their number, at least 1.
      steps: number of steps, at least 1.
      kind: "zero" to hold each knot until the next, "linear", or "cubic" (through the knots with the slope between
        their neighbours, as Catmull and Rom have it; may go beyond the knots).

    Raises:
      InputError: another kind, or numbers that are not whole and positive.
    """
    knots, steps = whole_number("knots", knots, least=1), whole_number("steps", steps, least=1)
    if kind not in KINDS:
        raise InputError(f"kind={shown(kind)}: must be one of {', '.join(KINDS)}")
    if knots == 1:
        return np.ones((steps, 1))
    place = np.linspace(0, knots - 1, steps)
    left = np.minimum(place.astype(int), knots - 2)
    unit, s = np.eye(knots), (place - left)[:, None]
    if kind == "zero":
        return unit[np.minimum(place.astype(int), knots - 1)]
    a, b = unit[left], unit[left + 1]
    if kind == "linear":
        return (1 - s) * a + s * b
    slopes = np.gradient(unit, axis=0)
    by_value = (1 + 2 * s) * (1 - s) ** 2 * a + s**2 * (3 - 2 * s) * b
    return by_value + s * (1 - s) ** 2 * slopes[left] + s**2 * (s - 1) * slopes[left + 1]


def knots_of(matrix: np.ndarray, ctrl: np.ndarray) -> np.ndarray:
    """Return the knots whose spline is nearest to controls, shape (..., knots, nu).  ctrl: (..., steps, nu)."""
    return np.linalg.pinv(matrix).astype(ctrl.dtype) @ ctrl
