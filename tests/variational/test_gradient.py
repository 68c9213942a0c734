"""Derivatives of steps: forward, reverse and differences; second order; Newton's method; transforms; float32."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.integrator.variational import mean_drag, smooth_problem
from mjx_like.variational.midpoint import joint_momentum, linearised, residual
from mjx_like.variational.step import displaced, joint_forces, step_problem, variational_velocity
from tests.support.tolerances import EXACT
from tests.variational.scene import ASTRONAUT, MIXED, SEVERAL, SPINNING, model, ready, run, state


@pytest.fixture(scope="module")
def m():
    return model(MIXED)


def after(m, steps):
    """Return the function from changes of position and velocity, and controls, to those after some steps."""
    start = state(m, 0)
    reached = run(m, start, steps)[0].qpos

    def end(x):
        d = start.replace(
            qpos=displaced(m, start.qpos, x[: m.nv]), qvel=start.qvel + x[m.nv : 2 * m.nv], ctrl=x[2 * m.nv :]
        )
        d = jax.lax.scan(lambda d, _: (mjx.step(m, d), None), d, None, steps)[0]
        return jnp.concatenate([mjx.differentiate_pos(m, reached, d.qpos), d.qvel])

    return end


@pytest.mark.parametrize("steps", [1, 10])
def test_forward_reverse_and_differences(m, steps):
    end = after(m, steps)
    x, eps = jnp.zeros(2 * m.nv + m.nu), 1e-5
    forward, reverse = jax.jit(jax.jacfwd(end))(x), jax.jit(jax.jacrev(end))(x)
    value = jax.jit(jax.vmap(end))
    sides = eps * jnp.eye(x.size)
    expected = (8 * (value(sides) - value(-sides)) - (value(2 * sides) - value(-2 * sides))).T / (12 * eps)
    np.testing.assert_allclose(reverse, forward, atol=1e-10 * np.abs(forward).max())
    np.testing.assert_allclose(forward, expected, atol=1e-7)
    assert np.abs(forward).max() > 1


def test_second_derivatives(m):
    end = after(m, 1)
    cost = lambda x: jnp.sum(end(x) ** 2)  # noqa: E731
    x, w, eps = jnp.zeros(2 * m.nv + m.nu), jnp.ones(2 * m.nv + m.nu), 1e-5
    slope = jax.jit(jax.grad(cost))
    product = jax.jit(lambda x, w: jax.jvp(slope, (x,), (w,))[1])(x, w)
    np.testing.assert_allclose(product, (slope(x + eps * w) - slope(x - eps * w)) / (2 * eps), rtol=1e-5, atol=1e-5)


def test_derivatives_in_parameters_and_at_rest(m):
    def end(mass, h, speed):
        changed = m.replace(body_mass=m.body_mass * mass, opt=m.opt.replace(timestep=h))
        d = ready(changed, state(m, 1, speed))
        return jnp.sum(variational_velocity(changed, d, joint_forces(changed, d)) ** 2)

    both = jax.jit(jax.grad(end, (0, 1)), static_argnums=2)
    value = jax.jit(end, static_argnums=2)
    for speed in (1.0, 0.0):
        found, eps = both(1.0, 0.02, speed), 1e-6
        by_mass = (value(1 + eps, 0.02, speed) - value(1 - eps, 0.02, speed)) / (2 * eps)
        by_step = (value(1.0, 0.02 + eps, speed) - value(1.0, 0.02 - eps, speed)) / (2 * eps)
        np.testing.assert_allclose(found, [by_mass, by_step], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("xml", [ASTRONAUT, MIXED, SEVERAL, SPINNING], ids=["floating", "mixed", "several", "free"])
def test_slope_is_that_of_the_residual(xml):
    """Beside forward mode, at large motions of all kinds of joints, and at none."""
    m = model(xml, 0.05)
    for speed in (3.0, 0.0):
        d = ready(m, state(m, 2, speed))
        p, nu = step_problem(m, d, joint_forces(m, d), mean_drag(m, d)), 0.9 * d.qvel
        slope, rest = jax.jit(linearised, static_argnums=0)(m.topology, p, nu)
        equation = jax.jit(lambda nu, p=p: residual(m.topology, p, nu))
        np.testing.assert_allclose(slope, jax.jacfwd(equation)(nu), atol=EXACT)
        np.testing.assert_allclose(rest, equation(nu), atol=EXACT)


def test_newton_converges(m):
    d = ready(m, state(m, 2, 3.0))
    p = step_problem(m, d, joint_forces(m, d), mean_drag(m, d))
    nu = variational_velocity(m, d, joint_forces(m, d), mean_drag(m, d))
    more = variational_velocity(m, d, joint_forces(m, d), mean_drag(m, d), iterations=12)
    np.testing.assert_allclose(residual(m.topology, p, nu), 0, atol=EXACT)
    np.testing.assert_allclose(nu, more, atol=1e-11)


def test_strong_damping_is_stable(m):
    """A hundred times what an explicit step could take."""
    m = m.replace(dof_damping=1000 * m.dof_damping)
    d = state(m, 3)
    for _ in range(20):
        d = jax.jit(mjx.step)(m, d)
    assert jnp.max(jnp.abs(d.qvel)) < 30


def test_batch_equals_loop(m):
    states = [state(m, seed) for seed in range(4)]
    many = jax.tree.map(lambda *x: jnp.stack(x), *states)
    found = jax.jit(jax.vmap(mjx.step, (None, 0)))(m, many)
    one = jax.jit(mjx.step)
    for i, d in enumerate(states):
        np.testing.assert_allclose(found.qvel[i], one(m, d).qvel, atol=1e-12)


def test_float32_is_as_exact_as_its_digits(m):
    """At a short step what is left of the equation is a few roundings of its momenta, not of positions over h."""
    m = model(MIXED, 1e-3)
    single = mjx.Model.from_xml_string(MIXED, dtype=np.float32)
    single = single.replace(opt=single.opt.replace(integrator="variational", timestep=jnp.float32(1e-3)))
    step, equation = jax.jit(mjx.step), jax.jit(lambda d: smooth_problem(m, mjx.forward(m, d)))
    for seed in range(10):
        d, e = state(m, seed), mjx.make_data(single)
        e = e.replace(qpos=d.qpos.astype(jnp.float32), qvel=d.qvel.astype(jnp.float32))
        found = step(single, e).qvel
        assert found.dtype == jnp.float32
        p = equation(d.replace(qpos=e.qpos.astype(float), qvel=e.qvel.astype(float)))
        rest = residual(m.topology, p, found.astype(float))
        momenta = joint_momentum(m.topology, p.bodies, p.bodies.h * found.astype(float))
        assert jnp.max(jnp.abs(rest)) < 4 * jnp.finfo(jnp.float32).eps * jnp.max(jnp.abs(momenta))
    slope = jax.jit(jax.grad(lambda v: jnp.sum(mjx.step(single, e.replace(qvel=v)).qvel ** 2)))(e.qvel * 0)
    assert np.isfinite(slope).all()


pytestmark = pytest.mark.slow
