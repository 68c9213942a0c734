"""From smooth to hard contact in stages: the gaps, one compiled function for all, and what it is for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError, UnsupportedError

# A pusher stands 5 cm before a puck; both slide on rails.
XML = """<mujoco><option timestep="0.02" gravity="0 0 0"/><worldbody>
<body><joint name="push" type="slide" axis="1 0 0" damping="1"/><geom size=".1" mass="1"/></body>
<body pos=".25 0 0"><joint type="slide" axis="1 0 0" damping="1"/><geom size=".1" mass="1"/></body>
</worldbody><actuator><motor joint="push"/></actuator></mujoco>"""
TARGET = 0.3


@pytest.fixture(scope="module")
def soft():
    return mjx.Model.from_xml_string(XML)


def test_gaps(soft):
    found = mjx.anneal_contact(soft, 1e-2, stages=4)
    np.testing.assert_allclose([m.opt.gap for m in found], [1e-2, 1e-3, 1e-4, 1e-5], rtol=1e-6)
    np.testing.assert_allclose([m.opt.slip for m in found], [1e-1, 1e-2, 1e-3, 1e-4], rtol=1e-6)
    assert len({jax.tree.structure(m) for m in found}) == 1
    hard = mjx.with_hard_contact(soft, 2e-4, slip=0.5, recovery=3.0)
    first, last = mjx.anneal_contact(hard, stages=2)
    assert (first.opt.gap, last.opt.gap, last.opt.slip, last.opt.recovery) == (1e-2, hard.opt.gap, 0.5, 3.0)
    (only,) = mjx.anneal_contact(soft, stages=1, end=1e-3)
    np.testing.assert_allclose(only.opt.gap, 1e-3)


@pytest.mark.slow
def test_a_push_that_is_found_from_a_distance_with_one_compiled_function(soft):
    traced = []

    @jax.jit
    def improved(m, d, force):
        """Cost of a force over the first of 25 steps, and the force after a step down the gradient."""
        traced.append(0)

        def cost(force):
            ctrl = jnp.where(jnp.arange(25) < 10, force, 0.0)[:, None]
            qpos = mjx.rollout(m, d, ctrl).qpos
            return (qpos[-1, 1] - TARGET) ** 2

        value, slope = jax.value_and_grad(cost)(force)
        return value, force - jnp.clip(100.0 * slope, -0.5, 0.5)

    models = mjx.anneal_contact(soft, 3e-2, 1e-5, stages=5)
    d = mjx.make_data(models[0])
    force, alone = jnp.array(0.0), jnp.array(0.0)
    for m in models:
        for _ in range(25):
            value, force = improved(m, d, force)
            sharp, alone = improved(models[-1], d, alone)
    assert len(traced) == 1
    assert value < 1e-6 and abs(sharp - TARGET**2) < 1e-3, (value, sharp, force)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"start": 0.0}, "start=0.0: must be a gap above 0"),
        ({"end": "sharp"}, "end='sharp': must be a gap above 0"),
        ({"end": [1e-3, 1e-4]}, "must be a gap above 0"),
        ({"start": 1e-5, "end": 1e-3}, "end=0.001 is above start=1e-05; gaps fall"),
        ({"stages": 0}, "stages=0: must be a whole number of at least 1"),
    ],
)
def test_mistakes(soft, arguments, message):
    with pytest.raises(InputError, match=message):
        mjx.anneal_contact(soft, **arguments)


def test_what_hard_contact_does_not_do(soft):
    discrete = soft.tree_replace({"opt.integrator": mjx.IntegratorType.DISCRETE})
    with pytest.raises(UnsupportedError, match="no integrator discrete"):
        mjx.anneal_contact(discrete)
