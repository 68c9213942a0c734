"""Elastic cables against MuJoCo 3.1.6; its numbers are written by tests/mjcf/composite_reference.py."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import ModelError
from tests.mjcf.composite_cases import CABLES
from tests.mjcf.test_composite import reference

ENERGY = CABLES["plugin"]


@pytest.mark.parametrize("case", CABLES)
def test_force(case):
    m = mjx.Model.from_xml_string(CABLES[case])
    expected = reference(case)
    qpos, force = expected["qpos"].reshape(-1, m.nq), expected["qfrc_passive"].reshape(-1, m.nv)
    d = mjx.make_data(m)
    ours = jax.jit(jax.vmap(lambda q: mjx.passive(m, d.replace(qpos=q)).qfrc_passive))(jnp.array(qpos))
    assert np.abs(force).max() > 1e-5
    np.testing.assert_allclose(ours, force, rtol=0, atol=1e-10 * np.abs(force).max())


@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_gradient(spread):
    """Forces are linear in the stiffness, and their derivative by qpos is that of differences, also at rest."""
    m = mjx.Model.from_xml_string(CABLES["plugin"])
    d, rng = mjx.make_data(m), np.random.default_rng(0)
    q, tangent, step = np.array(m.qpos0) + spread * rng.normal(size=m.nq), rng.normal(size=m.nq), 1e-6

    def force(qpos, scale=1.0):
        return mjx.passive(m.replace(cable_stiffness=scale * m.cable_stiffness), d.replace(qpos=qpos)).qfrc_passive

    force = jax.jit(force)
    _, slope = jax.jvp(force, (jnp.array(q),), (jnp.array(tangent),))
    difference = (force(q + step * tangent) - force(q - step * tangent)) / (2 * step)
    scale = np.abs(difference).max()
    np.testing.assert_allclose(slope, difference, rtol=0, atol=1e-6 * scale)
    back = jax.grad(lambda x: force(x) @ slope)(jnp.array(q)) @ tangent
    np.testing.assert_allclose(back, slope @ slope, rtol=1e-9)
    _, by_stiffness = jax.jvp(lambda s: force(q, s), (1.0,), (1.0,))
    np.testing.assert_allclose(by_stiffness, force(q), rtol=0, atol=1e-12 * scale)


def test_disabled():
    flag = '<option><flag spring="disable" damper="disable"/></option>'
    m = mjx.Model.from_xml_string(CABLES["plugin"].replace("<extension>", flag + "<extension>"))
    d = mjx.make_data(m)
    assert not np.any(mjx.passive(m, d.replace(qpos=d.qpos.at[1].add(0.5))).qfrc_passive)


ERRORS = {
    "key": (
        ENERGY.replace('key="bend"', 'key="bent"'),
        "key 'bent' is unknown to plugin 'mujoco.elasticity.cable'; known: twist, bend, flat, vmax",
    ),
    "number": (ENERGY.replace('value="2e3"', 'value="stiff"'), "config 'bend' has 'stiff', needs a number"),
    "chain": (
        '<mujoco><extension><plugin plugin="mujoco.elasticity.cable"><instance name="i"/></plugin></extension>'
        "<worldbody>"
        + 2 * '<body><joint type="ball"/><geom size=".1"/><plugin instance="i"/></body>'
        + "</worldbody></mujoco>",
        "the bodies of a cable must be a chain in which each has one ball joint",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    xml, message = ERRORS[case]
    with pytest.raises(ModelError, match=message):
        mjx.Model.from_xml_string(xml)
