"""The pseudo-random order in which the projected Gauss-Seidel method visits blocks of rows."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Array = jax.Array

_MULTIPLIER, _WORD = 6364136223846793005, 1 << 64


@functools.lru_cache(maxsize=8)
def stream(count: int) -> np.ndarray:
    """Return the first `count` numbers of the generator PCG32 with state 0 and stream 1, after one that is dropped.

    Source: O'Neill, PCG: a family of simple fast space-efficient random number generators.
    """
    out, state = np.empty(count + 1, np.uint32), 0
    for i in range(count + 1):
        xorshifted = (((state >> 18) ^ state) >> 27) & 0xFFFFFFFF
        rotation = state >> 59
        out[i] = ((xorshifted >> rotation) | (xorshifted << (-rotation & 31))) & 0xFFFFFFFF
        state = (state * _MULTIPLIER + 1) % _WORD
    return out[1:]


def shuffled(order: Array, count: Array, numbers: Array, start: Array) -> Array:
    """Return `order` with its first `count` entries shuffled by Fisher and Yates.

    numbers: random 32-bit numbers, of which those from `start` on are used, count - 1 in all.
    """

    def swap(step: Array, order: Array) -> Array:
        i = count - 1 - step
        number = numbers.at[start + step].get(mode="clip")
        j = (number % (i + 1).astype(jnp.uint32)).astype(jnp.int32)
        a, b = order[i], order[j]
        return order.at[i].set(b).at[j].set(a)

    return lax.fori_loop(0, jnp.maximum(count - 1, 0), swap, order)
