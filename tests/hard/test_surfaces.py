"""Moving surfaces with hard contact: what lies on them goes along and turns with them."""

import jax
import numpy as np
import pytest

import mjx_like as mjx
from tests.hard.scene import model, run, step

H, G, FRICTION, BELT, SPIN = 0.01, 9.81, 0.4, 0.5, 2.0
XML = """<mujoco><option timestep="{h}"/><worldbody>
  <geom type="plane" size="2 2 .1" friction="{friction} .05 .001" condim="{condim}" surfacevel="{velocity}"/>
  <body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><joint type="{joint}"/>
    <geom size=".1" mass="1" friction="{friction} .05 .001" condim="{condim}"/></body></worldbody></mujoco>"""
SHARED = {"h": H, "friction": FRICTION}
SLIDING = XML.format(**SHARED, condim=3, velocity=f"{BELT} 0 0 0 0 0", joint='slide" axis="1 0 0')
TURNING = XML.format(**SHARED, condim=4, velocity=f"0 0 0 0 0 {SPIN}", joint='hinge" axis="0 0 1')


@pytest.fixture(scope="module")
def belt():
    return model(xml=SLIDING)


@pytest.mark.slow
def test_the_belt_pulls_with_all_friction_until_the_load_goes_along(belt):
    d = step(belt, mjx.make_data(belt))
    for _ in range(4):
        before, d = d, step(belt, d)
    np.testing.assert_allclose(d.qvel[1] - before.qvel[1], H * FRICTION * G, rtol=1e-2)
    d = run(belt, d, 60)
    np.testing.assert_allclose(d.qvel[1], BELT, atol=1e-3)


@pytest.mark.parametrize("xml", [SLIDING, pytest.param(TURNING, marks=pytest.mark.slow)], ids=["sliding", "turning"])
def test_it_ends_where_soft_contact_does(xml):
    hard, soft = model(xml=xml), mjx.Model.from_xml_string(xml)
    speeds = [float(run(m, mjx.make_data(m), 100).qvel[1]) for m in (hard, soft)]
    np.testing.assert_allclose(speeds, BELT if xml is SLIDING else SPIN, rtol=1e-2)


@pytest.mark.slow
def test_the_derivative_by_the_speed_of_the_belt(belt):
    """While the load slides the belt's speed does not matter; when it goes along it takes it over."""

    def speed(x, d):
        there = belt.replace(geom_surfacevel=belt.geom_surfacevel.at[0, 0].set(x))
        return mjx.step(there, d).qvel[1]

    slope, value = jax.jit(jax.grad(speed)), jax.jit(speed)
    sliding, along = mjx.make_data(belt), run(belt, mjx.make_data(belt), 80)
    for d, expected in ((sliding, 0), (along, 1)):
        low, high = (value(BELT + x, d) for x in (-1e-6, 1e-6))
        np.testing.assert_allclose(slope(BELT, d), (high - low) / 2e-6, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(slope(BELT, d), expected, atol=0.1)
