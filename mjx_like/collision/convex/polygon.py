"""Polygons in space: one clipped by the sides of another, and the widest four corners, in MuJoCo's order.

Which of equal quadrilaterals is the widest, rounding decides. Operations therefore follow MuJoCo's one by one, and no
multiplication is fused with an addition: the corners of a cylinder that stands upright on a box are MuJoCo's.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math import vector as v
from mjx_like.math.select import rows

Array = jax.Array

_EQUAL = 64  # roundings by which lengths or areas that count as equal may differ


def _dot(a: Array, b: Array) -> Array:
    """Return the scalar products along the last axis, of three, each operation rounded."""
    product = safe.rounded(a * b)
    return product[..., 0] + product[..., 1] + product[..., 2]


def _cross(a: Array, b: Array) -> Array:
    """Return the vector products along the last axis, of three, each operation rounded."""
    (ax, ay, az), (bx, by, bz) = v.unpack(a), v.unpack(b)
    forth, back = (ay * bz, az * bx, ax * by), (az * by, ax * bz, ay * bx)
    return v.pack(tuple(safe.rounded(x) - safe.rounded(y) for x, y in zip(forth, back, strict=True)))


def clip(base: Array, base_count: Array, normal: Array, subject: Array, subject_count: Array) -> tuple[Array, Array]:
    """Return the corners of a polygon, or a line, within the sides of another, and their number.

    Args:
      base: corners of the clipping polygon, clockwise about its normal, shape (k, 3) [m]; `base_count` are in use.
      normal: its unit normal, shape (3,).
      subject: corners of the polygon to clip, shape (j, 3) [m]; `subject_count` are in use.

    Each side cuts in turn; the corner at the start moves to the end. Source: polygonClip.
    """
    sides, slots = base.shape[0], base.shape[0] + subject.shape[0]
    following = jnp.where((np.arange(sides) + 1 < base_count)[:, None], jnp.roll(base, -1, axis=0), base[0])
    inward = _cross(following - base, normal)
    length = safe.sqrt(_dot(inward, inward))[:, None]
    inward = inward * safe.ratio(1, jnp.where(length < MINVAL, 1, length))
    polygon = jnp.concatenate([subject, jnp.zeros((slots - subject.shape[0], 3), subject.dtype)])
    cut = functools.partial(_cut, MINVAL if base.dtype == np.float64 else 1e-10)
    start = polygon, jnp.asarray(subject_count, jnp.int32)
    return lax.scan(cut, start, (base, inward, np.arange(sides) < base_count))[0]


def _cut(
    slack: float, state: tuple[Array, Array], side: tuple[Array, Array, Array]
) -> tuple[tuple[Array, Array], None]:
    """Return what one side leaves of a polygon, as the body of a loop.

    Args:
      slack: how far beyond the side a corner counts as within [m].
      state: the corners, shape (n, 3) [m], and how many are in use.
      side: a point on it, its inward normal, and whether it is in use.
    """
    polygon, count = state
    point, inward, real = side
    at, before = np.arange(polygon.shape[0]), np.tri(polygon.shape[0], k=-1, dtype=bool)
    depth = _dot(polygon - point, inward)
    exists = at < count

    def after(x: Array) -> Array:
        rolled = jnp.roll(x, -1, axis=0)
        last = (at + 1 >= count).reshape((-1,) + (1,) * (x.ndim - 1))
        return jnp.where(last, x[:1], rolled)

    target = after(polygon)
    next_depth = after(depth)
    inside, next_inside = depth > -slack, next_depth > -slack
    fall = depth - next_depth
    share = safe.divide(depth, fall, None)  # of the way; may be beyond all numbers
    within = (share >= 0) & (share <= 1) & (jnp.abs(fall) >= safe.tiny(fall))
    crosses = exists & (inside != next_inside) & within
    met = polygon + safe.rounded(jnp.where(within, share, 0)[:, None] * (target - polygon))
    enters = exists & next_inside
    emitted = crosses.astype(jnp.int32) + enters.astype(jnp.int32)
    rank = jnp.sum(jnp.where(before, emitted, 0), axis=1, dtype=jnp.int32)
    new = (rank == at[:, None]) & crosses
    kept = (rank + crosses == at[:, None]) & enters
    clipped = jnp.sum(jnp.where(new[:, :, None], met, 0) + jnp.where(kept[:, :, None], target, 0), axis=1)
    return (jnp.where(real, clipped, polygon), jnp.where(real, jnp.sum(emitted, dtype=jnp.int32), count)), None


def widest(corners: Array, count: Array, line: Array, slots: int) -> tuple[Array, Array]:
    """Return which corners remain, shape (slots,), and how many: four of a polygon, the two farthest of a line."""
    corners = lax.stop_gradient(corners)
    n = corners.shape[0]
    used = np.arange(n) < count
    gap = corners[None] - corners[:, None]
    square = jnp.where(used[:, None] & used & (np.arange(n)[:, None] < np.arange(n)), _dot(gap, gap), 0)
    # a corner that two sides cut twice: equal up to rounding counts as equal
    most = jnp.max(square)
    far = jnp.argmax(square.ravel() >= most * (1 - _EQUAL * jnp.finfo(square.dtype).eps))
    ends = jnp.stack([far // n, jnp.where(most > 0, far % n, 1)])
    ends = jnp.concatenate([ends, jnp.zeros(slots - 2, ends.dtype)])
    plain = np.arange(slots) % n
    quad = largest_quad(corners, count, jnp.zeros((), jnp.int32), count > 4, True)
    chosen = jnp.where(line & (count > 2), ends, jnp.where(count > 4, quad, plain))
    return chosen, jnp.where(line, jnp.minimum(count, 2), jnp.minimum(count, 4)).astype(jnp.int32)


def largest_quad(corners: Array, count: Array, start: Array, wanted: Array, around: bool) -> Array:
    """Return four corners of a convex polygon that span a large area, by advancing one after the other.

    In float32 the first of equal ones is kept; in float64 the last digits decide, as in MuJoCo.

    Args:
      corners: shape (n, 3), `count` of them in use.
      start: the first corner.
      wanted: whether to search at all.
      around: whether the first corner goes once around, or stays.

    Source: polygonQuad, hull4.
    """
    more = 1 + (0 if corners.dtype == np.float64 else _EQUAL * float(jnp.finfo(corners.dtype).eps))

    def body(state):
        quad, best, most, level, turns, _ = state
        a, b, c, d = quad
        step = functools.partial(_step, count=count)
        trial = jnp.stack([
            a, jnp.where(level == 2, step(b), b), jnp.where(level == 1, step(c), c), jnp.where(level == 0, step(d), d),
        ])  # fmt: skip
        size = _area(corners, trial)
        better = size > most * more
        onward = ~better & (level == 0)
        following = jnp.where(better, trial, _pushed(quad, onward, count))
        next_level = jnp.where(better, jnp.maximum(level, 1), jnp.where(level == 1, 2, 0))
        turns = turns + onward
        done = turns >= (count if around else 1)
        return (
            following, jnp.where(better, trial, best), jnp.where(better, size, most),
            next_level.astype(jnp.int32), turns.astype(jnp.int32), done,
        )  # fmt: skip

    zero = jnp.zeros((), jnp.int32)
    begin = ((start + np.arange(4)) % jnp.maximum(count, 1)).astype(jnp.int32)
    state = (begin, begin, _area(corners, begin), zero, zero, ~wanted)
    return lax.while_loop(lambda s: ~s[-1], body, state)[1]


def _area(corners: Array, quad: Array) -> Array:
    """Return the area of a quadrilateral, by its diagonals."""
    a, b, c, d = rows(corners, quad)
    across = _cross(a - c, b - d)
    return 0.5 * jnp.sqrt(_dot(across, across))


def _step(i: Array, count: Array) -> Array:
    """Return the corner that follows a corner."""
    return jnp.where(i + 1 < count, i + 1, 0)


def _pushed(quad: Array, onward: Array, count: Array) -> Array:
    """Return four corners, of which the first moves on and pushes those that it meets, if it is to."""
    a, b, c, d = quad
    a1 = jnp.where(onward, a + 1, a)
    b1 = jnp.where(onward & (b == a), _step(b, count), b)
    c1 = jnp.where(onward & (b == a) & (c == b1), _step(c, count), c)
    d1 = jnp.where(onward & (b == a) & (c == b1) & (d == c1), _step(d, count), d)
    return jnp.stack([a1, b1, c1, d1])
