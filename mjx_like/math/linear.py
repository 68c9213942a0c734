"""Linear functions of padded arrays, done at the least capacity that holds what is in use."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.math.batching import capacities, mapped, nested_batch, with_capacity

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
    exact = functools.partial(function, limit, args)
    shape = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), x)

    def transposed(size: int, args: Any, y: Any) -> Any:
        return jax.linear_transpose(functools.partial(function, size, args), shape)(y)[0]

    def reduced(one: Callable[..., Any], v: Any) -> Any:
        def kernel(levels, need, args, v):
            def sized(size, *given):
                return mapped(functools.partial(one, size), tuple(axes[1:] for axes in levels))(*given)

            return with_capacity(capacities(limit, *_GROWTH), need, sized, args, v)

        return nested_batch(kernel)(need, args, v)

    # x and y = exact(x) are the solution of a triangular system: the one way to say how a function is transposed that
    # `vmap` and both modes of differentiation know
    def system(v):
        x, y = _joined(v)
        return _joined((x, jax.tree.map(jnp.subtract, y, exact(x))))

    def solve(_, v):
        return v[0], jax.tree.map(jnp.add, v[1], reduced(function, v[0]))

    def transposed_solve(_, v):
        return jax.tree.map(jnp.add, v[0], reduced(transposed, v[1])), v[1]

    none = jax.tree.map(lambda y: jnp.zeros(y.shape, y.dtype), jax.eval_shape(exact, x))
    return lax.custom_linear_solve(system, _joined((x, none)), solve, transposed_solve)[1]


def _joined(v: Any) -> Any:
    """Return v with each array depending on all of them, in name only: JAX wants no constants beside what changes."""
    nothing = jnp.concatenate([leaf.ravel()[:0] for leaf in jax.tree.leaves(v)])
    return jax.tree.map(lambda x: x + jnp.pad(nothing, (0, x.size)).reshape(x.shape).astype(x.dtype), v)


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
