"""Lists of what a flag chooses, as long as a batch of worlds needs, and in order of a key."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math.batching import capacities, whole_batch, with_capacity
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import precedes, search

Array = jax.Array
T = TypeVar("T")

_FEW = 256  # entries up to which a CPU compares each with each, in fewer loops than a sort, and others always sort
_LEAST = 64  # entries that are listed at the least


def positions(flags: Array, capacity: int) -> Array:
    """Return where the first `capacity` flags that are set stand, in order; the number of flags beyond the last."""
    total = jnp.cumsum(flags, dtype=jnp.int32)

    def first(size: int, total: Array) -> Array:
        return jnp.pad(first_set(size, total), (0, capacity - size), constant_values=flags.size)

    return at_need(first, lengths(capacity), total[-1], total)


def first_set(size: int, total: Array) -> Array:
    """Return where the first `size` flags that are set stand, from their running total, as `positions` does."""
    return search(total, jnp.arange(1, size + 1, dtype=jnp.int32), side="left")


def sorted_with_places(key: Array, most: int) -> tuple[Array, Array]:
    """Return whole numbers, shape (n,), not negative and below `most`, in ascending order, and where each stood; int32.

    Equal ones keep their order.
    """
    size = key.shape[0]
    place = jnp.arange(size, dtype=jnp.int32)
    if most * size > np.iinfo(np.int32).max:
        return tuple(lax.sort((key, place), num_keys=1))
    both = jnp.sort(key * size + place)  # of one operand, as it takes a tenth of the time on a CPU
    return both // size, both % size


def lengths(capacity: int) -> tuple[int, ...]:
    """Return the lengths that a list of at most `capacity` entries may have."""
    return capacities(capacity, _LEAST, 4) if capacity >= 2 * _LEAST else (capacity,)


def at_need(kernel: Callable[..., T], sizes: tuple[int, ...], need: Array, *args: Any) -> T:
    """Return `kernel(size, *args)` with the least of the sizes that is enough for a batch of worlds, or the last.

    kernel: returns the same for all sizes from the need on. An accelerator, which would wait to learn the need, takes
    the last size. Nothing here has a derivative.
    """
    if not on_cpu() or len(sizes) == 1:
        return kernel(sizes[-1], *args)

    def batched(need: Array, *args: Any) -> T:
        return with_capacity(sizes, need, lambda size, *a: jax.vmap(functools.partial(kernel, size))(*a), *args)

    return whole_batch(batched)(need, *args)


def keep_lowest(wanted: Array, value: Array, capacity: int) -> Array:
    """Return which of the wanted find room: all of them, or those of lowest value; on a tie, the first.

    The sort runs only when some world of a batch overflows; a short one always on an accelerator, which would wait to
    learn that.
    """
    wanted = lax.stop_gradient(wanted)
    if wanted.size <= capacity:
        return wanted

    def lowest(state: tuple[Array, Array]) -> tuple[Array, Array]:
        key = jnp.where(state[1], lax.stop_gradient(value), jnp.inf)
        if key.size <= _FEW and on_cpu():
            rank = jnp.sum(precedes(key), axis=1, dtype=jnp.int32)
        else:
            rank = jnp.argsort(jnp.argsort(key, stable=True), stable=True)
        return jnp.zeros((), bool), state[1] & (rank < capacity)

    if wanted.size <= _FEW and not on_cpu():
        return lowest((jnp.ones((), bool), wanted))[1]
    overflow = jnp.sum(wanted, dtype=jnp.int32) > capacity
    return lax.while_loop(lambda state: state[0], lowest, (overflow, wanted))[1]
