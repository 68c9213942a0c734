"""The search by itself: how far steps can go, and batches of problems that are solved in lots and at a capacity."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.hard.boundary import room
from mjx_like.hard.interior_point import begin, tolerance
from mjx_like.hard.problem import Point, Problem, contact_bound, rates, residuals, sliding_friction, times
from mjx_like.hard.sample import sample_problems
from mjx_like.hard.search import search

NV, NPLAIN, NCONE = 4, 3, 24
WORLDS = 72  # so that lots are of 32
FALL, GAP = 0.1, 1e-4  # of the samples


@pytest.fixture(scope="module")
def problems() -> tuple[Problem, jax.Array]:
    """Problems, and the velocities without contacts."""
    return sample_problems(NV, NPLAIN, NCONE, axes=2, nloss=2, worlds=WORLDS)


@pytest.fixture(scope="module")
def worlds(problems) -> Problem:
    return problems[0]


@pytest.fixture(scope="module")
def starts(problems):
    return problems[1]


@pytest.fixture(scope="module")
def found(worlds, starts):
    return jax.jit(jax.vmap(functools.partial(search, 30)))(worlds, starts)


def test_a_batch_meets_the_conditions(worlds, found):
    np.testing.assert_array_less(found.error, tolerance(jnp.float64))
    assert found.iterations.max() < 30
    r = jax.vmap(residuals)(worlds, found.best)
    np.testing.assert_allclose(r.motion, 0, atol=1e-10)
    np.testing.assert_allclose(r.s, 0, atol=1e-10)
    np.testing.assert_allclose(r.pair, 0, atol=1e-8 * GAP * FALL)
    assert worlds.contact.used.sum(axis=1).max() > 4 and (found.best.gamma * worlds.used).max() > FALL


def test_a_batch_is_what_its_worlds_are_alone(worlds, starts, found):
    one = jax.jit(functools.partial(search, 30))
    for i in range(0, WORLDS, 12):
        alone = one(jax.tree.map(lambda x, i=i: x[i], worlds), starts[i])
        np.testing.assert_allclose(found.best.nu[i], alone.best.nu, atol=1e-9)
        assert int(found.iterations[i]) == int(alone.iterations)


def _some(x, where):
    return jax.tree.map(lambda x: x[where], x)


@pytest.mark.slow
def test_worlds_of_few_and_of_many_cones_are_searched_apart():
    p, starts = sample_problems(18, NPLAIN, NCONE, worlds=20)  # too many dofs for lanes; capacities of 8 and 24 cones
    used = p.contact.used.sum(axis=1)
    assert (used > 8).any() and (used < 8).any()
    many = jax.jit(jax.vmap(functools.partial(search, 30)))
    batched, few = many(p, starts), many(*_some((p, starts), used < 8))
    one = jax.jit(functools.partial(search, 30))
    for i in (0, 8, 14, 19):
        alone = one(jax.tree.map(lambda x, i=i: x[i], p), starts[i])
        np.testing.assert_allclose(batched.best.nu[i], alone.best.nu, atol=1e-9)
        assert int(batched.iterations[i]) == int(alone.iterations)
    jax.tree.map(np.testing.assert_array_equal, few, _some(batched, used < 8))


@pytest.mark.slow
def test_no_iterations_leave_the_start(worlds, starts):
    at = jax.jit(jax.vmap(functools.partial(search, 0)))(worlds, starts)
    assert not at.iterations.any()
    np.testing.assert_array_equal(at.best.nu, starts)


@pytest.mark.slow
def test_only_wanted_worlds_are_searched(worlds, starts, found):
    wanted = jnp.arange(WORLDS) % 3 == 0
    at = jax.jit(jax.vmap(functools.partial(search, 30)))(worlds, starts, wanted)
    np.testing.assert_array_equal(at.iterations, jnp.where(wanted, found.iterations, 0))
    np.testing.assert_allclose(at.best.nu[wanted], found.best.nu[wanted], atol=1e-12)


def unused(p: Problem) -> Problem:
    """Return the problems with nothing near."""
    off = jnp.zeros_like
    contact, loss = (x.replace(used=off(x.used)) for x in (p.contact, p.loss))
    return p.replace(used=off(p.used), contact=contact, loss=loss)


@pytest.mark.slow
def test_where_nothing_is_near_one_step_solves_the_motion(worlds, starts):
    at = jax.jit(jax.vmap(functools.partial(search, 30)))(unused(worlds), starts + 1)
    assert (at.iterations == 1).all()
    np.testing.assert_allclose(at.best.nu, jnp.linalg.solve(worlds.A, worlds.b[..., None])[..., 0], atol=1e-11)


def inside(p: Problem, z: Point) -> np.ndarray:
    """Return whether pairs, contacts' cones and friction losses are inside their bounds, for one point."""
    size = functools.partial(np.linalg.norm, axis=-1)
    bound, slide, lost = contact_bound(p, z.gamma), times(p.contact.J, z.nu), times(p.loss.J, z.nu)
    parts = (z.s > 0, z.gamma > 0, size(z.loss_c) < p.bound, size(lost) < z.loss_eta)
    pairs = all(
        bool(np.all(x | ~(u > 0))) for x, u in zip(parts, (p.used, p.used, p.loss.used, p.loss.used), strict=True)
    )
    cones = (size(z.c) < bound) & (size(slide) < z.eta) | ~(p.contact.used > 0)
    return np.array([pairs, *np.asarray(cones)])


def moved(z: Point, d: Point, length) -> Point:
    return jax.tree.map(lambda x, y: x + length * y, z, d)


def test_a_step_goes_to_the_boundary(worlds, starts):
    """Just before the end that is told of, each part is inside; just behind it is not."""
    rng, count = np.random.default_rng(0), 0
    for i in range(WORLDS - 6, WORLDS):
        p = jax.tree.map(lambda x, i=i: x[i], worlds)
        z = begin(30, p, starts[i]).z
        d = jax.tree.map(lambda x: jnp.asarray(rng.normal(size=x.shape)) * (0.3 * jnp.abs(x) + 1e-4), z)
        limits = room(p, z, d, rates(p, z.nu), rates(p, d.nu))
        ends = np.array([limits.others, *limits.contacts])
        for part in np.flatnonzero(ends < 1e5):
            before, behind = (inside(p, moved(z, d, f * ends[part]))[part] for f in (1 - 1e-6, 1 + 1e-6))
            assert before and not behind
            count += 1
        assert inside(p, moved(z, d, 0.999 * limits.all())).all()
    assert count > 12


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_a_cone_that_does_not_slide_ends_where_its_bound_is_gone(worlds, dtype):
    """Both roots are one there, which rounding must not lose."""
    p = jax.tree.map(lambda x: x[WORLDS // 2].astype(dtype), worlds)
    p = p.replace(contact=p.contact.replace(J=jnp.zeros_like(p.contact.J)))
    rng = np.random.default_rng(0)
    z = begin(30, p, jnp.zeros(NV, dtype)).z
    still = rates(p, z.nu)
    for scale in rng.uniform(1, 2, 40):
        c, eta = sliding_friction(p.contact, contact_bound(p, z.gamma), still.contact, jnp.asarray(scale, dtype))
        at = z.replace(c=c, eta=eta)
        d = jax.tree.map(jnp.zeros_like, z).replace(gamma=jnp.asarray(-scale / 3 * z.gamma, dtype))
        used = np.asarray(p.contact.used) > 0
        np.testing.assert_allclose(np.asarray(room(p, at, d, still, still).contacts)[used], 3 / scale, rtol=1e-2)
    assert used.any()
