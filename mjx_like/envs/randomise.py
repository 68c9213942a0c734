"""Randomised models: leaves by name, each with a distribution, and the derived constants that follow."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.envs.liveness import results_reached
from mjx_like.errors import InputError, shown
from mjx_like.leaves.change import with_leaves
from mjx_like.leaves.selection import select
from mjx_like.types.model import Model

Array = jax.Array
# Of a key and the value in the model, the value of one world.
Distribution = Callable[[Array, Array], Array]


def uniform(low: float, high: float, *, shared: bool = False) -> Distribution:
    """Return a distribution of values between two bounds; `shared` gives all entries of a leaf one draw."""
    return lambda rng, nominal: _draw(rng, nominal, low, high, shared)


def scale(low: float, high: float, *, shared: bool = False) -> Distribution:
    """Return a distribution of the model's values times factors between two bounds."""
    return lambda rng, nominal: nominal * _draw(rng, nominal, low, high, shared)


def add(low: float, high: float, *, shared: bool = False) -> Distribution:
    """Return a distribution of the model's values plus summands between two bounds."""
    return lambda rng, nominal: nominal + _draw(rng, nominal, low, high, shared)


def log_uniform(low: float, high: float, *, shared: bool = False) -> Distribution:
    """Return a distribution of values whose logarithm is uniform between those of two positive bounds."""
    if not 0 < low <= high:
        raise InputError(f"log_uniform({low}, {high}): needs 0 < low <= high")
    return lambda rng, nominal: jnp.exp(_draw(rng, nominal, np.log(low), np.log(high), shared))


def normal(std: float, *, shared: bool = False) -> Distribution:
    """Return a normal distribution about the model's values."""

    def sample(rng: Array, nominal: Array) -> Array:
        return nominal + std * jax.random.normal(rng, () if shared else nominal.shape, nominal.dtype)

    return sample


def _draw(rng: Array, nominal: Array, low: float, high: float, shared: bool) -> Array:
    shape = () if shared else nominal.shape
    return jnp.broadcast_to(jax.random.uniform(rng, shape, nominal.dtype, low, high), nominal.shape)


class Randomisation:
    """Leaves of a Model that each world draws for itself.

    Args:
      m: the model.
      distributions: by name, as `with_leaves` takes them: `{"body_mass@torso": scale(0.9, 1.1)}`; a function of a key
        and the value in the model returns the value of one world.

    Raises:
      InputError: a name that stands for nothing, or what is no distribution.
    """

    def __init__(self, m: Model, distributions: Mapping[str, Distribution]) -> None:
        self._nominal = {name: select(m, name).get(m) for name in distributions}
        for name, distribution in distributions.items():
            if not callable(distribution):
                raise InputError(
                    f"randomise '{name}': {shown(distribution)} is no distribution: use uniform, scale, ..."
                )
        self._m, self._distributions = m, dict(distributions)
        paths = (jax.tree_util.keystr(path).lstrip(".") for path, _ in jax.tree_util.tree_flatten_with_path(m)[0])
        own = results_reached(lambda rng: jax.tree.leaves(self._model(rng)), jax.random.PRNGKey(0))
        self._own = [path if flag else None for path, flag in zip(paths, own, strict=True)]

    def sample(self, rng: Array) -> dict[str, Array]:
        """Return the leaves of one world by their paths: those that were drawn and those that follow."""
        leaves = jax.tree.leaves(self._model(rng))
        return {path: leaf for path, leaf in zip(self._own, leaves, strict=True) if path}

    def _model(self, rng: Array) -> Model:
        keys = jax.random.split(rng, len(self._distributions))
        draws = zip(self._distributions.items(), keys, strict=True)
        return with_leaves(self._m, {name: f(key, self._nominal[name]) for (name, f), key in draws})


def model_of(m: Model, info: Mapping[str, Any]) -> Model:
    """Return the Model with the leaves that a world has for itself."""
    return m.tree_replace(info["leaves"]) if "leaves" in info else m
