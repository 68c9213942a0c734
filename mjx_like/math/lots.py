"""Loops over a batch whose worlds end at different times: each pass advances a lot of those that are not done."""

import functools
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.math.batching import of_worlds
from mjx_like.math.platform import on_cpu

Array = jax.Array

_LEAST_LOT, _LOTS = 32, 8  # worlds of a lot: a share of the batch, and at least so many
# likewise on a CPU for systems that are not small: a step is long beside the calls that it is made of
_LEAST_LARGE_LOT, _LARGE_LOTS = 8, 32
SMALL = 16  # unknowns of a small system: with more, what a group of worlds works on leaves the cache


class State(Protocol):
    """Where each world stands: a pytree whose leaves have the batch axis first."""

    done: Array  # bool, (batch,)


S = TypeVar("S", bound=State)


def advanced(step: Callable[[Any, S], S], fixed: Any, first: S, lot: int, holds: bool = False) -> S:
    """Return the state when all worlds are done, so that the slowest do not hold up the rest.

    step: (fixed, state) -> state of as many worlds as it is given; fixed: pytree, batch axis first; lot: worlds that
    are advanced at a time, at the most; holds: whether `step` keeps what a world that is done has found. Then a lot is
    advanced until half of its worlds are done, so that it is taken from the batch and put back less often.
    """
    advance = functools.partial(_advance_lot, lot, holds) if lot < first.done.size else _advance_all
    return lax.while_loop(lambda s: ~jnp.all(s.done), lambda s: advance(step, fixed, s), first)


def lot_of(batch: int, unknowns: int) -> int:
    """Return how many worlds of a batch are best advanced at a time, each by a system of so many unknowns."""
    if on_cpu() and unknowns > SMALL:
        return share(batch, _LEAST_LARGE_LOT, _LARGE_LOTS)
    return share(batch, _LEAST_LOT)


def share(batch: int, least: int, lots: int = _LOTS) -> int:
    """Return how many worlds make a lot where a batch has so many lots, unless that is fewer than `least`."""
    return max(least, batch // lots)


def _advance_all(step, fixed, s):
    """Return the state after one step of every world that is not done."""
    new = step(fixed, s)
    if s.done.size == 1:  # one world alone ends the loop when it is done
        return new
    return of_worlds(s.done, s, new)


def _advance_lot(lot, holds, step, fixed, s):
    """Return the state after a step of as many unfinished worlds as a lot has room for, or, if it holds, several."""
    batch = s.done.size
    unfinished, ids = lax.top_k(jnp.where(s.done, 0.0, 1.0).astype(jnp.float32), lot)
    fixed, own = jax.tree.map(lambda x: x.at[ids].get(mode="promise_in_bounds", unique_indices=True), (fixed, s))
    if holds:
        own = lax.while_loop(lambda s: 2 * jnp.sum(~s.done) > jnp.sum(unfinished), lambda s: step(fixed, s), own)
    else:
        own = step(fixed, own)
    target = jnp.where(unfinished > 0, ids, batch + jnp.arange(ids.size, dtype=ids.dtype))
    return jax.tree.map(lambda a, b: a.at[target].set(b, mode="drop", unique_indices=True), s, own)
