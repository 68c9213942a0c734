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
    """Return `order`, the first `count` entries of each column of which are shuffled by Fisher and Yates.

    order: shape (n, batch); count, start: shape (batch,); numbers: random 32-bit numbers, of which a column uses
    count - 1, those from `start` on.
    """
    row = jnp.arange(order.shape[0], dtype=jnp.int32)[:, None]
    step = count - 1 - row  # the first number tells where the last entry goes
    number = numbers.at[start + step].get(mode="clip")
    target = jnp.where((row > 0) & (step >= 0), (number % (row + 1).astype(jnp.uint32)).astype(jnp.int32), row)
    most = jnp.max(count)

    def swap(turn: Array, order: Array) -> Array:
        i = most - 1 - turn
        at = row == target[i]
        other = jnp.sum(jnp.where(at, order, 0), axis=0, dtype=order.dtype)
        return jnp.where(row == i, other, jnp.where(at, order[i], order))

    return lax.fori_loop(0, jnp.maximum(most - 1, 0), swap, order)
