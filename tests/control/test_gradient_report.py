"""gradient_report: what it says of a loss that is smooth, one that jumps, and a bouncing ball."""

import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.control import gradient_report
from mjx_like.errors import InputError
from tests.control import models as on


def test_a_smooth_loss_agrees_and_one_with_jumps_does_not():
    def loss(x, length):
        smooth = length * jnp.sum(x**2)
        return jnp.stack([smooth, smooth + jnp.floor(x[0] / 1e-4), smooth])

    report = gradient_report(loss, np.array([0.5e-4, 1.0]), [1, 3], sizes=(1e-6, 1e-2))
    for row in report.rows:
        np.testing.assert_allclose(row.secants, row.derivative, rtol=1e-3)
        np.testing.assert_allclose(row.jumps, [0, 1 / 3])
        np.testing.assert_allclose(row.norms, 3 * row.length * 2 * np.array([0.5e-4, 1.0]), rtol=1e-6)
    assert report.rows[1].derivative == pytest.approx(3 * report.rows[0].derivative)
    assert len(str(report).splitlines()) == 3 and "33%" in str(report)


def test_in_single_precision_steps_are_longer_and_rounding_is_no_jump():
    report = gradient_report(lambda x, length: 10 + jnp.sum(x**2), np.ones(2, np.float32), [1])
    assert report.sizes == (1e-2, 0.1) and not report.rows[0].jumps.any()
    short = gradient_report(lambda x, length: 10 + jnp.sum(x**2), np.ones(2, np.float32), [1], sizes=(1e-6, 1e-2))
    np.testing.assert_equal(short.rows[0].jumps, [np.nan, 0])
    assert str(short).splitlines()[1].count("rounding") == 1


def test_of_a_loss_that_does_not_change_nothing_jumps():
    report = gradient_report(lambda x, length: 5 + 0 * jnp.sum(x), np.ones(2), [1])
    assert not report.rows[0].jumps.any()


@pytest.mark.slow
def test_of_a_rollout_by_its_controls():
    def loss(ctrl, length):
        return jnp.sum(mjx.rollout(on.mass, on.mass_start, ctrl[:length]).qpos[-1] ** 2)

    (row,) = gradient_report(loss, on.mass_guess[:6], [4]).rows
    assert row.finite == 1 and row.jumps[0] == 0 and np.all(row.norms[4:] == 0)
    assert np.all(np.diff(row.norms[:4]) < 0)  # the earlier, the more a force moves the end


@pytest.mark.parametrize(
    "arguments, part",
    [
        ((3, np.ones(2), [1]), "f=3: must be a function (x, length) -> loss"),
        ((lambda x, n: x, 1.0, [1]), "it must be an array of floats with an axis"),
        ((lambda x, n: x[0], np.ones(2), [0]), "lengths=0"),
        ((lambda x, n: jnp.ones((2, 2)) * x[0], np.ones(2), [1]), "f returns shape (2, 2)"),
    ],
)
def test_messages(arguments, part):
    with pytest.raises(InputError) as mistake:
        gradient_report(*arguments)
    assert part in str(mistake.value) and "\n" not in str(mistake.value)
