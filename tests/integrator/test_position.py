"""Integration and difference of positions against MuJoCo, and their derivatives in the tangent space."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.integrator.position import differentiate_pos, integrate_pos
from tests.support.oracle import load
from tests.support.tolerances import EXACT

XML = """
<mujoco><worldbody>
  <body><joint type="slide"/><geom size=".1"/><body><joint type="ball"/><geom size=".1"/></body></body>
  <body><freejoint/><geom size=".1"/><body><joint/><geom size=".1"/></body>
    <body><joint type="ball"/><geom size=".1"/></body></body>
</worldbody></mujoco>
"""


@pytest.fixture(scope="module")
def models():
    return load(XML)


def _positions(mj, seed):
    rng = np.random.default_rng(seed)
    qpos = mj.qpos0.copy()
    mujoco.mj_integratePos(mj, qpos, rng.normal(size=mj.nv), 1.0)
    return qpos, jnp.asarray(rng.normal(size=mj.nv))


@pytest.mark.parametrize("speed", [1.0, 1e-9, 0.0, 100.0])
def test_integrate_equals_oracle(models, speed):
    mj, m = models
    for seed in range(5):
        qpos, qvel = _positions(mj, seed)
        expected = qpos.copy()
        mujoco.mj_integratePos(mj, expected, np.asarray(speed * qvel), 0.1)
        np.testing.assert_allclose(integrate_pos(m, jnp.asarray(qpos), speed * qvel, 0.1), expected, atol=EXACT)


def test_differentiate_equals_oracle_and_inverts_integrate(models):
    mj, m = models
    for seed in range(5):
        (a, qvel), (b, _) = _positions(mj, seed), _positions(mj, seed + 50)
        expected = np.zeros(mj.nv)
        mujoco.mj_differentiatePos(mj, expected, 0.1, a, b)
        np.testing.assert_allclose(differentiate_pos(m, jnp.asarray(a), jnp.asarray(b), 0.1), expected, atol=EXACT * 10)
        moved = integrate_pos(m, jnp.asarray(a), qvel, 0.1)
        np.testing.assert_allclose(differentiate_pos(m, jnp.asarray(a), moved, 0.1), qvel, atol=EXACT * 10)


@pytest.mark.parametrize("speed", [0.0, 1e-7, 1.0])
def test_tangent_jacobian_equals_oracle(models, speed):
    """The derivative of the end in the velocity, in the tangent space there, at rest too."""
    mj, m = models
    qpos, qvel = _positions(mj, 3)
    qvel, qpos, h = speed * qvel, jnp.asarray(qpos), 0.1
    end = integrate_pos(m, qpos, qvel, h)

    def tangent(v):
        return differentiate_pos(m, end, integrate_pos(m, qpos, v, h))

    ours = jax.jit(jax.jacfwd(tangent))(qvel)
    np.testing.assert_allclose(ours, jax.jit(jax.jacrev(tangent))(qvel), atol=EXACT)
    expected = h * np.eye(mj.nv)
    for dof in m.plans.integrator.quat_dof[:, 0]:
        block = np.zeros(9)
        mujoco.mjd_quatIntegrate(np.asarray(qvel[dof : dof + 3]), h, np.zeros(9), block, np.zeros(3))
        expected[dof : dof + 3, dof : dof + 3] = h * block.reshape(3, 3)
    np.testing.assert_allclose(ours, expected, atol=EXACT)
