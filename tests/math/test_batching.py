"""What sees a whole batch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.math.batching import MODERATE, capacities, each_with_capacity, largest, with_capacity

COUNT = jnp.array([[1, 5, 2], [0, 3, 7]])


def steps(count):
    """Return how many steps of a loop were made until the largest count of all worlds was reached, and a sum."""
    state = jax.lax.while_loop(
        lambda s: s[0] < largest(count), lambda s: (s[0] + 1, s[1] + jnp.where(s[0] < count, 1, 0)), (0, 0)
    )
    return state


def test_the_largest_of_a_batch_is_the_same_for_all():
    assert steps(COUNT[0, 1]) == (5, 5)
    for function, worlds in ((jax.vmap(steps), COUNT[0]), (jax.vmap(jax.vmap(steps)), COUNT)):
        made, own = jax.jit(function)(worlds)
        np.testing.assert_array_equal(own, worlds)
        assert (made == worlds.max()).all()


def test_a_loop_with_one_end_copies_nothing():
    def text(end):
        worlds = jax.vmap(lambda n: jax.lax.while_loop(lambda i: i < end(n), lambda i: i + 1, 0))
        return jax.jit(worlds).lower(COUNT[0]).as_text()

    assert "select" in text(lambda n: n)
    assert "select" not in text(largest)


@pytest.mark.parametrize("limit", [MODERATE, 4 * MODERATE, 4 * MODERATE + 1, 6000])
def test_one_world_takes_a_moderate_capacity_of_many_where_that_is_enough(limit):
    def taken(need):
        return int(with_capacity(capacities(limit), jnp.array([need]), lambda size: jnp.int32(size)))

    least = MODERATE if limit > 4 * MODERATE else limit
    assert (taken(3), taken(MODERATE), taken(limit)) == (least, least, limit)
    assert limit <= MODERATE or taken(MODERATE + 1) == limit


def test_a_batch_takes_the_least_capacity_that_holds_all():
    def taken(*need):
        return int(with_capacity((32, 64, 500), jnp.array(need), lambda size: jnp.int32(size)))

    assert (taken(3, 32), taken(33, 1), taken(65, 2), taken(900, 2)) == (32, 64, 500, 500)


def test_each_world_takes_the_least_capacity_that_holds_it():
    def sized(size, own, x):
        return {"size": jnp.full(x.shape, size), "x": jnp.where(own, x, jnp.nan)}

    need, x = jnp.array([3, 65, 33, 32, 900]), jnp.arange(5.0)
    taken = each_with_capacity((32, 64, 500), need, sized, x)
    assert taken["size"].tolist() == [32, 500, 64, 32, 500]
    np.testing.assert_array_equal(taken["x"], x)
    alone = each_with_capacity((32, 64, 500), need[:1], sized, x[:1])
    assert alone["size"].tolist() == [500]
