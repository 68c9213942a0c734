"""Environments as Brax's, for its training algorithms."""

from collections.abc import Mapping
from typing import Any

import jax
from brax.envs.base import Env as BraxBase
from brax.envs.base import State as BraxState

from mjx_like.envs.env import Env
from mjx_like.envs.state import State

Array = jax.Array

_OWN = "mjx_like"  # in Brax's info, what an Env keeps there: Brax's wrappers use some of its names


class BraxEnv(BraxBase):
    """One world as a brax.envs.Env: `brax.training.agents.ppo.train.train(BraxEnv(env), ...)`.

    `done` says whether the episode terminated: Brax's wrappers truncate episodes themselves, and reset.
    """

    def __init__(self, env: Env) -> None:
        self.env = env

    def reset(self, rng: Array) -> BraxState:
        """Return the start of an episode; `pipeline_state` is the WorldState."""
        return _as_brax(self.env.reset(rng))

    def step(self, state: BraxState, action: Array) -> BraxState:
        """Return the state after a step."""
        own = State(state.pipeline_state, state.obs, state.reward, state.done, state.metrics, state.info[_OWN])
        return _as_brax(self.env.step(own, action), state.metrics, state.info)

    @property
    def observation_size(self) -> int:
        return self.env.observation_size

    @property
    def action_size(self) -> int:
        return self.env.action_size

    @property
    def backend(self) -> str:
        return "mjx_like"

    @property
    def dt(self) -> Array:
        return self.env.dt


def _as_brax(state: State, metrics: Mapping[str, Array] = {}, info: Mapping[str, Any] = {}) -> BraxState:
    """Return Brax's State; metrics and info are those of the state before, to which its wrappers add their own."""
    done, metrics = state.info["terminated"], {**metrics, **state.metrics}
    return BraxState(state.data, state.obs, state.reward, done, metrics, {**info, _OWN: state.info})
