"""Advantages and targets of values, from rewards and values along episodes."""

import jax
import jax.numpy as jnp
from jax import lax

Array = jax.Array


def gae(
    reward: Array, value: Array, next_value: Array, terminated: Array, done: Array, discount: float, decay: float
) -> Array:
    """Return generalised advantage estimates, shape (steps, ...).

    Added to `value` they are the TD-lambda targets of it.

    Args:
      reward: of each step, shape (steps, ...), as all that follow.
      value: of the observation before the step.
      next_value: of the one after it, before an automatic reset.
      terminated: 1 where the episode ended for a reason of its own: nothing follows.
      done: 1 where it ended either way: the next row is of another episode.
      discount: of later rewards.
      decay: lambda, from 0, one step, to 1, the whole return.

    Source: Schulman et al. (2016), equations 11 to 16.
    """
    surprise = reward + discount * (1 - terminated) * next_value - value

    def back(later: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
        now, done = row
        advantage = now + discount * decay * (1 - done) * later
        return advantage, advantage

    return lax.scan(back, jnp.zeros_like(surprise[0]), (surprise, done), reverse=True)[1]
