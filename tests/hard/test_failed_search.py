"""A search that fails is made again from rest, then without the friction of contacts, and nothing penetrates."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.hard import attempts, newton
from mjx_like.hard.interior_point import fails, tolerance
from mjx_like.hard.newton import without_impulses
from mjx_like.hard.problem import residuals, without_friction
from mjx_like.hard.sample import sample_problems
from mjx_like.hard.search import search
from mjx_like.math.batching import of_worlds

SLIDER = """<mujoco><option timestep="0.01"/><worldbody>
  <geom name="floor" type="plane" size="9 9 .1" friction="0.5 .01 .001"/>
  <body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".1" mass="1" friction="0.5 .01 .001"/></body>
</worldbody></mujoco>"""
SPEED = 1.0


def stepped(m, speed):
    """Return Data after one step of a ball that slides and falls."""
    return mjx.step(m, mjx.make_data(m).replace(qvel=jnp.array([speed, -1.0])))


@pytest.fixture
def all_fail(monkeypatch):
    """Every trial of Newton's method fails, the last, without friction, as well."""
    monkeypatch.setattr(newton, "_found", lambda trial, error: jnp.zeros_like(trial, bool))


@pytest.fixture(scope="module")
def m():
    return mjx.with_hard_contact(mjx.Model.from_xml_string(SLIDER), gap=1e-5)


def rests(d):
    return 0 < d.qpos[1] < 1e-3 and d.efc_force[0] > 50


@pytest.mark.slow
def test_friction_that_is_found(m):
    d = jax.jit(functools.partial(stepped, m))(SPEED)
    assert int(d.unconverged) == 0 and rests(d)
    np.testing.assert_allclose(d.qvel[0], SPEED - 0.5 * (1 + 9.81 * 0.01), atol=1e-3)


@pytest.mark.slow
def test_friction_is_left_out_and_nothing_penetrates(m, all_fail):
    d = jax.jit(functools.partial(stepped, m))(SPEED)
    assert int(d.unconverged) == 1 and rests(d)
    np.testing.assert_allclose(d.qvel[0], SPEED, atol=1e-12)
    np.testing.assert_array_equal(d.efc_force[1:], 0)


@pytest.mark.slow
def test_its_derivative_is_that_of_the_step_that_was_made(m, all_fail):
    def end(speed):
        d = stepped(m, speed)
        return jnp.concatenate([d.qpos, d.qvel])

    np.testing.assert_allclose(jax.jit(jax.jacfwd(end))(SPEED), [0.01, 0, 1, 0], atol=1e-9)


@pytest.mark.slow
def test_where_all_fail_the_best_point_is_kept_and_counted(m):
    few = mjx.with_hard_contact(m, gap=1e-5, iterations=1, refresh=0)
    d = jax.jit(functools.partial(stepped, few))(SPEED)
    assert int(d.unconverged) == 1 and d.solver_residual > 1e-3
    assert int(d.solver_niter) == len(newton._TRIALS) and np.all(np.isfinite(d.qvel))


@pytest.mark.slow
def test_only_the_worlds_that_fail_are_searched_again(monkeypatch):
    monkeypatch.setattr(attempts, "on_cpu", lambda: False)  # by the interior point method
    p, nu = sample_problems(nv=4, nplain=3, ncone=8, nloss=2, worlds=40)

    def many(method, p, nu):
        return jax.jit(jax.vmap(functools.partial(method, 8)))(p, nu)  # steps that are enough for some of them

    def all_attempts(iterations, p, nu):
        return attempts.attempts(iterations, p, nu, without_impulses(p, nu))

    found = many(all_attempts, p, nu)
    failed = found.failed
    tries = [many(search, p, nu), many(search, p, jnp.zeros_like(nu))]
    tries.append(many(search, jax.vmap(without_friction)(p, jnp.ones(40, bool)), nu))
    first, second = (np.asarray(fails(x.error)) for x in tries[:2])
    assert np.array_equal(failed, first & second) and failed.any() and (first & ~second).any() and not first.all()
    for name in ("best", "error"):
        from_first, from_rest, without = (getattr(x, name) for x in tries)
        expected = of_worlds(failed, without, of_worlds(first, from_rest, from_first))
        jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-12), getattr(found, name), expected)
    made = [np.ones(40, bool), first, failed]
    np.testing.assert_array_equal(found.iterations, sum(x * t.iterations for x, t in zip(made, tries, strict=True)))


def test_the_last_trial_of_newtons_method_has_no_friction(all_fail):
    p, nu = sample_problems(nv=4, nplain=3, ncone=8, nloss=2, worlds=40)
    found = jax.jit(jax.vmap(lambda p, nu: attempts.attempts(30, p, nu, without_impulses(p, nu))))(p, nu)
    assert np.all(found.failed) and np.max(found.error) <= tolerance(jnp.float64)
    without = jax.vmap(without_friction)(p, found.failed)
    r = jax.vmap(residuals)(without, found.best)
    np.testing.assert_allclose(r.motion, 0, atol=1e-10)
    assert np.any(p.contact.used > 0) and not np.any(found.best.c)
