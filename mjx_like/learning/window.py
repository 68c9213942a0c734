"""The return of a short window, differentiated through the simulation: what SHAC and APG climb."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.learning.experience import Experience, step_worlds

Array = jax.Array


class Window(NamedTuple):
    """A window of steps.  worlds: the State at its end; experience: what happened; values: of each `next_obs`."""

    worlds: Any
    experience: Experience
    values: Array


def window_return(
    env: Any,
    policy: Callable[[Array], Any],
    value: Callable[[Array], Array],
    worlds: Any,
    rng: Array,
    *,
    steps: int,
    discount: float,
    most_cotangent: float,
    reward_scale: float = 1.0,
) -> tuple[Array, Window]:
    """Return the mean over worlds of discounted rewards and the value of what follows, and the window.

    Where an episode ends within the window, the value of its last observation stands for what would have followed if it
    was truncated, nothing if it was terminated; the new episode is not discounted for the old one. Whether an episode
    terminates has no derivative, so that nothing would hold the policy from a fall: that of the value of its last
    observation stands for it, of a value that is learnt to be 0 there.

    Args:
      policy: of observations, a Squashed; drawn actions are differentiated by its parameters.
      value: of observations, differentiated by them.
      worlds: State at the start of the window.
      most_cotangent: norm to which the gradient of each world is cut on its way back from step to step.

    Source: Xu et al. (2022), equation 5.
    """

    def step(carry: tuple[Any, Array, Array], rng: Array) -> Any:
        state, discounted, gain = carry
        state = state.replace(data=bounded(most_cotangent, state.data), obs=bounded(most_cotangent, state.obs))
        distribution = policy(state.obs)
        drawn = distribution.sample(rng)
        state, row = step_worlds(env, state, drawn, distribution.log_density(lax.stop_gradient(drawn)))
        values = value(row.next_obs)
        ends = discounted * discount * (values - row.terminated * lax.stop_gradient(values))
        gain = gain + reward_scale * discounted * row.reward + jnp.where(row.done > 0, ends, 0)
        discounted = jnp.where(row.done > 0, 1, discounted * discount)
        return (state, discounted, gain), (row, values)

    start = worlds, jnp.ones_like(worlds.reward), jnp.zeros_like(worlds.reward)
    (worlds, discounted, gain), (rows, values) = lax.scan(step, start, jax.random.split(rng, steps))
    gain = gain + jnp.where(rows.done[-1] > 0, 0, discounted * values[-1])
    return jnp.mean(gain), Window(worlds, rows, values)


@jax.custom_vjp
def bounded(most: float, tree: Any) -> Any:
    """Return the tree, whose cotangents have in each world a norm of at most `most`: 0 where they are not finite.

    tree: floats have a leading axis of worlds.
    """
    return tree


def _bounded_forward(most: float, tree: Any) -> tuple[Any, float]:
    return tree, most


def _bounded_backward(most: float, cotangent: Any) -> tuple[None, Any]:
    floats = [x for x in jax.tree.leaves(cotangent) if x.dtype != jax.dtypes.float0]
    squares = sum(jnp.sum(x.reshape(x.shape[0], -1) ** 2, axis=1) for x in floats)
    norm = jnp.sqrt(squares)
    factor = jnp.minimum(1, most / jnp.maximum(norm, 1e-30))

    def cut(x: Array) -> Array:
        if x.dtype == jax.dtypes.float0:
            return x
        rows = (-1,) + (1,) * (x.ndim - 1)
        return jnp.where(jnp.isfinite(norm).reshape(rows), x * factor.reshape(rows).astype(x.dtype), 0)

    return None, jax.tree.map(cut, cotangent)


bounded.defvjp(_bounded_forward, _bounded_backward)
