"""The integrator `discrete` in a fluid: accelerations, constraint rows, inverse dynamics and gradients."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.forward import forward, fwd_acceleration, fwd_constraint
from mjx_like.integrator.discrete import discrete_force
from mjx_like.interop.convert import put_data
from tests.support.oracle import ACCELERATION, ROW, TIGHT, error, load, states

SHAPE = 'type="box" size=".1 .2 .3" mass="1"'
# bodies whose inertia is diagonal and others, that float alone and with children, in both models of the fluid
MODEL = f"""
<mujoco>
  <option integrator="discrete" timestep="0.01" density="900" viscosity=".3" wind=".3 .2 .1" OPTION>FLAG</option>
  <worldbody>
    <body><freejoint/><geom {SHAPE} contype="0" conaffinity="0"/></body>
    <body pos="2 0 0"><freejoint/><geom {SHAPE} pos=".1 0 0" fluidshape="ellipsoid" contype="0" conaffinity="0"/></body>
    <body pos="4 0 0"><freejoint/><geom {SHAPE} fluidshape="ellipsoid" contype="0" conaffinity="0"/></body>
    <body pos="6 0 0"><joint type="slide" axis="1 0 0" damping="2" stiffness="30"/><joint type="slide" axis="0 1 0"/>
      <geom {SHAPE} contype="0" conaffinity="0" fluidshape="ellipsoid"/></body>
    <body pos="8 0 0"><freejoint/><geom {SHAPE} contype="0" conaffinity="0"/>
      <body pos=".3 0 0"><joint name="hinge" axis="1 1 0" range="-10 10" frictionloss=".4" damping=".2"/>
        <geom {SHAPE} pos=".1 0 0" fluidshape="ellipsoid" contype="0" conaffinity="0"/></body></body>
  </worldbody>
</mujoco>
"""


@functools.cache
def _load(option: str = "", flag: str = ""):
    xml = MODEL.replace("OPTION", option).replace("FLAG", flag)
    mj, m = load(xml)
    out = []
    for state in states(mj, steps=0):
        data = mujoco.MjData(mj)
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = state["qpos"], state["qvel"], state["qfrc_applied"]
        data.joint("hinge").qpos = 0.2 * (len(out) % 2)
        mujoco.mj_forward(mj, data)
        out.append(data)
    return mj, m, out


def _stacked(mj, datas):
    return jax.tree.map(lambda *x: jnp.stack(x), *(put_data(mj, t) for t in datas))


@pytest.mark.parametrize(
    "option, flag",
    [
        ("", ""),
        pytest.param('solver="PGS"', '<flag diagexact="enable"/>', marks=pytest.mark.slow),
        pytest.param('noslip_iterations="30"', "", marks=pytest.mark.slow),
    ],
)
def test_accelerations_equal_oracle(option, flag):
    mj, m, theirs = _load(option, flag)
    assert set(mj.body_simple[1:].tolist()) == {0, 1, 2} and any(t.nefc > 1 for t in theirs)

    @jax.jit
    @jax.vmap
    def run(d):
        after = forward(m, d)
        return after.efc_R, after.qacc_smooth, after.qacc, discrete_force(m, after)

    R, smooth, qacc, force = run(_stacked(mj, theirs))
    for i, t in enumerate(theirs):
        assert error(R[i, : t.nefc], t.efc_R) < ROW, i
        assert error(smooth[i], t.qacc_smooth) < TIGHT, i
        assert error(qacc[i], t.qacc) < ACCELERATION, i
        assert error(force[i], t.qfrc_smooth + t.qfrc_constraint) < ACCELERATION, i


@pytest.mark.slow
def test_gradient_equals_differences():
    mj, m, theirs = _load()
    d, rng = put_data(mj, theirs[1]), np.random.default_rng(0)
    direction = {n: rng.normal(size=getattr(d, n).shape) for n in ("qvel", "cvel")}

    def moved(x):
        thicker = m.replace(geom_fluid=m.geom_fluid * (1 + x), opt=m.opt.replace(density=m.opt.density * (1 + x)))
        state = d.replace(**{n: getattr(d, n) + x * u for n, u in direction.items()})
        return jnp.sum(jnp.sin(fwd_constraint(thicker, fwd_acceleration(thicker, state)).qacc))

    slope, moved = jax.jit(jax.grad(moved))(0.0), jax.jit(moved)
    assert error(slope, (moved(1e-7) - moved(-1e-7)) / 2e-7) < 1e-6
