"""Attaching and deleting as MuJoCo's MjSpec does, and what is written of the result."""

import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.compiler.compile import compile_spec
from mjx_like.errors import ModelError
from mjx_like.interop.convert import arrays_from_mjmodel
from mjx_like.mjcf.reader import parse_string
from mjx_like.mjcf.writer import to_xml
from tests.compiler.compare import array_differences
from tests.mjcf.test_attach import CHILD, PARTS, parent
from tests.support.images import image

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

XML = """<mujoco><asset><material name="m"/></asset><worldbody>
  <body name="a"><joint name="ja"/><geom name="g" size=".1" material="m"/><site name="s" pos="0 0 1" euler="0 90 0"/>
    <frame name="f" pos="1 0 0"/></body>
  <site name="s2" pos="1 0 0"/>
  <body name="b"><joint name="jb"/><geom name="gb" size=".1"/><body name="c" mocap="false"><joint name="jc"/>
    <geom size=".2"/></body></body>
  <body name="target" mocap="true" pos="3 0 0"/></worldbody>
  <tendon><fixed name="T"><joint joint="ja" coef="1"/><joint joint="jb" coef="1"/></fixed>
    <spatial name="S"><site site="s"/><site site="s2"/></spatial></tendon>
  <actuator><motor name="ma" joint="ja"/><motor name="mb" joint="jb"/><motor name="mt" tendon="S"/></actuator>
  <sensor><jointpos name="sa" joint="ja"/><jointpos name="sb" joint="jb"/><actuatorfrc name="af" actuator="mt"/>
    <framepos name="fr" objtype="body" objname="b" reftype="site" refname="s"/></sensor>
  <equality><weld name="w" body1="a" body2="b"/></equality>
  <custom><tuple name="tu"><element objtype="body" objname="a"/><element objtype="body" objname="b"/></tuple></custom>
  <contact><exclude body1="a" body2="b"/></contact>
  <keyframe><key name="k" qpos="1 2 3" ctrl="3 4 5" mpos="7 8 9"/></keyframe></mujoco>"""

# What is attached keeps its own angle unit, Euler sequence and classes.
OTHER = """<mujoco model="other"><compiler angle="radian" eulerseq="ZYX"/>
  <default><geom rgba="1 0 0 1"/><joint range="-1 1"/><default class="k"><geom euler=".1 .2 .3"/></default></default>
  <asset><material name="m" rgba="0 1 0 1"/></asset>
  <worldbody><geom name="floor" size=".3"/><frame name="of" pos="0 0 .5" euler="0 0 1">
    <body name="o" childclass="k" axisangle="1 0 0 .5"><joint name="oj" ref=".1"/><geom name="og" size=".1 .2 .3"
     type="box" material="m"/><site name="os"/><body name="oc"><joint name="ob" type="ball" range="0 2"/>
     <geom size=".1"/></body></body></frame></worldbody>
  <actuator><position name="op" joint="oj" kp="3"/></actuator><sensor><gyro name="gy" site="os"/></sensor>
  <keyframe><key name="ok" qpos=".5 1 0 0 0" ctrl="1"/></keyframe></mujoco>"""


def attach_to_frame(spec, other):
    spec.attach(other, frame=spec.frame("f"), prefix="p-", suffix="-s")


def attach_to_site(spec, other):
    spec.attach(other, site="s", prefix="p-")


def attach_body(spec, other):
    spec.worldbody.add_frame(pos=[1, 2, 3]).attach_body(other.body("oc"), "p-", "")


def attach_body_to_site(spec, other):
    spec.site("s").attach_body(other.body("o"), "p-", "")


def attach_frame(spec, other):
    spec.body("b").attach_frame(other.frame("of"), "p-", "")


