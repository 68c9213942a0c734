"""Kernels of pairs at the least capacity that holds the near pairs of every world of a batch."""

import functools

import jax
import jax.numpy as jnp

from mjx_like.collision.shape import Point, Shape
from mjx_like.collision.table import Kernel
from mjx_like.math.batching import capacities, mapped_batch, with_capacity
from mjx_like.math.linear import floats, is_float, linear_at_capacity
from mjx_like.math.tangent import changing, still

Array = jax.Array

_LEAST, _SECOND = 32, 8  # capacities: the least, and how many times as much the second is


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def near_points(kernel: Kernel, need: Array, inputs: tuple[Shape, Shape, Array]) -> list[Point]:
    """Return the points of pairs of shapes, the first `need` of which count; all arrays in the shape of `dist`.

    inputs: first and second shapes and the distance of interest, as of the kernel; pairs are the last axis.
    """
    limit = inputs[2].shape[-1]

    def batched(axes, need, inputs):
        def sized(size, inputs):
            return jax.vmap(functools.partial(_padded, kernel, size), in_axes=axes[1:])(inputs)

        return with_capacity((0, *capacities(limit, _LEAST, _SECOND)), need, sized, inputs)

    return mapped_batch(batched)(need, inputs)


@functools.partial(near_points.defjvp, symbolic_zeros=True)
def _near_points_jvp(kernel: Kernel, primals, tangents):
    need, inputs = primals
    made = near_points(kernel, need, inputs)
    _, changes, _ = changing(inputs, tangents[1])
    if not changes:
        return made, jax.tree.map(still, made)

    def rates(size: int, inputs, changes: list[Array]) -> list[Array]:
        values, _, with_others = changing(inputs, tangents[1])
        return jax.jvp(lambda v: floats(_padded(kernel, size, with_others(v)))[0], (values,), (changes,))[1]

    found = iter(linear_at_capacity(rates, inputs[2].shape[-1], need, inputs, changes))
    return made, jax.tree.map(lambda x: next(found) if is_float(x) else still(x), made)


def _padded(kernel: Kernel, size: int, inputs: tuple[Shape, Shape, Array]) -> list[Point]:
    """Return the points of the first `size` pairs, zeros up to all of them."""
    limit = inputs[2].shape[-1]
    if size == 0:
        shapes = jax.eval_shape(functools.partial(_padded, kernel, limit), inputs)
        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    cut = jax.tree.map(lambda x: x[..., :size], inputs)

    def pad(x: Array, like: Array) -> Array:
        x = jnp.broadcast_to(x, like.shape)
        return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, limit - size)])

    return [jax.tree.map(lambda x, dist=p.dist: pad(x, dist), p) for p in kernel(*cut)]
