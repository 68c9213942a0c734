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


@pytest.mark.parametrize("method, options", [(ilqr, {"iterations": 2}), (mppi, {"rounds": 5, "samples": 64})])
def test_a_mass_is_brought_to_rest(method, options):
    controller = controller_of(method, on.mass_cost, limits=[[-3, 3]], **options)
    run = mpc(on.mass, on.mass_start, controller, PLAN, steps=60, every=5, progress=False)
    assert run.ctrl.shape == (60, 1) and run.trajectory.qpos.shape == (60, 1) and run.seconds.shape == (12,)
    assert abs(float(run.data.qpos[0])) < 0.1 and abs(float(run.data.qvel[0])) < 0.2
    np.testing.assert_allclose(run.trajectory.qpos, mjx.rollout(on.mass, on.mass_start, run.ctrl).qpos, atol=1e-12)


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
