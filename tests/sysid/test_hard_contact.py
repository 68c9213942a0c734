"""Friction from a toss, with soft and with hard contact: what differs is one argument of the loader."""

import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like import sysid

XML = """<mujoco><option timestep="0.01" integrator="implicitfast"/>
<worldbody><geom name="floor" type="plane" size="9 9 1"/>
<body pos="0 0 .1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
<geom size=".1" mass="2" friction=".01"/></body></worldbody></mujoco>"""
NAME = "geom_friction@floor[0]"
TRUTH = 0.3


def toss(m, steps=40):
    """Return what is recorded of a ball that falls onto the floor at a slant and slides on it."""
    d = mjx.make_data(m)
    d = d.replace(qpos=jnp.array([0.0, 0.05]), qvel=jnp.array([1.5, 0.0]))
    found = mjx.rollout(mjx.with_leaves(m, {NAME: TRUTH}), d, jnp.zeros((steps, 0)))
    qpos, qvel = (np.concatenate([np.asarray(x)[None], y]) for x, y in ((d.qpos, found.qpos), (d.qvel, found.qvel)))
    return sysid.Recording(0.01 * np.arange(steps + 1), qpos=qpos, qvel=qvel)


@pytest.mark.slow
@pytest.mark.parametrize("contact", ["soft", "hard"])
def test_friction_from_a_toss(contact):
    m = mjx.Model.from_xml_string(XML, contact=contact)
    parameters = [sysid.bounded(NAME, 0.05, 1.0, start=0.5)]
    found = sysid.fit(m, [toss(m)], parameters, iterations=12, progress=False)
    assert found.values[0] == pytest.approx(TRUTH, abs=1e-6)
    assert found.model.opt.contact == contact
