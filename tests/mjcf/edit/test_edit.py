"""Reading and changing a Spec: look-ups, attributes, default classes, and what is refused with which message."""

import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import ModelError
from mjx_like.mjcf.edit.access import Adder, Elements, Finder, Lister, Setting
from mjx_like.mjcf.edit.spec import LISTED, TREE, TYPED
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.types.enums import GeomType, JointType

XML = """<mujoco model="m">
  <default><geom rgba="0 1 0 1"/><default class="big"><geom size=".5" euler="0 0 90"/></default></default>
  <asset><material name="red" rgba="1 0 0 1"/><texture name="t" type="2d" builtin="flat" width="2" height="2"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <frame name="f" pos="0 0 1" childclass="big">
      <body name="a"><freejoint name="free"/><geom name="ga" type="box" size=".1 .2 .3"/><site name="sa"/>
        <body name="b"><joint name="jb"/><geom name="gb"/></body>
      </body>
    </frame>
  </worldbody>
  <actuator><position name="p" joint="jb" kp="3"/></actuator>
  <sensor><gyro name="s" site="sa"/></sensor>
  <keyframe><key name="k" qpos="0 0 1 1 0 0 0 .5"/></keyframe>
</mujoco>"""


@pytest.fixture
def spec():
    return mjx.Spec.from_string(XML)


def test_look_ups(spec):
    assert spec.body("a").name == "a" and spec.body("world") == spec.worldbody
    assert spec.geom("ga").parent == spec.body("a") and spec.body("a").frame == spec.frame("f")
    assert spec.body("a").parent == spec.worldbody and spec.worldbody.parent is None
    assert spec.geom("none") is None and spec.geom("") is None
    assert [geom.name for geom in spec.geoms] == ["floor", "ga", "gb"]
    assert [body.name for body in spec.bodies] == ["world", "a", "b"]
    assert [joint.name for joint in spec.joints] == ["free", "jb"]
    assert [geom.name for geom in spec.worldbody.geoms] == ["floor"]
    assert [body.name for body in spec.worldbody.bodies] == ["a"]
    assert [geom.name for geom in spec.body("a").find_all("geom")] == ["ga", "gb"]
    assert spec.worldbody.find_child("b") == spec.body("b")
    for kind in ("material", "texture", "actuator", "sensor", "key", "site", "joint"):
        item = next(iter(getattr(spec, {"key": "keys"}.get(kind, f"{kind}s"))))
        assert getattr(spec, kind)(item.name) == item
    assert {spec.geom("ga"): 1}[spec.geom("ga")] == 1 and repr(spec.geom("ga")) == "<geom 'ga'>"


