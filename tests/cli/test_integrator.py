"""The choice of the integrator on the command line."""

import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.cli import main
from mjx_like.types.enums import IntegratorType
from tests.cli.test_cli import call

FALL = """<mujoco><option timestep="0.01"/><worldbody><body pos="0 0 9"><freejoint/>
<geom type="capsule" fromto="-.1 0 0 .1 0 0" size=".1"/></body></worldbody>{}</mujoco>"""
TEXT = '<custom><text name="integrator" data="variational"/></custom>'


@pytest.fixture
def fall(tmp_path):
    path = tmp_path / "fall.xml"
    path.write_text(FALL.format(TEXT))
    return str(path)


def test_info_has_it_over_the_file(fall, capsys):
    for words, found in (
        ([], "variational"),
        (["--integrator", "RK4"], "rk4"),
        (["--integrator", "variational", "--contact", "hard"], "variational"),
    ):
        assert main(["info", fall, *words]) == 0
        assert f"integrator   {found}\n" in capsys.readouterr().out


@pytest.mark.parametrize("custom", ["", TEXT])
@pytest.mark.parametrize("word", ["variational", "implicit", "Euler"])
def test_convert_says_it(tmp_path, custom, word):
    """In the text or the attribute; what MuJoCo reads is the integrator that it has."""
    source, target = tmp_path / "a.xml", tmp_path / "b.xml"
    source.write_text(FALL.format(custom).replace("<option", '<option integrator="RK4"'))
    assert main(["convert", str(source), str(target), "--integrator", word]) == 0
    kind = mjx.Model.from_xml_path(str(target)).opt.integrator
    assert kind == {name.keyword: name for name in IntegratorType}[word]
    in_c = mujoco.mjtIntegrator.mjINT_RK4 if word == "variational" else kind
    assert mujoco.MjModel.from_xml_path(str(target)).opt.integrator == in_c
    assert "fromto" in target.read_text() and 'name="contact"' not in target.read_text()


@pytest.mark.slow
def test_rollout(fall, tmp_path):
    """A fall over n steps from rest, whose first mean velocity is 0: g h^2 n (n + 1) / 2, as with Euler."""
    command = ["rollout", fall, "--integrator", "variational", "--batch", 1, "--steps", 50, "--devices", 1]
    done = call(*command, "--dtype", "float64", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "fall.npz") as file:
        np.testing.assert_allclose(file["qpos"][0, -1, 2], 9 - 9.81 * 1e-4 * 50 * 51 / 2, atol=1e-9)


def test_mistakes(fall, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["info", fall, "--integrator", "RK5"])
    assert ended.value.code == 2
    message = capsys.readouterr().err
    assert "argument --integrator: invalid choice: 'RK5'" in message and "variational" in message
    assert main(["info", fall, "--contact", "hard", "--integrator", "discrete"]) == 2
    assert "hard contact has no integrator discrete: take implicitfast" in capsys.readouterr().err
