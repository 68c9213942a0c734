"""`python -m mjx_like train` and `play`, as a user runs them."""

import re
import signal
import subprocess
import sys
import urllib.request

import jax
import pytest

import mjx_like as mjx
from mjx_like.cli import main
from mjx_like.learning.curve import read_table
from mjx_like.learning.train import load_policy


@pytest.fixture(autouse=True)
def precision():
    """The precision that the other tests need: a command may set its own."""
    yield
    jax.config.update("jax_enable_x64", True)


def command(*arguments) -> list[str]:
    return [sys.executable, "-m", "mjx_like", *map(str, arguments)]


def call(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=300)


FEW = ("--worlds", 4, "--set", "unroll=4", "--set", "minibatches=2", "--set", "evaluations=2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a run that was made in two parts."""
    folder = tmp_path_factory.mktemp("runs") / "cartpole"
    first = call("train", "cartpole", "--out", folder, "--samples", 64, *FEW, "--target", 1)
    assert first.returncode == 0, first.stderr
    return folder


@pytest.mark.slow
def test_train_and_resume(folder):
    assert [point.samples for point in read_table(folder / "curve.csv")] == [0]
    done = call("train", "cartpole", "--out", folder, "--samples", 64, *FEW, "--resume")
    assert done.returncode == 0, done.stderr
    lines = "cartpole, ppo: 4 worlds, 64 samples", r"return +\d", "samples +64", "seconds +", "checkpoint", "curve"
    for line in lines:
        assert re.search(f"^{line}", done.stdout, re.MULTILINE), line
    assert "64/64" in done.stderr
    assert [point.samples for point in read_table(folder / "curve.csv")] == [0, 32, 64]


@pytest.mark.slow
def test_a_run_with_hard_contact_is_played_with_it(tmp_path):
    hard = ("--contact", "hard", "--gap", "1e-3", "--integrator", "variational")
    words = ("train", "hopper", "--out", tmp_path / "run", "--samples", 64, *FEW, *hard)
    done = call(*words)
    assert done.returncode == 0, done.stderr
    env, _ = load_policy(tmp_path / "run")
    assert env.model.opt.contact == "hard" and float(env.model.opt.gap) == pytest.approx(1e-3)
    assert env.model.opt.integrator == mjx.IntegratorType.VARIATIONAL
    done = call(*words[: -len(hard)], "--resume")
    assert done.returncode == 2 and "the run has contact {'contact': 'hard', 'gap': 0.001}, not None" in done.stderr


@pytest.mark.slow
def test_play_writes_a_video(folder):
    done = call("play", folder, "--video", "webp", "--steps", 3)
    assert done.returncode == 0, done.stderr
    assert (folder / "video.webp").read_bytes()[8:12] == b"WEBP"


@pytest.mark.slow
def test_play_opens_the_viewer(folder):
    pytest.importorskip("viser")
    process = subprocess.Popen(
        command("play", folder, "--steps", 30, "--batch", 2, "--port", 0, "--no-browser"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        line = next(line for line in process.stdout if line.startswith("viewer"))
        with urllib.request.urlopen(line.split()[1], timeout=20) as page:
            assert b"<html" in page.read().lower()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    finally:
        process.kill()


MISTAKES = {
    "task": (("train", "hoper"), "error: no task 'hoper'; did you mean 'hopper'?"),
    "algorithm": (("train", "hopper", "--algorithm", "pop"), "error: no algorithm 'pop'; did you mean 'ppo'?"),
    "setting": (("train", "hopper", "--set", "clp=1"), "error: ppo has no setting 'clp'; did you mean 'clip'?"),
    "value": (("train", "hopper", "--set", "clip=much"), "error: clip='much': must be a number"),
    "equals": (("train", "hopper", "--set", "clip"), "error: --set clip: needs NAME=VALUE"),
    "gap": (("train", "cartpole", "--gap", "1e-3"), "error: gap belongs to hard contact: give contact='hard' with it"),
    "worlds": (("train", "hopper", "--worlds", "0"), "error: argument --worlds: '0' is not a whole number"),
    "checkpoint": (("play", "nowhere", "--video"), "error: .*nowhere: no checkpoint there; give the folder of a run"),
}


@pytest.mark.parametrize("arguments, message", MISTAKES.values(), ids=list(MISTAKES))
def test_mistakes(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mjx_like.cli.train.use_cpu_devices", lambda count: None)
    try:
        status = main(list(arguments))
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert re.search(message, capsys.readouterr().err)
    assert not list(tmp_path.iterdir())
