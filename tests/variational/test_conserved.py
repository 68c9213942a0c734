"""What the scheme keeps: momenta at any time step, energy up to the second order; and its order of convergence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.variational.conserved import kinetic_energy, mean_velocity, momentum, velocity_at_instant
from tests.variational.scene import ASTRONAUT, MIXED, SPINNING, model, ready, run, started, state

LIGHT_TENDON = MIXED.replace('armature=".05" stiffness', "stiffness")  # whose bias would be of the first order


def kept(m, d):
    d = mjx.forward(m, d)
    return (*momentum(m, d), kinetic_energy(m, d))


def euler_energy(m, d):
    d = mjx.forward(m, d)
    return 0.5 * d.qvel @ d.M @ d.qvel


@pytest.mark.parametrize("h", [0.1, 0.01, 0.001])
def test_momenta_of_a_floating_chain_with_motors(h):
    """Motors act between bodies: ten seconds leave both momenta of the midpoint rule as they were, at 1e-10."""
    m, steps = model(ASTRONAUT, h), round(10 / h)
    d = state(m, 0)
    controls = jnp.asarray(0.3 * np.random.default_rng(0).uniform(-1, 1, (steps, m.nu)))
    start = jax.jit(kept)(m, d)
    end, along = run(m, d, steps, each=kept, controls=controls)
    assert np.abs(np.asarray(end.qvel - d.qvel)).max() > 0.1
    for before, after in zip(start[:2], along[:2], strict=True):
        np.testing.assert_allclose(after, np.broadcast_to(before, after.shape), atol=1e-10, rtol=0)


def test_energy_of_a_floating_chain_is_bounded_and_of_the_second_order():
    """Without controls: over ten seconds at three steps, and over a hundred at the longest."""
    errors = []
    for h in (0.1, 0.05, 0.025):
        errors.append(energy_error(h, round(10 / h)))
    assert errors[0] < 5e-4
    ratio = np.divide(errors[:-1], errors[1:])
    np.testing.assert_allclose(ratio, 4, atol=0.3)
    assert energy_error(0.1, 1000) < 2 * errors[0]


def energy_error(h, steps):
    m = model(ASTRONAUT, h)
    d = started(m, state(m, 0))
    start, energy = jax.jit(kept)(m, d)[2], run(m, d, steps, each=kept)[1][2]
    return float(jnp.max(jnp.abs(energy - start)) / start)


def test_euler_loses_energy_faster():
    """Semi-implicit Euler, the same chain and step."""
    m = model(ASTRONAUT, 0.1)
    m, d = m.replace(opt=m.opt.replace(integrator="Euler")), state(m, 0)
    energy, start = run(m, d, 100, each=euler_energy)[1], euler_energy(m, ready(m, d))
    assert jnp.max(jnp.abs(energy - start)) / start > 100 * energy_error(0.1, 100)


def speed(m, d):
    return d.qvel[4]


def test_spin_about_the_middle_axis_flips_and_keeps_its_energy():
    m = model(SPINNING, 0.02)
    d = mjx.make_data(m)
    d = d.replace(qvel=jnp.array([0, 0, 0, 1e-3, 5.0, 1e-3]))
    start = jax.jit(kept)(m, d)
    end, (linear, angular, energy) = run(m, d, 1000, each=kept)
    spins = run(m, d, 1000, each=speed)[1]
    assert spins.min() < -4.5 and spins.max() > 4.5
    np.testing.assert_allclose(angular, np.broadcast_to(start[1], angular.shape), atol=1e-12)
    np.testing.assert_allclose(energy, start[2], rtol=3e-3)


def true_state(m, d, time):
    """Return the state of fourth-order Runge-Kutta with very small steps, from a velocity at the instant."""
    fine = m.replace(opt=m.opt.replace(timestep=2.5e-4, integrator=mjx.IntegratorType.RK4))
    return run(fine, d, round(time / 2.5e-4))[0]


@pytest.mark.parametrize("xml", [ASTRONAUT, LIGHT_TENDON], ids=["floating", "mixed"])
def test_converges_with_the_second_order(xml):
    """Positions and, by the discrete Legendre transform, velocities at the instant; with gravity, springs, damping."""
    m = model(xml, 0.01)
    d, time = state(m, 4), 0.4
    d = d.replace(ctrl=jnp.full(m.nu, 0.3))
    exact = true_state(m, d, time)
    errors = []
    for h in (0.02, 0.01, 0.005):
        m = model(xml, h)
        end = ready(m, run(m, started(m, d), round(time / h))[0])
        place = mjx.differentiate_pos(m, exact.qpos, end.qpos)
        speed = velocity_at_instant(m, end) - exact.qvel
        errors.append([float(jnp.linalg.norm(x)) for x in (place, speed)])
    ratio = np.divide(errors[:-1], errors[1:])
    assert errors[-1][0] < 1e-2
    np.testing.assert_array_less(3.3, ratio)
    np.testing.assert_array_less(ratio[1], 4.8)


def test_velocities_at_an_instant_and_back():
    """Where forces do not depend on the velocity, that of the one is undone by the other."""
    m = model(LIGHT_TENDON)
    m = m.replace(dof_damping=0 * m.dof_damping)
    d = state(m, 6)
    d = d.replace(qfrc_applied=jnp.ones(m.nv))
    mean = d.replace(qvel=jax.jit(mean_velocity)(m, ready(m, d)))
    back = jax.jit(velocity_at_instant)(m, ready(m, mean))
    assert jnp.max(jnp.abs(mean.qvel - d.qvel)) > 1e-2
    np.testing.assert_allclose(back, d.qvel, atol=1e-11)


def test_step_agrees_with_euler_for_small_steps():
    m = model(MIXED, 1e-6)
    d = ready(m, state(m, 7))
    np.testing.assert_allclose((jax.jit(mjx.step)(m, d).qvel - d.qvel) / 1e-6, d.qacc_smooth, rtol=1e-3, atol=1e-3)


pytestmark = pytest.mark.slow