@pytest.mark.parametrize(
    "attach",
    [attach_to_frame, attach_to_site, attach_body, attach_body_to_site, attach_frame],
    ids=lambda f: f.__name__,
)
def test_attach(attach):
    theirs, ours = mujoco.MjSpec.from_string(XML), mjx.Spec.from_string(XML)
    attach(theirs, mujoco.MjSpec.from_string(OTHER))
    attach(ours, mjx.Spec.from_string(OTHER))
    reference = arrays_from_mjmodel(theirs.compile())
    assert array_differences(compile_spec(ours.checked()), reference) == {}
    written = compile_spec(parse_string(ours.to_xml()))
    assert array_differences(written, reference) == {}


def test_attaching_copies():
    spec, other = mjx.Spec.from_string(XML), mjx.Spec.from_string(OTHER)
    before = other.to_xml()
    frame = spec.attach(other, frame="f", prefix="x-")
    assert spec.geom("x-og").parent.name == "x-o" and frame.parent == spec.body("a")
    spec.geom("x-og").size = [1, 1, 1]
    spec.attach(other, frame="f", prefix="y-")
    assert other.to_xml() == before and spec.geom("y-og").size[0] == 0.1
    assert {geom.name for geom in spec.geoms if geom.name.endswith("og")} == {"x-og", "y-og"}


def test_a_part_of_the_same_spec():
    spec = mjx.Spec.from_string(XML)
    body = spec.worldbody.add_frame(pos=[0, 5, 0]).attach_body(spec.body("b"), "copy-")
    model = spec.compile()
    assert body.name == "copy-b" and model.njnt == 5 and model.actuator("copy-mb").id == 3
    np.testing.assert_array_equal(model.key_qpos[0], [1, 2, 3, 0, 0])


DELETED = {
    "body a": lambda s: s.delete(s.body("a")),
    "body b": lambda s: s.delete(s.body("b")),
    "body c": lambda s: s.delete(s.body("c")),
    "body target": lambda s: s.delete(s.body("target")),
    "tendon T": lambda s: s.delete(s.tendon("T")),
    "sensor": lambda s: s.delete(s.sensor("fr")),
    "key": lambda s: s.delete(s.key("k")),
    "equality": lambda s: s.delete(s.equality("w")),
    "frame": lambda s: s.delete(s.frame("f")),
    "geom": lambda s: s.delete(s.geom("gb")) or s.body("b").add_geom(type=mjx.GeomType.SPHERE, size=[0.3, 0, 0]),
}


@pytest.mark.parametrize("name", sorted(DELETED))
def test_delete(name):
    theirs, ours = mujoco.MjSpec.from_string(XML), mjx.Spec.from_string(XML)
    if name == "geom":
        theirs.delete(theirs.geom("gb"))
        theirs.body("b").add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.3, 0, 0])
    else:
        DELETED[name](theirs)
    DELETED[name](ours)
    reference = arrays_from_mjmodel(theirs.compile())
    assert array_differences(compile_spec(ours.checked()), reference) == {}
    assert array_differences(compile_spec(parse_string(ours.to_xml())), reference) == {}


def test_delete_takes_along_what_refers_to_it():
    spec = mjx.Spec.from_string(XML)
    spec.delete(spec.joint("ja"))
    assert [actuator.name for actuator in spec.actuators] == ["mb", "mt"]
    assert spec.tendon("T") is None and spec.sensor("sa") is None
    spec.delete(spec.site("s2"))  # the tendon on it, the actuator on that, and the sensor on this
    assert spec.tendon("S") is None and spec.actuator("mt") is None and spec.sensor("af") is None
    model = spec.compile()
    np.testing.assert_array_equal(model.key_qpos, [[2, 3]])
    np.testing.assert_array_equal(model.key_ctrl, [[4]])
    spec.delete(spec.actuator("mb"))
    assert spec.compile().nu == 0


def test_delete_a_class():
    spec = mjx.Spec.from_string(OTHER)
    nested = spec.add_default("n", "k")
    spec.delete(spec.find_default("k"))
    assert spec.find_default("k") is None and spec.find_default(nested.name) is None
    with pytest.raises(ModelError, match="unknown class 'k'"):
        spec.compile()
    with pytest.raises(ModelError, match="'main' is the root of all; it cannot be deleted"):
        spec.delete(spec.default)