def test_reading_gives_what_applies(spec):
    np.testing.assert_array_equal(spec.geom("ga").size, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(spec.geom("gb").size, [0.5, 0, 0])  # of the class that the frame gives
    np.testing.assert_array_equal(spec.geom("gb").rgba, [0, 1, 0, 1])
    assert spec.geom("ga").type == "box" and spec.geom("gb").condim == 3 and spec.geom("gb").mass is None
    assert spec.actuator("p").type == "position" and spec.actuator("p").target == "jb"
    np.testing.assert_array_equal(spec.actuator("p").gainprm[:2], [3, 0])
    assert spec.modelname == "m" and spec.option.integrator == "Euler" and spec.compiler.degree is True


def test_changing(spec):
    geom = spec.geom("ga")
    geom.type = GeomType.SPHERE
    geom.size[0] = 0.7
    geom.pos = (1, 2, 3)
    geom.name = "renamed"
    spec.geom("gb").rgba *= 0.5
    spec.joint("jb").type = JointType.SLIDE
    spec.actuator("p").ctrlrange = [-1, 1]
    spec.material("red").textures = {"rgb": spec.texture("t")}
    spec.option.flag.gravity = False
    model = spec.compile(dtype=np.float64)
    index = model.geom("renamed").id
    assert model.geom_type[index] == GeomType.SPHERE
    np.testing.assert_array_equal(model.geom_size[index], [0.7, 0.2, 0.3])
    np.testing.assert_array_equal(model.geom_pos[index], [1, 2, 3])
    np.testing.assert_array_equal(model.geom("gb").rgba, [0, 0.5, 0, 0.5])
    np.testing.assert_array_equal(
        model.actuator("p").ctrlrange if hasattr(model, "x") else model.actuator_ctrlrange[0], [-1, 1]
    )
    assert model.jnt_type[1] == JointType.SLIDE and model.mat_texid[0, 1] == 0
    assert model.opt.disableflags == mjx.DisableBit.GRAVITY


def test_none_takes_the_own_value_away(spec):
    spec.geom("ga").size = None
    np.testing.assert_array_equal(spec.geom("ga").size, [0.5, 0, 0])
    del spec.geom("ga").type
    assert spec.geom("ga").type == "sphere"
    spec.geom("gb").mass = 3
    spec.geom("gb").mass = None
    assert spec.geom("gb").mass is None


def test_one_orientation_holds(spec):
    body = spec.body("a")
    body.euler = [0, 0, 90]
    body.quat = [0, 1, 0, 0]
    np.testing.assert_array_equal(spec.compile(dtype=np.float64).body("a").quat, [0, 1, 0, 0])
    body.axisangle = [0, 0, 1, 90]
    np.testing.assert_allclose(spec.compile(dtype=np.float64).body("a").quat, [0.5**0.5, 0, 0, 0.5**0.5])


def test_classes_apply_when_compiled(spec):
    spec.find_default("big").geom.size = 0.8
    spec.find_default("big").geom.quat = [1, 0, 0, 0]
    small = spec.add_default("small", "big")
    small.geom.rgba[3] = 0.25
    spec.geom("ga").classname = small
    model = spec.compile(dtype=np.float64)
    np.testing.assert_array_equal(model.geom("gb").size, [0.8, 0, 0])
    np.testing.assert_array_equal(model.geom("gb").quat, [1, 0, 0, 0])
    np.testing.assert_array_equal(model.geom("ga").rgba, [0, 1, 0, 0.25])
    assert small.parent == "big" and spec.find_default("other") is None and spec.default.name == "main"


def test_compiling_leaves_the_spec_as_it_is(spec):
    before = spec.to_xml()
    first = spec.compile()
    assert spec.to_xml() == before and first.topology == spec.compile().topology
    spec.body("b").add_geom(name="new", size=[0.1])
    assert spec.compile().ngeom == first.ngeom + 1


def test_copy_is_apart(spec):
    other = spec.copy()
    other.geom("ga").size = 9
    other.default.geom.rgba = [1, 1, 1, 1]
    other.option.timestep = 1
    assert spec.geom("ga").size[0] == 0.1 and spec.default.geom.rgba[0] == 0 and spec.option.timestep == 0.002


def test_moving_into_a_frame(spec):
    frame = spec.body("b").add_frame(pos=[0, 0, 2])
    spec.geom("gb").set_frame(frame)
    assert spec.geom("gb").frame == frame and spec.geom("gb").parent == spec.body("b")
    np.testing.assert_array_equal(spec.compile(dtype=np.float64).geom("gb").pos, [0, 0, 2])


def test_written_text_compiles_to_the_same_model(spec, tmp_path):
    spec.body("b").add_site(name="x\ny", pos=[1 / 3, 0.1, 0])
    spec.to_file(tmp_path / "m.xml")
    assert (tmp_path / "m.xml").read_text() == spec.to_xml()
    first, second = spec.compile(), mjx.Spec.from_file(tmp_path / "m.xml").compile()
    assert first.topology == second.topology
    np.testing.assert_array_equal(first.site_pos, second.site_pos)


REFUSED = {
    "unknown attribute 'sise'; did you mean 'size'.; allowed: name": lambda s: setattr(s.geom("ga"), "sise", 1),
    "attribute 'size' has 4 numbers, needs 1 to 3": lambda s: setattr(s.geom("ga"), "size", [1, 2, 3, 4]),
    "attribute 'type' has keyword 'cube', needs one of": lambda s: setattr(s.geom("ga"), "type", "cube"),
    "attribute 'type' has 99, needs one of": lambda s: setattr(s.geom("ga"), "type", 99),
    "attribute 'condim' has 2.5, needs an integer": lambda s: setattr(s.geom("ga"), "condim", 2.5),
    "attribute 'pos' has 'a', needs a number": lambda s: setattr(s.geom("ga"), "pos", "a b c"),
    "attribute 'mass' has 2 numbers, needs 1": lambda s: setattr(s.geom("ga"), "mass", [1, 2]),
    "unknown attribute 'color'": lambda s: s.worldbody.add_geom(color=1),
    "sensor has no type 'giro'; did you mean 'gyro'": lambda s: s.add_sensor("giro", site="sa"),
    "99 is not a valid SensorType": lambda s: s.add_sensor(99),
    "has no transmission 'wheel'": lambda s: setattr(s.actuator("p"), "trntype", "wheel"),
    "default class 'big' exists already": lambda s: s.add_default("big"),
    "default class 'bug' does not exist; did you mean 'big'": lambda s: s.add_default("new", "bug"),
    "default class '' needs a name": lambda s: s.add_default(""),
    "unknown attribute 'timestop'; did you mean 'timestep'": lambda s: setattr(s.option, "timestop", 1),
    "attribute 'timestep' has": lambda s: setattr(s.option, "timestep", "fast"),
    "unknown attribute 'kp'": lambda s: setattr(s.default.geom, "kp", 1),
    "cannot hold a 'wheel'": lambda s: s.worldbody.find_all("wheel"),
}


@pytest.mark.parametrize("message", sorted(REFUSED))
def test_refused_at_once(spec, message):
    before = spec.to_xml()
    with pytest.raises(ModelError, match=message) as caught:
        REFUSED[message](spec)
    assert str(caught.value).startswith(("<string>:", __file__)) and "\n" not in str(caught.value)
    assert spec.to_xml() == before


def test_place_is_that_of_the_user(spec):
    geom = spec.worldbody.add_geom(name="g")
    with pytest.raises(ModelError, match=r"test_edit\.py:\d+: element <geom name='g'>: attribute 'size' has"):
        geom.size = "big"


CONTRADICTIONS = {
    "name 'ga' is already taken by a geom": lambda s: s.worldbody.add_geom(name="ga", size=[1]),
    "attribute 'joint' names joint 'nobody', which does not exist": lambda s: s.add_actuator(joint="nobody"),
    "missing attribute 'site'": lambda s: s.add_sensor("gyro"),
    "attributes 'kv' and 'dampratio' exclude one another": lambda s: s.add_actuator(
        type="position", joint="jb", kv=1, dampratio=1
    ),
    "may not stand in worldbody": lambda s: s.worldbody.add_joint(),
    "unknown class 'nope'": lambda s: s.worldbody.add_geom("nope", size=[1]),
    "wraps what a spatial tendon does": lambda s: s.add_tendon().wrap_site("sa")._holder.wrap_joint("jb", 1),
}


@pytest.mark.parametrize("message", sorted(CONTRADICTIONS))
def test_refused_when_compiled(spec, message):
    with pytest.raises(ModelError, match=message):
        CONTRADICTIONS[message](spec)
        spec.compile()


def test_unknown_attribute_reads_as_missing(spec):
    assert not hasattr(spec.geom("ga"), "sise") and not hasattr(spec.option, "timestop")
    assert not hasattr(spec.default, "wheel") and "size" in dir(spec.geom("ga")) and "gravity" in dir(spec.option)


def test_actuator_target_and_shortcuts(spec):
    actuator = spec.add_actuator(name="x", joint="jb", gear=2)
    actuator.trntype = "jointinparent"
    assert (actuator.target, actuator.trntype) == ("jb", "jointinparent")
    actuator.target = "jb"
    assert actuator.set_to_muscle(force=3).type == "muscle" and actuator.force == 3
    actuator.lengthrange = [0.1, 1]
    assert actuator.set_to_damper(kv=2).name == "x"
    actuator.ctrlrange = [0, 1]
    model = spec.compile(dtype=np.float64)
    np.testing.assert_array_equal(model.actuator("x").gainprm[:3], [0, 0, -2])
    np.testing.assert_array_equal(model.actuator_gear[1, :2], [2, 0])


def test_inertial(spec):
    body = spec.body("b")
    assert body.explicitinertial is False and body.mass is None
    body.mass, body.inertia = 2, [1, 1, 1]
    assert body.explicitinertial and body.mass == 2
    model = spec.compile(dtype=np.float64)
    assert model.body("b").mass == 2
    np.testing.assert_array_equal(model.body("b").inertia, [1, 1, 1])
    body.explicitinertial = False
    assert spec.compile(dtype=np.float64).body("b").mass == pytest.approx(1000 * 4 / 3 * np.pi * 0.125)


def test_paths_and_groups(spec):
    tendon = spec.add_tendon(name="t")
    tendon.wrap_site("sa")
    tendon.wrap_pulley(2)
    tendon.wrap_site("sa")
    tendon.wrap_geom("gb", "sa")
    assert [part.__repr__()[1:5] for part in tendon.path] == ["site", "pull", "site", "geom"]
    group = spec.add_tuple(name="pair")
    group.add(objtype="body", objname="a", prm=2)
    group.add(objtype="geom", objname=spec.geom("gb"))
    spec._record.sections["tendon"].clear()
    model = spec.compile(dtype=np.float64)
    assert model.ntupledata == 2 and model.tuple_objprm[0] == 2


def test_names_of_a_spec_follow_the_tables_of_the_language():
    kinds = {*TREE, *LISTED, *TYPED}
    named = {name: found for name, found in vars(Elements).items() if isinstance(found, Finder | Lister | Adder)}
    assert {found.kind for found in named.values() if isinstance(found, Finder)} == kinds
    assert {found.kind for found in named.values() if isinstance(found, Lister)} == kinds
    assert {found.kind for found in named.values() if isinstance(found, Adder)} == set(LISTED)
    for name, found in named.items():
        assert name == found.kind or name == f"add_{found.kind}" or isinstance(found, Lister), name
    settings = {found.name for found in vars(Elements).values() if isinstance(found, Setting) if found.holder == "size"}
    assert settings == set(ELEMENTS["size"].attributes)
