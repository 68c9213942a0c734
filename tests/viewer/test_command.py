"""`python -m mjx_like view`, as a user runs it."""

import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

pytest.importorskip("viser")

MODEL = """<mujoco><worldbody><body><joint axis="0 1 0"/><geom type="capsule" size=".05 .2"/></body></worldbody>
  </mujoco>"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(MODEL)
    return path


ROPE = """<mujoco><worldbody><flexcomp name="rope" type="grid" count="4 1 1" spacing=".1 .1 .1" dim="1" radius=".01"/>
  </worldbody></mujoco>"""


def command(*args) -> list[str]:
    return [sys.executable, "-m", "mjx_like", "view", *map(str, args)]


@pytest.mark.parametrize("recorded", [False, True])
def test_it_serves_until_it_is_stopped(model, tmp_path, recorded):
    file = model
    if recorded:
        file = tmp_path / "run.npz"
        np.savez(file, model=str(model), qpos=np.zeros((2, 30, 1)), time=0.002 * np.ones((2, 30)).cumsum(axis=1))
    process = subprocess.Popen(
        command(file, "--port", 0, "--no-browser"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("viewer") and "Ctrl-C" in line
        with urllib.request.urlopen(line.split()[1], timeout=60) as page:
            assert b"<html" in page.read().lower()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 130
        assert process.stderr.read().splitlines()[-1] == "stopped"
    finally:
        process.kill()


def test_what_is_not_supported_is_said_and_shown(tmp_path):
    (tmp_path / "rope.xml").write_text(ROPE)
    process = subprocess.Popen(
        command(tmp_path / "rope.xml", "--port", 0, "--no-browser"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        lines = [process.stdout.readline().decode() for _ in range(3)]
        assert lines[0].split() == "not supported flex 'rope': dynamics are not built yet".split()
        assert lines[1].split() == "not supported flex 'rope': collision is not built yet".split()
        assert lines[2].startswith("viewer")
    finally:
        process.kill()


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.xml", "no such file"), ("old.npz", "this trajectory does not say which model it is of")],
)
def test_errors(tmp_path, name, message):
    np.savez(tmp_path / "old.npz", qpos=np.zeros((2, 3, 1)))
    done = subprocess.run(command(tmp_path / name, "--no-browser"), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr
