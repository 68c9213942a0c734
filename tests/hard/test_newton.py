"""Newton's method on the central path: it finds what the interior point method finds, and goes on where one ended."""

import functools
import itertools

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
import pytest

from mjx_like.hard import newton
from mjx_like.hard.attempts import attempts
from mjx_like.hard.interior_point import error_of, tolerance
from mjx_like.hard.kept import Kept, start_from
from mjx_like.hard.newton import Start, without_impulses
from mjx_like.hard.problem import changes, rates, residuals, without_friction
from mjx_like.hard.sample import sample_problems
from mjx_like.hard.search import near_search, search
from mjx_like.math.one_kernel import TESTED

WORLDS = 40
SIZES = {"nv": 4, "nplain": 3, "ncone": 12, "nloss": 2, "limited": (1, 3), "worlds": WORLDS}


@pytest.fixture(scope="module")
def problems():
    return sample_problems(**SIZES)


def solved(p, nu):
    """All trials, the first from a velocity that nothing is known of."""
    return jax.jit(jax.vmap(lambda p, nu: attempts(30, p, nu, without_impulses(p, nu))))(p, nu)


@pytest.fixture(scope="module")
def near():
    """The compiled search, from a start."""
    return jax.jit(jax.vmap(functools.partial(near_search, 30)))


@pytest.fixture(scope="module")
def found(problems):
    found = solved(*problems)
    assert not np.any(found.failed)
    return found


def test_it_finds_what_the_interior_point_method_finds(problems, found):
    p, nu = problems
    assert np.max(found.error) <= tolerance(jnp.float64)
    r = jax.vmap(residuals)(p, found.best)
    for name in ("motion", "s"):
        np.testing.assert_allclose(getattr(r, name), 0, atol=1e-10)
    np.testing.assert_allclose(r.pair, 0, atol=1e-8 * np.max(p.k[p.used > 0]))
    other = jax.jit(jax.vmap(functools.partial(search, 30)))(p, nu)
    ends = other.error <= tolerance(jnp.float64)
    assert np.mean(ends) > 0.9
    np.testing.assert_allclose(found.best.nu[ends], other.best.nu[ends], atol=1e-8)


@pytest.fixture(scope="module")
def walks(problems):
    """Where the searches stand before the first and after each of seven steps."""
    p, nu = problems
    start = jax.vmap(lambda p, nu: newton.begin(30, p, without_impulses(p, nu)))(p, nu)
    step = jax.jit(jax.vmap(functools.partial(newton.advance, 30)))
    return list(itertools.accumulate(range(7), lambda w, _: step(p, w), initial=start))


def test_the_first_trial_has_a_fifth_of_the_steps_and_the_others_find_the_rest(found, walks):
    first = walks[6]
    ends = first.trial == 0
    assert np.all(first.done[ends]) and np.all(first.error[ends] <= tolerance(jnp.float64))
    assert 0.2 < np.mean(ends) < 0.7 and not np.any(first.done[~ends])
    np.testing.assert_array_equal(found.iterations[ends], first.iterations[ends])
    assert np.all(found.iterations[~ends] > 6)


def test_a_first_trial_that_takes_large_steps_ends_early(problems, walks):
    large = 0
    for steps, (before, after) in enumerate(itertools.pairwise(walks[:6]), 1):
        p, early = problems[0], (before.trial == 0) & (after.trial == 1)
        size = jnp.max(jnp.abs(after.change.momentum), axis=1) / jnp.max(jnp.abs(p.b), axis=1)
        assert np.all(size[early] > 0.1) and (steps >= 3 or not np.any(early))
        large += np.sum(early)
    assert large > 5


def test_the_next_trial_begins_at_rest(problems, walks):
    begun = [(before.steps == 0) & (before.trial == 1) for before in walks[:-1]]
    assert np.sum(begun) > 20
    for before, after, own in zip(walks[:-1], walks[1:], begun, strict=True):
        assert np.all(np.isinf(before.error[own])) and not np.any(before.done[own] | before.within[own])
        np.testing.assert_array_equal(after.z.nu[own], 0)
        assert np.all(after.steps[own] == 1) and np.all(after.iterations[own] == before.iterations[own] + 1)


def test_at_the_solution_it_ends_at_once(problems, found, near):
    p, _ = problems
    z = found.best
    again = near(p, Start(z.nu, z.gamma, z.c, z.loss_c))
    assert np.max(again.iterations) <= 2
    np.testing.assert_allclose(again.best.nu, z.nu, atol=1e-9)


def test_groups_of_worlds_in_single_precision_find_the_same(problems, found):
    single = solved(*jax.tree.map(lambda x: x.astype(jnp.float32), problems))
    well = ~single.failed
    assert np.mean(well) > 0.9
    np.testing.assert_allclose(single.best.nu[well], found.best.nu[well], atol=2e-3)


