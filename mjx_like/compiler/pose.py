"""The frame arithmetic that the compiler shares with the reader."""

from mjx_like.mjcf.frame import (
    EPS,
    IDENTITY,
    PoseError,
    compose,
    inertia_tensor,
    invert,
    normalized,
    orientation,
    principal_axes,
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
