"""Environments of many worlds, with automatic resets from a pool of starts."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.arguments import whole_number
from mjx_like.envs.env import Env
from mjx_like.envs.state import State
from mjx_like.errors import InputError
from mjx_like.math.select import rows
from mjx_like.math.world_last import map_last
from mjx_like.rollout.layout import default_block, worlds_are_last
from mjx_like.rollout.sharding import in_blocks

Array = jax.Array


class VectorEnv:
    """An environment of many worlds: arrays of its State have a leading axis of worlds.

    A world whose episode ends begins a new one at once, from a random one of the starts in the pool: `obs` is then that
    of the new episode and `info["final_obs"]` the last of the old one, while reward, done, metrics, terminated and
    truncated are those of the step that ended it. No gradient passes such a reset. Starts of the pool have models drawn
    for themselves where the environment randomises its model.

    Args:
      env: the environment of one world.
      pool: how many starts there are.
      seed: of the pool.
      block: worlds that run together; by default as in `rollout`.
    """

    def __init__(self, env: Env, pool: int = 256, *, seed: int = 0, block: int | None = None) -> None:
        self.env, self.pool = env, whole_number("pool", pool, least=1)
        self._block = None if block is None else whole_number("block", block, least=1)
        self._starts = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.PRNGKey(seed), self.pool))

    def __getattr__(self, name: str) -> Any:
        if name in ("model", "observation_size", "action_size", "dt", "n_frames", "episode_length"):
            return getattr(self.env, name)
        raise AttributeError(name)

    def reset(self, rng: Array, worlds: int) -> State:
        """Return the starts of many worlds."""
        worlds = whole_number("worlds", worlds, least=1)
        state = jax.vmap(self.env.reset)(jax.random.split(rng, worlds))
        return state.replace(info=state.info | {"final_obs": state.obs})

    def step(self, state: State, action: Array) -> State:
        """Return the states after a step of each world.  action: shape (worlds, action_size)."""
        worlds, need = state.reward.shape, self.env.action_size
        if len(worlds) != 1 or action.shape != (*worlds, need):
            raise InputError(f"step: action has shape {action.shape}, {worlds[:1]} worlds need {(*worlds, need)}")
        block = default_block(self.env.model, state, worlds[0]) if self._block is None else self._block
        step = self._worlds_last if worlds_are_last(self.env.model) else self._worlds_first
        return in_blocks(lambda worlds, _: step(*worlds), block)((state, action), None)

    def _worlds_first(self, state: State, action: Array) -> State:
        return self._parts(jax.vmap, state, action)

    def _worlds_last(self, state: State, action: Array) -> State:
        """Return what `_worlds_first` does, with the worlds on the last axis of every array inside."""
        state, action = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), (state, action))
        return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), self._parts(_mapped_last, state, action))

    def _parts(self, mapped: Callable[..., Any], state: State, action: Array) -> State:
        env, worlds = self.env, state.reward.shape[0]
        axis = 0 if mapped is jax.vmap else -1
        nothing = [_spread(x, worlds, axis) for x in env.nothing_seen()]
        own = {"leaves": state.info["leaves"]} if "leaves" in state.info else {}
        start = mapped(env.begin)(state, action)
        end = env.frames(functools.partial(mapped(env.advance), own), start, nothing)
        return mapped(self._finish)(state, *end)

    def _finish(self, state: State, end: Any, seen: list[Array]) -> State:
        """Return the State of one world after a step, that of a new episode where the old one ended."""
        state = self.env.finish(state, end, seen)
        rng, draw = jax.random.split(state.info["rng"])
        index = jax.random.randint(draw, (), 0, self.pool)
        fresh = jax.tree.map(lambda x: jax.lax.stop_gradient(rows(x, index)), self._starts)
        ended = state.done > 0

        def chosen(new: Any, old: Any) -> Any:
            return jax.tree.map(lambda x, y: jnp.where(ended, x, y), new, old)

        kept = {"rng": rng, "final_obs": state.obs}
        renewed = [name for name in ("steps", "leaves") if name in state.info]
        info = state.info | kept | {name: chosen(fresh.info[name], state.info[name]) for name in renewed}
        return state.replace(data=chosen(fresh.data, state.data), obs=chosen(fresh.obs, state.obs), info=info)


def vectorise(env: Env, pool: int = 256, *, seed: int = 0, block: int | None = None) -> VectorEnv:
    """Return an environment of many worlds with automatic resets; arguments are those of VectorEnv."""
    return VectorEnv(env, pool, seed=seed, block=block)


def _mapped_last(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: map_last(function, jax.tree.map(lambda _: True, args))(*args)


def _spread(x: Array, worlds: int, axis: int) -> Array:
    return jnp.broadcast_to(jnp.expand_dims(x, axis), (worlds, *x.shape) if axis == 0 else (*x.shape, worlds))
