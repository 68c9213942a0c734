"""rollout: the same as a loop of steps, however it is divided, recorded or batched."""

import sys

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.errors import InputError
from mjx_like.interop.convert import put_data, put_model
from mjx_like.rollout.rollout import CARRIED, rollout
from mjx_like.state.initial import make_data
from mjx_like.step import step
from mjx_like.types.model import Model
from tests.support.processes import succeeds

ARM = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <body pos="1 0 .5"><joint name="h" axis="0 1 0" damping=".1"/><geom size=".05" pos=".2 0 0"/></body>
  </worldbody>
  <actuator><motor joint="h" ctrlrange="-1 1"/><general joint="h" dyntype="integrator"/></actuator>
  <sensor><jointpos joint="h"/></sensor>
</mujoco>
"""
BALL = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="ball" pos="0 0 .099"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""
STEPS, BATCH = 12, 5


@pytest.fixture(scope="module")
def model():
    return put_model(mujoco.MjModel.from_xml_string(ARM))


def worlds(m, batch=BATCH):
    """Return a batch of different Data, and controls for each."""
    rng = np.random.default_rng(0)
    d = jax.tree.map(lambda x: jnp.broadcast_to(x, (batch, *x.shape)), make_data(m))
    d = d.replace(qvel=jnp.asarray(rng.normal(size=(batch, m.nv))))
    return d, jnp.asarray(rng.normal(size=(batch, STEPS, m.nu)))


def world(d, i):
    return jax.tree.map(lambda x: x[i], d)


def test_equals_a_loop_of_steps(model):
    d, ctrl = world(worlds(model)[0], 0), worlds(model)[1][0]
    records, end = rollout(model, d, ctrl, return_data=True)
    one = jax.jit(step)
    for i, u in enumerate(ctrl):
        d = one(model, d.replace(ctrl=u))
        for name in ("time", "qpos", "qvel", "act", "sensordata"):
            np.testing.assert_allclose(getattr(records, name)[i], getattr(d, name), atol=1e-12)
    for name in CARRIED:
        np.testing.assert_allclose(getattr(end, name), getattr(d, name), atol=1e-12)


def test_equals_mujoco_in_contact():
    mj = mujoco.MjModel.from_xml_string(BALL)
    mj.opt.tolerance = 0
    data, m = mujoco.MjData(mj), put_model(mj)
    data.qvel[:] = [1, 0, 0, 0, 3, 0]
    records = rollout(m, put_data(mj, data), steps=STEPS)
    for qpos in records.qpos:
        mujoco.mj_step(mj, data)
        np.testing.assert_allclose(qpos, data.qpos, atol=1e-9)
    assert data.ncon == 1


def test_a_batch_equals_its_worlds(model):
    d, ctrl = worlds(model)
    records, end = rollout(model, d, ctrl, return_data=True)
    blocked = rollout(model, d, ctrl, block=2, unroll=2)
    assert records.qpos.shape == (BATCH, STEPS, model.nq) and end.qpos.shape == (BATCH, model.nq)
    np.testing.assert_allclose(blocked.qpos, records.qpos, atol=1e-12)
    for i in range(BATCH):
        alone, alone_end = rollout(model, world(d, i), ctrl[i], return_data=True)
        np.testing.assert_allclose(records.qpos[i], alone.qpos, atol=1e-12)
        np.testing.assert_allclose(end.qvel[i], alone_end.qvel, atol=1e-12)


def test_shared_controls_and_held_controls(model):
    d, ctrl = worlds(model)
    shared, each = (rollout(model, d, u).qpos for u in (ctrl[0], jnp.broadcast_to(ctrl[0], ctrl.shape)))
    np.testing.assert_allclose(shared, each, atol=1e-12)
    held = rollout(model, d.replace(ctrl=ctrl[:, 0]), steps=STEPS).qpos
    given = rollout(model, d, jnp.broadcast_to(ctrl[:, :1], ctrl.shape)).qpos
    np.testing.assert_allclose(held, given, atol=1e-12)


def test_models_with_a_world_axis(model):
    d, ctrl = worlds(model)
    mass = model.body_mass * jnp.linspace(0.5, 2, BATCH)[:, None]
    gravity = model.opt.gravity * jnp.linspace(0.5, 1, BATCH)[:, None]
    varied = model.replace(body_mass=mass, opt=model.opt.replace(gravity=gravity))
    records = rollout(varied, d, ctrl, block=2)
    for i in (0, 3):
        alone = model.replace(body_mass=mass[i], opt=model.opt.replace(gravity=gravity[i]))
        np.testing.assert_allclose(records.qpos[i], rollout(alone, world(d, i), ctrl[i]).qpos, atol=1e-12)
    assert np.abs(records.qpos[0] - rollout(model, d, ctrl).qpos[0]).max() > 1e-3


def test_own_record(model):
    d, ctrl = worlds(model)
    places = rollout(model, d, ctrl, record=_place)
    assert places.shape == (BATCH, STEPS, 3)
    np.testing.assert_allclose(places[:, 0], [[1.2, 0, 0.5]] * BATCH, atol=1e-12)  # at the start of the step


def _place(d):
    return d.geom_xpos[0]


@pytest.mark.slow
def test_blocks_and_remat_change_no_gradient(model):
    d, ctrl = worlds(model)

    def gradient(**options):
        return jax.jit(jax.grad(lambda u: (rollout(model, d, u, return_data=True, **options)[1].qpos ** 2).sum()))(ctrl)

    reference = gradient(remat=False)
    assert np.abs(reference).max() > 1e-6
    np.testing.assert_allclose(gradient(remat=True, block=2), reference, rtol=1e-9, atol=1e-12)


def test_float32(model):
    m = put_model(mujoco.MjModel.from_xml_string(ARM), dtype=jnp.float32)
    records, end = rollout(m, make_data(m), np.zeros((3, m.nu)), return_data=True)
    assert records.qpos.dtype == end.qvel.dtype == jnp.float32


def test_put_data_can_go_on(model):
    mj = mujoco.MjModel.from_xml_string(ARM)
    d = put_data(mj, mujoco.MjData(mj))
    assert jax.tree.structure(rollout(model, d, steps=1, return_data=True)[1]) == jax.tree.structure(d)


@pytest.mark.slow
def test_two_devices_give_the_same():
    code = (
        "import jax; jax.config.update('jax_num_cpu_devices', 2); jax.config.update('jax_enable_x64', True)\n"
        "import mujoco, numpy as np\n"
        "from mjx_like.interop.convert import put_model\n"
        "from mjx_like.rollout.rollout import rollout\n"
        "from tests.rollout.test_rollout import ARM, worlds\n"
        "m = put_model(mujoco.MjModel.from_xml_string(ARM))\n"
        "d, ctrl = worlds(m)\n"
        "one, two = (rollout(m, d, ctrl, block=2, devices=jax.devices()[:n]).qpos for n in (1, 2))\n"
        "assert len(two.sharding.device_set) == 2\n"
        "np.testing.assert_allclose(one, two, atol=1e-12)\n"
    )
    succeeds(code)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda m, d, u: (d, None, {}), "steps=None: give the number of steps"),
        (lambda m, d, u: (d, u[:, :, :1], {}), r"ctrl has shape \(5, 12, 1\); it must be \(steps, nu\) or \(5, steps"),
        (lambda m, d, u: (world(d, 0), u, {}), r"it must be \(steps, nu\), with nu=2"),
        (lambda m, d, u: (d, u, {"steps": 3}), "steps=3, but ctrl has 12 steps"),
        (lambda m, d, u: (d.replace(ctrl=d.ctrl[0]), u, {}), "all arrays of d need the same leading"),
        (lambda m, d, u: (d, u, {"block": 0}), "block=0: must be a whole number of at least 1"),
        (lambda m, d, u: (world(d, 0), u[0], {"devices": jax.devices()}), "devices= shares worlds"),
    ],
)
def test_arguments_that_do_not_fit(model, change, message):
    d, ctrl, options = change(model, *worlds(model))
    with pytest.raises(InputError, match=message):
        rollout(model, d, ctrl, **options)


def test_a_model_whose_axis_is_not_that_of_the_data(model):
    d, ctrl = worlds(model)
    with pytest.raises(InputError, match="m.body_mass .*its world axis must be that of the 5 worlds of d"):
        rollout(model.replace(body_mass=jnp.tile(model.body_mass, (3, 1))), d, ctrl)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["pendulum", "half_cheetah"])
def test_worlds_last_equal_worlds_first(file, monkeypatch):
    m = Model.from_xml_path(f"models/{file}.xml")
    d, ctrl = worlds(m)
    own = m.replace(dof_damping=m.dof_damping * jnp.linspace(1, 2, BATCH).reshape((-1,) + (1,) * m.dof_damping.ndim))

    def slope(d, ctrl):
        return jax.grad(lambda u: jnp.sum(rollout(own, d, u, return_data=True)[1].qpos ** 2))(ctrl)

    results = []
    for most in (-1, 100):
        monkeypatch.setattr(sys.modules["mjx_like.rollout.layout"], "MOST_DOFS_LAST", most)
        jax.clear_caches()
        results.append((rollout(own, d, ctrl, return_data=True), rollout(m, d, ctrl[0]), slope(d, ctrl)))
    for a, b in zip(*map(jax.tree.leaves, results), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
