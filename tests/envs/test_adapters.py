"""Environments as gymnasium's, Brax's and torch's: what those libraries' own checks ask, and the same numbers."""

import importlib.util
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.envs import make, vectorise
from tests.support.oracle import error

needs = {name: pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"{name} is not installed")
         for name in ("brax", "torch")}  # fmt: skip


@pytest.fixture(scope="module")
def env():
    return make("cartpole", episode_length=12)


def test_gymnasium_checks_pass(env):
    from gymnasium.utils.env_checker import check_env

    from mjx_like.envs.adapters.gymnasium import GymnasiumEnv

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Box observation space (maximum|minimum) value is.*infinity.*")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        warnings.filterwarnings("ignore", message=".*not having a spec.*")
        check_env(GymnasiumEnv(env, render_mode="rgb_array", camera="side"), skip_render_check=True)
    one = GymnasiumEnv(env, render_mode="rgb_array", camera="side")
    one.reset(seed=1)
    picture = one.render()
    assert picture.shape == (240, 320, 3) and picture.dtype == np.uint8 and picture.std() > 5
    for k in range(12):
        _, reward, terminated, truncated, _ = one.step(np.zeros(1, np.float32))
        assert reward == 1 and not terminated and truncated == (k == 11)


@pytest.mark.slow
def test_a_vector_of_gymnasium_equals_worlds_one_by_one(env):
    import gymnasium

    from mjx_like.envs.adapters.gymnasium import GymnasiumVectorEnv

    many = GymnasiumVectorEnv(env, 3, pool=2)
    assert isinstance(many, gymnasium.vector.VectorEnv) and many.observation_space.shape == (3, 5)
    obs, _ = many.reset(seed=5)
    again, _ = many.reset(seed=5)
    assert obs in many.observation_space and np.array_equal(obs, again)
    many.action_space.seed(0)
    state = many._state
    step = jax.jit(jax.vmap(env.step))
    state = state.replace(info={k: v for k, v in state.info.items() if k != "final_obs"})
    for k in range(12):
        action = 0.2 * many.action_space.sample()  # too little for the pole to fall
        obs, reward, terminated, truncated, info = many.step(action)
        state = step(state, jnp.asarray(action))
        assert (obs.dtype, reward.dtype, terminated.dtype) == (np.float32, np.float64, bool)
        assert error(reward, state.reward) < 1e-12 and not terminated.any() and truncated.all() == (k == 11)
        final = np.stack(info["final_obs"]) if k == 11 else obs
        assert error(final, np.asarray(state.obs, np.float32)) < 1e-6
    assert info["_final_obs"].all() and error(final, obs) > 1e-3


@pytest.mark.slow
def test_wrappers_of_gymnasium_take_it(env):
    import gymnasium

    from mjx_like.envs.adapters.gymnasium import GymnasiumVectorEnv

    many = gymnasium.wrappers.vector.RecordEpisodeStatistics(GymnasiumVectorEnv(env, 2, pool=2))
    many.reset(seed=0)
    for _ in range(12):
        info = many.step(np.zeros((2, 1), np.float32))[-1]
    assert (info["episode"]["l"] == 12).all() and (info["episode"]["r"] == 12).all()


@needs["brax"]
@pytest.mark.slow
def test_brax_takes_it(env):
    from brax.envs.wrappers.training import wrap

    from mjx_like.envs.adapters.brax import BraxEnv

    wrapped = wrap(BraxEnv(env), episode_length=5)
    state = jax.jit(wrapped.reset)(jax.random.split(jax.random.PRNGKey(0), 2))
    step, ours = jax.jit(wrapped.step), vectorise(env, pool=2)
    mine = ours.reset(jax.random.PRNGKey(0), 2)
    mine = mine.replace(data=state.pipeline_state, obs=state.obs)
    mine_step = jax.jit(ours.step)
    for k in range(1, 6):
        action = jnp.full((2, 1), 0.3)
        state, mine = step(state, action), mine_step(mine, action)
        assert error(state.reward, mine.reward) < 1e-12
        assert (state.done == (k == 5)).all() and (state.info["truncation"] == (k == 5)).all()
        if k < 5:
            assert error(state.obs, mine.obs) < 1e-12


@needs["brax"]
@pytest.mark.slow
def test_brax_ppo_trains_it(monkeypatch):
    """Brax 0.14.2 itself calls a function that jax 0.10 has no more; it is given back here."""
    replicated = lambda x, devices: jax.tree.map(lambda leaf: jnp.stack([leaf] * len(devices)), x)  # noqa: E731
    if not hasattr(jax, "device_put_replicated"):
        monkeypatch.setattr(jax, "device_put_replicated", replicated, raising=False)
    from brax.training.agents.ppo.train import train

    from mjx_like.envs.adapters.brax import BraxEnv

    rewards = []
    with jax.enable_x64(False):  # which Brax's wrappers do not stand
        train(
            BraxEnv(make("cartpole", episode_length=200)), num_timesteps=120_000, episode_length=200,
            num_envs=64, unroll_length=16, batch_size=64, num_minibatches=16, num_updates_per_batch=4, num_evals=4,
            learning_rate=1e-3, discounting=0.98, normalize_observations=True, entropy_cost=1e-3, num_eval_envs=16,
            progress_fn=lambda steps, metrics: rewards.append(float(metrics["eval/episode_reward"])),
        )  # fmt: skip
    print(rewards)
    assert rewards[0] < 120 and rewards[-1] > 180


@needs["torch"]
def test_torch_takes_it(env):
    import torch

    from mjx_like.envs.adapters.torch import TorchVectorEnv

    many = TorchVectorEnv(env, 3, pool=2)
    obs = many.reset(seed=2)
    state = vectorise(env, 2).reset(jax.random.PRNGKey(2), 3)
    assert isinstance(obs, torch.Tensor) and error(obs.numpy(), state.obs) == 0
    action = torch.linspace(-1, 1, 3)[:, None]
    obs, reward, done, info = many.step(action)
    expected = jax.jit(vectorise(env, 2).step)(state, jnp.asarray(action.numpy()))
    assert error(obs.numpy(), expected.obs) < 1e-6
    assert error(reward.numpy(), expected.reward) < 1e-6 and not done.any() and info["final_obs"].shape == (3, 5)
