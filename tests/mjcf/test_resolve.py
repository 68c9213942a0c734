"""Resolved records against the oracle's uncompiled spec: real models, random default classes, documented quirks."""

import pathlib

import dm_control
import gymnasium
import mujoco
import numpy as np
import pytest

from mjx_like.mjcf import build
from mjx_like.mjcf.reader import parse_file, parse_string
from tests.mjcf.against import compare, plain
from tests.mjcf.random_model import random_actuators, random_elements

REAL = sorted((pathlib.Path(gymnasium.__file__).parent / "envs/mujoco/assets").glob("*.xml")) + sorted(
    (pathlib.Path(dm_control.__file__).parent / "suite").glob("*.xml")
)


def in_classes(classes: str, tree: str, **sections: str):
    """Spec of a model with default classes, a tree and sections."""
    rest = "".join(f"<{tag}>{text}</{tag}>" for tag, text in sections.items())
    return parse_string(f"<mujoco><default>{classes}</default><worldbody>{tree}</worldbody>{rest}</mujoco>")


def test_there_are_real_models():
    assert len(REAL) > 30


@pytest.mark.parametrize("path", REAL, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_real_models(path):
    count, found = compare(parse_file(path), mujoco.MjSpec.from_file(str(path)))
    assert count > 3
    assert found == []


@pytest.mark.parametrize("seed", range(60))
def test_random_default_classes(seed, monkeypatch):
    monkeypatch.setattr(build, "check_references", lambda *names: None)
    xml = random_elements(seed)
    count, found = compare(parse_string(xml), mujoco.MjSpec.from_string(xml))
    assert count > 15
    assert found == []


def test_random_actuators(monkeypatch):
    monkeypatch.setattr(build, "check_references", lambda *names: None)
    compared = 0
    for seed in range(80):
        xml = random_actuators(seed)
        try:
            oracle = mujoco.MjSpec.from_string(xml)
        except ValueError:
            with pytest.raises(ValueError):
                parse_string(xml)
            continue
        count, found = compare(parse_string(xml), oracle)
        compared += count
        assert found == [], f"seed {seed}"
    assert compared > 500


def test_a_vector_given_in_part_keeps_the_class_values():
    spec = in_classes('<geom size="2 3 4" solimp="0.5 0.6 0.7 0.8 3"/>', '<geom size="1" solimp=".1 .2"/>')
    record = spec.resolve(spec.worldbody.children[0])
    np.testing.assert_array_equal(record["size"], [1, 3, 4])
    np.testing.assert_array_equal(record["solimp"], [0.1, 0.2, 0.7, 0.8, 3])


def test_childclass_of_the_frame_goes_before_that_of_the_body():
    classes = '<default class="a"><geom size="1"/></default><default class="b"><geom size="2"/></default>'
    tree = '<body childclass="a"><frame childclass="b"><geom name="g"/></frame></body>'
    spec = in_classes(classes, tree)
    body = spec.worldbody.children[0]
    frame = body.children[0]
    assert spec.resolve(frame.children[0], frame.get("childclass"))["size"][0] == 2
    assert spec.resolve(frame.children[0], body.get("childclass"))["size"][0] == 1


def test_a_class_copies_its_parent_when_it_is_opened():
    sections = '<default><default class="a"/></default><default><geom size="7"/></default>'
    xml = f'<mujoco>{sections}<worldbody><geom class="a"/><geom/></worldbody></mujoco>'
    spec, oracle = parse_string(xml), mujoco.MjSpec.from_string(xml)
    ours = [spec.resolve(geom)["size"][0] for geom in spec.worldbody.children]
    assert ours == [geom.size[0] for geom in oracle.geoms] == [0, 7]


def test_own_orientation_replaces_that_of_the_class():
    spec = in_classes('<geom euler="0 0 90"/>', '<geom size="1" quat="1 0 0 0"/><geom size="1" zaxis="1 0 0"/>')
    first, second = (spec.resolve(geom) for geom in spec.worldbody.children)
    assert "euler" not in first and "zaxis" not in first
    assert "zaxis" in second and "euler" not in second


def test_one_springlength_stands_for_both():
    spec = in_classes(
        '<tendon springlength="1 2"/>',
        '<body><joint name="j"/><geom size="1"/></body>',
        tendon='<fixed springlength="3"><joint joint="j" coef="1"/></fixed><fixed><joint joint="j" coef="1"/></fixed>',
    )
    first, second = (spec.resolve(tendon) for tendon in spec.sections["tendon"])
    np.testing.assert_array_equal(first["springlength"], [3, 3])
    np.testing.assert_array_equal(second["springlength"], [1, 2])


def test_directional_light_becomes_a_type():
    spec = in_classes('<light directional="true"/>', '<light/><light type="point"/>')
    assert [spec.resolve(light)["type"] for light in spec.worldbody.children] == ["directional", "point"]


def test_the_last_of_several_targets_wins():
    xml = '<mujoco><actuator><general joint="a" tendon="b" site="c"/></actuator></mujoco>'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "check_references", lambda *names: None)
        spec = parse_string(xml)
    record = spec.resolve(spec.sections["actuator"][0])
    assert (record["trntype"], record["target"]) == (int(mujoco.mjtTrn.mjTRN_SITE), "c")


