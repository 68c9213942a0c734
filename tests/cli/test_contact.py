"""The choice of contact on the command line."""

import numpy as np
import pytest

from mjx_like.cli import main
from tests.cli.test_cli import call

BALL = """<mujoco><option integrator="RK4"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .12"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""


@pytest.fixture
def ball(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(BALL)
    return str(path)


def test_info(ball, capsys):
    assert main(["info", ball, "--contact", "hard", "--gap", "1e-3"]) == 0
    out = capsys.readouterr().out
    assert "contact      hard: gap 0.001 m, slip 0.01 m/s, recovery 0.5 m/s" in out and "RK4 steps as Euler" in out
    assert not any(note in out for note in ("no meaning", "derivatives", "mocap"))
    assert main(["info", ball]) == 0 and "hard" not in capsys.readouterr().out


def test_info_tells_how_fast_mocap_bodies_push(tmp_path, capsys):
    path = tmp_path / "lift.xml"
    path.write_text(BALL.replace("</worldbody>", '<body mocap="true"><geom size=".1"/></body></worldbody>'))
    assert main(["info", str(path), "--contact", "hard"]) == 0
    assert "mocap bodies push at no more than the speed of recovery" in capsys.readouterr().out


def test_info_names_what_has_no_meaning(tmp_path, capsys):
    path = tmp_path / "own.xml"
    option = '<option cone="elliptic" solver="PGS" impratio="10" noslip_iterations="3"/>'
    path.write_text(BALL.replace('<option integrator="RK4"/>', option).replace("mass", 'solref=".01 1" mass'))
    assert main(["info", str(path), "--contact", "hard"]) == 0
    out = capsys.readouterr().out
    assert "no meaning: cone, solver, impratio, noslip_iterations, solref of contacts, limits or friction loss\n" in out
    assert main(["info", str(path)]) == 0 and "no meaning" not in capsys.readouterr().out


def test_the_command_line_is_over_the_file(tmp_path, capsys):
    path = tmp_path / "hard.xml"
    custom = """<custom><text name="contact" data="hard"/><numeric name="contact_gap" data="2e-3"/>
    <numeric name="contact_slip" data=".5"/><numeric name="contact_grad_gap" data=".1"/></custom></mujoco>"""
    path.write_text(BALL.replace("</mujoco>", custom))
    for words, found in (
        ([], "hard: gap 0.002 m, slip 0.5 m/s"),
        (["--gap", "1e-3"], "hard: gap 0.001 m, slip 0.5 m/s"),
        (["--slip", "0.25"], "hard: gap 0.002 m, slip 0.25 m/s"),
        (["--contact", "soft"], "cone         pyramidal"),
    ):
        assert main(["info", str(path), *words]) == 0
        out = capsys.readouterr().out
        assert found in out and ("contact      hard" in out) == (words != ["--contact", "soft"])
        assert ("derivatives at a gap of 0.1 m" in out) == ("contact      hard" in out)


@pytest.mark.slow
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
        (["--gap", "1e-3"], "gap belongs to hard contact: give contact='hard' with it"),
        (["--contact", "hard", "--slip", "0"], "slip=0.0 must be above 0"),
        (["--contact", "hard", "--gap", "inf"], "gap=inf must be finite"),
        (["--refresh", "2"], "refresh belongs to hard contact"),
    ],
)
def test_mistakes(ball, capsys, words, message):
    assert main(["info", ball, *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_bench(ball, capsys):
    words = ["--batch", "2", "--steps", "3", "--contact", "hard", "--gap", "1e-3"]
    assert main(["bench", ball, "--peer", "mujoco", *words]) == 0
    out = capsys.readouterr().out
    assert ", hard contact" in out and "no result" not in out
    assert main(["bench", ball, "--stages", *words]) == 0
    assert "constraint rows" in capsys.readouterr().out
