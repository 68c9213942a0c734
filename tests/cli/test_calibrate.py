"""`bench --calibrate`: what is proposed from what was seen, what that saves, and mistakes."""

import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.cli import calibrate, main
from mjx_like.errors import InputError

BOX = """<mujoco><option iterations="50"/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .099"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="3 0 .099"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="9 9 9"><joint name="j" range="-1 1" limited="true"/><geom size=".1"/></body></worldbody>
<actuator><motor joint="j"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def model():
    return mjx.Model.from_xml_string(BOX, nconmax=16, njmax=66)


def seen(contacts, rows, iterations):
    """What one world needed at each step."""
    values = {"contacts": contacts, "rows": rows, "iterations": iterations}
    return {name: np.array([x]) for name, x in values.items()} | {"most": np.array([[max(contacts)], [max(rows)]])}


def test_most_and_a_margin(model):
    p = calibrate.proposed(model, seen([0, 8, 2], [0, 32, 8], [1, 8, 3]), 0.25)
    assert p == (12, 48, 10)  # 4 contacts, 16 rows of them, 2 iterations
    assert calibrate.proposed(model, seen([8], [32], [20]), 0.5) == (12, 48, 30)
    assert calibrate.proposed(model, seen([16], [64], [49]), 0.5) == (16, 66, 50)  # never more than now


def test_hard_contact_keeps_its_iterations(model):
    assert calibrate.proposed(mjx.with_hard_contact(model), seen([4], [12], [9]), 0.25).iterations is None


def test_a_buffer_that_overflowed_tells_no_need(model):
    with pytest.raises(InputError, match=r"overflowed: 20 contacts of 16, 60 rows of 66 .* --nconmax 40 --njmax 132"):
        calibrate.proposed(model, seen([20], [60], [3]), 0.25)


def test_tables(model):
    needs = seen([0, 4], [0, 16], [2, 4])
    lines = calibrate.needs_table(model, needs, calibrate.Proposal(8, 32, 6), 0.25).splitlines()
    assert lines[1].split() == "contacts 2.00 4 4 16 8".split()
    assert lines[3].split() == "solver iterations 3.00 4 4 50 6".split()
    costs = [calibrate.Cost(8000, [1e-4, 2e-4, 4e-4]), calibrate.Cost(2000, [0.5e-4, 1.2e-4, 2e-4])]
    lines = calibrate.costs_table(costs, 10).splitlines()
    assert lines[1].split()[-3:] == ["8.0", "2.0", "0.25"] and lines[2].split()[-3:] == ["20.0", "12.0", "0.50"]


@pytest.mark.slow
def test_command(tmp_path, monkeypatch, capsys):
    """What it proposes holds one contact of a ball at rest, and the margin."""
    monkeypatch.setattr(calibrate, "ROUNDS", 1)
    path = tmp_path / "balls.xml"
    balls = "".join(
        f'<body pos="{i} 0 .099"><joint type="slide" axis="0 0 1"/><geom size=".1"/></body>' for i in range(9)
    )
    path.write_text(f'<mujoco><worldbody><geom type="plane" size="9 9 .1"/>{balls}</worldbody></mujoco>')
    assert main(["bench", str(path), "--calibrate", "--batch", "3", "--steps", "20"]) == 0
    said = capsys.readouterr().out
    assert "for the command line: --nconmax 13 --njmax 52" in said and "overflowed in 0 worlds" in said
    (memory,) = (line for line in said.splitlines() if line.startswith("Data, kB a world"))
    assert 0.3 < float(memory.split()[-1]) < 0.95


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("--calibrate", "--margin", "-1"), "error: --margin -1: must be a share of at least 0"),
        (("--calibrate", "--margin", "nan"), "error: --margin nan: must be a share of at least 0"),
        (("--calibrate", "--stages"), "error: --calibrate and --stages print different things"),
        (("--margin", "1"), "error: --margin is of --calibrate"),
    ],
)
def test_mistakes(arguments, said, tmp_path, capsys):
    path = tmp_path / "box.xml"
    path.write_text(BOX)
    assert main(["bench", str(path), *arguments]) == 2
    assert said in capsys.readouterr().err
