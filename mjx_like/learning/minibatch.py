"""Descent on rows of data, in random parts, several times over."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax

from mjx_like.learning.optimiser import descend
from mjx_like.learning.sharing import mean

Array = jax.Array


def descend_in_minibatches(
    loss: Callable[[Any, Any, Array], tuple[Array, dict[str, Array]]],
    optimiser: optax.GradientTransformation,
    params: Any,
    state: Any,
    rows: Any,
    rng: Array,
    epochs: int,
    minibatches: int,
) -> tuple[Any, Any, dict[str, Array]]:
    """Return parameters and the optimiser's state after all epochs, and the means of what the loss measures.

    Args:
      loss: `loss(params, rows, rng) -> (loss, metrics)`.
      rows: a tree of arrays with a leading axis of rows, this device's; some are left out where their number does not
        divide, others in each epoch.
    """
    number = jax.tree.leaves(rows)[0].shape[0]
    size = number // minibatches

    def part(carry: tuple[Any, Any], given: tuple[Array, Array]) -> tuple[tuple[Any, Any], dict[str, Array]]:
        (params, state), (index, rng) = carry, given
        some = jax.tree.map(lambda x: x[index], rows)
        gradient, metrics = jax.grad(loss, has_aux=True)(params, some, rng)
        params, state, norm = descend(optimiser, gradient, state, params)
        return (params, state), metrics | {"gradient": norm}

    def epoch(carry: tuple[Any, Any], rng: Array) -> tuple[tuple[Any, Any], dict[str, Array]]:
        order, noise = jax.random.split(rng)
        index = jax.random.permutation(order, number)[: size * minibatches].reshape(minibatches, size)
        return lax.scan(part, carry, (index, jax.random.split(noise, minibatches)))

    (params, state), metrics = lax.scan(epoch, (params, state), jax.random.split(rng, epochs))
    return params, state, mean(jax.tree.map(jnp.mean, metrics))
