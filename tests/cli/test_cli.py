"""The command line: what it prints and writes, and one readable line with status 2 for a user's mistake."""

import json
import pathlib
import re
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from PIL import Image

from mjx_like.cli.controls import random_controls, zero_controls
from mjx_like.interop.convert import put_model

ROOT = pathlib.Path(__file__).parents[2]
PENDULUM = """<mujoco><option solver="CG"/><worldbody><body name="arm"><joint name="j" axis="0 1 0"/>
<geom type="capsule" size=".05" fromto="0 0 0 0 0 -.5"/></body></worldbody>
<actuator><motor joint="j" ctrlrange="-1 1" ctrllimited="true"/></actuator>
<keyframe><key name="up" qpos="3"/></keyframe></mujoco>"""

CAMERA = '<camera name="side" pos="0 -2 0" xyaxes="1 0 0 0 0 1"/></worldbody>'


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("models") / "arm.xml"
    path.write_text(PENDULUM)
    return path


def call(*arguments, cwd=ROOT) -> subprocess.CompletedProcess:
    """Run the command line in a process where mujoco cannot be imported."""
    code = "import sys; sys.modules['mujoco'] = None; from mjx_like.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=300
    )


def test_info(model):
    done = call("info", model)
    assert done.returncode == 0, done.stderr
    for line in (
        "nq +1",
        "hinge +1",
        "integrator +euler",
        "timestep +0.002",
        r"nconmax +\d+ contacts",
        r"njmax +\d+ constraint rows",
        r"Data +[\d.]+ KiB",
    ):
        assert re.search(line, done.stdout), line
    assert "cg: conjugate gradients" in done.stdout
    assert "not supported: nothing" in done.stdout


def test_rollout(model, tmp_path):
    done = call("rollout", model, "--batch", 20, "--steps", 27, "--key", "up", "--out", tmp_path, "--devices", 2)
    assert done.returncode == 0, done.stderr
    for label in (
        "steps/s", "simulated s/s", "contacts", "constraint rows", "solver iterations", "unconverged worlds", "energy",
        "trajectory", "plot",
    ):  # fmt: skip
        assert re.search(rf"^{label}", done.stdout, re.MULTILINE), label
    assert "on 2 device(s)" in done.stdout and "compiling" in done.stderr and "27/27" in done.stderr
    with np.load(tmp_path / "arm.npz") as file:
        assert file["qpos"].shape == (16, 27, 1) and file["qpos_quantiles"].shape == (4, 27, 1)
        np.testing.assert_allclose(file["qpos"][:, 0], 3.0, atol=0.01)
        np.testing.assert_allclose(file["time"][0], 0.002 * np.arange(1, 28), rtol=1e-5)
        assert file["qpos"][:, -1].std() > 0  # each world has controls of its own
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")


def test_a_replay(model, tmp_path):
    pytest.importorskip("viser")
    done = call("rollout", model, "--batch", 4, "--steps", 3, "--html", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split() == ["replay", str(tmp_path / "arm.html")]
    assert (tmp_path / "arm.html").stat().st_size > 1e5


@pytest.mark.slow
def test_a_video(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(PENDULUM.replace('name="j"', 'name="j" damping=".1"').replace("</worldbody>", CAMERA))
    for name, arguments in {"arm.gif": ["--camera", "side"], "arm.webp": ["webp", "--camera", 0]}.items():
        done = call("rollout", path, "--batch", 2, "--steps", 40, "--out", tmp_path, "--video", *arguments)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1].split() == ["video", str(tmp_path / name)]
        with Image.open(tmp_path / name) as film:
            assert film.n_frames > 1 and film.size[0] > film.size[1]
            assert np.asarray(film.convert("RGB")).std() > 1  # not one colour
    done = call("rollout", path, "--steps", 1, "--video", "--camera", "front", "--out", tmp_path)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].endswith("no camera 'front'; the model has: side")


