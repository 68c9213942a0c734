"""Poses and quaternions by MuJoCo's names, against MuJoCo."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx

RNG = np.random.default_rng(0)


def _pose():
    quat = RNG.normal(size=4)
    return RNG.normal(size=3), quat / np.linalg.norm(quat)


def _theirs(name: str, *shapes: int, given: tuple) -> list[np.ndarray]:
    out = [np.zeros(n) for n in shapes]
    getattr(mujoco, name)(*out, *given)
    return out


def test_equal_to_oracle():
    (p, q), (r, s) = _pose(), _pose()
    vec, axis = RNG.normal(size=3), r / np.linalg.norm(r)
    matrix = _theirs("mju_quat2Mat", 9, given=(q,))[0]
    turned = q.copy()
    mujoco.mju_quatIntegrate(turned, vec, 0.3)
    for ours, theirs in (
        (mjx.mul_pose(p, q, r, s), _theirs("mju_mulPose", 3, 4, given=(p, q, r, s))),
        (mjx.neg_pose(p, q), _theirs("mju_negPose", 3, 4, given=(p, q))),
        ([mjx.trn_vec_pose(p, q, vec)], _theirs("mju_trnVecPose", 3, given=(p, q, vec))),
        ([mjx.rot_vec_quat(vec, q)], _theirs("mju_rotVecQuat", 3, given=(vec, q))),
        ([mjx.mul_quat(q, s)], _theirs("mju_mulQuat", 4, given=(q, s))),
        ([mjx.neg_quat(q)], _theirs("mju_negQuat", 4, given=(q,))),
        ([jnp.ravel(mjx.quat2mat(q))], [matrix]),
        ([mjx.mat2quat(jnp.asarray(matrix.reshape(3, 3)))], _theirs("mju_mat2Quat", 4, given=(matrix,))),
        ([mjx.axis_angle2quat(axis, 0.7)], _theirs("mju_axisAngle2Quat", 4, given=(axis, 0.7))),
        ([mjx.quat2vel(q, 0.2)], _theirs("mju_quat2Vel", 3, given=(q, 0.2))),
        ([mjx.sub_quat(q, s)], _theirs("mju_subQuat", 3, given=(q, s))),
        ([mjx.quat_integrate(q, vec, 0.3)], [turned]),
        ([mjx.quat_z2vec(vec)], _theirs("mju_quatZ2Vec", 4, given=(vec,))),
    ):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-14)


def test_a_pose_and_its_inverse_cancel_with_their_derivatives():
    p, q = _pose()
    spin = jnp.asarray(RNG.normal(size=3))

    def there_and_back(s):
        turned = mjx.quat_integrate(q, spin, s)
        return jnp.concatenate(mjx.mul_pose(p + s, turned, *mjx.neg_pose(p + s, turned)))

    value, slope = jax.jvp(there_and_back, (0.2,), (1.0,))
    np.testing.assert_allclose(value, [0, 0, 0, 1, 0, 0, 0], atol=1e-14)
    np.testing.assert_allclose(slope, np.zeros(7), atol=1e-13)
