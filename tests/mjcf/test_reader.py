"""Documents: merged sections, includes, assets; every kind of error with its message."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_file, parse_string
from tests.mjcf.messages import error, world


def test_repeated_sections_are_merged_in_order():
    xml = (
        '<mujoco><option timestep="1" wind="1 2 3"/><worldbody><geom name="a" size="1"/></worldbody>'
        '<custom><text name="t" data="x"/></custom><option timestep="2"/>'
        '<custom><numeric name="n" data="1 2"/></custom>'
        '<worldbody><geom name="b" size="1"/></worldbody><option actuatorgroupdisable="1 2"/>'
        '<option actuatorgroupdisable="2 30"/></mujoco>'
    )
    spec = parse_string(xml)
    assert spec.option["timestep"] == 2
    assert [geom.get("name") for geom in spec.worldbody.children] == ["a", "b"]
    assert [element.tag for element in spec.sections["custom"]] == ["text", "numeric"]
    np.testing.assert_array_equal(spec.option["actuatorgroupdisable"], [1, 2, 30])


def test_directories():
    spec = parse_string('<mujoco><compiler assetdir="a"/><compiler meshdir="m"/></mujoco>')
    assert (spec.compiler["assetdir"], spec.compiler["meshdir"], spec.compiler["texturedir"]) == ("a", "m", "a")


@pytest.fixture
def files(tmp_path):
    """Writes files and returns the path of the first."""

    def write(**contents):
        for name, text in contents.items():
            path = tmp_path / f"{name.replace('__', '/')}.xml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path / f"{next(iter(contents))}.xml"

    return write


INCLUDE = '<mujoco><include file="{}"/></mujoco>'


@pytest.mark.parametrize("where", ["b", "sub__b"])
def test_include_is_relative_to_the_main_file_or_to_the_including_one(files, where):
    inner = '<x><include file="b.xml"/></x>'
    main = files(main=INCLUDE.format("sub/a.xml"), sub__a=inner, **{where: '<x><option timestep="5"/></x>'})
    assert parse_file(main).option["timestep"] == mujoco.MjSpec.from_file(str(main)).option.timestep == 5


def test_include_inside_a_body_keeps_the_place(files):
    main = files(
        main="<mujoco><worldbody><body>\n<include file='g.xml'/></body></worldbody></mujoco>",
        g="<mujoco>\n\n<geom name='a' size='1'/><geom name='b' sise='1'/></mujoco>",
    )
    with pytest.raises(
        ModelError, match=r"^g.xml:3: element <geom name='b'>: unknown attribute 'sise'; did you mean 'size'"
    ):
        parse_file(main)


def test_include_from_assets():
    spec = parse_string(INCLUDE.format("a.xml"), assets={"a.xml": b"<x><option timestep='3'/></x>"})
    assert spec.option["timestep"] == 3


BAD_INCLUDES = {
    "twice": ('<mujoco><include file="b.xml"/><include file="./b.xml"/></mujoco>', "already included"),
    "itself": (INCLUDE.format("main.xml"), "already included"),
    "missing": (INCLUDE.format("nope.xml"), "no such file"),
    "no file": ("<mujoco><include/></mujoco>", "missing attribute 'file'"),
    "children": ('<mujoco><include file="b.xml"><a/></include></mujoco>', "may not have children"),
    "empty": (INCLUDE.format("e.xml"), "has no elements"),
    "malformed": (INCLUDE.format("m.xml"), "m.xml:2: malformed XML"),
    "circle": (INCLUDE.format("c.xml"), "already included"),
    "directory": (INCLUDE.format("."), "no such file"),
}


@pytest.mark.parametrize("case", BAD_INCLUDES)
def test_bad_includes(files, case):
    xml, message = BAD_INCLUDES[case]
    main = files(
        main=xml, b="<x><option/></x>", e="<x/>", m="<x>\n<a></x>", c=INCLUDE.format("d.xml"), d=INCLUDE.format("c.xml")
    )
    with pytest.raises(ValueError):
        mujoco.MjSpec.from_file(str(main))
    with pytest.raises(ModelError, match=message):
        parse_file(main)


ERRORS = {
    "empty": ("", "<string>: empty file"),
    "malformed": ("<mujoco>\n<option>\n</mujoco>", "<string>:3: malformed XML: Opening and ending tag mismatch"),
    "duplicate attribute": (world('<geom size="1" size="2"/>'), "<string>:3: malformed XML: Attribute size redefined"),
    "root": ("<foo/>", "<string>:1: element <foo>: the root element must be <mujoco>"),
    "entity": ('<!DOCTYPE a [\n<!ENTITY b "c">]><mujoco model="&b;"/>', "<string>:2: entity declarations are refused"),
    "element": (
        world('<body><gem size="1"/></body>'),
        "<string>:3: element <gem>: unknown in <body>; did you mean 'geom'?; allowed: joint,",
    ),
    "attribute": (
        world('<geom name="x" szie="1"/>'),
        "<string>:3: element <geom name='x'>: unknown attribute 'szie'; did you mean 'size'?; allowed: name,",
    ),
    "count": (
        world('<geom name="x" fromto="1 2"/>'),
        "<string>:3: element <geom name='x'>: attribute 'fromto' has 2 numbers, needs 6",
    ),
    "count range": (world('<geom size="1 2 3 4"/>'), "attribute 'size' has 4 numbers, needs 1 to 3"),
    "number": (world('<geom size="big"/>'), "attribute 'size' has 'big', needs a number"),
    "integer": (world('<geom size="1" condim="1.5"/>'), "attribute 'condim' has '1.5', needs an integer"),
    "keyword": (
        world('<geom type="bx"/>'),
        "attribute 'type' has keyword 'bx', needs one of: plane, hfield, sphere, capsule, ellipsoid, cylinder, box, "
        "mesh, sdf; did you mean 'box'?",
    ),
    "bool": (world('<body mocap="True"/>'), "attribute 'mocap' has keyword 'True', needs one of: false, true"),
    "keyword list": (world('<camera output="rgb rgb"/>'), "attribute 'output' has keyword 'rgb' twice"),
    "keyword order": (
        '<mujoco><sensor><contact data="dist found"/></sensor></mujoco>',
        "attribute 'data' has keywords 'dist found' out of order; the order is: found, force",
    ),
    "missing": (
        '<mujoco><contact><exclude body1="a"/></contact></mujoco>',
        "element <exclude>: missing attribute 'body2'",
    ),
    "exclusive": (
        world('<geom size="1" quat="1 0 0 0" euler="0 0 0"/>'),
        "element <geom>: attributes 'quat', 'euler' exclude one another",
    ),
    "oneof": ("<mujoco><sensor><rangefinder/></sensor></mujoco>", "missing attribute: needs 'site' or 'camera'"),
    "together": (
        '<mujoco><sensor><framepos objtype="body" objname="a" reftype="body"/></sensor></mujoco>',
        "attributes 'reftype' and 'refname' must be given together",
    ),
    "repeated element": (
        "<mujoco><option><flag/><flag/></option></mujoco>",
        "element <flag>: repeated; may stand only once in <option>",
    ),
    "duplicate name": (
        world('<geom name="a" size="1"/>\n<body><geom name="a" size="1"/></body>'),
        "<string>:4: element <geom name='a'>: name 'a' is already taken by a geom at <string>:3",
    ),
    "world": (world('<body name="world"/>'), "name 'world' is already taken by a body at <string>:2"),
    "reference": (
        world('<body name="arm"/>', '<contact><exclude body1="arm" body2="amr"/></contact>'),
        "attribute 'body2' names body 'amr', which does not exist; did you mean 'arm'?",
    ),
    "class": (
        world('<geom class="q" size="1"/>'),
        "attribute 'class' has unknown class 'q'; known: main",
    ),
    "childclass": (world('<body childclass="q"/>'), "attribute 'childclass' has unknown class 'q'"),
    "main renamed": ('<mujoco><default class="x"/></mujoco>', "the outermost class is always 'main'"),
    "nested class": ("<mujoco><default><default/></default></mujoco>", "missing attribute 'class'"),
    "repeated class": (
        '<mujoco><default><default class="a"/>\n<default class="a"/></default></mujoco>',
        "<string>:2: element <default>: default class 'a' is already defined at <string>:1",
    ),
    "zero quaternion": (world('<geom size="1" quat="0 0 0 0"/>'), "attribute 'quat' is zero"),
    "world attributes": ('<mujoco><worldbody pos="0 0 0"/></mujoco>', "element <worldbody>: unknown attribute 'pos'"),
    "world joint": (world("<frame><joint/></frame>"), "element <joint>: may not stand in worldbody"),
    "world inertia": (world('<inertial pos="0 0 0" mass="1"/>'), "element <inertial>: may not stand in worldbody"),
    "global": ('<mujoco><compiler coordinate="global"/></mujoco>', "attribute 'coordinate' is 'global'"),
    "eulerseq": ('<mujoco><compiler eulerseq="xy"/></mujoco>', "attribute 'eulerseq' has 2 characters, needs 3"),
    "positive": ('<mujoco><statistic extent="0"/></mujoco>', "attribute 'extent' is 0.0, must be greater than 0"),
    "range": ('<mujoco><size nuser_body="-2"/></mujoco>', "attribute 'nuser_body' is -2, must be at least -1"),
    "memory": ('<mujoco><size memory="1X"/></mujoco>', "attribute 'memory' has '1X', needs an integer"),
    "group": ('<mujoco><option actuatorgroupdisable="31"/></mujoco>', "is 31, must be at most 30"),
    "text": ('<mujoco><custom><text name="a"/></custom></mujoco>', "missing attribute 'data', or it is empty"),
    "numeric": ('<mujoco><custom><numeric name="a"/></custom></mujoco>', "needs 'data' or 'size'"),
    "layer": (
        '<mujoco><asset><material name="a" texture="b"><layer role="rgb" texture="b"/></material></asset></mujoco>',
        "element <layer>: may not stand in a material that has attribute 'texture'",
    ),
    "shortcut": (
        '<mujoco><actuator><position joint="a" kv="1" dampratio="1"/></actuator></mujoco>',
        "attributes 'kv' and 'dampratio' exclude one another",
    ),
    "refsite": (
        '<mujoco><actuator><motor joint="a" refsite="b"/></actuator></mujoco>',
        "attribute 'refsite' goes only with attribute 'site' as the target",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    xml, message = ERRORS[case]
    assert message in error(xml)


@pytest.mark.parametrize("case", sorted(set(ERRORS) - {"entity", "reference"}))
def test_the_oracle_refuses_the_same(case):
    with pytest.raises(ValueError):
        mujoco.MjSpec.from_string(ERRORS[case][0])


@pytest.mark.parametrize("tag", ["body", "frame"])
def test_bodies_outside_the_world_are_passed_over(tag):
    """Files made to be included in a body are models of nothing by themselves."""
    part = f'<mujoco>\n<{tag} name="a"><body><geom size="1"/></body></{tag}></mujoco>'
    assert mujoco.MjModel.from_xml_string(part).nbody == 1
    with pytest.warns(UserWarning, match=f"<string>:2: element <{tag}>: is passed over outside <worldbody>"):
        assert not parse_string(part).worldbody.children
    assert error(part.replace("<geom", "<geo")).startswith("<string>:2: element <geo>: unknown in <body>")


def test_missing_file():
    with pytest.raises(ModelError, match="cannot read model file 'nope.xml': No such file"):
        parse_file("nope.xml")


def test_read_asset(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"disk")
    (tmp_path / "m.xml").write_text("<mujoco/>" + "\n")
    (tmp_path / "m.xml").write_text("<mujoco><option/></mujoco>")
    spec = parse_file(tmp_path / "m.xml", assets={"b.bin": b"memory"})
    assert (spec.read_asset("a.bin"), spec.read_asset("b.bin")) == (b"disk", b"memory")
    with pytest.raises(ModelError, match="cannot read asset file"):
        spec.read_asset("c.bin")


TAGS = ["mujoco", "worldbody", "body", "geom", "joint", "default", "frame", "replicate", "include", "actuator", "motor"]
NAMES = ["name", "class", "size", "type", "count", "pos", "quat", "childclass", "file", "joint", "euler"]
VALUES = ["", "a", "1", "2", "1 0 0", "0 0 0 0", "box", "nan", "-3", "1e999", "\u0663", "main", "&amp;", "<", "\x01"]
TREES = st.recursive(
    st.just(""),
    lambda inner: st.builds(
        lambda tag, attributes, inside: f"<{tag} {attributes}>{''.join(inside)}</{tag}>",
        st.sampled_from(TAGS),
        st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), max_size=3).map(
            lambda given: " ".join(f'{name}="{value}"' for name, value in given.items())
        ),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


@pytest.mark.filterwarnings("ignore")
@given(
    st.one_of(TREES.map(lambda tree: f"<mujoco><worldbody>{tree}</worldbody></mujoco>"), TREES, st.text(), st.binary())
)
@settings(max_examples=150, deadline=None, database=None)
def test_anything_ends_in_a_spec_or_a_model_error(document):
    try:
        spec = parse_string(document)
    except ModelError as e:
        assert str(e)
        return
    assert spec.worldbody.tag == "worldbody"
