"""The simulation behind the viewer, without a browser."""

import jax
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.viewer.session import Pull, Session, pulled

MODEL = """<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody><geom type="plane" size="3 3 1"/>
  <body name="ball" pos="0 0 1"><freejoint/><geom size=".1"/><site name="a"/></body>
  <body name="arm" pos="1 0 1"><joint name="hinge" axis="0 1 0" range="-90 90"/><geom type="capsule" size=".05 .2"/>
    <site name="b"/></body></worldbody>
  <tendon><spatial><site site="a"/><site site="b"/></spatial></tendon>
  <actuator><motor joint="hinge" ctrlrange="-2 2"/></actuator>
  <keyframe><key name="up" qpos="0 0 2 1 0 0 0 .5"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def session():
    return Session(mjx.Model.from_xml_string(MODEL), worlds=3)


def test_it_steps_as_step_does(session):
    session.reset("up")
    session.set_ctrl(0, 1.5)
    assert session.advance(0.05) == 5
    m, d = session.m, mjx.make_data(session.m, "up")
    d, step = d.replace(ctrl=np.full(1, 1.5, np.float32)), jax.jit(mjx.step)
    for _ in range(5):
        d = step(m, d)
    np.testing.assert_allclose(session.d.qpos, np.tile(d.qpos, (3, 1)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(session.d.time, 0.05, rtol=1e-5)


def test_looking_changes_no_state(session):
    session.reset("up")
    before = session.d
    session.look()
    for name in ("time", "qpos", "qvel", "qacc_warmstart"):
        np.testing.assert_array_equal(getattr(session.d, name), getattr(before, name))
    np.testing.assert_allclose(session.d.xpos[:, 1], [[0, 0, 2]] * 3)


@pytest.mark.slow
def test_a_body_follows_what_pulls_it(session):
    session.reset()
    session.grab(1, 1, np.array([0.0, 0, 1.1]))
    np.testing.assert_allclose(session.pull.local, [0, 0, 0.1], atol=1e-6)
    session.drag(np.array([0.5, 0.2, 1.4]))
    for _ in range(30):
        session.advance(0.1)
    pos, quat = np.asarray(session.d.xpos[:, 1]), np.asarray(session.d.xquat[1, 1])
    point = pos[1] + np.asarray(mjx.rot_vec_quat(np.array([0, 0, 0.1]), quat))
    np.testing.assert_allclose(point, [0.5, 0.2, 1.4], atol=0.02)
    np.testing.assert_allclose(pos[[0, 2]], [[0, 0, 1]] * 2, atol=1e-6)  # the other worlds are left alone
    session.release()
    session.advance(0.01)
    np.testing.assert_array_equal(session.d.xfrc_applied, 0)


@pytest.mark.slow
def test_the_force_of_a_pull_has_the_lever_of_its_point():
    m = mjx.Model.from_xml_string(MODEL, dtype=np.float64)
    d = mjx.forward(m, mjx.make_data(m))
    out = pulled(m, d, Pull(0, 1, (0.0, 0, 0.1), (1.0, 0, 1.1), 100.0), np.int32(0))
    mass = float(m.body_mass[1])
    np.testing.assert_allclose(out.xfrc_applied[1], [100 * mass, 0, 0, 0, 10 * mass, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(np.delete(out.xfrc_applied, 1, axis=0), 0)


def test_joints_and_controls(session):
    session.reset()
    session.set_joint(1, 0.3)
    np.testing.assert_allclose(session.d.qpos[:, 7], 0.3)
    with pytest.raises(mjx.InputError, match="joint 0 is neither a hinge nor a slide"):
        session.set_joint(0, 1.0)
    session.random_ctrl()
    ctrl = np.asarray(session.d.ctrl)
    assert np.abs(ctrl).max() <= 2 and len(np.unique(ctrl)) == 3


def test_frames_have_poses_and_paths(session):
    session.reset()
    frames = session.frames()
    assert frames.xpos.shape == (1, 3, 3, 3)
    np.testing.assert_allclose(frames.segments(0, 2, 0), [[[0, 0, 1], [1, 0, 1]]], atol=1e-6)


@pytest.mark.parametrize(("options", "message"), [({"worlds": 0}, "worlds=0: must be"), ({"key": "no"}, "no")])
def test_errors(options, message):
    with pytest.raises(mjx.InputError, match=message):
        Session(mjx.Model.from_xml_string(MODEL), **options)
