"""What is drawn beside a model, against MuJoCo's fields."""

import jax
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.constraint.contact_force import contact_wrench
from mjx_like.visual import overlay
from mjx_like.visual.part import rotation

MODEL = """<mujoco><worldbody><geom type="plane" size="3 3 1"/>
  <camera name="c" pos="1 2 3" xyaxes="0 1 0 -1 0 1" fovy="60"/>
  <body pos="0 0 .099"><freejoint/><geom size=".1"/></body>
  <body pos="1 0 1"><joint axis="0 1 0" pos=".1 0 0"/><geom type="capsule" size=".05 .2"/>
    <body pos="0 0 .5"><joint type="slide" axis="0 0 1"/><geom size=".05"/></body></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def both():
    mj_model, m = mujoco.MjModel.from_xml_string(MODEL), mjx.Model.from_xml_string(MODEL, dtype=np.float64)
    data = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, data)
    return mj_model, data, m, jax.jit(mjx.forward)(m, mjx.make_data(m))


@pytest.mark.slow
def test_contacts(both):
    mj_model, data, m, d = both
    np.testing.assert_allclose(overlay.contact_points(d), data.contact.pos, atol=1e-12)
    arrows = overlay.contact_arrows(m, d, np.asarray(contact_wrench(m, d)))
    wrench = np.zeros(6)
    mujoco.mj_contactForce(mj_model, data, 0, wrench)
    force = wrench[:3] @ data.contact.frame[0].reshape(3, 3)
    length = m.vis.map.force / float(m.stat.meanmass)
    np.testing.assert_allclose(arrows.points[0, 1] - arrows.points[0, 0], length * force, rtol=1e-9, atol=1e-12)
    assert force[2] > 0 and arrows.points.shape == (1, 2, 3)


@pytest.mark.slow
def test_joints_and_centres(both):
    _, data, m, d = both
    arrows = overlay.joint_arrows(m, d)
    np.testing.assert_allclose(arrows.points[:, 0], data.xanchor[1:], atol=1e-12)
    axes = arrows.points[:, 1] - arrows.points[:, 0]
    np.testing.assert_allclose(axes / np.linalg.norm(axes, axis=1, keepdims=True), data.xaxis[1:], atol=1e-12)
    np.testing.assert_allclose(overlay.mass_centers(m, d), data.subtree_com[[1, 2]], atol=1e-12)


def test_cameras_look_along_their_axis(both):
    _, data, m, d = both
    (view,) = overlay.cameras(m, d)
    np.testing.assert_allclose(view.pos, data.cam_xpos[0], atol=1e-12)
    np.testing.assert_allclose(rotation(view.quat)[:, 2], -data.cam_xmat[0].reshape(3, 3)[:, 2], atol=1e-12)
    np.testing.assert_allclose(rotation(view.quat)[:, 0], data.cam_xmat[0].reshape(3, 3)[:, 0], atol=1e-12)
    assert view.fovy == pytest.approx(np.pi / 3)


def test_frames(both):
    _, data, m, d = both
    pos, quat, length = overlay.body_frames(m, d)
    np.testing.assert_allclose(pos, data.xpos[1:], atol=1e-12)
    np.testing.assert_allclose(quat, data.xquat[1:], atol=1e-12)
    assert length == pytest.approx(float(m.stat.meansize))
