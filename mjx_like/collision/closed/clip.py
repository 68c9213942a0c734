"""Convex polygons over a face, clipped by its sides."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math import safe

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
    corners = polygon.shape[1]
    polygon = jnp.concatenate([polygon, jnp.zeros((3, slots - corners, polygon.shape[2]), polygon.dtype)], axis=1)
    index = np.arange(slots, dtype=np.int32)[:, None]
    target = index[:, :, None]

    def cut(state: tuple[Array, Array], side: tuple[Array, Array]) -> tuple[tuple[Array, Array], None]:
        polygon, count = state
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
        rank = exclusive_sum(emitted)
        kept = jnp.where((rank == target) & inside, polygon[:, None], 0)
        new = jnp.where((rank + inside == target) & crosses, added[:, None], 0)
        return (jnp.sum(kept + new, axis=2), jnp.sum(emitted, axis=0, dtype=jnp.int32)), None

    start = polygon, jnp.full(limits.shape[1:], corners, jnp.int32)
    return lax.scan(cut, start, (jnp.asarray(directions, polygon.dtype), limits))[0]


def exclusive_sum(x: Array) -> Array:
    """Return, along the first axis of few entries, the sum of the entries before each."""
    sums = [jnp.zeros_like(x[0])]
    for row in range(x.shape[0] - 1):
        sums.append(sums[-1] + x[row])
    return jnp.stack(sums)
