"""Derivatives by what changes alone: rules of `jax.custom_jvp` that leave out the arguments without a tangent.

A rule that is declared with `symbolic_zeros=True` is told which arguments do not change. What they would do to the
result is then neither traced nor compiled: a gradient by controls has no code for the sizes of geoms.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

Array = jax.Array


def changing(x: Any, tangents: Any) -> tuple[list[Array], list[Array], Callable[[list[Array]], Any]]:
    """Return the leaves of a pytree that change, their tangents, and the function that puts others in their place.

    tangents: None, or a symbolic zero, of what does not.
    """
    leaves, tree = jax.tree.flatten(x)
    rates = [None if type(t) is SymbolicZero else t for t in tree.flatten_up_to(tangents)]

    def with_others(values: list[Array]) -> Any:
        others = iter(values)
        return tree.unflatten([x if t is None else next(others) for x, t in zip(leaves, rates, strict=True)])

    pairs = [(x, t) for x, t in zip(leaves, rates, strict=True) if t is not None]
    return [x for x, _ in pairs], [t for _, t in pairs], with_others


def rate(function: Callable[[Any], Any], x: Any, tangents: Any) -> Any:
    """Return the tangent of function(x), a pytree of floating-point arrays, by the leaves of x that change."""
    values, rates, with_others = changing(x, tangents)
    if not values:
        return jax.tree.map(lambda y: jnp.zeros(y.shape, y.dtype), jax.eval_shape(function, x))
    return jax.jvp(lambda v: function(with_others(v)), (values,), (rates,))[1]


def still(x: Array) -> Array | np.ndarray:
    """Return the tangent of what is held."""
    return jnp.zeros_like(x) if jnp.issubdtype(x.dtype, jnp.floating) else np.zeros(x.shape, jax.dtypes.float0)
