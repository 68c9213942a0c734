"""What contact and touch sensors say with hard contact: what can meet within the step does not touch yet."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from tests.hard.scene import model, run, step

H, MASS, RADIUS = 0.01, 2.0, 0.1
XML = f"""<mujoco><option timestep="{H}"/><worldbody><geom name="floor" type="plane" size="9 9 .1"/>
  <body pos="0 0 {RADIUS}"><joint type="slide" axis="0 0 1"/><geom name="ball" size="{RADIUS}" mass="{MASS}"/>
    <site name="ball" size="{2 * RADIUS}"/></body></worldbody>
<sensor><contact geom1="floor" geom2="ball" data="found force dist"/><touch site="ball"/></sensor></mujoco>"""
WEIGHT = 9.81 * MASS


@pytest.mark.slow
def test_a_ball_at_rest_is_found_with_its_weight():
    m = model(xml=XML)
    d = run(m, mjx.make_data(m), 100)
    found, *force, dist, touch = np.asarray(d.sensordata)
    np.testing.assert_allclose([found, force[0], touch], [1, WEIGHT, WEIGHT], rtol=1e-6)
    np.testing.assert_allclose(force[1:], 0, atol=1e-9)
    np.testing.assert_allclose(dist, 1e-5, rtol=1e-3)


ROLLING = """<mujoco><option timestep="0.01"/><worldbody><geom type="plane" name="floor" size="9 9 .1"/>
  <body pos="0 0 .1"><freejoint/><geom name="ball" size=".1" mass="2"/>
    <site name="low" pos="0 0 -.1" size=".03"/></body>
</worldbody><sensor><touch site="low"/><torque site="low"/><contact geom1="floor" geom2="ball" data="found linvel"/>
</sensor></mujoco>"""


@pytest.fixture(scope="module")
def rolling():
    return model(xml=ROLLING)


@pytest.mark.parametrize("speed, spin", [(0.0, 0.0), (10.0, 0.0), (3.0, 30.0)])
def test_of_a_fast_ball_forces_have_the_levers_of_the_step_s_end(rolling, speed, spin):
    """Without: 10 m/s in 10 ms took the contact out of the site, and gave the weight a lever of 0.1 m."""
    d = mjx.make_data(rolling).replace(qvel=jnp.array([speed, 0, 0, 0, spin, 0]))
    d = jax.jit(mjx.rne_postconstraint)(rolling, jax.jit(mjx.forward)(rolling, d))
    torque, force = d.cfrc_ext[1, :3], d.cfrc_ext[1, 3:]
    push, turn = jnp.split(d.qfrc_constraint, 2)
    np.testing.assert_allclose(force, push, rtol=1e-12, atol=1e-9)
    # contacts were found where the solve before the last ended, 4e-7 m from where the step does
    np.testing.assert_allclose(torque, turn, atol=1e-6 * push[2])
    if spin == 0:
        np.testing.assert_allclose(d.sensordata[0], push[2], rtol=1e-12)


def test_what_sensors_say_of_a_fast_ball_has_its_derivative(rolling):
    def said(speed):
        d = mjx.make_data(rolling).replace(qvel=jnp.array([speed, 0, 0, 0.5, 20, 0]))
        return mjx.rne_postconstraint(rolling, mjx.forward(rolling, d)).cfrc_ext[1]

    value, h = jax.jit(said), 1e-5
    _, rate = jax.jit(lambda x: jax.jvp(said, (x,), (1.0,)))(3.0)
    np.testing.assert_allclose(rate, (value(3 + h) - value(3 - h)) / (2 * h), rtol=1e-5, atol=1e-6)


TIED = """<mujoco><option timestep="0.01" integrator="implicitfast"/><worldbody>
  <body name="a" pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02"/></body>
  <body name="b" pos=".5 0 1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom size=".05" mass="1" contype="0"/></body>
  <body pos="3 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body>
  <geom type="plane" size="5 5 .1"/></worldbody>
<equality><connect body1="b" body2="a" anchor="0 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize("refresh", [0, 1])
def test_forces_of_rows_add_up_to_those_of_dofs_with_equalities(refresh):
    """Without: rows of equalities were those of the end of the step, where they do not pull."""
    m = model(xml=TIED, refresh=refresh)
    d = mjx.make_data(m).replace(qvel=jnp.array([10.0, 0, -5, 0]))
    forward = jax.jit(mjx.forward)(m, d)
    back = jax.jit(mjx.inverse)(m, forward)
    assert forward.ne == 3 and forward.nefc > 3
    for d in (forward, back):
        np.testing.assert_allclose(mjx.mul_jac_t_vec(m, d, d.efc_force), d.qfrc_constraint, rtol=1e-9, atol=1e-9)


def test_what_falls_toward_the_floor_is_not_found_before_it_is_there():
    m = model(xml=XML)
    d = mjx.make_data(m).replace(qpos=jnp.array([0.03]), qvel=jnp.array([-1.0]))
    for ncon, found in ((0, 0), (1, 0), (1, 1)):
        d = step(m, d)
        assert (int(d.ncon), int(d.sensordata[0])) == (ncon, found), d.qpos
    assert d.sensordata[-1] > 5 * WEIGHT


def test_the_gap_of_geoms_counts_as_with_soft_contact():
    m = model(xml=XML.replace('<geom name="ball"', '<geom name="ball" gap="0.03"'))
    d = step(m, mjx.make_data(m).replace(qpos=jnp.array([0.03]), qvel=jnp.array([-1.0])))
    assert d.sensordata[0] == 1 and d.qpos[0] > 0.01
