"""Systems with explicit contacts: the same solution, right in single precision too, where bodies are light."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.hard import implicit_gradient, newton
from mjx_like.hard.augmented import AugmentedSystem, explicit_in_search, system_of
from mjx_like.hard.elimination import Free, System, free_pairs
from mjx_like.hard.implicit_gradient import solution
from mjx_like.hard.interior_point import fails
from mjx_like.hard.newton import without_impulses
from mjx_like.hard.problem import changes, contact_bound, rates, residuals, with_masses
from mjx_like.hard.sample import sample_problems
from mjx_like.hard.search import near_search

WORLDS, NV, CONTACTS = 40, 20, 8
ITERATIONS = 30


def problems(light):
    """Problems of a body of 1 kg that comes at 2 m/s, with dofs that move bodies of other masses [kg]."""
    p, _ = sample_problems(nv=NV, nplain=2, ncone=CONTACTS, nloss=2, limited=(1, 5), worlds=WORLDS)
    size = np.sqrt(np.where(np.arange(NV) > 0, light, 1.0))
    A = (np.eye(NV) + 0.1 * p.A) * size * size[:, None]
    nu = np.where(np.arange(NV) > 0, np.random.default_rng(2).normal(size=(WORLDS, NV)), -2.0)
    own = np.eye(NV)[[3, 4]][:, None] + np.zeros((WORLDS, 1, 1, 1))
    p = p.replace(A=A, b=jnp.einsum("wij,wj->wi", A, nu), loss=p.loss.replace(J=jnp.asarray(own)))
    p = jax.vmap(with_masses)(p)
    k = jnp.where(p.used > 0, 1e-5 * p.fall * p.mass, 1)
    cones = p.contact.replace(k=jnp.where(p.contact.used > 0, 1e-4 * p.fall[:, :1] * p.contact.mass, 1))
    return p.replace(k=k, contact=cones), jnp.asarray(nu)


def single(x):
    return jax.tree.map(lambda x: x.astype(jnp.float32) if jnp.issubdtype(x.dtype, jnp.floating) else x, x)


def starts(p, nu):
    return jax.vmap(without_impulses)(p, nu)


@pytest.fixture(scope="module")
def given():
    return problems(light=1e-4)


@pytest.fixture(scope="module")
def searched():
    """The compiled search of a batch; another one for each precision."""
    return jax.jit(jax.vmap(functools.partial(near_search, ITERATIONS)))


@pytest.fixture(scope="module")
def found(given, searched):
    found = searched(given[0], starts(*given))
    assert not np.any(fails(found.error))
    return found


def cones(p, z, at):
    return (contact_bound(p, z.gamma), z.c, z.eta, at.contact), (p.bound, z.loss_c, z.loss_eta, at.loss)


def step_of(count, p, z):
    """The step of Newton's method at a point, from a system in which so many contacts are explicit."""
    at = rates(p, z.nu)
    (contact, push, grown), (loss, held, lost) = (newton._linear(*cone) for cone in cones(p, z, at))
    r = residuals(p, z, at)
    f = Free(r.s, free_pairs(z, r.s, 0.0), push, grown, held, lost)
    system = AugmentedSystem(p, z, contact, loss, count) if count else System(p, z, contact, loss)
    x = jnp.linalg.solve(system.matrix(), system.side(r.motion, f))
    return system.step(f, x, changes(p, x[:NV]))


def step_beside(count, target, p, z):
    """The step from a point beside a solution, with products so many times as large."""
    nu = z.nu + 1e-3 * jnp.cos(jnp.arange(NV)).astype(z.nu.dtype)
    return step_of(count, p, newton._on_path(p, z.replace(nu=nu), rates(p, nu), target))


@pytest.mark.parametrize("count", [1, CONTACTS])
def test_the_step_is_that_of_the_system_in_the_velocity(searched, count):
    p, nu = problems(light=1)
    z = searched(p, starts(p, nu)).best
    own, other = (jax.jit(jax.vmap(functools.partial(step_beside, n, 1e3)))(p, z) for n in (count, 0))
    for a, b in zip(jax.tree.leaves(own), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9 * np.max(np.abs(b)))


def apart(a, b):
    """By how much velocities differ, over the largest of each world."""
    return np.max(np.abs(a - b), axis=1) / np.max(np.abs(b), axis=1)


def of_the_velocity_alone(monkeypatch, module):
    monkeypatch.setattr(module, "system_of", lambda p, z, contact, loss, count: System(p, z, contact, loss))


def test_in_single_precision_the_step_is_right_where_that_of_the_velocity_alone_is_not(given, found):
    exact = given[0], found.best

    def step(count, args):
        return jax.jit(jax.vmap(functools.partial(step_beside, count, 1.0)))(*args).nu

    right = step(0, exact)
    explicit, alone = (apart(step(n, single(exact)), right) for n in (CONTACTS // 2, 0))
    assert np.median(explicit) < 0.01 and np.max(explicit) < 0.5
    assert np.percentile(alone, 90) > 0.2 and np.max(alone) > 5


def test_searches_in_single_precision_find_what_double_precision_finds(given, found, searched, monkeypatch):
    args = single((given[0], starts(*given)))
    own = searched(*args)
    assert not np.any(own.failed) and np.max(apart(own.best.nu, found.best.nu)) < 1e-3
    of_the_velocity_alone(monkeypatch, newton)
    other = jax.jit(jax.vmap(functools.partial(near_search, ITERATIONS)))(*args)
    assert np.max(apart(other.best.nu, found.best.nu)) > 1e-3
    assert np.mean(own.iterations) < 0.9 * np.mean(other.iterations)


def test_derivatives_in_single_precision_are_right(given, monkeypatch):
    p, nu = given
    change = jnp.asarray(np.random.default_rng(1).normal(size=nu.shape))

    def rate(p, nu, change):
        def velocity(b):
            return solution(ITERATIONS, p.replace(b=b), nu, without_impulses(p, nu)).best.nu

        return jax.jvp(velocity, (p.b,), (change,))[1], jax.vjp(velocity, p.b)[1](change)[0]

    def errors(right):
        return [apart(*x) for x in zip(jax.jit(jax.vmap(rate))(*single((p, nu, change))), right, strict=True)]

    right = jax.jit(jax.vmap(rate))(p, nu, change)
    for own in errors(right):
        assert np.median(own) < 2e-3 and np.max(own) < 0.05
    of_the_velocity_alone(monkeypatch, implicit_gradient)
    for alone in errors(right):
        assert np.percentile(alone, 90) > 0.1 and np.max(alone) > 1


def test_small_models_and_double_precision_have_none(given, found):
    large, z = jax.tree.map(lambda x: x[0], (given[0], found.best))
    small = jax.tree.map(lambda x: x[0], sample_problems(nv=16)[0])
    assert explicit_in_search(large) == 1 and explicit_in_search(small) == 0
    at = rates(large, z.nu)
    linear = [newton._linear(*cone)[0] for cone in cones(large, z, at)]
    sizes = {
        (x.A.dtype.name, n): system_of(x, *rest, n).matrix().shape[0]
        for n in (0, 2)
        for x, *rest in ((large, z, *linear), single((large, z, *linear)))
    }
    assert sizes == {("float64", 0): NV, ("float64", 2): NV, ("float32", 0): NV, ("float32", 2): NV + 2 * 3}
