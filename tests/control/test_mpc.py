"""mpc: plans from each state, shifted plans to begin with, and a simulator that is not the planner's model."""

import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.control import controller_of, ilqr, mpc, mppi
from mjx_like.control.mpc import shifted
from mjx_like.errors import InputError
from tests.control import models as on

PLAN = on.mass_guess[:20]


def by_riccati(steps, every, horizon):
    """Return the controls of the mass with the regulator of the horizon, begun anew every few steps."""
    (A, B), x, applied = on.mass_matrices(), np.array([1.0, 0.5]), []
    V, gains = np.diag(on.FINAL), []
    for _ in range(horizon):
        K = -np.linalg.solve(0.25 + B.T @ V @ B, B.T @ V @ A)
        V = np.diag(on.WEIGHTS) + A.T @ V @ (A + B @ K)
        gains.insert(0, K)
    for t in range(steps):
        applied.append(gains[t % every] @ x)
        x = A @ x + B @ applied[-1]
    return np.array(applied)


@pytest.mark.slow
def test_on_a_linear_system_it_is_the_regulator_begun_anew():
    controller = controller_of(ilqr, on.mass_cost, iterations=2, regularisation=0.0)
    run = mpc(on.mass, on.mass_start, controller, PLAN, steps=60, every=5, progress=False)
    np.testing.assert_allclose(run.ctrl, by_riccati(60, 5, len(PLAN)), atol=1e-4)
    assert run.trajectory.qpos.shape == (60, 1) and run.seconds.shape == (12,)
    np.testing.assert_allclose(run.trajectory.qpos, mjx.rollout(on.mass, on.mass_start, run.ctrl).qpos, atol=1e-12)


@pytest.mark.slow
def test_samples_come_near_the_regulator():
    controller = controller_of(mppi, on.mass_cost, rounds=5, samples=64)
    run = mpc(on.mass, on.mass_start, controller, PLAN, steps=60, every=5, progress=False)
    regulator = by_riccati(60, 5, len(PLAN))[:, 0]  # which costs a sixth of no control
    assert on.mass_total(np.asarray(run.ctrl)[:, 0]) < 1.2 * on.mass_total(regulator)


def test_each_plan_begins_with_the_last_one_shifted():
    seen = []

    def controller(m, d, ctrl, key):
        seen.append((float(d.time), np.asarray(ctrl)[:, 0]))
        return jnp.arange(4.0)[:, None] + len(seen)

    mpc(on.mass, on.mass_start, controller, jnp.zeros((4, 1)), steps=6, every=3, progress=False)
    np.testing.assert_allclose([time for time, _ in seen], [0, 0.15])
    np.testing.assert_array_equal(seen[1][1], [4, 4, 4, 4])
    np.testing.assert_array_equal(shifted(jnp.arange(4.0)[:, None], 1)[:, 0], [1, 2, 3, 3])


@pytest.mark.parametrize(
    "options, part",
    [
        ({"every": 5, "steps": 12}, "every=5: must divide steps=12"),
        ({"every": 30, "steps": 60}, "at most the horizon, 20"),
        ({"controller": 3}, "controller=3: must be a function (m, d, ctrl, key) -> ctrl"),
        ({"controller": lambda m, d, ctrl, key: ctrl[1:]}, "returned shape (19, 1) at step 0; it must be (20, 1)"),
        ({"controller": lambda m, d, ctrl, key: ctrl + jnp.nan}, "plan at step 0 has numbers that are not finite"),
        ({"d": mjx.batch(on.mass_start, 2)}, "runs one world"),
    ],
)
def test_messages(options, part):
    arguments = {"d": on.mass_start, "controller": lambda m, d, ctrl, key: ctrl, "steps": 6} | options
    with pytest.raises(InputError) as mistake:
        mpc(on.mass, arguments.pop("d"), arguments.pop("controller"), PLAN, progress=False, **arguments)
    assert part in str(mistake.value) and "\n" not in str(mistake.value)
