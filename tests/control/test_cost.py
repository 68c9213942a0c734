"""Costs: values against MuJoCo, derivatives against JAX's own of the closed form."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.control import Cost, ilqr, plan_costs
from mjx_like.control.cost import evaluate, quadratic
from mjx_like.errors import InputError
from tests.control.models import PENDULUM, mass, mass_guess, mass_start, pendulum, pendulum_cost, pendulum_start


@pytest.mark.slow
def test_a_plan_costs_what_a_loop_in_mujoco_adds_up():
    """Poses are those of the knot: a stale site would be one step off."""
    ctrl = np.random.default_rng(0).uniform(-1, 1, (2, 9, 1))
    found, _ = plan_costs(pendulum, mjx.batch(pendulum_start, 2), pendulum_cost, ctrl)
    m, expected = mujoco.MjModel.from_xml_string(PENDULUM), []
    for plan in ctrl:
        d, total = mujoco.MjData(m), 0.0
        d.qpos[:] = np.pi
        for u in plan:
            mujoco.mj_kinematics(m, d)
            off = d.site_xpos[0] - [0, 0, 0.5]
            total += 0.5 * (0.04 * off @ off + 0.0004 * d.qvel @ d.qvel + 0.0025 * u @ u)
            d.ctrl[:] = u
            mujoco.mj_step(m, d)
        mujoco.mj_kinematics(m, d)
        off = d.site_xpos[0] - [0, 0, 0.5]
        expected.append(total + 0.5 * 25 * (off @ off + 0.01 * d.qvel @ d.qvel))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_residuals_have_the_gauss_newton_hessian():
    d = pendulum_start.replace(qpos=jnp.array([0.7]), qvel=jnp.array([0.3]), ctrl=jnp.array([0.2]))
    found = jax.jit(lambda d: quadratic(pendulum_cost.running, pendulum, d, 1))(d)

    def residuals(z):  # the tip is at 0.5 (sin, 0, cos)
        angle = 0.7 + z[0]
        off = jnp.stack([0.5 * jnp.sin(angle), 0.5 * jnp.cos(angle) - 0.5])
        return jnp.concatenate([0.2 * off, 0.02 * (0.3 + z[1:2]), 0.05 * (0.2 + z[2:])])

    J, r = jax.jacfwd(residuals)(jnp.zeros(3)), residuals(jnp.zeros(3))
    np.testing.assert_allclose(found.gradient, J.T @ r, atol=1e-12)
    np.testing.assert_allclose(found.hessian, J.T @ J, atol=1e-12)


@pytest.mark.parametrize("angle, curved", [(0.4, True), (2.5, False)])
def test_numbers_have_their_hessian_without_negative_curvature(angle, curved):
    d = mass_start.replace(qpos=jnp.array([angle]))
    cost = lambda m, d: -jnp.cos(d.qpos[0]) + d.qvel[0] ** 2  # noqa: E731
    found = jax.jit(lambda d: quadratic(cost, mass, d, 1))(d)
    np.testing.assert_allclose(found.gradient, [np.sin(angle), 1.0, 0], atol=1e-12)
    expected = np.diag([np.cos(angle) if curved else 0, 2, 0])
    np.testing.assert_allclose(found.hessian, expected, atol=1e-12)


def test_a_number_and_residuals_of_the_same_cost_are_equal():
    number = evaluate(lambda m, d: 0.5 * jnp.sum(d.qpos**2), mass, mass_start)
    assert float(number) == float(evaluate(lambda m, d: d.qpos, mass, mass_start)) == 0.5


@pytest.mark.parametrize(
    "cost, part",
    [
        (None, "cost=None: must be Cost(running, final)"),
        (Cost(3, 4), "must be Cost(running, final)"),
        (Cost(lambda m, d: d.xpos, lambda m, d: d.qpos), "cost.running returns shape (2, 3)"),
        (Cost(lambda m, d: d.qpos, lambda m, d: None), "cost.final returns no array"),
        (Cost(lambda m, d: d.qpos / 0, lambda m, d: d.qpos), "the cost of start 0 is not finite at the guess"),
    ],
)
def test_messages(cost, part):
    with pytest.raises(InputError) as mistake:
        ilqr(mass, mass_start, cost, mass_guess, progress=False)
    assert part in str(mistake.value) and "\n" not in str(mistake.value)
