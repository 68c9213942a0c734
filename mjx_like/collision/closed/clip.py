"""Convex polygons over a face, clipped by its sides."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math import safe
from mjx_like.math.platform import on_cpu

Array = jax.Array


def clip_polygon(polygon: Array, slots: int, directions: np.ndarray, limits: Array) -> tuple[Array, Array]:
    """Return the corners, shape (3, slots, n), and their number, of a polygon within the sides of a face.

    Args:
      polygon: x, y in the face and height above it of the corners, shape (3, k, n) [m].
      slots: the most corners that the result can have.
      directions: outward normals of the sides, shape (m, 2).
      limits: distance of each side from the origin, shape (m, n) [m].

    Each side cuts in turn: a corner inside stays, an edge that crosses the side adds a corner. The loop keeps XLA from
    fusing one cut into the next, which would repeat the work many times.
    """
    corners, shape = polygon.shape[1], polygon.shape[2:]
    polygon = jnp.concatenate([polygon, jnp.zeros((3, slots - corners, *shape), polygon.dtype)], axis=1)
    index = np.arange(slots, dtype=np.int32)[:, None]

    def cut(sent: _Sent, side: tuple[Array, Array]) -> tuple[_Sent, None]:
        polygon, count = _received(sent), sent.count
        direction, limit = side
        exists, last = index < count, index + 1 >= count

        def following(x: Array) -> Array:
            return jnp.where(last, x[..., :1, :], jnp.roll(x, -1, axis=-2))

        beyond = direction[0] * polygon[0] + direction[1] * polygon[1] - limit
        then = following(beyond)
        inside = exists & (beyond <= 0)
        crosses = exists & (((beyond < 0) & (then > 0)) | ((beyond > 0) & (then < 0)))
        share = safe.divide(beyond, beyond - then, None, where=crosses)
        added = polygon + share * (following(polygon) - polygon)
        emitted = inside.astype(jnp.int32) + crosses.astype(jnp.int32)
        place, count = _sum_before(emitted), jnp.sum(emitted, axis=0, dtype=jnp.int32)
        new = jnp.where(crosses, place + inside, slots)
        return _Sent(polygon, jnp.where(inside, place, slots), added, new, count), None

    every = jnp.broadcast_to(index, (slots, *shape))
    start = _Sent(polygon, every, polygon, jnp.full_like(every, slots), jnp.full(shape, corners, jnp.int32))
    sent = lax.scan(cut, start, (jnp.asarray(directions, polygon.dtype), limits))[0]
    return _received(sent), sent.count


class _Sent(NamedTuple):
    """The corners that a side leaves, and where each goes; beyond the slots if nowhere.

    The next turn of the loop puts them there: XLA would repeat what makes them for each place.
    """

    old: Array  # (3, slots, n)
    old_place: Array  # (slots, n)
    added: Array  # (3, slots, n)
    added_place: Array  # (slots, n)
    count: Array  # (n,)


def _received(s: _Sent) -> Array:
    """Return the corners in their places, shape (3, slots, n)."""
    target = np.arange(s.old.shape[1], dtype=np.int32)[:, None, None]
    kept = jnp.where(s.old_place == target, s.old[:, None], 0)
    return jnp.sum(kept + jnp.where(s.added_place == target, s.added[:, None], 0), axis=2)


def _sum_before(x: Array) -> Array:
    """Return `exclusive_sum` of small integers; on a CPU by a product, for loops would make each sum anew."""
    if not on_cpu():
        return exclusive_sum(x)
    before = np.tri(x.shape[0], k=-1, dtype=np.float32)
    return jnp.matmul(before, x.astype(jnp.float32), precision="highest").astype(x.dtype)


def exclusive_sum(x: Array) -> Array:
    """Return, along the first axis of few entries, the sum of the entries before each."""
    sums = [jnp.zeros_like(x[0])]
    for row in range(x.shape[0] - 1):
        sums.append(sums[-1] + x[row])
    return jnp.stack(sums)
