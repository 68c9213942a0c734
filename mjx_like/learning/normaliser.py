"""Running mean and variance of observations."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.learning.sharing import total

Array = jax.Array
_LEAST_STD = 1e-3
_FURTHEST = 10.0  # standard deviations


class Normaliser(NamedTuple):
    """What has been seen so far.

    count: observations, shape (); mean, shape (n,); squares: sum of squared distances to the mean, shape (n,).
    """

    count: Array
    mean: Array
    squares: Array


def empty(size: int, dtype: Any) -> Normaliser:
    """Return the Normaliser that has seen nothing, and changes nothing."""
    return Normaliser(jnp.zeros((), dtype), jnp.zeros(size, dtype), jnp.zeros(size, dtype))


def update(normaliser: Normaliser, obs: Array) -> Normaliser:
    """Return the Normaliser that has seen more.  obs: one device's share of a batch, shape (..., n).

    Source: Chan, Golub and LeVeque (1983), the pairwise rule: it does not cancel where the mean is large.
    """
    rows = obs.reshape(-1, obs.shape[-1])
    count = total(jnp.asarray(len(rows), rows.dtype))
    mean = total(jnp.sum(rows, axis=0)) / count
    squares = total(jnp.sum((rows - mean) ** 2, axis=0))
    both, gap = normaliser.count + count, mean - normaliser.mean
    return Normaliser(
        both,
        normaliser.mean + gap * count / both,
        normaliser.squares + squares + gap**2 * normaliser.count * count / both,
    )


def normalise(normaliser: Normaliser, obs: Array) -> Array:
    """Return observations with mean 0 and variance 1, cut at ten standard deviations.  obs: shape (..., n)."""
    variance = normaliser.squares / jnp.maximum(normaliser.count, 1)
    std = jnp.where(normaliser.count > 0, jnp.sqrt(jnp.maximum(variance, _LEAST_STD**2)), 1)
    return jnp.clip((obs - normaliser.mean) / std, -_FURTHEST, _FURTHEST)
