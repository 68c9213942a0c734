"""linearise: A and B along a trajectory, against MuJoCo's differences."""

import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.control import linearise
from mjx_like.errors import InputError
from tests.control.models import PENDULUM, pendulum, pendulum_start

STEPS = 6


@pytest.fixture(scope="module")
def ctrl():
    return jnp.asarray(np.random.default_rng(0).uniform(-1, 1, (STEPS, 1)))


@pytest.fixture(scope="module")
def trajectory(ctrl):
    return mjx.rollout(pendulum, pendulum_start, ctrl)


def by_mujoco(ctrl):
    m = mujoco.MjModel.from_xml_string(PENDULUM)
    d, found = mujoco.MjData(m), []
    d.qpos[:] = np.pi
    for u in ctrl:
        d.ctrl[:] = u
        A, B = np.zeros((2, 2)), np.zeros((2, 1))
        mujoco.mjd_transitionFD(m, d, 1e-6, True, A, B, None, None)
        found.append((A, B))
        mujoco.mj_step(m, d)
    return [np.stack(x) for x in zip(*found, strict=True)]


@pytest.mark.parametrize("groups", [*(pytest.param(x, marks=pytest.mark.slow) for x in (((8, 1024),), ((8, 4),))), ()])
def test_every_step_is_that_of_mujoco_however_they_are_mapped(groups, ctrl, trajectory, monkeypatch):
    monkeypatch.setattr("mjx_like.control.linearisation.TOGETHER", groups)
    found = linearise(pendulum, pendulum_start, ctrl, trajectory)
    for ours, theirs in zip(found, by_mujoco(ctrl), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-7)


@pytest.mark.parametrize(
    "change, part",
    [
        (lambda u, t: (u[:, 0], t), "ctrl has shape (6,); it must be (steps, nu)"),
        (lambda u, t: (u[:4], t), "trajectory.qpos has shape (6, 1); it must be (4, 1)"),
        (lambda u, t: (u, None), "trajectory.qpos has shape ()"),
    ],
)
def test_messages(change, part, ctrl, trajectory):
    with pytest.raises(InputError) as mistake:
        linearise(pendulum, pendulum_start, *change(ctrl, trajectory))
    assert part in str(mistake.value) and "\n" not in str(mistake.value)
