"""Principal axes of inertia for the compiler, and the frame arithmetic that it shares with the reader."""

import math

import numpy as np

from mjx_like.mjcf.frame import (
    EPS,
    IDENTITY,
    PoseError,
    compose,
    invert,
    normalized,
    orientation,
    quat_from_mat,
    quat_from_z,
    quat_mul,
    quat_to_mat,
    rotate,
)

__all__ = [
    "EPS", "IDENTITY", "PoseError", "compose", "inertia_tensor", "invert", "normalized", "orientation",
    "principal_axes", "quat_from_mat", "quat_from_z", "quat_mul", "quat_to_mat", "rotate",
]  # fmt: skip

_SWAP_GAP = 1e-12  # moments nearer to each other than this share of the largest entry keep their order
_DIAGONAL = 4e-15  # off-diagonal entries below this share of the largest entry are zero


def principal_axes(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the principal moments, largest first, and the quaternion of their axes, by Jacobi's method.

    Args:
      tensor: symmetric, shape (3, 3).

    The turns are those of MuJoCo, so that equal moments give the same axes.  Source: mju_eig3.
    """
    quat, scale = IDENTITY, np.abs(tensor).max()
    for _ in range(500):
        axes = quat_to_mat(quat)
        rotated = axes.T @ tensor @ axes
        moments = np.array(np.diag(rotated))
        upper = np.abs([rotated[1, 2], rotated[0, 2], rotated[0, 1]])
        if upper[2] > upper[1] and upper[2] > upper[0]:
            row, column, about = 0, 1, 2
        elif upper[1] > upper[0]:
            row, column, about = 0, 2, 1
        else:
            row, column, about = 1, 2, 0
        if upper[about] < _DIAGONAL * scale or upper[about] == 0:
            break
        tau = (rotated[column, column] - rotated[row, row]) / (2 * rotated[row, column])
        tangent = 1 / (tau + math.sqrt(1 + tau * tau)) if tau >= 0 else -1 / (-tau + math.sqrt(1 + tau * tau))
        cosine = 1 / math.sqrt(1 + tangent * tangent)
        turn = np.zeros(4)
        turn[1 + about] = (1 if about == 1 else -1) * tangent * cosine / math.sqrt(2 + 2 * cosine)
        turn[0] = math.sqrt(1 - turn[1 + about] ** 2)
        quat = quat_mul(quat, normalized(turn)[0])
    for low in (0, 1, 0):
        if moments[low] + _SWAP_GAP * scale < moments[low + 1]:
            moments[[low, low + 1]] = moments[[low + 1, low]]
            turn = np.zeros(4)
            turn[0] = turn[1 + (low + 2) % 3] = math.sqrt(0.5)
            quat = quat_mul(quat, turn)
    return moments, quat


def inertia_tensor(moments: np.ndarray, quat: np.ndarray, mass: float, offset: np.ndarray) -> np.ndarray:
    """Return the inertia about a point at -`offset` from the centre of mass, shape (3, 3) [kg m^2].

    Args:
      moments: principal moments, shape (3,).
      quat: orientation of the principal axes (wxyz).
      mass: mass [kg].
      offset: centre of mass seen from the point, shape (3,) [m].
    """
    axes = quat_to_mat(quat)
    return (axes * moments) @ axes.T + mass * (np.dot(offset, offset) * np.eye(3) - np.outer(offset, offset))
