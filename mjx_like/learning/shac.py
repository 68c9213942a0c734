"""Short-horizon actor-critic: a policy that climbs the gradient of short windows, with a value for what follows.

Source: Xu et al. (2022), Accelerated policy learning with parallel differentiable simulation, algorithm 1.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.learning.advantage import gae
from mjx_like.learning.algorithm import Algorithm, Metrics, Training, algorithm, networks_of
from mjx_like.learning.config import Config
from mjx_like.learning.experience import flaws
from mjx_like.learning.minibatch import descend_in_minibatches
from mjx_like.learning.normaliser import normalise, update
from mjx_like.learning.optimiser import adam, descend
from mjx_like.learning.sharing import mean
from mjx_like.learning.window import window_return
from mjx_like.learning.worlds import many_worlds

Array = jax.Array
_DECAYS = 0.7, 0.95  # of Adam, as in the paper


@dataclasses.dataclass(frozen=True, kw_only=True)
class SHACConfig(Config):
    """Settings of SHAC, beside those of every algorithm.

    window: steps of each world in an iteration, through which the policy's gradient goes.
    policy_learning_rate, value_learning_rate: of Adam.
    td_lambda: decay of the value's targets, see `gae`.
    target_inertia: share that the target's parameters keep of themselves in each iteration.
    minibatches, epochs: of the value's descent, in each iteration.
    most_cotangent: norm to which the gradient of each world is cut on its way back through the window.
    """

    worlds: int = 64
    window: int = 32
    policy_learning_rate: float = 2e-3
    value_learning_rate: float = 1e-3
    td_lambda: float = 0.95
    target_inertia: float = 0.2
    minibatches: int = 4
    epochs: int = 16
    most_cotangent: float = 1e3

    @property
    def samples_per_iteration(self) -> int:
        return self.worlds * self.window


class Rows(NamedTuple):
    """What the value learns from: normalised observations, its targets, and what each counts; shape (rows, ...)."""

    obs: Array
    target: Array
    weight: Array


def shac(env: Any, config: SHACConfig, devices: Sequence[jax.Device] | None = None) -> Algorithm:
    """Return SHAC on an environment of one world or of many, which must be differentiable."""
    env = many_worlds(env)
    nets = networks_of(env, config)
    rates = config.final_rate, config.most_gradient, _DECAYS
    actor = adam(config.policy_learning_rate, config.iterations, *rates)
    critic = adam(config.value_learning_rate, config.iterations * config.epochs * config.minibatches, *rates)

    def begin(params: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        optimiser = {"actor": actor.init(params["actor"]), "critic": critic.init(params["critic"])}
        return params | {"target": params["critic"]}, optimiser

    def iterate(training: Training, rng: Array) -> tuple[Training, Metrics]:
        acting, learning = jax.random.split(rng)
        params, seen = training.params, training.normaliser

        def loss(of_actor: Any) -> tuple[Array, Any]:
            gain, window = window_return(
                env,
                lambda obs: nets.actor(of_actor, normalise(seen, obs)),
                lambda obs: nets.critic(params["target"], normalise(seen, obs)),
                training.worlds,
                acting,
                steps=config.window,
                discount=config.discount,
                most_cotangent=config.most_cotangent,
                reward_scale=config.reward_scale,
            )
            return -gain / config.window, window

        gradient, window = jax.grad(loss, has_aux=True)(params["actor"])
        rows = _rows(config, nets, params["target"], seen, window)
        new_actor, of_actor, norm = descend(actor, gradient, training.optimiser["actor"], params["actor"])

        def error(of_critic: Any, rows: Rows, _: Array) -> tuple[Array, Metrics]:
            square = jnp.mean(rows.weight * (nets.critic(of_critic, rows.obs) - rows.target) ** 2)
            return square, {"value_error": square}

        new_critic, of_critic, metrics = descend_in_minibatches(
            error, critic, params["critic"], training.optimiser["critic"], rows, learning,
            config.epochs, config.minibatches,
        )  # fmt: skip
        keep = config.target_inertia
        target = jax.tree.map(lambda old, new: keep * old + (1 - keep) * new, params["target"], new_critic)
        experience = window.experience
        metrics |= mean(flaws(experience) | {"reward": jnp.mean(experience.reward)}) | {"gradient": norm}
        metrics["std"] = jnp.mean(jnp.exp(new_actor["params"]["log_std"]))
        after = training._replace(
            params={"actor": new_actor, "critic": new_critic, "target": target},
            optimiser={"actor": of_actor, "critic": of_critic},
            worlds=window.worlds,
            normaliser=update(seen, experience.obs),
        )
        return after, metrics

    return algorithm("shac", env, config, devices, nets, begin, iterate)


def _rows(config: SHACConfig, nets: Any, target: Any, seen: Any, window: Any) -> Rows:
    """Return all steps of all worlds with TD-lambda targets, by the target's values, and terminal states with 0."""
    experience = jax.lax.stop_gradient(window.experience)
    obs = normalise(seen, experience.obs)
    value = nets.critic(target, obs)
    reward = config.reward_scale * experience.reward
    ends = experience.terminated, experience.done
    advantage = gae(reward, value, window.values, *ends, config.discount, config.td_lambda)
    steps = Rows(obs, value + advantage, jnp.ones_like(value))
    terminal = Rows(normalise(seen, experience.next_obs), jnp.zeros_like(value), experience.terminated)
    return jax.tree.map(lambda x, y: jnp.stack([x, y]).reshape(-1, *x.shape[2:]), steps, terminal)
