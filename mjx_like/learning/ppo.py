"""Proximal policy optimisation: many small steps on what an old policy went through, none of them far from it.

Source: Schulman et al. (2017).
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.errors import InputError
from mjx_like.learning.advantage import gae
from mjx_like.learning.algorithm import Algorithm, Metrics, Training, algorithm, networks_of
from mjx_like.learning.config import Config
from mjx_like.learning.experience import Experience, collect, flaws
from mjx_like.learning.minibatch import descend_in_minibatches
from mjx_like.learning.networks import Networks
from mjx_like.learning.normaliser import Normaliser, normalise, update
from mjx_like.learning.optimiser import adam
from mjx_like.learning.sharing import mean
from mjx_like.learning.worlds import many_worlds

Array = jax.Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class PPOConfig(Config):
    """Settings of PPO, beside those of every algorithm.

    unroll: steps of each world in an iteration.
    minibatches: parts into which its data is divided, at random.
    epochs: how often each is used.
    learning_rate: of policy and value.
    clip: how far the ratio of new and old density counts.
    gae_lambda: see `gae`.
    entropy_cost: weight of the policy's entropy, which is to be large.
    value_cost: weight of the value's squared error.
    """

    unroll: int = 32
    minibatches: int = 8
    epochs: int = 4
    learning_rate: float = 1e-3
    clip: float = 0.2
    gae_lambda: float = 0.95
    entropy_cost: float = 1e-3
    value_cost: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.minibatches > self.samples_per_iteration:
            raise InputError(f"minibatches={self.minibatches}: more than worlds * unroll, {self.samples_per_iteration}")

    @property
    def samples_per_iteration(self) -> int:
        return self.worlds * self.unroll


class Rows(NamedTuple):
    """What an epoch learns from, arrays of shape (rows, ...): normalised observations, and what goes with them."""

    obs: Array
    drawn: Array
    log_density: Array
    advantage: Array
    target: Array


def ppo(env: Any, config: PPOConfig, devices: Sequence[jax.Device] | None = None) -> Algorithm:
    """Return PPO on an environment of one world or of many."""
    env = many_worlds(env)
    nets = networks_of(env, config)
    steps = config.iterations * config.epochs * config.minibatches
    optimiser = adam(config.learning_rate, steps, config.final_rate, config.most_gradient)

    def iterate(training: Training, rng: Array) -> tuple[Training, Metrics]:
        collecting, learning = jax.random.split(rng)
        params, seen = training.params, training.normaliser

        def policy(obs: Array) -> Any:
            return nets.actor(params["actor"], normalise(seen, obs))

        worlds, experience = collect(env, policy, training.worlds, collecting, config.unroll)
        rows = _rows(config, nets, params, seen, experience)
        params, state, metrics = descend_in_minibatches(
            lambda params, rows, rng: loss(config, nets, params, rows, rng),
            optimiser, params, training.optimiser, rows, learning, config.epochs, config.minibatches,
        )  # fmt: skip
        metrics |= mean(flaws(experience) | {"reward": jnp.mean(experience.reward)})
        metrics["std"] = jnp.mean(jnp.exp(params["actor"]["params"]["log_std"]))
        after = training._replace(params=params, optimiser=state, worlds=worlds)
        return after._replace(normaliser=update(seen, experience.obs)), metrics

    return algorithm("ppo", env, config, devices, nets, lambda params: (params, optimiser.init(params)), iterate)


def _rows(config: PPOConfig, nets: Networks, params: Any, seen: Normaliser, experience: Experience) -> Rows:
    """Return rows of all steps of all worlds, with advantages of mean 0 and variance 1."""
    obs = normalise(seen, experience.obs)
    value = nets.critic(params["critic"], obs)
    next_value = nets.critic(params["critic"], normalise(seen, experience.next_obs))
    reward = config.reward_scale * experience.reward
    ends = experience.terminated, experience.done
    advantage = gae(reward, value, next_value, *ends, config.discount, config.gae_lambda)
    target = value + advantage
    advantage = advantage - mean(jnp.mean(advantage))
    advantage = advantage / (jnp.sqrt(mean(jnp.mean(advantage**2))) + 1e-8)
    rows = Rows(obs, experience.drawn, experience.log_density, advantage, target)
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)


def loss(config: PPOConfig, nets: Networks, params: Any, rows: Rows, rng: Array) -> tuple[Array, Metrics]:
    """Return the loss and its parts.  Source: Schulman et al. (2017), equations 7 and 9."""
    distribution = nets.actor(params["actor"], rows.obs)
    change = distribution.log_density(rows.drawn) - rows.log_density
    ratio = jnp.exp(change)
    clipped = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)
    gain = jnp.mean(jnp.minimum(ratio * rows.advantage, clipped * rows.advantage))
    error = jnp.mean((nets.critic(params["critic"], rows.obs) - rows.target) ** 2)
    entropy = jnp.mean(distribution.entropy(rng))
    metrics = {"value_error": error, "entropy": entropy, "kl": jnp.mean(ratio - 1 - change)}
    return config.value_cost * error - gain - config.entropy_cost * entropy, metrics
