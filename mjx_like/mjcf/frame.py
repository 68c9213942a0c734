"""Quaternions, frames, orientation attributes and principal axes in plain NumPy float64, one object at a time."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

EPS = 1e-14  # mjEPS: below it a length is zero, and nearer to one than it a length is one
IDENTITY = np.array([1.0, 0, 0, 0])
_AXIS = {"x": 1, "y": 2, "z": 3}
_SWAP_GAP = 1e-12  # moments nearer to each other than this share of the largest entry keep their order
_DIAGONAL = 4e-15  # off-diagonal entries below this share of the largest entry are zero


class PoseError(ValueError):
    """An orientation that is not defined; the caller adds which element has it."""


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return the scalar product, summed from the first term to the last as in MuJoCo; BLAS has another order."""
    return sum(x * y for x, y in zip(a.tolist(), np.asarray(b).tolist(), strict=True))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product of matrices of shape (3, 3), summed likewise."""
    return (a[:, :1] * b[:1] + a[:, 1:2] * b[1:2]) + a[:, 2:] * b[2:]


def normalized(vector: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the unit vector and the length; a vector that is too short is returned as it is with length 0."""
    square = _dot(vector, vector)
    if square < EPS:
        return vector, 0.0
    length = math.sqrt(square)
    return (vector / length if abs(length - 1) > EPS else vector), length