@pytest.mark.skipif(jaxlib.__version__ not in TESTED, reason="no kernels in this release")
def test_groups_of_worlds_are_one_kernel(problems):
    p, nu = jax.tree.map(lambda x: x.astype(jnp.float32), problems)

    def lowered(p, nu):
        return jax.vmap(functools.partial(near_search, 30))(p, jax.vmap(without_impulses)(p, nu))

    assert "xla_cpu_small_call" in jax.jit(lowered).lower(p, nu).as_text()


def test_a_part_of_a_step_is_taken_where_that_leaves_less_of_the_motion(problems, found):
    """A step away from the solution is taken by 0.3."""
    p, z = jax.tree.map(lambda x: x[0], (problems[0], found.best))
    at = rates(p, z.nu)
    away = jax.random.normal(jax.random.PRNGKey(0), z.nu.shape)
    step, change = jax.tree.map(jnp.zeros_like, z).replace(nu=away), changes(p, away)
    walk = newton.begin(30, p, without_impulses(p, z.nu))._replace(z=z, at=at, step=step, change=change)
    new, there, _ = newton._on_path_after(p, walk, 1.0)
    np.testing.assert_allclose(new.nu, z.nu + 0.3 * away, atol=1e-12)
    jax.tree.map(functools.partial(np.testing.assert_allclose, atol=1e-9), there, rates(p, new.nu))


def test_targets_fall_in_equal_ratios_to_the_products_of_the_problem():
    walk = newton.begin(30, *_one_problem())
    for trial, large, steps in ((0, 1, 6), (1, 1e4, 6), (2, 1e4, 20), (3, 1e2, 20), (4, 1e6, 20)):
        aims = [float(newton._target(30, walk._replace(trial=trial, steps=i))) for i in range(30)]
        np.testing.assert_allclose(aims, [max(large ** (1 - i / steps), 1) for i in range(30)], rtol=1e-12)


def _one_problem():
    p, nu = jax.tree.map(lambda x: x[0], sample_problems(nv=4, nplain=2, ncone=5, nloss=1, worlds=1))
    return p, without_impulses(p, nu)


def test_no_more_steps_than_are_asked_for_and_the_best_point_is_kept(problems):
    p, nu = problems
    few = jax.jit(jax.vmap(functools.partial(near_search, 2)))(p, jax.vmap(without_impulses)(p, nu))
    assert np.max(few.iterations) == 1 + 4 * 2 and np.any(few.failed) and np.max(few.error) > tolerance(jnp.float64)
    has_point = np.isfinite(few.error)
    without = jax.vmap(without_friction)(p, few.failed)
    error = jax.vmap(lambda p, z: error_of(p, z, residuals(p, z), newton._MOTION))(without, few.best)
    assert np.any(few.failed & has_point)
    np.testing.assert_allclose(error[has_point], few.error[has_point], rtol=1e-6)


def test_the_size_of_a_sliding_velocity():
    rng = np.random.default_rng(0)
    e, held, x = (10 ** rng.uniform(low, high, 10_000) for low, high in ((-8, 1), (-8, 3), (-9, 3)))
    size = x + held * x / (e + np.sqrt(e * e + x * x))
    root = newton._sliding(size, held, e)
    np.testing.assert_allclose(root + held * root / (e + np.sqrt(e * e + root * root)), size, rtol=1e-14)


def test_two_numbers_with_a_difference_and_a_product():
    difference, product = np.array([3.0, -3.0, 0.0, 1e6, -1e6]), np.array([4.0, 4.0, 4.0, 1e-12, 1e-12])
    first, second = newton._pairs(difference, product)
    np.testing.assert_allclose(first * second, product, rtol=1e-14)
    np.testing.assert_allclose(first - second, difference, rtol=1e-14)
    np.testing.assert_array_equal(first[:2], [4, 1])


class Contacts:
    """What `start_from` reads of contacts."""

    def __init__(self, pairs):
        self.geom = jnp.array(pairs)


def test_contacts_keep_the_impulses_of_their_pair():
    p, nu = jax.tree.map(lambda x: x[0], sample_problems(nv=4, nplain=2, ncone=5, nloss=1, worlds=1))
    before = [(0, 3), (0, 4), (1, 5), (2, 6), (-1, -1)]
    after = [(0, 2), (0, 3), (1, 5), (2, 6), (2, 7)]  # one new, one gone, one new at the end
    gamma, c = jnp.arange(1.0, 8.0), jnp.arange(10.0).reshape(5, 2)
    kept = Kept(gamma, c, jnp.full((1, 1), 0.5), jnp.array(before))
    begin = start_from(p, Contacts(after), nu, kept)
    np.testing.assert_array_equal(begin.gamma, [1, 2, 0, 3, 5, 6, 0])
    np.testing.assert_array_equal(begin.c[1:4], c[jnp.array([0, 2, 3])])
    np.testing.assert_array_equal(begin.c[jnp.array([0, 4])], 0)
    np.testing.assert_array_equal(begin.loss_c, kept.loss_c)
