"""Generalised advantages against a loop."""

import numpy as np

from mjx_like.learning.advantage import gae


def test_gae_is_that_of_a_loop():
    rng = np.random.default_rng(0)
    reward, value, next_value = rng.normal(size=(3, 12, 5))
    done = rng.random((12, 5)) < 0.3
    terminated = done & (rng.random((12, 5)) < 0.5)
    assert terminated.any() and (done & ~terminated).any()
    discount, decay = 0.9, 0.8
    expected = np.zeros((12, 5))
    for world in range(5):
        later = 0.0
        for k in reversed(range(12)):
            following = 0.0 if terminated[k, world] else next_value[k, world]
            later = 0.0 if done[k, world] else later
            later = reward[k, world] + discount * following - value[k, world] + discount * decay * later
            expected[k, world] = later
    found = gae(reward, value, next_value, terminated.astype(float), done.astype(float), discount, decay)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_without_decay_targets_are_one_step_and_with_all_of_it_the_return():
    rng = np.random.default_rng(1)
    reward, value, next_value = rng.normal(size=(3, 6, 1))
    never = np.zeros((6, 1))
    one_step = gae(reward, value, next_value, never, never, 0.9, 0.0) + value
    np.testing.assert_allclose(one_step, reward + 0.9 * next_value, atol=1e-12)
    value[1:] = next_value[:-1]
    whole = gae(reward, value, next_value, never, never, 0.9, 1.0) + value
    expected = sum(0.9**k * reward[k] for k in range(6)) + 0.9**6 * next_value[-1]
    np.testing.assert_allclose(whole[0], expected, atol=1e-12)
