"""A simulation as dm_control's Physics shows it: dm_control's tasks on this engine, against MuJoCo."""

import mujoco
import numpy as np
import pytest
from dm_control.rl import control
from dm_control.suite import cartpole, finger, hopper

from mjx_like.compat import Physics, PhysicsError
from mjx_like.errors import InputError, ModelError
from tests.support.oracle import TIGHT, error

XML = """
<mujoco>
  <option timestep=".01"/>
  <worldbody>
    <camera name="front" pos="0 -3 1" xyaxes="1 0 0 0 .3 1"/>
    <light pos="0 0 3"/>
    <body name="torso" pos="0 0 1"><joint name="slide" type="slide" axis="1 0 0"/><geom name="trunk" size=".1"/>
      <body name="arm"><joint name="ball" type="ball"/>
        <geom name="rod" type="capsule" size=".03" fromto="0 0 0 .3 .1 0" rgba=".2 .4 .6 1"/></body></body>
    <body name="hand" mocap="true" pos="1 0 0"/>
  </worldbody>
  <actuator><motor name="push" joint="slide"/><general name="slow" joint="slide" dyntype="integrator"/></actuator>
  <sensor><jointpos name="at" joint="slide"/><framepos name="where" objtype="body" objname="arm"/></sensor>
  <keyframe><key name="right" qpos=".5 1 0 0 0"/></keyframe>
</mujoco>
"""


@pytest.fixture(scope="module")
def made():
    return Physics.from_xml_string(XML)


@pytest.fixture
def physics(made):
    made.reset()
    return made


TASKS = {
    "hopper": (hopper, lambda: hopper.Hopper(hopping=False, random=1), 4),
    "cartpole": (cartpole, lambda: cartpole.Balance(swing_up=True, sparse=False, random=1), 2),  # Runge-Kutta
    "finger": (finger, lambda: finger.Spin(random=1), 2),  # changes the model when it starts
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cartpole", "hopper", "finger"])
def test_a_task_of_dm_control_steps_as_in_mujoco(name):
    module, task, count = TASKS[name]
    xml, assets = module.get_model_and_assets()
    physics = Physics.like(module.Physics).from_xml_string(xml, assets)
    env = control.Environment(physics, task(), n_sub_steps=count)
    env.reset()
    m = mujoco.MjModel.from_xml_string(xml.decode(), assets)
    m.dof_damping[:] = physics.model.dof_damping
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = physics.position(), physics.velocity()
    in_stages = m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
    mujoco.mj_step1(m, d)
    spec, rng = env.action_spec(), np.random.default_rng(0)
    for _ in range(20):
        action = rng.uniform(spec.minimum, spec.maximum)
        observed = env.step(action)
        d.ctrl[:] = action
        if not in_stages:  # dm_control's step, by MuJoCo
            mujoco.mj_step2(m, d)
        mujoco.mj_step(m, d, count if in_stages else count - 1)
        mujoco.mj_step1(m, d)
        for field in ("qpos", "qvel", "xmat", "sensordata", "time"):
            assert error(getattr(physics.data, field), getattr(d, field)) < 1e-11, field
    assert 0 <= observed.reward <= 1 and not observed.last()


def test_named_rows_and_columns(physics):
    data, model = physics.named.data, physics.named.model
    assert data.qpos["slide"].shape == (1,) and data.qpos["ball"].shape == (4,) and data.qvel["ball"].shape == (3,)
    data.qvel[["ball", "slide"]] = [1, 2, 3, 4]
    assert list(physics.data.qvel) == [4, 1, 2, 3]
    physics.forward()
    assert data.xpos["torso", "z"] == 1 and data.xmat["torso", ["xx", "zz"]].tolist() == [1, 1]
    assert data.geom_xpos[["trunk", "rod"], "x"].shape == (2,) and data.mocap_pos["hand"].tolist() == [1, 0, 0]
    assert data.sensordata["where"].shape == (3,) and np.ndim(data.ctrl["push"]) == 0 and np.ndim(data.act["slow"]) == 0
    assert model.geom_rgba["rod", ["r", "b"]] == pytest.approx([0.2, 0.6]) and model.body_mass["arm"] > 0
    assert physics.model.name2id("arm", "body") == 2 and physics.model.id2name(1, "geom") == "rod"
    assert "torso" in repr(data.xpos) and np.shape(data.xpos) == (4, 3)
    with pytest.raises(KeyError, match="xpos has no entry 'leg'; it has: world, torso, arm, hand"):
        data.xpos["leg"]
    with pytest.raises(ValueError, match="no object of type 'geom' with name 'leg'"):
        physics.model.name2id("leg", "geom")


def test_what_is_written_counts(physics):
    physics.named.model.body_mass["torso"] = 5
    physics.named.data.qpos["slide"] = 0.25
    physics.forward()
    physics.set_control([2, 0])
    physics.step(3)
    m = mujoco.MjModel.from_xml_string(XML)
    m.body_mass[1] = 5
    d = mujoco.MjData(m)
    d.qpos[0] = 0.25
    mujoco.mj_step1(m, d)
    physics.model.body_mass = mujoco.MjModel.from_xml_string(XML).body_mass
    d.ctrl[0] = 2
    mujoco.mj_step(m, d, 3)
    assert error(physics.data.qpos, d.qpos) < TIGHT and physics.time() == pytest.approx(0.03)
    assert physics.timestep() == 0.01 and error(physics.control(), d.ctrl) == 0


def test_reset_copy_and_state(physics):
    physics.reset(0)
    assert physics.position()[0] == 0.5 and physics.activation().shape == (1,)
    other = physics.copy()
    other.step()
    assert other.time() > physics.time() == 0
    physics.set_state(other.get_state())
    assert error(physics.velocity(), other.velocity()) == 0
    with physics.reset_context():
        physics.data.qpos[0], physics.data.time = 0.75, 2.0
    assert physics.time() == 2.0 and np.shape(physics.named.data.time) == ()
    assert physics.data.xpos[1, 0] == 0.75 and not physics.data.qfrc_actuator.any()
    with pytest.raises(ValueError, match=r"shape \(2,\), the model needs \(10,\)"):
        physics.set_state(np.zeros(2))


def test_pictures(physics):
    rgb = physics.render(24, 32, "front")
    assert rgb.shape == (24, 32, 3) and rgb.dtype == np.uint8 and rgb.std() > 1
    seen = physics.render(24, 32, "front", segmentation=True)
    assert set(seen[..., 0].ravel()) == {-1, 0, 1} and set(seen[..., 1].ravel()) == {-1, int(mujoco.mjtObj.mjOBJ_GEOM)}
    depth = physics.render(24, 32, "front", depth=True)
    assert 2 < depth[seen[..., 0] == 0].min() < 3


def test_errors(physics):
    with pytest.raises(ModelError, match="jiont"):
        Physics.from_xml_string("<mujoco><worldbody><body><jiont/></body></worldbody></mujoco>")
    with pytest.raises(InputError, match="nstep=0: must be positive"):
        physics.step(0)
    physics.data.qvel[0] = np.nan
    with pytest.raises(PhysicsError, match="not finite"):
        physics.check_divergence()
    with pytest.raises(PhysicsError, match="warns of: badq"):
        physics.step()
    physics.data.qvel[0] = np.nan
    with physics.suppress_physics_errors():
        physics.step()