def quat_mul(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the normalised product of two quaternions (wxyz)."""
    a, b, c, d = first
    e, f, g, h = second
    product = [
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    ]
    return normalized(np.array(product))[0]


def quat_to_mat(quat: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a quaternion (wxyz), shape (3, 3)."""
    w, x, y, z = quat
    return np.array([
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ])  # fmt: skip


def rotate(quat: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the vector rotated by a quaternion (wxyz)."""
    if quat[0] == 1 and not quat[1:].any():
        return np.array(vector, float)
    return np.array([_dot(row, vector) for row in quat_to_mat(quat)])


def compose(pos, quat, child_pos, child_quat) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose of a child in the frame that its parent's pose is given in.  Source: mjuu_frameaccum."""
    return pos + rotate(quat, child_pos), quat_mul(quat, child_quat)


def invert(pos, quat) -> tuple[np.ndarray, np.ndarray]:
    """Return the inverse of a pose.  Source: mjuu_frameinvert."""
    conjugate = quat * np.array([1, -1, -1, -1])
    return -rotate(conjugate, pos), conjugate


def quat_from_z(vector: np.ndarray) -> np.ndarray:
    """Return the smallest rotation that takes the z axis to a unit vector; about x if they are opposite.

    Source: mjuu_z2quat.
    """
    axis, sine = normalized(np.array([-vector[1], vector[0], 0.0]))
    if sine < 1e-10:
        axis = np.array([1.0, 0, 0])
    half = math.atan2(sine, vector[2]) / 2
    return np.concatenate([[math.cos(half)], math.sin(half) * axis])


def quat_from_mat(mat: np.ndarray) -> np.ndarray:
    """Return the quaternion (wxyz) of a rotation matrix, its largest entry positive.  Source: mjuu_frame2quat."""
    trace = mat[0, 0] + mat[1, 1] + mat[2, 2]
    skew = np.array([mat[2, 1] - mat[1, 2], mat[0, 2] - mat[2, 0], mat[1, 0] - mat[0, 1]])
    quat = np.empty(4)
    if trace > 0:
        quat[0] = 0.5 * math.sqrt(1 + trace)
        quat[1:] = 0.25 * skew / quat[0]
    else:
        i = int(np.argmax(np.diag(mat)))
        if i == 0 and not (mat[0, 0] > mat[1, 1] and mat[0, 0] > mat[2, 2]):
            i = 1 if mat[1, 1] > mat[2, 2] else 2
        j, k = (i + 1) % 3, (i + 2) % 3
        largest = 0.5 * math.sqrt(1 + mat[i, i] - mat[j, j] - mat[k, k])
        quat[0] = 0.25 * skew[i] / largest
        quat[1 + i] = largest
        quat[1 + j] = 0.25 * (mat[i, j] + mat[j, i]) / largest
        quat[1 + k] = 0.25 * (mat[i, k] + mat[k, i]) / largest
    return normalized(quat)[0]


def orientation(attributes: Mapping[str, Any], degree: bool, sequence: str) -> np.ndarray:
    """Return the quaternion (wxyz) that an element's orientation attributes give; identity if there are none.

    Args:
      attributes: may hold quat, axisangle, xyaxes, zaxis or euler; any of the last four goes before quat.
      degree: whether angles are in degrees.
      sequence: axes of the Euler angles, lower case for moving and upper case for fixed axes.

    Raises:
      PoseError: an axis is too short.
    Source: ResolveOrientation in user_objects.cc.
    """
    for name, make in _ALTERNATIVES.items():
        value = attributes.get(name)
        if value is not None:
            return make(np.asarray(value, float), degree, sequence)
    quat = attributes.get("quat")
    return IDENTITY if quat is None else normalized(np.asarray(quat, float))[0]


def given_quat(attributes: Mapping[str, Any]) -> np.ndarray | None:
    """Return the quaternion as it is given, of any length; None if the orientation is given otherwise or not at all."""
    if any(attributes.get(name) is not None for name in _ALTERNATIVES):
        return None
    return attributes.get("quat")


def _check_finite(name: str, value: np.ndarray) -> None:
    if not np.isfinite(value).all():
        raise PoseError(f"{name} has a number that is not finite")


def _from_axisangle(value, degree, sequence):
    _check_finite("axisangle", value)
    axis, length = normalized(value[:3])
    if length < EPS:
        raise PoseError("axisangle is too small")
    half = (value[3] / 180.0 * math.pi if degree else value[3]) / 2
    return np.concatenate([[math.cos(half)], math.sin(half) * axis])


def _from_xyaxes(value, degree, sequence):
    x, length = normalized(value[:3])
    if length < EPS:
        raise PoseError("the x axis of xyaxes is too small")
    y, length = normalized(value[3:] - x * _dot(x, value[3:]))
    if length < EPS:
        raise PoseError("the y axis of xyaxes is too small or along the x axis")
    return quat_from_mat(np.stack([x, y, normalized(np.cross(x, y))[0]], axis=1))


def _from_zaxis(value, degree, sequence):
    z, length = normalized(value)
    if length < EPS:
        raise PoseError("zaxis is too small")
    return quat_from_z(z)


def _from_euler(value, degree, sequence):
    _check_finite("euler", value)
    quat = IDENTITY
    for angle, letter in zip(value / 180.0 * math.pi if degree else value, sequence, strict=True):
        rotation = np.zeros(4)
        rotation[0], rotation[_AXIS[letter.lower()]] = math.cos(angle / 2), math.sin(angle / 2)
        quat = quat_mul(quat, rotation) if letter.islower() else quat_mul(rotation, quat)
    return normalized(quat)[0]


_ALTERNATIVES = {"axisangle": _from_axisangle, "xyaxes": _from_xyaxes, "zaxis": _from_zaxis, "euler": _from_euler}


def principal_axes(
    tensor: np.ndarray, diagonal: float = _DIAGONAL, swap_gap: float = _SWAP_GAP
) -> tuple[np.ndarray, np.ndarray]:
    """Return the principal moments, largest first, and the quaternion of their axes, by Jacobi's method.

    Args:
      tensor: symmetric, shape (3, 3).
      diagonal: share of the largest entry below which off-diagonal entries are zero.
      swap_gap: share of the largest entry by which moments must differ for their order to count.

    The rotations are those of MuJoCo, so that equal moments give the same axes.  Source: mju_eig3.
    """
    quat, scale = IDENTITY, np.abs(tensor).max()
    for _ in range(500):
        axes = quat_to_mat(quat)
        rotated = _product(_product(axes.T, tensor), axes)
        moments = np.array(np.diag(rotated))
        upper = np.abs([rotated[1, 2], rotated[0, 2], rotated[0, 1]])
        if upper[2] > upper[1] and upper[2] > upper[0]:
            row, column, about = 0, 1, 2
        elif upper[1] > upper[0]:
            row, column, about = 0, 2, 1
        else:
            row, column, about = 1, 2, 0
        if upper[about] < diagonal * scale or upper[about] == 0:
            break
        tau = (rotated[column, column] - rotated[row, row]) / (2 * rotated[row, column])
        tangent = 1 / (tau + math.sqrt(1 + tau * tau)) if tau >= 0 else -1 / (-tau + math.sqrt(1 + tau * tau))
        cosine = 1 / math.sqrt(1 + tangent * tangent)
        rotation = np.zeros(4)
        rotation[1 + about] = (1 if about == 1 else -1) * tangent * cosine / math.sqrt(2 + 2 * cosine)
        rotation[0] = math.sqrt(1 - rotation[1 + about] ** 2)
        quat = quat_mul(quat, normalized(rotation)[0])
    for low in (0, 1, 0):
        if moments[low] + swap_gap * scale < moments[low + 1]:
            moments[[low, low + 1]] = moments[[low + 1, low]]
            rotation = np.zeros(4)
            rotation[0] = rotation[1 + (low + 2) % 3] = math.sqrt(0.5)
            quat = quat_mul(quat, rotation)
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
    return _product(axes * moments, axes.T) + mass * (_dot(offset, offset) * np.eye(3) - np.outer(offset, offset))
