"""A parameter that is bound to a model: its coordinates, what they stand for, and which leaves they change."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from mjx_like.errors import InputError, shown
from mjx_like.types.model import Model

Array = jax.Array


class Bound(NamedTuple):
    """Coordinates theta, shape (n,), of a part of a model."""

    labels: tuple[str, ...]  # of the values
    start: np.ndarray  # (n,)
    values: Callable[[Array], Array]  # of theta, in the user's units, shape (k,)
    changes: Callable[[Array], dict[str, Array]]  # of theta, leaves by name
    prior: float  # standard deviation of each coordinate about its start


class Parameter(Protocol):
    """What can be bound to a model: what `positive`, `bounded`, `free`, `scaled` and `inertia` return."""

    def bind(self, m: Model) -> Bound:
        """Return the parameter of this model; raises InputError where it does not fit."""
        ...


def check_prior(prior: Any) -> float:
    """Return a standard deviation, which may be infinite; raises InputError for all else."""
    if isinstance(prior, bool) or not isinstance(prior, int | float) or not prior > 0 or math.isnan(prior):
        raise InputError(f"prior={shown(prior)}: must be a positive number, a standard deviation in the coordinate")
    return float(prior)
