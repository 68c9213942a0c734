"""Environments for trainers in torch: tensors in and out, handed over by dlpack without a copy."""

from typing import Any

import jax
import torch

from mjx_like.envs.env import Env
from mjx_like.envs.state import State
from mjx_like.envs.vector import vectorise

Tensor = torch.Tensor


class TorchVectorEnv:
    """Many worlds with automatic resets; tensors are on the device of JAX's arrays.

    Args:
      env: the environment.
      worlds: how many.
      pool: starts of the automatic resets.
    """

    def __init__(self, env: Env, worlds: int, pool: int = 256) -> None:
        self.env, self.num_envs = env, worlds
        many = vectorise(env, pool)
        self._reset, self._step = jax.jit(lambda rng: many.reset(rng, worlds)), jax.jit(many.step)
        self._state: State | None = None

    def reset(self, seed: int = 0) -> Tensor:
        """Return the first observations, shape (worlds, n)."""
        self._state = self._reset(jax.random.PRNGKey(seed))
        return torch.from_dlpack(self._state.obs)

    def step(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, dict[str, Any]]:
        """Return observations, rewards, done (0 or 1) and info: terminated, truncated, final_obs and the metrics."""
        actions = jax.dlpack.from_dlpack(action.detach().contiguous()).astype(self._state.obs.dtype)
        self._state = s = self._step(self._state, actions)
        shown = {name: s.info[name] for name in ("terminated", "truncated", "final_obs")} | s.metrics
        tensors = jax.tree.map(torch.from_dlpack, shown)
        return torch.from_dlpack(s.obs), torch.from_dlpack(s.reward), torch.from_dlpack(s.done), tensors