def test_what_cannot_be_deleted_or_attached():
    spec, other = mjx.Spec.from_string(XML), mjx.Spec.from_string(OTHER)
    for item in (spec.worldbody, other.geom("og"), other.actuator("op")):
        with pytest.raises(ModelError, match="is not in this model, or is its world"):
            spec.delete(item)
    body = spec.body("c")
    spec.delete(body)
    with pytest.raises(ModelError, match="is not in this model"):
        spec.delete(body)
    for target in ({}, {"site": "nobody"}, {"site": "s", "frame": "f"}):
        with pytest.raises(ModelError, match="attach needs one site or frame of this Spec"):
            spec.attach(other, **target)
    spec.attach(other, site="s")
    with pytest.raises(ModelError, match="name 'm' is already taken by a material"):
        spec.compile()


def test_settings_that_contradict():
    spec = mjx.Spec.from_string(XML)
    spec.compiler.conflict = "error"
    spec.option.timestep = 0.01
    other = mjx.Spec.from_string(OTHER)
    other.option.timestep = 0.02
    with pytest.raises(ModelError, match="timestep: the model has 0.01, the attached one 0.02"):
        spec.attach(other, site="s", prefix="p")


def test_files_of_both_models():
    spec, other = mjx.Spec.from_string(XML), mjx.Spec.from_string(OTHER)
    spec.assets["a"], other.assets["a"], other.assets["b"] = b"1", b"1", b"2"
    spec.attach(other, site="s", prefix="p")
    assert spec.assets == {"a": b"1", "b": b"2"}
    other.assets["a"] = b"3"
    with pytest.raises(ModelError, match="both models have an asset file 'a', and the contents differ"):
        spec.attach(other, site="s", prefix="q")


def test_keyframes_are_held():
    spec = mjx.Spec.from_string(XML)
    spec.delete(spec.body("c"))
    with pytest.raises(ModelError, match="key name='k'.*is held for the model as it was before"):
        spec.key("k").qpos = [1, 2]
    spec.key("k").time = 3
    spec.delete(spec.key("k"))
    spec.add_key(name="k", qpos=[5, 6])
    np.testing.assert_array_equal(spec.compile().key_qpos, [[5, 6]])


@pytest.mark.parametrize("part", PARTS)
def test_written_attachment_compiles_to_the_same(part):
    assets = {"kid.xml": CHILD.encode()}
    xml = parent(PARTS[part])
    spec = mjx.Spec.from_string(xml, assets)
    first, second = compile_spec(parse_string(xml, assets)), compile_spec(parse_string(spec.to_xml()))
    assert array_differences(second, first) == {}
    mujoco.MjModel.from_xml_string(spec.to_xml())


def test_compiler_settings_that_one_file_cannot_say():
    spec = mjx.Spec.from_string(XML)
    other = mjx.Spec.from_string(OTHER)
    other.compiler.inertiafromgeom = True
    spec.attach(other, site="s", prefix="p-")
    with pytest.raises(ModelError, match="whose compiler has inertiafromgeom 'true', this one has 'auto'"):
        spec.to_xml()
    assert "<inertial" in mjx.Spec.from_model(spec.compile()).to_xml()


def test_files_of_an_attached_model_are_named_by_place(tmp_path):
    (tmp_path / "kid/pictures").mkdir(parents=True)
    png = image(7, 5)
    (tmp_path / "kid/pictures/t.png").write_bytes(png)
    (tmp_path / "kid/kid.xml").write_text(
        """<mujoco><compiler texturedir="pictures"/><asset><texture name="t" type="2d" file="t.png"/></asset>
        <worldbody><body name="b"><geom size="1"/></body></worldbody></mujoco>"""
    )
    spec = mjx.Spec.from_string(XML)
    spec.attach(mjx.Spec.from_file(tmp_path / "kid/kid.xml"), site="s", prefix="p-")
    spec.to_file(tmp_path / "out.xml")
    assert mjx.Model.from_xml_path(str(tmp_path / "out.xml")).tex_width[0] == 7
    assert to_xml(parse_string(spec.to_xml())) == spec.to_xml()
