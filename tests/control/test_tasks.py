"""Tasks: every one is solved from its guess. The arm and the quadruped compile for minutes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.control import ilqr, mppi, plan_costs
from mjx_like.control.tasks import TASKS, is_solved
from mjx_like.errors import InputError


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_ilqr_solves_it(name):
    task = TASKS[name]()
    held = mjx.rollout(task.m, task.d, task.ctrl)
    assert not is_solved(task, held.qpos, held.qvel), "the guess solves it already"
    found = ilqr(task.m, task.d, task.cost, task.ctrl, progress=False, **task.settings)
    trajectory = mjx.rollout(task.m, task.d, found.ctrl)
    assert is_solved(task, trajectory.qpos, trajectory.qvel), task.criterion
    assert found.cost < found.history[0] and np.all(np.diff(found.history) <= 0)


@pytest.mark.slow
def test_ilqr_pushes_the_box_with_hard_contact():
    task = TASKS["box_right"](contact="hard", gap=1e-3)
    found = ilqr(task.m, task.d, task.cost, task.ctrl, iterations=60, progress=False)
    trajectory = mjx.rollout(task.m, task.d, found.ctrl)
    assert is_solved(task, trajectory.qpos, trajectory.qvel), task.criterion
    assert found.cost < 1e-2 * found.history[0] and np.all(np.diff(found.history) <= 0)


@pytest.mark.parametrize("name", ["box_right", "pusher", "hopper"])
def test_a_task_takes_hard_contact(name):
    task = TASKS[name](contact="hard", gap=1e-3)
    assert task.m.opt.contact == "hard" and float(task.m.opt.gap) == 1e-3 and task.d.efc_type.shape == (task.m.njmax,)


@pytest.mark.slow
def test_samples_lift_the_box_where_no_derivative_points_up():
    task = TASKS["box_up"]()
    plan = jnp.zeros_like(task.ctrl)
    stuck = ilqr(task.m, task.d, task.cost, plan, progress=False)
    assert not is_solved(task, stuck.qpos, stuck.qvel)
    plan = mppi(task.m, task.d, task.cost, plan, jax.random.key(0), samples=64, rounds=60, noise=0.2, knots=6)
    cost, states = plan_costs(task.m, mjx.batch(task.d, 1), task.cost, plan[None])
    assert float(cost[0]) < 0.1 * float(stuck.cost)
    assert abs(float(states.qpos[0, -1, 1]) - 1) < 0.2


def test_a_target_that_is_not_there_is_named():
    with pytest.raises(InputError) as mistake:
        TASKS["box_up"].func("down")
    assert "'down'" in str(mistake.value) and "right, up" in str(mistake.value)