@pytest.mark.slow
def test_save_all_on_one_device_or_two(model, tmp_path):
    """Equal blocks give equal bits."""
    runs = []
    for devices in (1, 2):
        out = tmp_path / str(devices)
        sharing = "--devices", devices, "--block", 3
        done = call("rollout", model, "--batch", 18, "--steps", 6, "--save-all", "--out", out, *sharing)
        assert done.returncode == 0, done.stderr
        runs.append(np.load(out / "arm.npz")["qpos"])
    assert runs[0].shape == (18, 6, 1)
    np.testing.assert_array_equal(runs[0], runs[1])


def test_controls():
    m = put_model(mujoco.MjModel.from_xml_string(PENDULUM.replace("-1 1", "2 3")))
    drawn = random_controls(m, 0, 4, 0, 20)
    assert drawn.shape == (4, 20, 1) and drawn.min() >= 2 and drawn.max() <= 3 and drawn.std() > 0.1
    assert np.all(drawn[:, 0:5] == drawn[:, :1]) and np.all(drawn[:, 4] != drawn[:, 5])
    np.testing.assert_array_equal(drawn[:, 7:13], random_controls(m, 0, 4, 7, 13))  # however the steps are divided
    assert np.all(drawn != random_controls(m, 1, 4, 0, 20))
    assert np.all(zero_controls(m, 0, 4, 0, 3) == 2)  # clamped into the range


MISTAKES = {
    ("info", "nothing.xml"): "error: nothing.xml: no such file",
    ("rollout", "MODEL", "--batch", "0"): "argument --batch: '0' is not a whole number of at least 1",
    ("rollout", "MODEL", "--steps", "many"): "argument --steps: 'many' is not a whole number of at least 1",
    ("rollout", "MODEL", "--key", "down"): "no keyframe 'down'; the model has: up",
    ("rollout", "MODEL", "--key", "7"): "no keyframe 7; the model has: up",
    ("rollout", "MODEL", "--ctrl", "clever"): "argument --ctrl: invalid choice: 'clever'",
    ("rollout", "MODEL", "--fast"): "unrecognized arguments: --fast",
    ("info", "BROKEN"): "broken.xml",
    ("info", "UNKNOWN"): "geomm",
    ("bench", "MODEL", "--peer", "brax"): "unknown peer 'brax'; allowed: mjx, mujoco",
    ("rollout", "MODEL", "--seed", "-1"): "'-1' is not a whole number of at least 0",
    ("rollout", "MODEL", "--out", "BROKEN"): "File exists",
    ("fly", "MODEL"): "invalid choice: 'fly'",
    (): "the following arguments are required",
}


@pytest.fixture(scope="module")
def answers(model):
    """All mistakes, one after the other in one process: (status, standard error) by arguments."""
    broken, unknown = model.with_name("broken.xml"), model.with_name("unknown.xml")
    broken.write_text("<mujoco><worldbody>")
    unknown.write_text("<mujoco><worldbody><geomm size='1'/></worldbody></mujoco>")
    names = {"MODEL": str(model), "BROKEN": str(broken), "UNKNOWN": str(unknown)}
    code = (
        "import sys, json, io, contextlib\n"
        "sys.modules['mujoco'] = None\n"
        "from mjx_like.cli import main\n"
        "out = []\n"
        "for arguments in json.loads(sys.argv[1]):\n"
        "    said = io.StringIO()\n"
        "    with contextlib.redirect_stderr(said):\n"
        "        try: status = main(arguments)\n"
        "        except SystemExit as end: status = end.code\n"
        "    out.append((status, said.getvalue()))\n"
        "print(json.dumps(out))\n"
    )
    asked = [[names.get(a, a) for a in arguments] for arguments in MISTAKES]
    done = subprocess.run([sys.executable, "-c", code, json.dumps(asked)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return dict(zip(MISTAKES, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize("arguments", MISTAKES, ids=lambda a: " ".join(a) or "nothing")
def test_mistakes(answers, arguments):
    status, said = answers[arguments]
    lines = [line for line in said.splitlines() if not line.startswith("loading")]
    assert status == 2 and MISTAKES[arguments] in said
    assert len(lines) == 1 and "error:" in lines[0] and "Traceback" not in said
