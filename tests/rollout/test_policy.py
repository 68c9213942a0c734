"""rollout by a policy, and records of every n-th step."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError

XML = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <body pos="1 0 .5"><joint name="h" axis="0 1 0" damping=".1"/><geom size=".05" pos=".2 0 0"/></body>
  </worldbody>
  <actuator><motor joint="h"/></actuator>
</mujoco>
"""
STEPS, BATCH, GAINS = 12, 3, (3.0, 0.4)
M = mjx.Model.from_xml_string(XML)
D = mjx.make_data(M)


def spring(d, target):
    return target - GAINS[0] * d.qpos - GAINS[1] * d.qvel


def by_mujoco(targets, qpos, every=1):
    m = mujoco.MjModel.from_xml_string(XML)
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    found = []
    for target in targets:
        d.ctrl = target - GAINS[0] * d.qpos - GAINS[1] * d.qvel
        mujoco.mj_step(m, d)
        found.append(d.qpos.copy())
    return np.array(found)[every - 1 :: every]


@pytest.fixture(scope="module")
def targets():
    return jnp.asarray(np.random.default_rng(0).normal(size=(BATCH, STEPS, 1)))


@pytest.mark.parametrize("every", [1, 4])
def test_a_feedback_policy_is_that_of_a_loop_in_mujoco(targets, every):
    d = D.replace(qpos=jnp.array([0.3]))
    found = mjx.rollout(M, d, policy=spring, inputs=targets[0], every=every)
    np.testing.assert_allclose(found.qpos, by_mujoco(targets[0], [0.3], every), atol=1e-10)


@pytest.mark.parametrize("every", [1, 4])
def test_worlds_have_their_own_inputs(targets, every):
    starts = np.array([[0.1], [0.2], [-0.4]])
    found = mjx.rollout(M, mjx.batch(D, qpos=starts), policy=spring, inputs=targets, every=every)
    expected = np.stack([by_mujoco(t, q, every) for t, q in zip(targets, starts, strict=True)])
    np.testing.assert_allclose(found.qpos, expected, atol=1e-10)


def test_gradient_through_a_policy_and_skipped_records(targets):
    def end(x):
        return mjx.rollout(M, D, policy=spring, inputs=x, every=3).qpos[-1, 0]

    h, way = 1e-6, np.random.default_rng(1).normal(size=(STEPS, 1))
    slope = (end(targets[0] + h * way) - end(targets[0] - h * way)) / (2 * h)
    np.testing.assert_allclose(jnp.vdot(jax.grad(end)(targets[0]), way), slope, rtol=1e-7)


def test_a_policy_needs_no_inputs():
    found = mjx.rollout(M, D, steps=2, policy=lambda d, _: jnp.ones(1), record=lambda d: d.ctrl)
    np.testing.assert_array_equal(found, np.ones((2, 1)))


@pytest.mark.parametrize(
    "options, part",
    [
        ({"policy": 3, "steps": 2}, "policy=3: must be a function (d, inputs) -> ctrl"),
        ({"policy": spring, "ctrl": np.zeros((4, 1))}, "ctrl= and policy= both"),
        ({"inputs": np.zeros((4, 1))}, "give policy="),
        ({"policy": spring, "inputs": np.zeros(())}, "must have axes (steps, ...)"),
        ({"policy": spring, "inputs": [np.zeros(3), np.zeros(4)]}, "[3, 4] steps"),
        ({"policy": lambda d, _: jnp.zeros(2), "steps": 2}, "policy returned shape (2,); it must be controls"),
        ({"ctrl": np.zeros((4, 1)), "every": 3}, "every=3: must divide the number of steps, 4"),
        ({"ctrl": np.zeros((4, 1)), "every": 0}, "every=0"),
    ],
)
def test_messages(options, part):
    with pytest.raises(InputError) as mistake:
        mjx.rollout(M, D, **options)
    assert part in str(mistake.value) and "\n" not in str(mistake.value)
