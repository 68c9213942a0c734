"""A search that fails is made again from rest, then without the friction of contacts, and nothing penetrates."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.hard import attempts
from mjx_like.hard.interior_point import fails, tolerance
from mjx_like.hard.newton import TRIALS, without_impulses
from mjx_like.hard.problem import without_friction
from mjx_like.hard.sample import sample_problems
from mjx_like.hard.search import near_search, search
from mjx_like.math.batching import of_worlds

SLIDER = """<mujoco><option timestep="0.01"/><worldbody>
  <geom name="floor" type="plane" size="9 9 .1" friction="0.5 .01 .001"/>
  <body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".1" mass="1" friction="0.5 .01 .001"/></body>
</worldbody></mujoco>"""
SPEED = 1.0
FALLEN = 0.02  # [m] below which the first, failed search would leave the ball


def never(p):
    return False


def with_friction(p):
    return jnp.any(p.contact.used > 0)


def always(p):
    return True


def stepped(m, fails):
    """Return the function of a speed: Data after one step in which searches of such problems fail."""

    def failing(iterations, p, start, wanted):
        found = near_search(iterations, p, start, wanted)
        z, failed = found.best, fails(p)
        z = z.replace(nu=jnp.where(failed, z.nu.at[1].set(-FALLEN / 0.01), z.nu))
        return found._replace(best=z, error=jnp.where(failed, 1e3, found.error))

    def run(speed):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(attempts, "near_search", failing)
            return mjx.step(m, mjx.make_data(m).replace(qvel=jnp.array([speed, -1.0])))

    return run


@pytest.fixture(scope="module")
def m():
    return mjx.with_hard_contact(mjx.Model.from_xml_string(SLIDER), gap=1e-5)


@pytest.mark.slow
def test_friction_is_left_out_and_nothing_penetrates(m):
    found, lost = (jax.jit(stepped(m, fails))(SPEED) for fails in (never, with_friction))
    assert int(found.unconverged) == 0 and int(lost.unconverged) == 1
    np.testing.assert_allclose(found.qvel[0], SPEED - 0.5 * (1 + 9.81 * 0.01), atol=1e-3)
    np.testing.assert_allclose(lost.qvel[0], SPEED, atol=1e-12)
    for d in (found, lost):
        assert 0 < d.qpos[1] < 1e-3 and d.efc_force[0] > 50
    np.testing.assert_array_equal(lost.efc_force[1:], 0)


@pytest.mark.slow
def test_its_derivative_is_that_of_the_step_that_was_made(m):
    run = stepped(m, with_friction)

    def end(speed):
        d = run(speed)
        return jnp.concatenate([d.qpos, d.qvel])

    np.testing.assert_allclose(jax.jit(jax.jacfwd(end))(SPEED), [0.01, 0, 1, 0], atol=1e-9)


@pytest.mark.slow
def test_where_all_fail_the_best_point_is_kept_and_counted(m):
    d = jax.jit(stepped(m, always))(SPEED)
    assert int(d.unconverged) == 1 and float(d.solver_residual) == 1e3
    np.testing.assert_allclose(d.qpos[1], -FALLEN, atol=1e-9)


@pytest.mark.slow
def test_only_the_worlds_that_fail_are_searched_again(monkeypatch):
    monkeypatch.setattr(attempts, "on_cpu", lambda: False)  # by the interior point method
    p, nu = sample_problems(nv=4, nplain=3, ncone=8, nloss=2, worlds=40)

    def many(method, p, nu):
        return jax.jit(jax.vmap(functools.partial(method, 8)))(p, nu)  # steps that are enough for some of them

    def all_attempts(iterations, p, nu):
        return attempts.attempts(iterations, p, nu, without_impulses(p, nu))

    found, failed = many(all_attempts, p, nu)
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


def test_later_trials_of_newtons_method_begin_at_rest_and_the_last_has_no_friction():
    p, nu = sample_problems(nv=4, nplain=3, ncone=8, nloss=2, worlds=40)
    seen = []

    def failing(iterations, p, start, wanted):
        jax.debug.callback(lambda *x: seen.append(x), start.trial, start.nu, p.contact.used, wanted)
        found = near_search(iterations, p, start, wanted)
        return found._replace(error=jnp.where(start.trial < TRIALS - 1, 1e3, found.error))

    def all_attempts(p, nu):
        return attempts.attempts(30, p, nu, without_impulses(p, nu))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attempts, "near_search", failing)
        found, failed = jax.jit(jax.vmap(all_attempts))(p, nu)
    assert np.all(failed) and np.max(found.error) <= tolerance(jnp.float64)
    assert sorted(int(trial) for trial, *_ in seen) == sorted(40 * list(range(TRIALS)))
    for trial, begin, used, wanted in seen:
        assert wanted and bool(np.any(begin)) == (trial == 0) and (trial < TRIALS - 1 or not np.any(used))
