"""What sees a whole batch."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.batching import largest

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
