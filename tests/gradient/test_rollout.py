"""Gradients of 1 to 100 steps at default options equal central differences, in both modes, with contacts at work."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.interop.convert import put_model
from mjx_like.rollout.rollout import rollout
from mjx_like.state.initial import make_data
from tests.support.oracle import GYM

BOX = """
<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 0.099"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>
"""
PENDULUM = """
<mujoco><option timestep="0.01"/><worldbody><body><joint type="hinge" axis="0 1 0" damping=".1" name="j"/>
<geom type="capsule" fromto="0 0 0 0 0 -1" size=".05"/></body></worldbody>
<actuator><motor joint="j"/></actuator></mujoco>
"""
CASES = {
    "pendulum": (PENDULUM, 0.0, False),
    "box": (BOX, 0.0, True),
    "hopper": (str(GYM / "hopper.xml"), -1.2405, True),
    "ant": (str(GYM / "ant.xml"), -0.2, True),
}
LENGTHS = [(name, 20) for name in CASES] + [(name, n) for name in ("pendulum", "hopper") for n in (1, 10, 100)]


def _rows(d):
    return d.nefc


def _case(name, steps):
    source, drop, contact = CASES[name]
    read = mujoco.MjModel.from_xml_string if source.lstrip().startswith("<") else mujoco.MjModel.from_xml_path
    mj = read(source)
    m = put_model(mj)
    rng = np.random.default_rng(1)
    qvel = 0.3 * rng.normal(size=m.nv)
    ctrl = jnp.asarray(0.3 * rng.normal(size=(steps, m.nu)))
    d = make_data(m)
    if drop:
        data = mujoco.MjData(mj)
        for _ in range(400):  # let it fall, so that the rollout starts and stays in contact
            mujoco.mj_step(mj, data)
        d = d.replace(qpos=jnp.asarray(data.qpos))
    weight = jnp.asarray(rng.normal(size=m.nv))

    def loss(x, model=m):
        rows, end = rollout(model, d.replace(qvel=x[: m.nv]), ctrl + x[m.nv :], record=_rows, return_data=True)
        return jnp.sum(weight * end.qvel) + jnp.sum(end.qpos**2), rows

    return m, d, loss, jnp.concatenate([jnp.asarray(qvel), jnp.zeros(m.nu)]), contact


@pytest.mark.slow
@pytest.mark.parametrize(("name", "steps"), LENGTHS)
def test_gradient_of_rollout(name, steps):
    m, d, loss, x, contact = _case(name, steps)
    value = jax.jit(lambda x: loss(x)[0])
    gradient, rows = jax.jit(jax.grad(loss, has_aux=True))(x)
    assert bool((rows > 0).any()) == contact
    rng = np.random.default_rng(2)
    forward_mode = jax.jit(lambda x, v: jax.jvp(lambda x: loss(x)[0], (x,), (v,))[1])
    for _ in range(3):
        v = jnp.asarray(rng.normal(size=x.shape))
        eps = 1e-6
        numeric = (value(x + eps * v) - value(x - eps * v)) / (2 * eps)
        scale = 1 + abs(numeric)
        assert abs(forward_mode(x, v) - gradient @ v) < 1e-9 * scale
        assert abs(gradient @ v - numeric) < 1e-5 * scale
    if contact:
        free = m.replace(opt=m.opt.replace(disableflags=m.opt.disableflags | 16))
        without = jax.jit(jax.grad(lambda x: loss(x, free)[0]))(x)
        assert jnp.linalg.norm(gradient - without) > 0.01 * jnp.linalg.norm(without)
