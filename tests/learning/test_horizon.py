"""Norms of gradients by horizon against differences; what a policy does, recorded."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from PIL import Image

from mjx_like.envs.vector import vectorise
from mjx_like.learning.horizon import gradient_norms, plot_gradient_norms
from mjx_like.learning.playback import Playback, play, returns
from tests.learning.toy import point

HORIZON, WORLDS = 5, 3


def policy(obs):
    return jnp.tanh(-0.5 * obs[..., :1])


@pytest.mark.slow
def test_norms_are_those_of_differences(tmp_path):
    env, rng = vectorise(point()), jax.random.PRNGKey(0)
    found = gradient_norms(env, policy, rng, horizon=HORIZON, worlds=WORLDS)
    start, step = env.reset(rng, WORLDS), jax.jit(env.step)

    def rewards(move):
        state, rows = step(start, policy(start.obs) + move), []
        for _ in range(HORIZON):
            rows.append(state.reward)
            state = step(state, policy(state.obs))
        return np.stack(rows)

    each = np.abs(rewards(1e-5) - rewards(-1e-5)) / 2e-5
    whole = np.abs(rewards(1e-5).cumsum(axis=0) - rewards(-1e-5).cumsum(axis=0)) / 2e-5
    np.testing.assert_allclose(found.reward, each, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(found.first_action, whole, rtol=1e-5, atol=1e-9)
    assert np.all(found.first_action[-1] > 1e-3)
    plot_gradient_norms(tmp_path / "norms.png", {"point": {"exact": found}})
    assert Image.open(tmp_path / "norms.png").size[0] > 300


@pytest.mark.slow
def test_playback_is_what_steps_give():
    env = vectorise(point(episode_length=3))
    found = play(env, policy, jax.random.PRNGKey(0), steps=4, worlds=2)
    state, step = env.reset(jax.random.PRNGKey(0), 2), jax.jit(env.step)
    for k in range(4):
        state = step(state, policy(state.obs))
        np.testing.assert_allclose(found.qpos[:, k], state.data.qpos, rtol=1e-9)
        np.testing.assert_allclose(found.reward[:, k], state.reward, rtol=1e-9)
    np.testing.assert_allclose(found.time, 0.05 * np.arange(1, 5))
    np.testing.assert_array_equal(found.done, [[0, 0, 1, 0]] * 2)


def test_returns_are_those_of_episodes_that_ended():
    reward, done = np.array([[1.0, 2, 4, 8], [1, 1, 1, 1]]), np.array([[0, 1, 1, 0], [0, 0, 0, 1]])
    found = returns(Playback(np.zeros((2, 4, 1)), np.arange(4), reward, done))
    np.testing.assert_array_equal(found, [3, 4, 4])
