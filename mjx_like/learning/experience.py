"""What worlds go through while a policy acts in them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

Array = jax.Array


class Experience(NamedTuple):
    """Steps of many worlds, arrays of shape (steps, worlds, ...).

    obs: before the step; drawn: the action before tanh; log_density: of the action; reward: of the step; next_obs:
    after it, before an automatic reset; terminated, done: how the episode ended, 0 or 1.
    """

    obs: Array
    drawn: Array
    log_density: Array
    reward: Array
    next_obs: Array
    terminated: Array
    done: Array


def step_worlds(env: Any, state: Any, drawn: Array, log_density: Array) -> tuple[Any, Experience]:
    """Return the states after a step of all worlds, and that step."""
    after = env.step(state, jnp.tanh(drawn))
    info = after.info
    row = Experience(state.obs, drawn, log_density, after.reward, info["final_obs"], info["terminated"], after.done)
    return after, row


def collect(env: Any, policy: Callable[[Array], Any], state: Any, rng: Array, steps: int) -> tuple[Any, Experience]:
    """Return the states after many steps, and what happened.  policy: of observations, a Squashed."""

    def one(state: Any, rng: Array) -> tuple[Any, Experience]:
        distribution = policy(state.obs)
        drawn = distribution.sample(rng)
        return step_worlds(env, state, drawn, distribution.log_density(drawn))

    return lax.scan(one, state, jax.random.split(rng, steps))


def flaws(experience: Experience) -> dict[str, Array]:
    """Return which entries of observations, and whether rewards, were not finite: 0 or 1."""
    obs = jnp.any(~jnp.isfinite(experience.next_obs), axis=(0, 1))
    return {"bad_obs": obs.astype(jnp.int32), "bad_reward": jnp.any(~jnp.isfinite(experience.reward)).astype(jnp.int32)}
