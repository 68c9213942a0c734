"""Springs that yield against MuJoCo C, step by step, with gradients."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.integrator.plastic import next_plastic
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from tests.models import HERE
from tests.support.oracle import error


def load(name):
    mj = mujoco.MjModel.from_xml_path(str(HERE / "features" / f"springyield_{name}.xml"))
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    return mj, put_model(mj)


@pytest.mark.parametrize("name", ["joint", "tendon"])
def test_rest_follows_as_in_c(name):
    mj, m = load(name)
    d, data, rng = make_data(m), mujoco.MjData(mj), np.random.default_rng(2)
    assert error(d.plastic, data.plastic) == 0
    move = jax.jit(lambda d, qpos, qvel: next_plastic(m, d, qpos, qvel))
    yielded = 0
    for _ in range(12):
        mujoco.mj_integratePos(mj, data.qpos, 0.4 * rng.normal(size=mj.nv), 1.0)
        data.qvel[:] = 3 * rng.normal(size=mj.nv)
        before = data.plastic.copy()
        mujoco.mj_step(mj, data)
        ten_J = np.zeros((mj.ntendon, mj.nv))
        for i in range(mj.ntendon):
            adr, num = int(mj.ten_J_rowadr[i]), int(mj.ten_J_rownnz[i])
            ten_J[i, mj.ten_J_colind[adr : adr + num]] = data.ten_J.ravel()[adr : adr + num]
        d = d.replace(plastic=jnp.asarray(before), ten_length=jnp.asarray(data.ten_length), ten_J=jnp.asarray(ten_J))
        assert error(move(d, jnp.asarray(data.qpos), jnp.asarray(data.qvel)), data.plastic) < 1e-12
        yielded += np.abs(data.plastic - before).max() > 1e-3
    assert yielded > 5


@pytest.mark.parametrize("name", ["joint", "tendon"])
def test_gradient_equals_differences(name):
    _, m = load(name)
    rng = np.random.default_rng(3)
    d = make_data(m)
    d = d.replace(
        ten_length=jnp.asarray(rng.normal(size=m.ntendon)), ten_J=jnp.asarray(rng.normal(size=(m.ntendon, m.nv)))
    )

    def f(v):
        n = m.replace(
            jnt_springyield=m.jnt_springyield * (1 + v[0]), tendon_springyield=m.tendon_springyield * (1 + v[1])
        )
        qpos = m.qpos0 + 0.7 + v[2] * jnp.arange(m.nq)
        return next_plastic(n, d.replace(plastic=d.plastic + 0.1 * v[3]), qpos, v[3] * jnp.ones(m.nv))

    v, h, g = jnp.array([0.1, 0.2, 0.03, 0.04]), 1e-6, jax.jit(f)
    forward = jax.jit(jax.jacfwd(f))(v)
    central = np.stack([(g(v.at[i].add(h)) - g(v.at[i].add(-h))) / (2 * h) for i in range(4)], axis=-1)
    assert error(forward, central) < 1e-7 and np.abs(central).max() > 0.01
    assert error(jax.jit(jax.jacrev(f))(v), forward) < 1e-12


def test_springs_at_rest_have_finite_gradients():
    _, m = load("joint")
    d = make_data(m)
    gradient = jax.jit(jax.grad(lambda q: jnp.sum(next_plastic(m, d, q, jnp.zeros(m.nv)))))(m.qpos0)
    assert np.isfinite(gradient).all()
