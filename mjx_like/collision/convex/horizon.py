"""Which faces of a polytope a corner replaces, around which edges, and in which order faces of equal distance come.

On symmetric geoms faces are equally near, and of these MuJoCo expands the first in a list: a face that leaves it gives
its place to the last, new faces come last, in the order of the edges around the hole. With that order its contacts of
boxes, cylinders and meshes in line with one another are ours too.
Source: horizon, deleteFace in MuJoCo's engine_collision_gjk.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.collision.convex.polytope import FREE
from mjx_like.math.select import rows, written

Array = jax.Array


def ordered(x: Array) -> bool:
    """Return whether faces that are equally near have MuJoCo's order; in float32 rounding decides between them."""
    return x.dtype == np.float64


def first_nearest(place: Array, squares: Array) -> Array:
    """Return the face whose square is the least, of several the first in the list."""
    if not ordered(squares):
        return jnp.argmin(squares)
    return jnp.argmin(jnp.where((place >= 0) & (squares == jnp.min(squares)), place, place.size))


def horizon(
    corner: Array, sees: Array, first: Array, free: Array, room: int, in_order: bool
) -> tuple[Array, Array, Array]:
    """Return the directed edges, start * room + end, around the faces that are seen, and their number.

    An edge is on the border where the face on its other side is not seen; there its reverse does not occur. They are in
    the order of the faces, or around the border from the first corner of the first face, as MuJoCo comes upon them.
    Third is the rank of each face that is free or seen among those.
    """
    start, end = corner, corner[:, np.array([1, 2, 0])]
    key = jnp.where(sees[:, None], start * room + end, room * room)
    seen = written(jnp.zeros(room * room + 1, bool), key.ravel(), jnp.ones(key.size, bool))
    border = sees[:, None] & ~rows(seen, end * room + start)
    marks = border.astype(jnp.int32)
    own = marks[:, 0] + marks[:, 1] + marks[:, 2]
    sums = jnp.cumsum(jnp.stack([own, (free | sees).astype(jnp.int32)]), axis=1, dtype=jnp.int32)
    begin, count = sums[0] - own, sums[0, -1]
    address = jnp.stack([begin, begin + marks[:, 0], begin + marks[:, 0] + marks[:, 1]], axis=1)
    if in_order:
        address = _around(start, end, border, count, rows(corner, first), room, address)
    address = jnp.where(border, jnp.minimum(address, room), room)
    edges = written(jnp.zeros(room + 1, jnp.int32), address.ravel(), key.ravel())
    return edges[:room], count, sums[1] - 1


def _around(start: Array, end: Array, border: Array, count: Array, corner: Array, room: int, otherwise: Array) -> Array:
    """Return which of `count` edges of a border come first, second and so on from a corner of a face that lies on it.

    otherwise: their order where rounding makes the border more than one ring.
    """
    at, to = jnp.where(border, start, room), jnp.where(border, end, room)
    following = written(jnp.full(room + 1, room, jnp.int32), at.ravel(), to.ravel())
    on_it = rows(following, corner) < room
    head = jnp.where(on_it[0], corner[0], jnp.where(on_it[1], corner[1], corner[2]))
    left = _steps(following, head)
    turn = jnp.where(start == head, 0, count - rows(left, start))
    return jnp.where(rows(left, head) == count, jnp.maximum(turn, 0), otherwise)


def _steps(following: Array, head: Array) -> Array:
    """Return how many steps lead from each of n entries to `head`, shape (n,), by doubling them; back to it from it."""
    count = jnp.ones_like(following)
    for _ in range(int(np.ceil(np.log2(following.size)))):
        arrived = following == head
        count = count + jnp.where(arrived, 0, rows(count, following))
        following = jnp.where(arrived, head, rows(following, following))
    return count


def places(place: Array, sees: Array, first: Array) -> tuple[Array, Array]:
    """Return the places of faces after those that are seen have left the list, and how many remain.

    Each gap takes the last of the list, the gap of the first face before others: ties between faces go by the order of
    the list. Where MuJoCo removes others than the first in another order than that of the list, places differ.
    """
    size, spots = place.size, jnp.arange(place.size, dtype=jnp.int32)
    gone = sees & (place >= 0)
    count = jnp.sum((place >= 0) & ~gone, dtype=jnp.int32)
    start = rows(place, first)
    gaps = gone & (place < count)
    moved = (place >= count) & ~gone
    tables = jnp.zeros(size + 1, bool)
    is_gap = written(tables, jnp.where(gaps & (place != start), place, size), gaps)[:size]
    is_moved = written(tables, jnp.where(moved, place, size), moved)[:size]
    sums = jnp.cumsum(jnp.stack([is_gap, is_moved]).astype(jnp.int32), axis=1, dtype=jnp.int32)
    ahead = (start < count).astype(jnp.int32)
    turn = jnp.where(is_gap, sums[0] - 1 + ahead, size)
    gap = written(jnp.zeros(size + 1, jnp.int32), turn, spots)
    gap = jnp.where((np.arange(size + 1) == 0) & (ahead > 0), start, gap)
    new = rows(gap, jnp.where(moved, sums[1, -1] - rows(sums[1], jnp.maximum(place, 0)), size))
    return jnp.where(moved, new, jnp.where(gone, FREE, place)), count
