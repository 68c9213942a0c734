"""The choice of contact on the command line."""

import jax
import numpy as np
import pytest

from mjx_like.cli import main
from tests.cli.test_cli import call

BALL = """<mujoco><option integrator="RK4"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .12"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def precision():
    """The precision that the other tests need: a command sets its own."""
    yield
    jax.config.update("jax_enable_x64", True)


@pytest.fixture
def ball(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(BALL)
    return str(path)


def test_info(ball, capsys):
    assert main(["info", ball, "--contact", "hard", "--gap", "1e-3"]) == 0
    out = capsys.readouterr().out
    assert "contact      hard: gap 0.001 m, slip 0.01 m/s" in out and "RK4 steps as Euler" in out
    assert main(["info", ball]) == 0 and "hard" not in capsys.readouterr().out


def test_rollout(ball, tmp_path):
    command = ["rollout", ball, "--contact", "hard", "--gap", "1e-3", "--batch", 2, "--steps", 400, "--devices", 1]
    done = call(*command, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "ball.npz") as file:
        qpos = file["qpos"]
    assert qpos.shape == (2, 400, 7)
    np.testing.assert_allclose(qpos[:, -1, 2], 0.101, atol=1e-5)


@pytest.mark.parametrize(
    "words, message",
    [
        (["--gap", "1e-3"], "--gap belongs to hard contact: add --contact hard"),
        (["--contact", "hard", "--slip", "0"], "slip=0.0 must be above 0"),
    ],
)
def test_mistakes(ball, capsys, words, message):
    assert main(["info", ball, *words]) == 2
    assert message in capsys.readouterr().err
