"""`convert`: what it reads and writes, and its errors."""

import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.cli import main
from tests.cli.test_cli import PENDULUM, call


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(PENDULUM)
    return path


def leaves_equal(first, second):
    assert first.topology == second.topology
    for name in ("body_mass", "geom_size", "key_qpos", "actuator_ctrlrange"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("steps", [("out.npz",), ("out.xml",), ("out.npz", "back.xml"), ("a.xml", "b.npz", "c.npz")])
def test_every_way(model, tmp_path, steps):
    source = model
    for step in steps:
        assert main(["convert", str(source), str(tmp_path / step)]) == 0
        source = tmp_path / step
    read = mjx.load if source.suffix == ".npz" else mjx.Model.from_xml_path
    leaves_equal(read(str(source), dtype=np.float64), mjx.Model.from_xml_path(str(model), dtype=np.float64))


@pytest.mark.parametrize("out, read", [("o.xml", mjx.Model.from_xml_path), ("o.npz", mjx.load)])
def test_with_hard_contact(model, tmp_path, out, read):
    assert main(["convert", str(model), str(tmp_path / out), "--contact", "hard", "--gap", "1e-3"]) == 0
    o = read(str(tmp_path / out)).opt
    assert o.contact == "hard" and (float(o.gap), float(o.slip)) == (1e-3, 1e-2)
    if out.endswith(".xml"):
        assert main(["convert", str(tmp_path / out), str(tmp_path / "soft.xml"), "--contact", "soft"]) == 0
        assert read(str(tmp_path / "soft.xml")).opt.contact == "soft"
        assert "fromto" in (tmp_path / "soft.xml").read_text()


def test_written_as_it_says_or_compiled(model, tmp_path):
    assert main(["convert", str(model), str(tmp_path / "said.xml")]) == 0
    assert main(["convert", str(model), str(tmp_path / "compiled.xml"), "--compiled"]) == 0
    assert "fromto" in (tmp_path / "said.xml").read_text()
    assert "<inertial" in (tmp_path / "compiled.xml").read_text()


def test_converted_model_in_other_commands(model, tmp_path):
    assert call("convert", model, tmp_path / "m.npz", "--nconmax", 5).returncode == 0
    done = call("info", tmp_path / "m.npz")
    assert done.returncode == 0 and "nconmax      5 contacts" in done.stdout, done.stderr


MISTAKES = {
    "no such file": ["none.xml", "out.npz"],
    "the name must end in one of .xml, .npz": ["arm.xml", "out.mjb"],
    "the name must end in one of .xml, .urdf, .mjcf, .npz": ["arm.txt", "out.npz"],
    "damaged or is no compiled model": ["broken.npz", "out.xml"],
    "unknown in <mujoco>": ["wrong.xml", "out.xml"],
}


@pytest.mark.parametrize("message", sorted(MISTAKES))
def test_mistakes(model, tmp_path, capsys, message):
    (tmp_path / "broken.npz").write_bytes(b"PK")
    (tmp_path / "wrong.xml").write_text("<mujoco><wurldbody/></mujoco>")
    source, target = MISTAKES[message]
    assert main(["convert", str(tmp_path / source), str(tmp_path / target)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / target).exists()
