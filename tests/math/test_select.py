"""Counts, ranks and searches, as they are written for a CPU and for accelerators, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.constraint.assemble import nth_active
from mjx_like.math import select
from mjx_like.math.lists import keep_lowest, positions, sorted_with_places

VALUES = np.array([0.3, -1.0, 0.3, 2.0, -1.0, 0.0, 5.0])  # two ties
WEIGHTS = np.array([1, 2, 4, 8, 16, 32, 64], np.int32)


@pytest.fixture(params=["cpu", "gpu"], autouse=True)
def platform(request, monkeypatch):
    """The platform that operations are written for; they run on the CPU."""
    monkeypatch.setattr(jax, "default_backend", lambda: request.param)


def test_sum_of_lower():
    order = np.argsort(VALUES, kind="stable")
    expected = np.empty_like(WEIGHTS)
    expected[order] = np.cumsum(WEIGHTS[order]) - WEIGHTS[order]
    assert np.array_equal(jax.vmap(select.sum_of_lower)(VALUES[None], WEIGHTS[None])[0], expected)


@pytest.mark.parametrize("count", [WEIGHTS, WEIGHTS > 4, np.zeros(0, np.int32)])
def test_running_total(count):
    total = select.running_total(jnp.asarray(count))
    assert total.dtype == jnp.int32 and np.array_equal(total, np.cumsum(count))


@pytest.mark.parametrize("side", ["left", "right"])
def test_search(side):
    ascending, value = jnp.asarray([0, 0, 2, 5, 5]), jnp.asarray([-1, 0, 1, 2, 5, 6])
    found = select.search(ascending, value, side)
    assert found.dtype == jnp.int32 and np.array_equal(found, np.searchsorted(ascending, value, side=side))


def test_nth_active_counts_the_entries_before():
    total = jnp.asarray([0, 1, 1, 4, 4], jnp.int32)
    assert np.array_equal(nth_active(total, 6), [1, 3, 3, 3, 5, 5])


@pytest.mark.parametrize("capacity", [3, 7])
def test_the_lowest_are_kept_and_stand_in_order(capacity):
    wanted = np.array([True, True, True, False, True, True, True])
    key = np.where(wanted, VALUES, np.inf)
    kept = np.zeros(7, bool)
    kept[np.argsort(key, kind="stable")[:capacity]] = True
    found = keep_lowest(jnp.asarray(wanted), jnp.asarray(VALUES), capacity)
    assert np.array_equal(found, kept & wanted)
    where = np.flatnonzero(kept & wanted)
    assert np.array_equal(positions(found, capacity)[: where.size], where)


@pytest.mark.parametrize("most", [9, 2**31 // 40 + 1])
def test_sorted_with_places(most):
    """Of numbers too large to be sorted together with their places too."""
    key = np.random.default_rng(0).integers(0, 9, 40).astype(np.int32) * ((most - 1) // 8)
    found, places = sorted_with_places(jnp.asarray(key), most)
    order = np.argsort(key, kind="stable")
    np.testing.assert_array_equal(found, key[order])
    np.testing.assert_array_equal(places, order)
    assert found.dtype == places.dtype == jnp.int32
