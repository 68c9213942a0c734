"""Loops over a batch by lots: every world ends as it would alone, however often a lot is put back."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.math.lots import advanced


class Count(NamedTuple):
    """A number that falls by a fixed share until it is below 1, what it was at the end, and how often it fell."""

    x: jax.Array
    found: jax.Array
    falls: jax.Array
    done: jax.Array


def step(share, s):
    x, own = share * s.x, ~s.done
    found, falls = jnp.where(own, x, s.found), s.falls + own
    return Count(x, found, falls, s.done | (x < 1))


@pytest.mark.parametrize("lot", [1, 3, 10, 40])
@pytest.mark.parametrize("holds", [False, True])
def test_every_world_ends_as_it_would_alone(lot, holds):
    rng = np.random.default_rng(0)
    share, start = rng.uniform(0.2, 0.95, 40), rng.uniform(0.5, 50, 40)
    wanted = np.maximum(np.ceil(np.log(start) / -np.log(share)), 0).astype(int)
    first = Count(jnp.asarray(start), jnp.asarray(start), jnp.zeros(40, int), jnp.asarray(start < 1))
    end = jax.jit(functools.partial(advanced, step, lot=lot, holds=holds))(jnp.asarray(share), first)
    np.testing.assert_array_equal(end.falls, wanted)
    np.testing.assert_allclose(end.found, start * share**wanted, rtol=1e-12)
    assert np.all(end.done)


@pytest.mark.parametrize(("holds", "steps"), [(False, 3), (True, 4)])
def test_a_lot_that_holds_goes_on_until_half_of_it_is_done(holds, steps):
    calls = []

    def counted(fixed, s):
        jax.debug.callback(lambda _: calls.append(None), s.x, ordered=True)
        return step(fixed, s)

    start = jnp.array([1.5, 7, 7, 7, 1.5])  # the last one takes the place of the first, or waits for a lot of its own
    first = Count(start, start, jnp.zeros(5, int), start < 1)
    jax.block_until_ready(advanced(counted, jnp.full(5, 0.5), first, 4, holds=holds))
    jax.effects_barrier()
    assert len(calls) == steps
