"""Adhesion of bodies and of geoms with hard contact: what it holds, what it lets fall, and its derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from tests.hard.scene import GAP, model, run, step

H, G, GAIN, FRICTION = 0.002, 9.81, 40.0, 0.5
SCENE = f"""<mujoco><option timestep="{H}"/>
<default><geom friction="{FRICTION} .01 .001"/></default>
<worldbody><geom type="plane" size="1 1 .1" {{plane}}/>
  <body name="box" pos="{{pos}}">{{joints}}<geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody>
<actuator><adhesion body="box" ctrlrange="0 1" gain="{GAIN}"/></actuator></mujoco>"""
CEILING = {"plane": 'zaxis="0 0 -1"', "pos": f"0 0 {-0.1 - GAP}", "joints": "<freejoint/>"}
SLIDES = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
WALL = {"plane": 'zaxis="-1 0 0"', "pos": f"{-0.1 - GAP} 0 0", "joints": SLIDES}


@pytest.fixture(scope="module")
def ceiling():
    return model(xml=SCENE.format(**CEILING))


@pytest.fixture(scope="module")
def wall():
    return model(xml=SCENE.format(**WALL))


def held(m, ctrl, steps=200):
    return run(m, mjx.make_data(m).replace(ctrl=jnp.array([ctrl])), steps)


@pytest.mark.slow
def test_a_box_hangs_and_bears_what_pulls_it_less_its_weight(ceiling):
    d = held(ceiling, 1.0)
    np.testing.assert_allclose(d.qvel, 0, atol=1e-9)
    np.testing.assert_allclose(d.qpos[2], -0.1 - GAP, atol=GAP)
    np.testing.assert_allclose(np.sum(d.efc_force[::3]), GAIN - G, rtol=1e-6)


def test_it_falls_where_the_pull_is_less_than_its_weight_and_leaves_its_reach(ceiling):
    d = held(ceiling, 0.9 * G / GAIN, steps=20)
    assert d.qpos[2] < -0.1 - 1e-3 and not np.any(d.actuator_moment)
    assert -0.7 * 20 * H * G < d.qvel[2] < -0.1 * 20 * H * G


def test_out_of_reach_nothing_pulls(ceiling):
    d = mjx.make_data(ceiling)
    d = step(ceiling, d.replace(qpos=d.qpos.at[2].add(-0.01), qvel=d.qvel.at[2].set(6), ctrl=jnp.ones(1)))
    assert int(d.ncon) == 4  # it comes to the ceiling within the step, and is not pulled before
    np.testing.assert_array_equal(d.actuator_moment, 0)


@pytest.mark.slow
def test_friction_of_the_pull_holds_it_at_a_wall(wall):
    d = held(wall, 1.0)
    assert abs(float(d.qvel[1])) < 2 * float(wall.hard.slip)


@pytest.mark.slow
def test_sliding_down_a_wall_and_its_derivative(wall):
    """Friction is the coefficient times the pull, which is less than the weight; slip takes a thousandth of it."""
    d = held(wall, 0.25, steps=20)

    def fall(ctrl):
        after = mjx.step(wall, d.replace(ctrl=ctrl[None]))
        return after.qvel[1], jnp.sum(after.efc_force[::3])

    ctrl, apart = jnp.asarray(0.25), 1e-4
    (speed, pressed), slope = jax.jit(jax.value_and_grad(fall, has_aux=True))(ctrl)
    np.testing.assert_allclose(pressed, 0.25 * GAIN, rtol=1e-3)
    e = 4 * float(wall.hard.slip) * G / (2 * pressed)  # four contacts share the pressure
    friction = -FRICTION * pressed * speed / (e + np.hypot(e, speed))
    np.testing.assert_allclose(speed - d.qvel[1], -H * (G - friction), rtol=1e-9)
    low, high = (jax.jit(fall)(ctrl + x)[0] for x in (-apart, apart))
    np.testing.assert_allclose(slope, (high - low) / (2 * apart), rtol=1e-6)
    assert 0.3 * H * FRICTION * GAIN < slope < H * FRICTION * GAIN  # a part of the pull goes into the gap


@pytest.mark.parametrize("pull", [pytest.param(0.2 * G, marks=pytest.mark.slow), 0.5 * G])
def test_geoms_pull_at_each_contact(pull):
    """Four contacts hold the box from half of its weight each, and not from a fifth."""
    xml = SCENE.format(**CEILING).replace('type="box"', f'type="box" adhesion="{pull}"')
    m = model(xml=xml)
    d = run(m, mjx.make_data(m), 50)
    if pull < G / 4:
        assert d.qpos[2] < -0.1 - 1e-3 and not np.any(d.qfrc_adhesion)
        return
    np.testing.assert_allclose(d.qvel, 0, atol=1e-9)
    np.testing.assert_allclose(d.qfrc_adhesion, [0, 0, 4 * pull, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(np.sum(d.efc_force[::3]), 4 * pull - G, rtol=1e-6)
    np.testing.assert_allclose(sum(mjx.contact_force(m, d, i)[0] for i in range(4)), -G, rtol=1e-6)


@pytest.mark.slow
def test_the_derivative_by_the_pull_of_geoms():
    m = model(xml=SCENE.format(**WALL).replace('type="box"', 'type="box" adhesion="1"'))
    d = run(m, mjx.make_data(m), 20)

    def fall(pull):
        return mjx.step(m.replace(geom_adhesion=jnp.array([0.0, pull])), d).qvel[1]

    value, slope = jax.jit(fall), jax.jit(jax.grad(fall))(1.0)
    np.testing.assert_allclose(slope, (value(1.0001) - value(0.9999)) / 2e-4, rtol=1e-6)
    assert 0 < slope < 4 * H * FRICTION  # four contacts, each of which pulls as much
