"""Contacts that hold, creep and slide."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.interop.convert import put_model
from tests.support.oracle import error

XML = """
<mujoco>
  <option cone="{cone}" timestep="0.005"/>
  <default><geom friction=".5 .01 .001"/></default>
  <worldbody>
    <geom type="plane" size="5 5 1" euler="20 0 0"/>
    <geom type="plane" size="5 5 1" euler="30 0 0" contype="2" conaffinity="2"/>
    <body pos="0 -.0102 .0282" euler="20 0 0"><freejoint/><geom type="box" size=".1 .1 .03" condim="4"/></body>
    <body pos="8 -.015 .026" euler="30 0 0">
      <freejoint/><geom type="box" size=".1 .1 .03" contype="2" conaffinity="2"/>
    </body>
  </worldbody>
</mujoco>"""


@pytest.mark.parametrize("cone", ["elliptic", pytest.param("pyramidal", marks=pytest.mark.slow)])
def test_boxes_on_slopes(cone):
    """Friction of 0.5 holds on 20 degrees, where it uses tan(20)/0.5 of it, and not on 30; values are MuJoCo's."""
    mj = mujoco.MjModel.from_xml_string(XML.format(cone=cone))
    data = mujoco.MjData(mj)
    while data.time < 0.3 or data.ncon < 8:
        mujoco.mj_step(mj, data)
        mujoco.mj_forward(mj, data)
    m = put_model(mj)
    state = {name: jnp.array(getattr(data, name)) for name in ("qpos", "qvel", "qacc_warmstart")}
    found = jax.jit(lambda d: mjx.slip(m, mjx.forward(m, d)))(mjx.make_data(m).replace(**state))
    assert data.ncon == 8 and data.time < 1
    for i in range(8):
        c, wrench, motion = data.contact[i], np.zeros(6), np.zeros((2, 6))
        mujoco.mj_contactForce(mj, data, i, wrench)
        for k in (0, 1):
            mujoco.mj_objectVelocity(mj, data, mujoco.mjtObj.mjOBJ_GEOM, c.geom[k], motion[k], 0)
            motion[k, 3:] += np.cross(motion[k, :3], c.pos - data.geom_xpos[c.geom[k]])
        frame, change = c.frame.reshape(3, 3), motion[1] - motion[0]
        assert error(found.speed[i], np.linalg.norm(frame[1:] @ change[3:])) < 1e-8
        assert error(found.spin[i], frame @ change[:3]) < 1e-8
        share = (wrench[1:] / c.friction)[: c.dim - 1]
        load = np.linalg.norm(share) if cone == "elliptic" else np.abs(share).sum()
        assert abs(found.load[i] - load / wrench[0]) < 1e-6
    steep = np.array([data.contact[i].geom[0] == 1 for i in range(8)])
    assert found.sliding[:8].tolist() == steep.tolist() and not found.sliding[8:].any()
    assert (found.creeping[:8] == ~steep).all() and not found.creeping[8:].any()
    assert (found.speed[:8][steep] > 0.1).all() and (found.speed[:8][~steep] < 0.01).all()
    still = jax.jit(lambda d: mjx.slip(m, mjx.forward(m, d), speed=0.05))(mjx.make_data(m).replace(**state))
    assert not still.creeping.any() and still.sliding.sum() == 4
