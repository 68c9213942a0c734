"""box_qp: the minimum of a quadratic in a box, against SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from mjx_like.control.box_qp import box_qp


@pytest.mark.parametrize("n", [1, 3, 7])
def test_minimum_is_that_of_scipy(n):
    rng = np.random.default_rng(n)
    roots, targets = rng.normal(size=(30, n + 2, n)), 3 * rng.normal(size=(30, n + 2))
    low, high = -rng.uniform(0, 1, (30, n)), rng.uniform(0, 1, (30, n))
    hessians, gradients = np.einsum("kij,kil->kjl", roots, roots), -np.einsum("kij,ki->kj", roots, targets)
    found = jax.jit(jax.vmap(box_qp))(hessians, gradients, low, high)
    for k in range(30):
        expected = lsq_linear(roots[k], targets[k], (low[k], high[k]), tol=1e-14).x
        np.testing.assert_allclose(found.x[k], expected, atol=1e-6)
    at_bound = (found.x <= low) | (found.x >= high)
    assert np.any(at_bound) and np.all(np.asarray(found.free) | np.asarray(at_bound))


def test_without_bounds_it_is_a_solve_and_the_factor_that_of_the_hessian():
    root = np.random.default_rng(0).normal(size=(5, 4))
    hessian, gradient, wide = root.T @ root, np.arange(4.0), np.full(4, np.inf)
    found = box_qp(jnp.asarray(hessian), jnp.asarray(gradient), -wide, wide)
    np.testing.assert_allclose(found.x, -np.linalg.solve(hessian, gradient), rtol=1e-9)
    np.testing.assert_allclose(found.factor @ found.factor.T, hessian, atol=1e-12)
