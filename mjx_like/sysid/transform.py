"""Maps between a value with bounds and an unconstrained coordinate."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

Array = jax.Array


class Transform(NamedTuple):
    """A smooth one-to-one map of the real line onto the values that are allowed."""

    to_value: Callable[[Array], Array]
    to_coordinate: Callable[[Array], Array]
    low: float
    high: float


def logarithm() -> Transform:
    """Return the map onto positive values: the coordinate is the logarithm."""
    return Transform(jnp.exp, jnp.log, 0.0, jnp.inf)


def interval(low: float, high: float) -> Transform:
    """Return the map onto the values between two bounds, which it never reaches: a logistic curve."""
    span = high - low

    def to_coordinate(value: Array) -> Array:
        share = (value - low) / span
        return jnp.log(share) - jnp.log1p(-share)

    return Transform(lambda x: low + span * jax.nn.sigmoid(x), to_coordinate, low, high)


def linear(scale: float) -> Transform:
    """Return the map onto all values: the coordinate is the value over a scale."""
    return Transform(lambda x: scale * x, lambda value: value / scale, -jnp.inf, jnp.inf)