def test_layers_and_texture_of_a_material():
    textures = "".join(f'<texture name="{n}" type="2d" builtin="flat" width="4" height="4"/>' for n in "ab")
    materials = '<material name="m" texture="a"/><material name="n"><layer role="normal" texture="b"/></material>'
    spec = parse_string(f"<mujoco><asset>{textures}{materials}</asset></mujoco>")
    first, second = (spec.resolve(asset) for asset in spec.sections["asset"][2:])
    assert first["textures"] == {"rgb": "a"}
    assert second["textures"] == {"normal": "b"}


SETTINGS = """<mujoco model="m">
<compiler angle="radian" boundmass="0.1" inertiagrouprange="1 2" meshdir="mm" eulerseq="XYz"/>
<compiler autolimits="false" inertiafromgeom="true"><lengthrange mode="all" accel="3"/></compiler>
<option timestep="0.01" o_solref="0.5" wind="1 2 3" solver="CG" integrator="discrete"/>
<option o_solimp="0.1 0.2" jacobian="sparse" iterations="7"/>
<size nuserdata="3" nuser_geom="2" memory="2K"/>
<statistic extent="2" center="1 2 3"/>
<visual><global fovy="30"/><rgba haze="1 0 0 1"/><map znear="0.5"/></visual><visual><global offwidth="100"/></visual>
</mujoco>"""


@pytest.mark.parametrize("xml", [SETTINGS, "<mujoco><option/></mujoco>"], ids=["given", "defaults"])
def test_settings(xml):
    spec, oracle = parse_string(xml), mujoco.MjSpec.from_string(xml)
    groups = [("option", spec.option, oracle.option), ("size", spec.size, oracle)]
    groups += [("compiler", spec.compiler, oracle.compiler), ("statistic", spec.statistic, oracle.stat)]
    for group, values in spec.visual.items():
        groups.append((group, values, getattr(oracle.visual, "global_" if group == "global" else group)))
    groups += [("lengthrange", spec.compiler["lengthrange"], oracle.compiler.LRopt)]
    compared = 0
    for kind, ours, theirs in groups:
        for name, value in ours.items():
            if not hasattr(theirs, name) or isinstance(value, dict) or name == "eulerseq":
                continue
            row = build.ELEMENTS[kind].attributes[name]
            value = row.keywords[value] if isinstance(value, str) and row.keywords else value
            np.testing.assert_array_equal(value, plain(getattr(theirs, name)), err_msg=f"{kind}.{name}")
            compared += 1
    assert compared > 90
    assert spec.modelname == oracle.modelname
