"""Rotations and principal axes of the compiler against MuJoCo's."""

import mujoco
import numpy as np
import pytest

from mjx_like.compiler import pose


def tensors(kind: str) -> np.ndarray:
    """Return one symmetric matrix."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 3))
    noise = 1e-13 * rng.normal(size=(3, 3))
    return {
        "general": a @ a.T,
        "diagonal": np.diag([1.0, 3.0, 2.0]),
        "isotropic": np.diag([2.0, 2.0, 2.0]),
        "two equal": np.diag([1.0, 2.0, 1.0]),
        "nearly equal": np.diag([1.0, 2.0, 1.0]) + noise + noise.T,
        "small": 1e-9 * (a @ a.T),
        "tiny angle": np.array([[3, 1e-8, 0], [1e-8, 2, 0], [0, 0, 1]]),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["general", "diagonal", "isotropic", "two equal", "nearly equal", "small", "tiny angle"]
)
def test_principal_axes(kind):
    tensor = tensors(kind)
    moments, axes, quat = np.zeros(3), np.zeros(9), np.zeros(4)
    mujoco.mju_eig3(moments, axes, quat, tensor.ravel())
    ours, turn = pose.principal_axes(tensor)
    np.testing.assert_allclose(ours, moments, rtol=1e-12)
    np.testing.assert_allclose(turn, quat, atol=1e-10)


def test_quat_from_mat_is_inverse_of_quat_to_mat():
    rng = np.random.default_rng(1)
    for quat in [*rng.normal(size=(20, 4)), *np.eye(4), [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, -1]]:
        quat = np.asarray(quat, float) / np.linalg.norm(quat)
        mat = pose.quat_to_mat(quat)
        np.testing.assert_allclose(pose.quat_to_mat(pose.quat_from_mat(mat)), mat, atol=1e-14)


def test_invert_undoes_compose():
    rng = np.random.default_rng(2)
    pos, quat = rng.normal(size=3), pose.normalized(rng.normal(size=4))[0]
    back_pos, back_quat = pose.compose(*pose.invert(pos, quat), pos, quat)
    np.testing.assert_allclose(back_pos, np.zeros(3), atol=1e-14)
    np.testing.assert_allclose(np.abs(back_quat), pose.IDENTITY, atol=1e-14)


def test_short_vector_is_not_normalized():
    vector, length = pose.normalized(np.array([1e-9, 0, 0]))
    assert length == 0
    np.testing.assert_array_equal(vector, [1e-9, 0, 0])
