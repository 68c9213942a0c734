"""Analytic policy gradients: back-propagation through windows of the simulation, without a value of what follows."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.learning.algorithm import Algorithm, Metrics, Training, algorithm, networks_of
from mjx_like.learning.config import Config
from mjx_like.learning.experience import flaws
from mjx_like.learning.normaliser import normalise, update
from mjx_like.learning.optimiser import adam, descend
from mjx_like.learning.sharing import mean
from mjx_like.learning.window import window_return
from mjx_like.learning.worlds import many_worlds

Array = jax.Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class APGConfig(Config):
    """Settings of analytic policy gradients, beside those of every algorithm.

    window: steps of each world in an iteration, through which the gradient goes; what comes later does not count.
    policy_learning_rate: of Adam.
    most_cotangent: norm to which the gradient of each world is cut on its way back through the window.
    """

    worlds: int = 64
    window: int = 32
    policy_learning_rate: float = 2e-3
    most_cotangent: float = 1e3

    @property
    def samples_per_iteration(self) -> int:
        return self.worlds * self.window


def apg(env: Any, config: APGConfig, devices: Sequence[jax.Device] | None = None) -> Algorithm:
    """Return analytic policy gradients on an environment of one world or of many, which must be differentiable."""
    env = many_worlds(env)
    nets = networks_of(env, config)
    optimiser = adam(config.policy_learning_rate, config.iterations, config.final_rate, config.most_gradient)

    def begin(params: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        return {"actor": params["actor"]}, optimiser.init(params["actor"])

    def iterate(training: Training, rng: Array) -> tuple[Training, Metrics]:
        seen = training.normaliser

        def loss(of_actor: Any) -> tuple[Array, Any]:
            gain, window = window_return(
                env,
                lambda obs: nets.actor(of_actor, normalise(seen, obs)),
                lambda obs: jnp.zeros_like(obs[..., 0]),
                training.worlds,
                rng,
                steps=config.window,
                discount=config.discount,
                most_cotangent=config.most_cotangent,
                reward_scale=config.reward_scale,
            )
            return -gain / config.window, window

        gradient, window = jax.grad(loss, has_aux=True)(training.params["actor"])
        actor, state, norm = descend(optimiser, gradient, training.optimiser, training.params["actor"])
        experience = window.experience
        metrics = mean(flaws(experience) | {"reward": jnp.mean(experience.reward)}) | {"gradient": norm}
        metrics["std"] = jnp.mean(jnp.exp(actor["params"]["log_std"]))
        after = training._replace(params={"actor": actor}, optimiser=state, worlds=window.worlds)
        return after._replace(normaliser=update(seen, experience.obs)), metrics

    return algorithm("apg", env, config, devices, nets, begin, iterate)
