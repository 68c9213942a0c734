"""Linear functions of padded arrays, done at the least capacity that holds what is in use."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.math.batching import capacities, mapped, nested_batch, with_capacity
from mjx_like.math.transposable import linear

Array = jax.Array

_GROWTH = 64, 4  # fewer capacities than elsewhere: their programs take long to compile


def linear_at_capacity(function: Callable[..., Any], limit: int, need: Array, args: Any, x: Any) -> Any:
    """Return `function(limit, args, x)`, which is linear in x, at the capacity that a batch of worlds needs.

    Both evaluation and transposition are done at that capacity, in any order of `vmap` and `grad`; a further derivative
    is that of `function` at `limit`.

    Args:
      function: takes a capacity, `args` and x; its result has the same shapes and values at all capacities from `need`
        on.
      need: shape ().
      x: pytree of floating-point arrays.
    """
    shape = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), x)

    def transposed(size: int, args: Any, y: Any) -> Any:
        return jax.linear_transpose(functools.partial(function, size, args), shape)(y)[0]

    def reduced(one: Callable[..., Any]) -> Callable[[Array, Any, Any], Any]:
        def kernel(levels, need, args, v):
            def sized(size, *given):
                return mapped(functools.partial(one, size), tuple(axes[1:] for axes in levels))(*given)

            return with_capacity(capacities(limit, *_GROWTH), need, sized, args, v)

        return nested_batch(kernel)

    def exact(need: Array, args: Any, x: Any) -> Any:
        return function(limit, args, x)

    return linear(reduced(function), reduced(transposed), (need, args), x, exact)


def floats(x: Any) -> tuple[list[Array], Callable[[list[Array]], Any]]:
    """Return the floating-point leaves of a pytree, and the function that puts others in their place."""
    leaves, tree = jax.tree.flatten(x)

    def with_others(values: list[Array]) -> Any:
        others = iter(values)
        return tree.unflatten([next(others) if is_float(leaf) else leaf for leaf in leaves])

    return [leaf for leaf in leaves if is_float(leaf)], with_others


def is_float(x: Array) -> bool:
    """Return whether an array holds floating-point numbers."""
    return jnp.issubdtype(x.dtype, jnp.floating)
