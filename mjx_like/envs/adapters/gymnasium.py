"""Environments as gymnasium's: NumPy in and out, one world or a vector of them."""

from typing import Any

import gymnasium
import jax
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from mjx_like.arguments import whole_number
from mjx_like.envs.env import Env
from mjx_like.envs.state import State
from mjx_like.envs.vector import vectorise
from mjx_like.render.image import render

_PIXELS = (320, 240)


class GymnasiumEnv(gymnasium.Env):
    """One world as a gymnasium.Env.

    Args:
      env: the environment.
      render_mode: "rgb_array" for images by `render()`, or None.
      camera: name or id, -1 for MuJoCo's free camera.
    """

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, env: Env, render_mode: str | None = None, camera: str | int = -1) -> None:
        self.env, self.render_mode = env, render_mode
        self.metadata = type(self).metadata | {"render_fps": round(1 / env.dt)}
        self.observation_space, self.action_space = _spaces(env)
        self._reset, self._step = jax.jit(env.reset), jax.jit(env.step)
        self._picture = jax.jit(lambda state: render(env.model, env.data(state), camera, *_PIXELS).rgb)
        self._state: State | None = None

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the first observation of an episode, and its metrics."""
        super().reset(seed=seed, options=options)
        self._state = self._reset(_key(self.np_random))
        return _observation(self._state), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, whether the episode terminated, whether it was truncated, and metrics."""
        self._state = s = self._step(self._state, np.asarray(action, np.float32))
        ended = (bool(s.info[name]) for name in ("terminated", "truncated"))
        return _observation(s), float(s.reward), *ended, {name: float(x) for name, x in s.metrics.items()}

    def render(self) -> np.ndarray | None:
        """Return an image, shape (240, 320, 3), uint8, with `render_mode` "rgb_array"."""
        return None if self.render_mode is None else np.asarray(255 * self._picture(self._state)).astype(np.uint8)


class GymnasiumVectorEnv(gymnasium.vector.VectorEnv):
    """Many worlds as a gymnasium.vector.VectorEnv, with automatic resets in the step that ends an episode."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, env: Env, worlds: int, pool: int = 256) -> None:
        self.env, self.num_envs = env, whole_number("worlds", worlds, least=1)
        self.single_observation_space, self.single_action_space = _spaces(env)
        self.observation_space = batch_space(self.single_observation_space, worlds)
        self.action_space = batch_space(self.single_action_space, worlds)
        many = vectorise(env, pool)
        self._reset, self._step = jax.jit(lambda rng: many.reset(rng, worlds)), jax.jit(many.step)
        self._state: State | None = None

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the first observations, shape (worlds, n)."""
        super().reset(seed=seed)
        self._state = self._reset(_key(self.np_random))
        return _observation(self._state), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Return observations, rewards, terminations, truncations and metrics, and last observations of episodes."""
        self._state = s = self._step(self._state, np.asarray(actions, np.float32))
        terminated, truncated = (np.asarray(s.info[name], bool) for name in ("terminated", "truncated"))
        info: dict[str, Any] = {name: np.asarray(x) for name, x in s.metrics.items()}
        ended = terminated | truncated
        if ended.any():
            final = np.full(self.num_envs, None, object)
            for world in np.flatnonzero(ended):
                final[world] = np.asarray(s.info["final_obs"][world], np.float32)
            info |= {"final_obs": final, "_final_obs": ended}
        return _observation(s), np.asarray(s.reward, np.float64), terminated, truncated, info


def _spaces(env: Env) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    observation = gymnasium.spaces.Box(-np.inf, np.inf, (env.observation_size,), np.float32)
    return observation, gymnasium.spaces.Box(-1, 1, (env.action_size,), np.float32)


def _key(generator: np.random.Generator) -> jax.Array:
    return jax.random.PRNGKey(int(generator.integers(2**31)))


def _observation(state: State) -> np.ndarray:
    return np.asarray(state.obs, np.float32)
