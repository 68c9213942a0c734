"""Networks: a policy that is a Gaussian squashed by tanh, and a value."""

from collections.abc import Callable
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.learning.config import Config

Array = jax.Array


class Squashed(NamedTuple):
    """Distribution of tanh(x), where x has independent normal entries.

    mean, log_std: of x, shapes (..., action_size), (action_size,).
    """

    mean: Array
    log_std: Array

    def sample(self, rng: Array) -> Array:
        """Return a draw of x; the action is its tanh.  It can be differentiated by mean and log_std."""
        return self.mean + jnp.exp(self.log_std) * jax.random.normal(rng, self.mean.shape, self.mean.dtype)

    def log_density(self, x: Array) -> Array:
        """Return the logarithm of the density of the action tanh(x), shape (...)."""
        z = (x - self.mean) * jnp.exp(-self.log_std)
        return jnp.sum(-0.5 * z**2 - self.log_std - 0.5 * np.log(2 * np.pi) - _log_slope(x), axis=-1)

    def entropy(self, rng: Array) -> Array:
        """Return an estimate of the entropy from one draw, shape (...)."""
        return jnp.sum(0.5 + 0.5 * np.log(2 * np.pi) + self.log_std + _log_slope(self.sample(rng)), axis=-1)


def _log_slope(x: Array) -> Array:
    """Logarithm of the derivative of tanh, without cancellation where tanh is near 1."""
    return 2 * (np.log(2) - x - nn.softplus(-2 * x))


class Perceptron(nn.Module):
    """Dense layers, each but the last with an activation, and after it a layer norm where wanted."""

    layers: tuple[int, ...]
    outputs: int
    last_scale: float
    activation: Callable[[Array], Array]
    layer_norm: bool

    @nn.compact
    def __call__(self, x: Array) -> Array:
        for width in self.layers:
            x = nn.Dense(width, kernel_init=nn.initializers.orthogonal(np.sqrt(2)))(x)
            x = self.activation(x)
            x = nn.LayerNorm()(x) if self.layer_norm else x
        return nn.Dense(self.outputs, kernel_init=nn.initializers.orthogonal(self.last_scale))(x)


class Actor(nn.Module):
    """The policy: a distribution of actions for each observation, its spread the same for all."""

    perceptron: Perceptron
    initial_std: float

    @nn.compact
    def __call__(self, obs: Array) -> Squashed:
        start = nn.initializers.constant(np.log(self.initial_std))
        return Squashed(self.perceptron(obs), self.param("log_std", start, (self.perceptron.outputs,)))


class Networks(NamedTuple):
    """Functions of parameters and normalised observations: `actor` returns a Squashed, `critic` values, shape (...)."""

    actor: Callable[[Any, Array], Squashed]
    critic: Callable[[Any, Array], Array]
    start: Callable[[Array], dict[str, Any]]  # of a key: the parameters {"actor": ..., "critic": ...}


def networks(config: Config, observation_size: int, action_size: int, dtype: Any = jnp.float32) -> Networks:
    """Return the networks for observations and actions of these sizes."""
    activation, layer_norm = getattr(nn, config.activation), config.layer_norm
    actor = Actor(Perceptron(config.policy_layers, action_size, 0.01, activation, layer_norm), config.initial_std)
    critic = Perceptron(config.value_layers, 1, 1.0, activation, layer_norm)

    def start(rng: Array) -> dict[str, Any]:
        obs, (first, second) = jnp.zeros(observation_size, dtype), jax.random.split(rng)
        params = {"actor": actor.init(first, obs), "critic": critic.init(second, obs)}
        return jax.tree.map(lambda x: x.astype(dtype), params)

    return Networks(actor.apply, lambda params, obs: critic.apply(params, obs)[..., 0], start)
