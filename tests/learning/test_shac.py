"""SHAC and APG: the gradient of a window, against one that is written out; and that they learn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.envs.state import State
from mjx_like.envs.vector import vectorise
from mjx_like.learning.apg import APGConfig, apg
from mjx_like.learning.loop import run
from mjx_like.learning.networks import Squashed
from mjx_like.learning.window import bounded, window_return
from tests.learning.toy import assert_compiled, point

STEPS, WORLDS, DISCOUNT = 6, 3, 0.9


def value(obs):
    return jnp.sin(obs[..., 0]) + 0.3 * obs[..., 1]


@pytest.fixture(scope="module")
def window():
    """The window's return and one that is written out, both of a gain, with their gradients."""
    env = point(episode_length=4)  # truncated within the window
    many = vectorise(env)
    start = jax.jit(many.reset, static_argnums=1)(jax.random.PRNGKey(0), WORLDS)

    def policy(gain, obs):
        return Squashed(-gain * obs[..., :1] - gain**2 * obs[..., 1:], jnp.array([-20.0]))

    def found(gain):
        options = {"steps": STEPS, "discount": DISCOUNT, "most_cotangent": 1e9}
        return window_return(many, lambda obs: policy(gain, obs), value, start, jax.random.PRNGKey(1), **options)

    def written_out(gain):
        def step(state, _):
            state = many.step(state, jnp.tanh(policy(gain, state.obs).mean))
            return state, (state.reward, state.info["final_obs"])

        reward, last = jax.lax.scan(step, start, length=STEPS)[1]
        first_episode = sum(DISCOUNT**k * reward[k] for k in range(4)) + DISCOUNT**4 * value(last[3])
        second = reward[4] + DISCOUNT * reward[5] + DISCOUNT**2 * value(last[5])
        return jnp.mean(first_episode + second)

    both = jax.jit(lambda gain: (jax.value_and_grad(found, has_aux=True)(gain), jax.value_and_grad(written_out)(gain)))
    return both(jnp.array(0.7))


@pytest.mark.slow
def test_value_and_gradient_are_those_of_the_sum(window):
    ((total, result), gradient), (expected, expected_gradient) = window
    assert result.experience.done[3].all() and not result.experience.terminated.any()
    np.testing.assert_allclose(total, expected, rtol=1e-7)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-6)
    assert abs(float(gradient)) > 0.1


def test_cotangents_are_cut_world_by_world():
    x = {"a": jnp.array([[3.0, 0.0], [0.3, 0.0], [1.0, 1.0]]), "b": jnp.array([4.0, 0.4, jnp.inf]), "n": jnp.arange(3)}

    def pulled(a, b):
        y = bounded(1.0, {"a": a, "b": b, "n": x["n"]})
        return jnp.sum(y["a"] * x["a"]) + jnp.sum(y["b"] * x["b"])

    a, b = jax.grad(pulled, argnums=(0, 1))(x["a"], jnp.ones(3))
    np.testing.assert_allclose(a, [[0.6, 0], [0.3, 0], [0, 0]])
    np.testing.assert_allclose(b, [0.8, 0.4, 0])


@pytest.mark.slow
def test_shac_learns(toy_shac):
    result = run(toy_shac, progress=False)
    assert result.curve[-1].mean > result.curve[0].mean + 10 and result.curve[-1].mean > 30
    assert_compiled(toy_shac, result.training)


@pytest.mark.slow
def test_apg_learns():
    result = run(apg(point(), APGConfig(worlds=16, window=16, samples=16 * 256, evaluations=1)), progress=False)
    assert result.curve[-1].mean > result.curve[0].mean + 10 and result.curve[-1].mean > 30


class Ledge:
    """Worlds that move by their action, and are lost beyond 1."""

    def step(self, state, action):
        x = state.obs + action
        lost = (x[:, 0] > 1).astype(x.dtype)
        info = {"final_obs": x, "terminated": lost}
        return state.replace(obs=jnp.where(lost[:, None] > 0, 0, x), reward=0 * lost, done=lost, info=info)


def test_a_fall_has_the_slope_of_the_value_and_no_value():
    zero = jnp.zeros(2)
    start = State(zero, jnp.array([[0.0], [0.9]]), zero, zero, {}, {"final_obs": zero[:, None], "terminated": zero})

    def gain(move):
        policy = lambda obs: Squashed(jnp.full_like(obs, move), jnp.array([-20.0]))  # noqa: E731
        options = {"steps": 1, "discount": DISCOUNT, "most_cotangent": 1e9}
        return window_return(Ledge(), policy, lambda obs: 3 * obs[:, 0], start, jax.random.PRNGKey(0), **options)[0]

    value, slope = jax.value_and_grad(gain)(0.5)
    moved, growth = np.tanh(0.5), 1 - np.tanh(0.5) ** 2
    np.testing.assert_allclose(value, DISCOUNT * 3 * moved / 2, rtol=1e-6)  # of the first world alone
    np.testing.assert_allclose(slope, DISCOUNT * 3 * growth, rtol=1e-6)  # of both
