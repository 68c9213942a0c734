"""Evaluation: whole episodes, without noise."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.learning.networks import Networks
from mjx_like.learning.normaliser import Normaliser, normalise
from mjx_like.learning.sharing import OWN, SHARED, fitting, shared_by

Array = jax.Array


class Episodes(NamedTuple):
    """One episode of each world.  returns: sum of its rewards, shape (worlds,); lengths: its steps, likewise."""

    returns: Array
    lengths: Array


def evaluator(
    env: Any, nets: Networks, worlds: int, devices: Sequence[jax.Device] | None = None
) -> Callable[[Any, Normaliser, Array], Episodes]:
    """Return a compiled function `(params of the actor, normaliser, rng) -> Episodes`.

    Actions are those in the middle of the policy's distribution. It ends when all episodes have.
    """

    def whole(params: Any, seen: Normaliser, start: Any) -> Episodes:
        def going(carry: tuple[Any, Episodes, Array]) -> Array:
            return jnp.any(carry[2])

        def step(carry: tuple[Any, Episodes, Array]) -> tuple[Any, Episodes, Array]:
            state, episodes, alive = carry
            action = jnp.tanh(nets.actor(params, normalise(seen, state.obs)).mean)
            state = env.step(state, action)
            returns = episodes.returns + jnp.where(alive, state.reward, 0)
            return state, Episodes(returns, episodes.lengths + alive), alive & (state.done == 0)

        zero = jnp.zeros_like(start.reward)
        begin = start, Episodes(zero, zero.astype(jnp.int32)), jnp.ones(zero.shape, bool)
        return lax.while_loop(going, step, begin)[1]

    shared = shared_by(fitting(devices, worlds), whole, (SHARED, SHARED, OWN), OWN)
    return jax.jit(lambda params, seen, rng: shared(params, seen, env.reset(rng, worlds)))
