"""The replicate element: where its copies are and what is appended to their names.

Every copy's frame holds the pose of the copy; names below it get the separator and the copy's number as a suffix, with
as many digits as the count has. Inner replicates go first. Source: XML reference, replicate; mjXReader::Body.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mjx_like.mjcf.element import Element


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of two quaternions."""
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *vector])


def euler_quat(angles: np.ndarray, compiler: dict[str, Any]) -> np.ndarray:
    """Quaternion of three angles, in the unit and sequence of the compiler element.

    Lower case letters rotate about the moving axes, upper case letters about the fixed ones.
    """
    angles = np.deg2rad(angles) if compiler["angle"] == "degree" else angles
    quat = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, angle in zip(compiler["eulerseq"], angles, strict=True):
        rotation = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.eye(3)["xyz".index(axis.lower())])])
        quat = product(quat, rotation) if axis.islower() else product(rotation, quat)
    return quat


def rotated(vector: np.ndarray, quat: np.ndarray) -> np.ndarray:
    """Vector rotated by a unit quaternion."""
    conjugate = quat * np.array([1.0, -1.0, -1.0, -1.0])
    return product(product(quat, np.array([0.0, *vector])), conjugate)[1:]


def poses(element: Element, compiler: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Suffix of the names and attributes of the frame of each copy of a replicate element."""
    count = element.get("count")
    offset, euler = element.get("offset", np.zeros(3)), element.get("euler", np.zeros(3))
    shared = {name: element.attrib[name] for name in ("class", "childclass") if name in element.attrib}
    digits, pos = len(str(count)), np.zeros(3)
    for number in range(count):
        quat = euler_quat(number * euler, compiler)
        suffix = element.get("sep", "") + str(number).zfill(digits)
        yield suffix, {"pos": pos, "quat": quat} | shared
        pos = pos + rotated(offset, quat)
