"""The writer: what is written reads back as the same Spec, and MuJoCo compiles it to the same model."""

import importlib.util
import pathlib
import warnings

import mujoco
import numpy as np
import pytest

from mjx_like.errors import ModelError
from mjx_like.mjcf import build
from mjx_like.mjcf.reader import parse_file, parse_string
from mjx_like.mjcf.writer import to_xml, write_xml
from tests.compiler.features import FEATURES
from tests.mjcf.random_model import random_actuators, random_elements
from tests.mjcf.same_spec import differences, resolved
from tests.models import ALL
from tests.support.images import image

FILES = {
    package: sorted(pathlib.Path(importlib.util.find_spec(package).origin).parent.rglob("*.xml"))
    for package in ("gymnasium", "dm_control", "mujoco.mjx")
} | {"models": ALL}


def same_in_mujoco(first: mujoco.MjModel, second: mujoco.MjModel, rounding: float = 0) -> None:
    """Assert that all arrays of two compiled models agree, in every bit unless rounding is allowed for."""
    for name in (name for name in dir(first) if not name.startswith("_") and name != "paths"):
        value = getattr(first, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(value, getattr(second, name), rtol=rounding, atol=rounding, err_msg=name)


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_features(name):
    spec = parse_string(FEATURES[name])
    text = to_xml(spec)
    assert differences(spec, parse_string(text)) == []
    same_in_mujoco(*(mujoco.MjModel.from_xml_string(xml) for xml in (FEATURES[name], text)))


def test_random_classes_and_actuators(monkeypatch):
    monkeypatch.setattr(build, "check_references", lambda *names: None)
    compared = 0
    for make, seed in [(make, seed) for make in (random_elements, random_actuators) for seed in range(60)]:
        try:
            spec = parse_string(make(seed))
        except ModelError:
            assert make is random_actuators, seed  # whose parameters may contradict one another
            continue
        assert differences(spec, parse_string(to_xml(spec))) == [], (make, seed)
        compared += len(resolved(spec))
    assert compared > 1500


@pytest.mark.parametrize(
    "package", ["models", *(pytest.param(name, marks=pytest.mark.slow) for name in FILES if name != "models")]
)
def test_files(package, tmp_path):
    written = tmp_path / "written.xml"
    for path in FILES[package]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                spec, reference = parse_file(path), mujoco.MjModel.from_xml_path(str(path))
            except ValueError:
                continue
            write_xml(spec, written)
            found = [line for line in differences(spec, parse_file(written)) if not line.startswith("compiler")]
            assert found == [], path
            rounding = 1e-14 if "<replicate" in path.read_text() else 0  # written out, its frames are multiplied again
            same_in_mujoco(reference, mujoco.MjModel.from_xml_path(str(written)), rounding)


def test_class_that_its_parent_outgrew():
    xml = """<mujoco><default><geom rgba="1 0 0 1"/><default class="a"><geom size="1 2 3"/></default></default>
      <default><geom mass="3" user="1 2"/></default>
      <worldbody><body><geom class="a"/><geom/></body></worldbody></mujoco>"""
    spec = parse_string(xml)
    assert "mass" not in spec.defaults["a"].records["geom"]
    assert differences(spec, parse_string(to_xml(spec))) == []


def test_class_that_no_text_says():
    spec = parse_string(
        """<mujoco><default><default class="a"><default class="b"/></default></default><worldbody/></mujoco>"""
    )
    spec.defaults["a"].records["geom"]["mass"] = 3.0
    with pytest.raises(ModelError, match="default class 'b' has no geom mass, but class 'a' has"):
        to_xml(spec)


def test_orientation_of_a_class_replaces_that_of_its_parent():
    xml = """<mujoco><default><geom euler="10 20 30"/><default class="a"><geom quat="1 0 0 0"/></default>
      <default class="b"><geom zaxis="1 0 0"/></default></default><worldbody/></mujoco>"""
    spec = parse_string(xml)
    assert differences(spec, parse_string(to_xml(spec))) == []


def test_shortcuts_stay_where_no_class_says_one():
    actuator = '<actuator><position name="p" joint="j" kp="3" dampratio="1"/></actuator>'
    body = '<worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>'
    assert '<position name="p"' in to_xml(parse_string(f"<mujoco>{body}{actuator}</mujoco>"))
    classes = '<default><velocity kv="5" ctrlrange="-1 1"/></default>'
    text = to_xml(parse_string(f"<mujoco>{classes}{body}{actuator}</mujoco>"))
    assert '<general name="p"' in text and "<position" not in text


@pytest.mark.parametrize("value", ["1e-300", "0.1", "-0.0", "1e22", "inf", "123456789.123456789", "16777217"])
def test_numbers_read_back(value):
    xml = f'<mujoco><worldbody><site pos="{value} 1 2" rgba="{value} .1 0 1" size=".1"/></worldbody></mujoco>'
    first = parse_string(xml).worldbody.children[0]
    second = parse_string(to_xml(parse_string(xml))).worldbody.children[0]
    assert first.get("pos").tobytes() == second.get("pos").tobytes()
    assert first.get("rgba").tobytes() == second.get("rgba").tobytes()


def test_text_is_quoted():
    xml = """<mujoco model="a &amp; &lt;b&gt;"><custom><text name="t" data="x &quot;y&quot; 'z' &#10; &#9;"/></custom>
      <worldbody/></mujoco>"""
    spec = parse_string(to_xml(parse_string(xml)))
    assert spec.modelname == "a & <b>"
    assert spec.sections["custom"][0].get("data") == "x \"y\" 'z' \n \t"


def test_text_that_xml_cannot_hold():
    spec = parse_string("<mujoco><worldbody><body name='b'/></worldbody></mujoco>")
    spec.worldbody.children[0].attrib["name"] = "a\0b"
    with pytest.raises(ModelError, match="<string>:1: .*attribute 'name' has a character that XML cannot hold"):
        to_xml(spec)


def test_folders_move_with_the_file(tmp_path):
    (tmp_path / "in/textures").mkdir(parents=True)
    png = image(7, 5)
    (tmp_path / "in/textures/t.png").write_bytes(png)
    xml = """<mujoco><compiler texturedir="textures"/><asset><texture name="t" type="2d" file="t.png"/></asset>
      <worldbody/></mujoco>"""
    (tmp_path / "in/m.xml").write_text(xml)
    (tmp_path / "out").mkdir()
    spec = parse_file(tmp_path / "in/m.xml")
    write_xml(spec, tmp_path / "out/m.xml")
    moved = parse_file(tmp_path / "out/m.xml")
    assert moved.compiler["texturedir"] == "../in/textures"
    assert moved.read_asset("../in/textures/t.png") == png
    assert spec.compiler["texturedir"] == "textures"


def test_long_vectors():
    """A mesh of a million numbers: longer than libxml2 takes unasked, every number as it was."""
    values = np.random.default_rng(0).normal(size=(400_000, 3)).astype(np.float32).astype(np.float64)
    values[:4] = [[0, -0.0, 1], [1e-30, 3e30, 0.1], [-2, 1 / 3, 16777217], [1e9, -1e-9, 123456.789]]
    values = values.astype(np.float32).astype(np.float64)
    face = np.random.default_rng(1).integers(0, 400_000, 3_000).astype(np.float64)
    spec = parse_string("<mujoco><asset><mesh name='m' vertex='0 0 0'/></asset></mujoco>")
    spec.sections["asset"][0].attrib |= {"vertex": values.ravel(), "face": face}
    text = to_xml(spec)
    assert len(text) > 11_000_000
    mesh = parse_string(text).sections["asset"][0]
    np.testing.assert_array_equal(mesh.get("vertex"), values.ravel())
    np.testing.assert_array_equal(mesh.get("face"), face)
