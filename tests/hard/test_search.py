"""The search by itself: how far steps can go, and batches of problems that are solved in lots and at a capacity."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.hard.boundary import room
from mjx_like.hard.interior_point import begin, tolerance
from mjx_like.hard.problem import Cones, Point, Problem, contact_bound, friction, residuals, times
from mjx_like.hard.search import search

NV, NPLAIN, NCONE, NLOSS = 4, 3, 24, 2
WORLDS = 72  # so that lots are of 32
H, FALL, GAP = 0.01, 0.1, 1e-4


def world(seed: int) -> Problem:
    """A problem of masses that fall on random contacts, of which the first few are in use; all give way to one move."""
    rng = np.random.default_rng(seed)
    used = np.concatenate([np.ones(NPLAIN), np.arange(NCONE) < rng.integers(0, 7)])
    J = np.hstack([np.ones((NPLAIN + NCONE, 1)), 0.5 * rng.normal(size=(NPLAIN + NCONE, NV - 1))]) * used[:, None]
    rubs = used[NPLAIN:]
    slide = 0.5 * rng.normal(size=(NCONE, 2, NV)) * rubs[:, None, None]
    mix = 0.3 * rng.normal(size=(NV, NV))
    return Problem(
        A=np.eye(NV) + mix @ mix.T,
        b=rng.normal(size=NV) - 2 * (np.arange(NV) == 0),
        h=np.float64(H),
        J=J,
        distance=np.where(used > 0, rng.uniform(0, 0.02, used.shape), 1),
        k=np.where(used > 0, GAP * FALL, 1),
        used=used,
        fall=np.full(used.shape, FALL),
        gap=np.full(used.shape, GAP),
        contact=Cones(J=slide, k=np.where(rubs > 0, 10 * GAP * FALL, 1), used=rubs),
        loss=Cones(J=rng.normal(size=(NLOSS, 1, NV)), k=np.full(NLOSS, 1e-4), used=np.ones(NLOSS)),
        bound=np.full(NLOSS, 0.02),
    )


@pytest.fixture(scope="module")
def worlds() -> Problem:
    return jax.tree.map(lambda *x: jnp.asarray(np.stack(x)), *(world(seed) for seed in range(WORLDS)))


@pytest.fixture(scope="module")
def starts(worlds):
    """The velocities without contacts."""
    return jnp.linalg.solve(worlds.A, worlds.b[..., None])[..., 0]


@pytest.fixture(scope="module")
def found(worlds, starts):
    return jax.jit(jax.vmap(functools.partial(search, 30)))(worlds, starts)


def test_a_batch_meets_the_conditions(worlds, found):
    np.testing.assert_array_less(found.error, tolerance(jnp.float64))
    assert found.done.all() and found.iterations.max() < 30
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


def test_no_iterations_leave_the_start(worlds, starts):
    at = jax.jit(jax.vmap(functools.partial(search, 0)))(worlds, starts)
    assert at.done.all() and not at.iterations.any()
    np.testing.assert_array_equal(at.best.nu, starts)


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
    for i in range(6):
        p = jax.tree.map(lambda x, i=i: x[i], worlds)
        z = begin(30, p, starts[i]).z
        d = jax.tree.map(lambda x: jnp.asarray(rng.normal(size=x.shape)) * (0.3 * jnp.abs(x) + 1e-4), z)
        limits = room(p, z, d)
        ends = np.array([limits.others, *limits.contacts])
        for part in np.flatnonzero(ends < 1e5):
            before, behind = (inside(p, moved(z, d, f * ends[part]))[part] for f in (1 - 1e-6, 1 + 1e-6))
            assert before and not behind
            count += 1
        assert inside(p, moved(z, d, 0.999 * limits.all())).all()
    assert count > 12


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_a_cone_that_does_not_slide_ends_where_its_bound_is_gone(dtype):
    """Both roots are one there, which rounding must not lose."""
    p = jax.tree.map(lambda x: jnp.asarray(x, dtype), world(3))
    p = p.replace(contact=p.contact.replace(J=jnp.zeros_like(p.contact.J)))
    rng = np.random.default_rng(0)
    z = begin(30, p, jnp.zeros(NV, dtype)).z
    for scale in rng.uniform(1, 2, 40):
        c, eta = friction(contact_bound(p, z.gamma), times(p.contact.J, z.nu), jnp.asarray(scale, dtype) * p.contact.k)
        at = z.replace(c=c, eta=eta)
        d = jax.tree.map(jnp.zeros_like, z).replace(gamma=jnp.asarray(-scale / 3 * z.gamma, dtype))
        used = np.asarray(p.contact.used) > 0
        np.testing.assert_allclose(np.asarray(room(p, at, d).contacts)[used], 3 / scale, rtol=1e-2)
    assert used.any()
