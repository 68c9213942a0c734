"""What a policy does, recorded to be shown."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.learning.worlds import many_worlds

Array = jax.Array


class Playback(NamedTuple):
    """Steps of worlds, with automatic resets between episodes.

    qpos: shape (worlds, steps, nq); time: at each step, from 0 on without resets, shape (steps,) [s]; reward, done:
    shape (worlds, steps).
    """

    qpos: np.ndarray
    time: np.ndarray
    reward: np.ndarray
    done: np.ndarray


def play(env: Any, policy: Callable[[Array], Array], rng: Array, *, steps: int, worlds: int = 1) -> Playback:
    """Return what happens while a policy acts.  env: of one world or of many; policy: of observations, actions."""
    env = many_worlds(env)

    def step(state: Any, _: None) -> tuple[Any, tuple[Array, ...]]:
        after = env.step(state, policy(state.obs))
        return after, (after.data.qpos, after.reward, after.done)

    rows = jax.jit(lambda rng: lax.scan(step, env.reset(rng, worlds), length=steps)[1])(rng)
    qpos, reward, done = (np.asarray(jnp.moveaxis(x, 0, 1)) for x in rows)
    return Playback(qpos, env.dt * np.arange(1, steps + 1), reward, done)


def returns(playback: Playback) -> np.ndarray:
    """Return the sums of rewards of the episodes that ended."""
    found = []
    for reward, done in zip(playback.reward, playback.done, strict=True):
        ends = np.flatnonzero(done) + 1
        found += [float(part.sum()) for part in np.split(reward, ends)[: len(ends)]]
    return np.asarray(found)
