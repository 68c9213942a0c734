"""History buffers: timestamped samples of controls and sensors, read at a delay.

A buffer holds [last tick, cursor, times (n), samples (n, dim)]; the cursor names the newest sample, older ones stand
before it, round the ring.  Source: mju_historyRead, mju_historyInsert of MuJoCo 4.0.0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.select import put, take
from mjx_like.types.plans import HistoryGroup

Array = jax.Array


class Buffers(NamedTuple):
    """The buffers of a group; n samples each."""

    tick: Array  # (k,) time of the last periodic sample [s]
    cursor: Array  # (k,) position of the newest sample
    times: Array  # (k, n) [s]
    values: Array  # (k, n, dim)


def history_groups(history: np.ndarray, address: np.ndarray, dim: np.ndarray) -> tuple[HistoryGroup, ...]:
    """Return the elements that have a buffer, by size and interpolation.

    history: number of samples and interpolation, shape (k, 2); address: of the buffers; dim: values of a sample.
    """
    keys = [(int(n), int(size), int(interp)) for (n, interp), size in zip(history, dim, strict=True)]
    groups = []
    for key in sorted({key for key in keys if key[0] > 0}):
        ids = np.array([i for i, own in enumerate(keys) if own == key], np.int32)
        cells = address[ids, None] + np.arange(2 + key[0] * (1 + key[1]))
        groups.append(HistoryGroup(*key, ids=ids, cells=cells.astype(np.int32)))
    return tuple(groups)


def buffers(history: Array, group: HistoryGroup) -> Buffers:
    """Return the buffers of a group from `history`, shape (nhistory,)."""
    k, n = group.ids.size, group.nsample
    flat = take(history, group.cells.ravel()).reshape(group.cells.shape)
    return Buffers(flat[:, 0], flat[:, 1], flat[:, 2 : 2 + n], flat[:, 2 + n :].reshape(k, n, group.dim))


def join(history: Array, parts: Sequence[tuple[HistoryGroup, Buffers]]) -> Array:
    """Return `history` with the given buffers in place of its own, shape (nhistory,)."""
    flat = [
        jnp.concatenate([b.tick[:, None], b.cursor[:, None], b.times, b.values.reshape(g.ids.size, -1)], axis=1)
        for g, b in parts
    ]
    return put(history, [(g.cells, values) for (g, _), values in zip(parts, flat, strict=True)])


def read(b: Buffers, time: Array, interp: int) -> Array:
    """Return the values at a time, shape (k, dim); beyond either end those of the last sample there.

    time: shape (k,) [s]; interp: 0 the sample before, 1 linear, 2 a cubic with Catmull-Rom slopes, flat at both ends.
    """
    oldest, newest = (f(b.times, axis=1, keepdims=True) for f in (jnp.min, jnp.max))
    before = b.times <= time[:, None] + _slack(time[:, None])
    low = jnp.max(jnp.where(before, b.times, oldest), axis=1, keepdims=True)
    start = _at(b, low)
    if interp == 0:
        return start
    high = jnp.where((time[:, None] < oldest) | before.all(axis=1, keepdims=True), low, _after(b, low, newest))
    end, span = _at(b, high), high - low
    share = safe.divide(time[:, None] - low, span)
    if interp == 1:
        return start + share * (end - start)
    far_low = jnp.max(jnp.where(b.times < low, b.times, oldest), axis=1, keepdims=True)
    far_high = _after(b, high, newest)
    slope_start = jnp.where(far_low < low, safe.divide(end - _at(b, far_low), high - far_low), 0)
    slope_end = jnp.where(far_high > high, safe.divide(_at(b, far_high) - start, far_high - low), 0)
    rest = 1 - share
    ends = (1 + 2 * share) * rest * rest * start + share * share * (3 - 2 * share) * end
    return ends + span * share * rest * (rest * slope_start - share * slope_end)


def insert(b: Buffers, time: Array, sample: Array) -> Buffers:
    """Return the buffers with a sample at a time; the oldest goes, unless there is one at that time already.

    time: shape () [s]; sample: shape (k, dim). A sample older than all takes the place of the oldest.
    """
    n = b.times.shape[1]
    position = np.arange(n)
    rank = jnp.mod(position - b.cursor[:, None] - 1, n)  # 0 for the oldest
    same = jnp.abs(b.times - time) < _slack(time)
    known = same.any(axis=1, keepdims=True)
    older = jnp.sum((b.times < time) & ~same, axis=1, keepdims=True)
    append = ~known & (older == n)
    here = jnp.where(known, same, rank == jnp.where(append, 0, jnp.maximum(older - 1, 0)))
    moved = ~known & ~append & (rank < older - 1)
    times = jnp.where(here, time, jnp.where(moved, jnp.roll(b.times, -1, axis=1), b.times))
    shifted = jnp.where(moved[..., None], jnp.roll(b.values, -1, axis=1), b.values)
    values = jnp.where(here[..., None], sample[:, None], shifted)
    cursor = jnp.where(append[:, 0], jnp.mod(b.cursor + 1, n), b.cursor)
    return Buffers(b.tick, cursor, times, values)


def empty(group: HistoryGroup, times: Array, tick: Array) -> Buffers:
    """Return buffers of zeros; times: of the samples, oldest first, shape (k, n) [s]; tick: shape (k,) [s]."""
    k = group.ids.size
    cursor = jnp.full(k, group.nsample - 1, times.dtype)
    return Buffers(tick, cursor, times, jnp.zeros((k, group.nsample, group.dim), times.dtype))


def _slack(time: Array) -> Array | float:
    """Return by how much two times of one sample may differ; in float32 the rounding of sums of time steps."""
    return MINVAL if time.dtype == jnp.float64 else 8 * jnp.finfo(time.dtype).eps * jnp.abs(time)


def _after(b: Buffers, time: Array, newest: Array) -> Array:
    """Return the time of the first sample after `time`, shape (k, 1), or that of the newest."""
    return jnp.min(jnp.where(b.times > time, b.times, newest), axis=1, keepdims=True)


def _at(b: Buffers, time: Array) -> Array:
    """Return the samples whose time is exactly `time`, shape (k, 1); returns shape (k, dim)."""
    return jnp.sum(jnp.where((b.times == time)[..., None], b.values, 0), axis=1)
