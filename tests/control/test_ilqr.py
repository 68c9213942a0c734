"""ilqr: Riccati's solution on a linear system, bounds, segments, batches, and a pendulum that must swing up."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

import mjx_like as mjx
from mjx_like.control import best, ilqr
from mjx_like.errors import InputError
from tests.control import models as on


def riccati():
    """Return gains and cost of the finite-horizon regulator of the mass."""
    A, B = on.mass_matrices()
    V, Q, R, gains = np.diag(on.FINAL), np.diag(on.WEIGHTS), np.array([[0.25]]), []
    for _ in range(on.STEPS):
        K = -np.linalg.solve(R + B.T @ V @ B, B.T @ V @ A)
        V = Q + A.T @ V @ (A + B @ K)
        gains.append(K)
    x = np.array([1.0, 0.5])
    return np.stack(gains[::-1]), 0.5 * x @ V @ x


@pytest.fixture(scope="module")
def unlimited():
    return ilqr(on.mass, on.mass_start, on.mass_cost, on.mass_guess, regularisation=0, progress=False)


def test_on_a_linear_system_it_is_riccatis_regulator(unlimited):
    gains, cost = riccati()
    np.testing.assert_allclose(unlimited.cost, cost, rtol=1e-9)
    np.testing.assert_allclose(unlimited.K, gains, rtol=1e-5)  # which have the least regularisation, 1e-6
    np.testing.assert_allclose(unlimited.history[1], cost, rtol=1e-7)  # in one iteration
    assert unlimited.converged and np.all(np.diff(unlimited.history) <= 0)


def test_the_result_is_a_rollout_of_its_controls(unlimited):
    trajectory = mjx.rollout(on.mass, on.mass_start, unlimited.ctrl)
    np.testing.assert_allclose(unlimited.qpos, trajectory.qpos, atol=1e-12)
    np.testing.assert_allclose(unlimited.cost, on.mass_total(np.asarray(unlimited.ctrl)[:, 0]), rtol=1e-10)


def test_limits_hold_and_the_end_is_the_bounded_optimum():
    found = ilqr(on.mass, on.mass_start, on.mass_cost, on.mass_guess, limits=[[-3, 3]], progress=False)
    bounds = [(-3, 3)] * on.STEPS
    expected = minimize(on.mass_total, np.zeros(on.STEPS), bounds=bounds, method="L-BFGS-B", tol=1e-14)
    assert np.abs(found.ctrl).max() == 3
    np.testing.assert_allclose(found.cost, expected.fun, rtol=1e-6)
    at_bound = np.abs(found.ctrl[:, 0]) == 3
    np.testing.assert_array_equal(np.asarray(found.K)[at_bound], 0)


@pytest.mark.slow
@pytest.mark.parametrize("segments", [4, on.STEPS])
def test_segments_come_to_the_same_trajectory_without_gaps(segments, unlimited):
    options = dict(segments=segments, regularisation=0, progress=False)
    found = ilqr(on.mass, on.mass_start, on.mass_cost, on.mass_guess, **options)
    np.testing.assert_allclose(found.cost, unlimited.cost, rtol=1e-7)
    np.testing.assert_allclose(found.ctrl, unlimited.ctrl, atol=1e-4)
    assert found.defect < 1e-7


@pytest.mark.slow
def test_several_starts_are_each_what_they_are_alone(unlimited):
    starts = mjx.batch(on.mass_start, qpos=np.array([[1.0], [-0.3]]))
    options = dict(regularisation=0, progress=False)
    found = ilqr(on.mass, starts, on.mass_cost, on.mass_guess, **options)
    np.testing.assert_allclose(found.ctrl[0], unlimited.ctrl, atol=1e-9)
    assert found.history.shape[0] == found.cost.shape[0] == 2 and found.converged.all()
    alone = best(found)
    assert float(alone.cost) == found.cost.min() and alone.ctrl.shape == on.mass_guess.shape


@pytest.fixture(scope="module")
def swung():
    guess = jnp.stack([on.pendulum_guess, -2 * on.pendulum_guess])
    return ilqr(on.pendulum, on.pendulum_start, on.pendulum_cost, guess, progress=False)


@pytest.mark.slow
def test_a_pendulum_with_a_weak_motor_swings_up(swung):
    assert np.all(np.cos(swung.qpos[:, -1, 0]) > 0.99) and np.all(np.abs(swung.qvel[:, -1]) < 0.5)
    assert np.all(np.abs(swung.ctrl) <= 1) and np.any(np.abs(swung.ctrl) == 1)


@pytest.mark.slow
def test_gains_bring_a_pushed_pendulum_back(swung):
    """Feedback in the forward pass and in use: without it the push is far off at the end."""
    x = jax.tree.map(lambda x: x[0], swung._replace(seconds=None))
    first = on.pendulum_start
    qpos, qvel = (jnp.concatenate([getattr(first, n)[None], getattr(x, n)[:-1]]) for n in ("qpos", "qvel"))

    def policy(d, inputs):
        u, K, qpos, qvel = inputs
        return jnp.clip(u + K @ jnp.concatenate([d.qpos - qpos, d.qvel - qvel]), -1, 1)

    pushed = first.replace(qvel=jnp.array([0.1]))
    held = mjx.rollout(on.pendulum, pushed, policy=policy, inputs=(x.ctrl, x.K, qpos, qvel))
    free = mjx.rollout(on.pendulum, pushed, x.ctrl)
    off = [abs(float(t.qpos[-1, 0] - x.qpos[-1, 0])) for t in (held, free)]
    assert off[0] < 0.25 * off[1]


@pytest.mark.slow
def test_smoothing_expands_another_model_and_keeps_the_costs_of_this_one():
    found = ilqr(on.mass, on.mass_start, on.mass_cost, on.mass_guess, smoothing=1e-3, progress=False)
    np.testing.assert_allclose(found.cost, on.mass_total(np.asarray(found.ctrl)[:, 0]), rtol=1e-10)


@pytest.mark.slow
def test_float32():
    m = mjx.Model.from_xml_string(on.MASS, dtype="float32")
    d = mjx.make_data(m).replace(qpos=jnp.ones(1, "float32"), qvel=jnp.full(1, 0.5, "float32"))
    found = ilqr(m, d, on.mass_cost, jnp.zeros((on.STEPS, 1), "float32"), progress=False)
    assert found.ctrl.dtype == jnp.float32 and found.converged
    np.testing.assert_allclose(found.cost, riccati()[1], rtol=1e-4)


@pytest.mark.parametrize(
    "ctrl, options, part",
    [
        (np.zeros((4, 2)), {}, "ctrl has shape (4, 2); it must be (steps, nu) or (starts, steps, nu), with nu=1"),
        (np.full((4, 1), np.nan), {}, "ctrl has numbers that are not finite"),
        ("zero", {}, "must be an array of numbers"),
        (np.zeros((4, 1)), {"segments": 3}, "segments=3: must divide the number of steps, 4"),
        (np.zeros((4, 1)), {"limits": np.zeros((2, 2))}, "limits have shape (2, 2)"),
        (np.zeros((4, 1)), {"limits": [[1, -1]]}, "the lowest must not be above the highest"),
        (np.zeros((4, 1)), {"segments": 2, "states": 3}, "states.qpos has shape ()"),
        (np.zeros((4, 1)), {"iterations": -1}, "iterations=-1"),
        (np.zeros((4, 1)), {"tolerance": -1.0}, "tolerance=-1.0: must be"),
        (np.zeros((4, 1)), {"regularisation": "much"}, "regularisation='much': must be"),
    ],
)
def test_messages(ctrl, options, part):
    with pytest.raises(InputError) as mistake:
        ilqr(on.mass, on.mass_start, on.mass_cost, ctrl, progress=False, **options)
    assert part in str(mistake.value) and "\n" not in str(mistake.value)
