"""What an algorithm is to the loop that trains: a state, its start, and its next one."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.learning.config import Config
from mjx_like.learning.evaluation import Episodes, evaluator
from mjx_like.learning.networks import Networks, networks
from mjx_like.learning.normaliser import Normaliser, empty
from mjx_like.learning.sharing import OWN, SHARED, fitting, own_key, places, shared_by

Array = jax.Array
Metrics = dict[str, Array]


class Training(NamedTuple):
    """All that the rest of a training depends on: one that goes on from here is one that was never stopped.

    params: of the networks, by name; optimiser: states of optax; normaliser: of observations; worlds: State of the
    environment, with an axis of worlds; rng: a key; iteration: how many have been done, shape ().
    """

    params: dict[str, Any]
    optimiser: Any
    normaliser: Normaliser
    worlds: Any
    rng: Array
    iteration: Array


class Algorithm(NamedTuple):
    """One way to learn.

    start: of a key, the first Training; update: of a Training, the next one and numbers to show; evaluate: of the
    actor's parameters, a normaliser and a key, see `evaluator`; all compiled. place: puts a Training that comes from
    elsewhere where these leave theirs.
    """

    name: str
    env: Any
    config: Config
    devices: tuple[jax.Device, ...]
    networks: Networks
    start: Callable[[Array], Training]
    update: Callable[[Training], tuple[Training, Metrics]]
    evaluate: Callable[[Any, Normaliser, Array], Episodes]
    place: Callable[[Training], Training]


def dtype_of(env: Any) -> Any:
    """Return the type of the observations of an environment of many worlds."""
    return jax.eval_shape(lambda rng: env.reset(rng, 1), jax.random.PRNGKey(0)).obs.dtype


def networks_of(env: Any, config: Config) -> Networks:
    """Return networks that fit an environment."""
    return networks(config, env.observation_size, env.action_size, dtype_of(env))


def algorithm(
    name: str,
    env: Any,
    config: Config,
    devices: Sequence[jax.Device] | None,
    nets: Networks,
    begin: Callable[[dict[str, Any]], tuple[dict[str, Any], Any]],
    iterate: Callable[[Training, Array], tuple[Training, Metrics]],
) -> Algorithm:
    """Return an algorithm whose worlds are shared by the devices.

    Args:
      begin: of the parameters of the networks, all parameters and the state of the optimiser.
      iterate: of one device's share of a Training and of a key of its own, the next one and what to show. What it keeps
        as it is: rng and iteration.
    """
    chosen = fitting(devices, config.worlds)

    def start(rng: Array) -> Training:
        rng, of_networks, of_worlds = jax.random.split(rng, 3)
        params, optimiser = begin(nets.start(of_networks))
        worlds = env.reset(of_worlds, config.worlds)
        normaliser = empty(env.observation_size, worlds.obs.dtype)
        return Training(params, optimiser, normaliser, worlds, rng, jnp.zeros((), jnp.int32))

    def advance(training: Training) -> tuple[Training, Metrics]:
        rng, now = jax.random.split(training.rng)
        after, metrics = iterate(training, own_key(now))
        return after._replace(rng=rng, iteration=training.iteration + 1), metrics

    sharing = Training(SHARED, SHARED, SHARED, OWN, SHARED, SHARED)
    shared = shared_by(chosen, advance, (sharing,), (sharing, SHARED))
    there, everywhere = places(chosen, sharing), places(chosen, SHARED)
    update = jax.jit(shared, out_shardings=(there, everywhere))
    evaluate = evaluator(env, nets, config.evaluation_worlds, chosen)
    start, place = jax.jit(start, out_shardings=there), lambda training: jax.device_put(training, there)
    return Algorithm(name, env, config, chosen, nets, start, update, evaluate, place)
