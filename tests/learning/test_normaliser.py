"""Running mean and variance against NumPy's of all data."""

import jax
import numpy as np
import pytest

from mjx_like.learning.normaliser import empty, normalise, update


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_moments_are_those_of_all_batches(offset):
    """Each batch is shared by two devices; a large mean cancels nothing, in float32."""
    data = (np.random.default_rng(0).normal(size=(5, 2, 30, 3)) * (1, 10, 0.1) + offset).astype(np.float32)
    seen = empty(3, np.float32)
    share = jax.vmap(update, in_axes=(None, 0), out_axes=None, axis_name="worlds")
    for batch in data:
        seen = share(seen, batch)
    rows = data.reshape(-1, 3).astype(np.float64)
    assert seen.count == len(rows)
    np.testing.assert_allclose(seen.mean, rows.mean(axis=0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.sqrt(seen.squares / seen.count), rows.std(axis=0), rtol=2e-3)
    normal = normalise(seen, rows.astype(np.float32))
    np.testing.assert_allclose(normal.mean(axis=0), 0, atol=2e-2)
    np.testing.assert_allclose(normal.std(axis=0), 1, rtol=1e-2)


def test_an_empty_one_changes_nothing_and_outliers_are_cut():
    obs = np.array([[0.5, -2.0], [50.0, -50.0]])
    np.testing.assert_array_equal(normalise(empty(2, obs.dtype), obs), [[0.5, -2.0], [10.0, -10.0]])
