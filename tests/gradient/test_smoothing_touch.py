"""What smoothing finds ahead of the touch: contact sensors and adhesion count the contacts that MuJoCo has."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.forward import forward
from mjx_like.interop.convert import put_model
from mjx_like.smoothing import with_smoothing
from mjx_like.state.initial import make_data

WIDTH = 0.01
GAPS = {"none": "", "geom": 'gap="0.002"', "pair": "", "pair twice": ""}
XML = """<mujoco><option><flag gravity="disable"/></option>
<worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="ball"><joint type="slide" axis="0 0 1"/>
  <geom name="ball" size=".1" mass="1" adhesion="2" {gap}/></body></worldbody>{pair}
<actuator><adhesion body="ball" gain="3" ctrlrange="0 1"/></actuator>
<sensor><contact geom1="ball" data="found"/></sensor></mujoco>"""
PAIR = '<pair geom1="ball" geom2="floor" gap="0.002" adhesion="2"/>'
HEIGHTS = np.array([-0.004, 0.001, 0.003, 0.0199, 0.03])


@pytest.mark.parametrize("kind", [pytest.param(x, marks=pytest.mark.slow) if x == "pair twice" else x for x in GAPS])
def test_contacts_count_where_mujoco_has_them(kind):
    pair = f"<contact>{PAIR * (1 + kind.endswith('twice'))}</contact>" if "pair" in kind else ""
    own = mujoco.MjModel.from_xml_string(XML.format(gap=GAPS[kind], pair=pair))
    m = with_smoothing(put_model(own), WIDTH)
    d = jax.jit(jax.vmap(lambda h: forward(m, make_data(m).replace(qpos=h[None], ctrl=jnp.ones(1)))))(HEIGHTS + 0.1)
    assert np.asarray(d.ncon)[:3].all() and not d.ncon[-1]
    for k, height in enumerate(HEIGHTS):
        theirs = mujoco.MjData(own)
        theirs.qpos[0], theirs.ctrl[0] = height + 0.1, 1
        mujoco.mj_forward(own, theirs)
        np.testing.assert_array_equal(d.sensordata[k], theirs.sensordata, err_msg=str(height))
        np.testing.assert_allclose(d.actuator_moment[k, 0, 0], theirs.actuator_moment[0], atol=1e-15)
        np.testing.assert_allclose(d.qfrc_adhesion[k], theirs.qfrc_adhesion, atol=1e-15)
