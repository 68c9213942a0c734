"""The benchmark: peers in processes of their own, refusals and hangs told, the table."""

import functools
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.bench import engines
from mjx_like.cli import main, stages
from mjx_like.errors import InputError

MODELS = pathlib.Path(__file__).parents[2] / "models"

ANSWER = """
import json, sys
job = json.load(open(sys.argv[1]))
rates = []
print("ready", flush=True)
while not job["prepare"] and sys.stdin.readline():
    rates.append(RATE * (1 + len(rates)))  # a machine that gets faster
    print("ready", flush=True)
answer = {"engine": "E 1", "wall_rate": RATE, "cpu_rate": RATE, "cpu_rates": rates, "peak_mib": 10}
answer["overflow"] = OVERFLOW
json.dump(answer, open(job["out"], "w"))
"""


@pytest.fixture
def peers(tmp_path, monkeypatch):
    """A folder of small peers instead of the real ones."""

    def answer(rate, overflow=0):
        return ANSWER.replace("RATE", str(rate)).replace("OVERFLOW", str(overflow))

    scripts = {
        "ours.py": answer(3000),
        "mjx_peer.py": answer(200),
        "mujoco_peer.py": answer(6000),
        "slow.py": "import time; time.sleep(60)",
        "stalls.py": answer(200).replace("rates.append", "import time; time.sleep(60); rates.append"),
        "refuses.py": "raise NotImplementedError('condim 4 is not supported')",
        "full.py": answer(5000, overflow=7),
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(engines, "FOLDER", tmp_path)
    monkeypatch.setitem(engines.PEERS, "slow", "slow.py")
    monkeypatch.setitem(engines.PEERS, "stalls", "stalls.py")
    monkeypatch.setitem(engines.PEERS, "refuses", "refuses.py")
    return tmp_path


def test_every_engine_answers(peers):
    settings = engines.Settings("m.xml", batch=8)
    answers = engines.compare(settings, ("mjx", "mujoco"), tell=lambda text: None)
    assert list(answers) == ["mjx_like", "mjx", "mujoco"]
    text = engines.table(settings, answers)
    assert "batch 8" in text and "INVALID" not in text
    (ratio,) = (line for line in text.splitlines() if line.startswith("mjx_like is faster by"))
    assert ratio.split()[4:] == "1.00 15.00 (15.00 to 15.00) 0.50 (0.50 to 0.50)".split()
    assert len(answers["mjx"]["cpu_rates"]) == engines.ROUNDS


def test_a_peer_that_hangs_and_one_that_refuses(peers):
    settings = engines.Settings("m.xml", limit=1.0)
    peers = ("slow", "stalls", "refuses")
    text = engines.table(settings, engines.compare(settings, peers, tell=lambda text: None))
    assert "slow: no result (no result within 1 s)" in text
    assert "stalls: no result (no result within 1 s)" in text
    assert "refuses: no result (NotImplementedError: condim 4 is not supported)" in text
    assert "steps/s, wall" in text


def test_an_overflow_makes_the_figures_invalid(peers):
    (peers / "ours.py").write_text((peers / "full.py").read_text())
    settings = engines.Settings("m.xml")
    text = engines.table(settings, engines.compare(settings, (), tell=lambda text: None))
    assert "INVALID" in text.splitlines()[-1]


def test_without_mujoco_ours_prepares(peers):
    (peers / "mujoco_peer.py").write_text("import nothing_of_that_name")
    told = []
    answers = engines.compare(engines.Settings("m.xml"), ("mujoco",), tell=told.append)
    assert "wall_rate" in answers["mjx_like"] and "No module named" in answers["mujoco"]["refused"]
    assert any("starting from rest" in line for line in told)


def test_messages(peers):
    with pytest.raises(InputError, match="unknown peer 'brax'; allowed: mjx, mujoco"):
        engines.compare(engines.Settings("m.xml"), ("brax",))


def test_our_own_errors_are_told_without_their_class(peers):
    (peers / "refuses.py").write_text("from mjx_like import ModelError\nraise ModelError('m.xml:2: no')")
    answers = engines.compare(engines.Settings("m.xml"), ("refuses",), tell=lambda text: None)
    assert answers["refuses"]["refused"] == "m.xml:2: no"


def test_stages_in_order_are_forward():
    m = mjx.Model.from_xml_path(str(MODELS / "hopper.xml"))
    d = mjx.make_data(m)
    d = d.replace(qpos=d.qpos.at[1].add(-0.02), qvel=0.1 * jnp.ones(m.nv), ctrl=0.3 * jnp.ones(m.nu))
    one, other = jax.jit(
        lambda d: (mjx.forward(m, d), functools.reduce(lambda d, stage: stage(m, d), stages.STAGES.values(), d))
    )(d)
    assert one.ncon > 0
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_table_of_stages():
    times = dict.fromkeys(stages.STAGES, 0.25) | {"forward": 2.0, "step": 3.0}
    lines = stages.table(times, batch=100).splitlines()
    assert lines[1].split() == ["kinematics", "250.000", "2500.00", "8%"] and lines[-2].split()[0] == "step"
    assert "3000.000 ms together" in lines[-1]


@pytest.mark.slow
def test_stages_from_the_command_line(capsys):
    main(["bench", str(MODELS / "pendulum.xml"), "--stages", "--batch", "2", "--steps", "3"])
    printed = capsys.readouterr().out
    assert "solver" in printed and "ms together" in printed


@pytest.mark.parametrize(
    "words, message",
    [
        (["bench", "MODEL", "--limit", "nan"], "argument --limit: 'nan' is not a number of seconds above 0"),
        (["bench", "MODEL", "--limit", "-1"], "argument --limit: '-1' is not a number of seconds above 0"),
        (["rollout", "MODEL", "--block", "0"], "argument --block: '0' is not a whole number of at least 1"),
    ],
)
def test_numbers_that_cannot_be(words, message, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2 and message in capsys.readouterr().err


def test_more_devices_than_a_host_has(tmp_path, capsys):
    path = tmp_path / "model.xml"
    path.write_text("<mujoco/>")
    assert main(["rollout", str(path), "--devices", "2000"]) == 2
    assert "--devices 2000: a host has at most 1024" in capsys.readouterr().err
