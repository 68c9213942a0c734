"""What contact and touch sensors say with hard contact: what can meet within the step does not touch yet."""

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
