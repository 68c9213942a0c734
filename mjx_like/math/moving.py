"""What a loop starts from, with tangents from the start: its body is then differentiated once."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from mjx_like.math.rule import custom_jvp

Array = jax.Array


def moving_with(x: Any, others: Any) -> Any:
    """Return x, a pytree of arrays; where any leaf of x or `others` has a tangent, all floating-point leaves of x do.

    JAX differentiates the body of a loop again until it has found out which of what it carries changes. What begins
    with tangents of zero counts among it at once.
    """
    leaves, tree = jax.tree.flatten(x)
    floating = [i for i, leaf in enumerate(leaves) if jnp.issubdtype(jnp.result_type(leaf), jnp.floating)]
    moved = _moving_with([leaves[i] for i in floating], jax.tree.leaves(others))
    for i, leaf in zip(floating, moved, strict=True):
        leaves[i] = leaf
    return tree.unflatten(leaves)


@custom_jvp
def _moving_with(x: Any, others: list[Any]) -> Any:
    return x


def _all_move(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    x, given = primals[0], tangents[0]
    moving = [t for t in jax.tree.leaves(tangents) if not isinstance(t, SymbolicZero)]
    if not moving:
        return x, given
    nothing = moving[0].ravel()[:0]

    def change(a: Array, t: Any) -> Array:  # zeros that depend on a tangent in name: JAX tells constants
        return jnp.pad(nothing.astype(a.dtype), (0, a.size)).reshape(a.shape) if isinstance(t, SymbolicZero) else t

    return x, jax.tree.map(change, x, given)


_moving_with.defjvp(_all_move, symbolic_zeros=True)
