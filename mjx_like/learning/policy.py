"""A trained policy, to be called."""

from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.errors import InputError
from mjx_like.learning.networks import Networks
from mjx_like.learning.normaliser import Normaliser, normalise

Array = jax.Array


class Policy:
    """A function of observations, shape (..., observation_size), that returns actions in [-1, 1].

    With a key it draws from the policy's distribution, else it returns its middle. Pure: may be jitted, mapped and
    differentiated.
    """

    def __init__(self, nets: Networks, params: Any, normaliser: Normaliser) -> None:
        self.networks, self.params, self.normaliser = nets, params, normaliser

    def __call__(self, obs: Array, rng: Array | None = None) -> Array:
        size = self.normaliser.mean.shape[0]
        if jnp.shape(obs)[-1:] != (size,):
            raise InputError(f"policy: obs has shape {jnp.shape(obs)}, this policy takes (..., {size})")
        distribution = self.networks.actor(self.params, normalise(self.normaliser, obs))
        return jnp.tanh(distribution.mean if rng is None else distribution.sample(rng))
