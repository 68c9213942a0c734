"""Inverse dynamics of a step's acceleration, skipped stages, and the comparison of both directions."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.errors import InputError
from mjx_like.forward import forward_skip
from mjx_like.interop.convert import put_data, put_model
from mjx_like.inverse import compare_fwd_inv, inverse, inverse_skip
from mjx_like.types.enums import Stage
from tests.support.oracle import ACCELERATION, error

XML = """<mujoco><option timestep=".01" integrator="Euler"><flag invdiscrete="enable"/></option><worldbody>
  <geom type="plane" size="5 5 .1"/><body pos="0 0 .2"><freejoint/>
    <geom type="box" size=".1 .2 .15" pos=".02 0 0"/></body>
  <body pos="0 1 .5"><joint name="a" axis="0 1 0" damping=".5 .1"/><geom type="capsule" size=".05 .2" pos=".2 0 0"/>
    <body pos=".4 0 0"><joint name="b" type="ball" damping=".2"/>
      <geom type="box" size=".1 .05 .2" pos=".1 .1 0"/></body>
  </body></worldbody>
  <actuator><velocity joint="a" kv="2"/><position joint="a" kp="5" kv=".5" forcerange="-1 1"/></actuator></mujoco>"""


def _data(xml: str):
    mj = mujoco.MjModel.from_xml_string(xml)
    mj.opt.tolerance, mj.opt.iterations = 0, 100
    data = mujoco.MjData(mj)
    mujoco.mj_setState(mj, data, np.zeros(1), mujoco.mjtState.mjSTATE_TIME)
    rng = np.random.default_rng(1)
    data.qpos[2], data.qvel[:], data.ctrl[:] = 0.149, rng.normal(size=mj.nv), rng.normal(size=mj.nu)
    return mj, data


@pytest.mark.parametrize(
    "integrator", [pytest.param(x, marks=pytest.mark.slow) for x in ("Euler", "implicit")] + ["implicitfast"]
)
def test_inverse_of_a_step(integrator):
    """The force that explains the velocity change of a step is what was applied."""
    mj, theirs = _data(XML.replace("Euler", integrator))
    m, before = put_model(mj), theirs.qvel.copy()
    mujoco.mj_forward(mj, theirs)
    d = put_data(mj, theirs)
    after = mujoco.MjData(mj)
    mujoco.mj_copyData(after, mj, theirs)
    mujoco.mj_step(mj, after)
    qacc = (after.qvel - before) / mj.opt.timestep
    theirs.qacc[:] = qacc
    mujoco.mj_inverse(mj, theirs)
    assert theirs.nefc > 0
    out = jax.jit(inverse)(m, d.replace(qacc=jnp.asarray(qacc)))
    assert error(out.qfrc_inverse, theirs.qfrc_inverse) < ACCELERATION
    assert error(out.qfrc_inverse, d.qfrc_actuator) < 1e-9
    assert error(out.qacc, qacc) == 0


def test_rk4_cannot_be_inverted():
    mj, theirs = _data(XML.replace("Euler", "RK4"))
    m = put_model(mj)
    with pytest.raises(InputError, match="a step of RK4 cannot be inverted"):
        jax.eval_shape(inverse, m, put_data(mj, theirs))


def test_skipped_stages_are_taken_as_they_are():
    mj, theirs = _data(XML.replace('invdiscrete="enable"', 'energy="enable"'))
    m = put_model(mj)
    mujoco.mj_forward(mj, theirs)
    stale = put_data(mj, theirs)
    stale = stale.replace(qpos=stale.qpos + 0.1, ctrl=stale.ctrl + 1)
    for stage, faster in ((Stage.VEL, 1), (Stage.POS, 2)):
        stale = stale.replace(qvel=stale.qvel * faster)
        theirs.qpos[:], theirs.ctrl[:], theirs.qvel[:] = stale.qpos, stale.ctrl, stale.qvel
        mujoco.mj_forwardSkip(mj, theirs, int(stage), True)

        def both(d, stage=stage):
            d = forward_skip(m, d, stage, skip_sensor=True)
            return d.qacc, inverse_skip(m, d, stage, skip_sensor=True).qfrc_inverse

        qacc, force = jax.jit(both)(stale)
        assert error(qacc, theirs.qacc) < ACCELERATION
        mujoco.mj_inverseSkip(mj, theirs, int(stage), True)
        assert error(force, theirs.qfrc_inverse) < ACCELERATION


def test_comparison_of_forward_and_inverse():
    mj, theirs = _data(XML.replace('invdiscrete="enable"', 'fwdinv="enable"'))
    m = put_model(mj)
    mujoco.mj_forward(mj, theirs)
    d, compare = put_data(mj, theirs), jax.jit(lambda d: compare_fwd_inv(m, d).solver_fwdinv)
    assert theirs.nefc > 0 and np.max(compare(d)) < 1e-6
    wrong = d.replace(qfrc_constraint=d.qfrc_constraint + 3.0, qfrc_applied=d.qfrc_applied + 4.0)
    assert error(compare(wrong), np.sqrt(mj.nv) * np.array([3, 4])) < 1e-6
