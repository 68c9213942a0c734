"""The search's kernel for GPUs, run operation by operation on a CPU, against the plain search."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.hard import search_kernel as kernel
from mjx_like.hard.pair_rows import PairRows
from mjx_like.hard.problem import Problem, residuals
from mjx_like.hard.sample import sample_problems
from mjx_like.hard.search import search
from mjx_like.hard.search_anywhere import takes
from mjx_like.math.on_gpu import MOST
from tests.hard.test_search import unused

# dofs, pairs without friction, contacts, axes of friction, friction losses, dofs with limits
SIZES = {
    "all": (5, 3, 20, 2, 2, (1, 2, 4)),
    "pairs": (4, 20, 0, 2, 0),
    "contacts": (7, 0, 6, 5, 0),
    "losses": (3, 1, 0, 2, 17),
    "limits": (4, 1, 0, 2, 0, (1, 3)),
}
FIRST = "all"


def searched(method, p: Problem, nu, iterations=30):
    return jax.jit(jax.vmap(functools.partial(method, iterations)))(p, nu)


own = functools.partial(kernel.search_kernel, interpret=True)


@pytest.mark.parametrize("name", [FIRST, *(pytest.param(x, marks=pytest.mark.slow) for x in SIZES if x != FIRST)])
def test_kernel_finds_the_same_point_in_as_many_iterations(name):
    p, nu = sample_problems(*SIZES[name], worlds=6)
    found, plain = searched(own, p, nu), searched(search, p, nu)
    assert np.array_equal(found.iterations, plain.iterations) and np.ptp(found.iterations) > 0
    assert np.abs(found.error - plain.error).max() < 1e-10
    used = {"s": p.used, "gamma": p.used, "eta": p.contact.used, "c": p.contact.used[..., None]}
    for field in ("nu", "s", "gamma", "c", "eta", "loss_c", "loss_eta"):
        a, b = (np.asarray(getattr(x.best, field)) * np.asarray(used.get(field, 1.0)) for x in (found, plain))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11, err_msg=field)


def test_in_single_precision_each_step_is_that_of_the_plain_search():
    """Decisions between steps, as which contacts a step leaves behind, must not hang on rounding."""
    found, plain, args = kernel.search_trial(interpret=True)
    np.testing.assert_allclose(jax.jit(found)(*args), jax.jit(plain)(*args), atol=2e-5)


@pytest.mark.slow
def test_only_wanted_worlds_are_searched():
    p, nu = sample_problems(*SIZES[FIRST], worlds=3)
    wanted = jnp.array([True, False, True])
    found, every = jax.jit(jax.vmap(functools.partial(own, 30)))(p, nu, wanted), searched(own, p, nu)
    assert found.iterations[1] <= 0 < every.iterations[1]
    for a, b in ((found.best.nu, every.best.nu), (found.error, every.error)):
        np.testing.assert_array_equal(a[wanted], b[wanted])


@pytest.mark.slow
def test_rows_that_are_not_in_use_meet_their_conditions():
    p, nu = sample_problems(*SIZES[FIRST], worlds=3)
    found = searched(own, p, nu)
    r = jax.vmap(residuals)(p, found.best)
    assert not np.asarray(r.pair)[np.asarray(p.used) == 0].any() and np.isfinite(found.best.gamma).all()


@pytest.mark.slow
def test_a_search_that_is_cut_short_returns_its_best_point():
    p, nu = sample_problems(*SIZES[FIRST], worlds=3)
    for iterations in (0, 2):
        found, plain = (searched(f, p, nu, iterations) for f in (own, search))
        assert np.array_equal(found.iterations, plain.iterations)
        np.testing.assert_allclose(found.best.nu, plain.best.nu, atol=1e-11)


@pytest.mark.slow
def test_where_nothing_is_near_one_step_solves_the_motion():
    p, nu = sample_problems(*SIZES[FIRST], worlds=3)
    p = unused(p).replace(used=p.used * jnp.array([[0], [1], [1]]))
    found, plain = (searched(f, p, nu + 1) for f in (own, search))
    assert found.iterations[0] == plain.iterations[0] == 1 and found.iterations[1] > 1
    np.testing.assert_allclose(found.best.nu, plain.best.nu, atol=1e-9)


def test_a_problem_that_is_not_finite_ends_with_an_infinite_error():
    p, nu = sample_problems(*SIZES[FIRST], worlds=3)
    found = searched(own, p.replace(b=p.b.at[1].set(jnp.nan)), nu)
    assert found.error[1] == jnp.inf and found.iterations[1] == 0
    assert np.isfinite(np.asarray(found.best.nu)[[0, 2]]).all() and max(found.error[0], found.error[2]) < 1e-8


def test_kernel_takes_small_problems_in_single_precision():
    double, _ = sample_problems(*SIZES[FIRST], worlds=1)
    p = jax.tree.map(lambda x: x[0].astype(jnp.float32), double)
    assert takes(p) and not takes(double)
    assert not takes(p.replace(A=jnp.eye(MOST + 1, dtype=jnp.float32)))
    limits = p.replace(J=PairRows(p.J.rest[:0], p.J.limited))
    assert not takes(limits)
