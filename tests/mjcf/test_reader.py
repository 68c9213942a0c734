"""Values as MuJoCo reads them, includes, merged sections; every kind of error with its message."""

import time

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mjx_like.compiler.compile import compile_spec
from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_file, parse_string
from mjx_like.mjcf.writer import to_xml

NUMBERS = ["1e3", "+.5", "-.5", "inf", "-inf", "infinity", "INF", "0x10", "1.", "1e-400", " 1 ", "", "  ", "+5", "00.5"]
NO_NUMBERS = ["1e", "1.5f", "1,2", "1_0", "1d3", "5e400", ".", "--1", "1 2 3 4", "0x", "e5", "٣"]


def world(text: str, rest: str = "") -> str:
    return f"<mujoco>{rest}\n<worldbody>\n{text}\n</worldbody>\n</mujoco>"


def error(xml: str, **options) -> str:
    """Message of the error that a document raises: one line."""
    with pytest.raises(ModelError) as caught:
        parse_string(xml, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers(text):
    xml = f'<mujoco><worldbody><geom size="{text}"/></worldbody></mujoco>'
    spec = parse_string(xml)
    ours = spec.resolve(spec.worldbody.children[0])["size"]
    np.testing.assert_array_equal(ours, mujoco.MjSpec.from_string(xml).geoms[0].size)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_no_numbers(text):
    xml = f'<mujoco><worldbody><geom size="{text}"/></worldbody></mujoco>'
    with pytest.raises(ValueError, match="size"):
        mujoco.MjSpec.from_string(xml)
    assert "attribute 'size'" in error(xml)


@pytest.mark.parametrize("text", ["1", "+1", "01", " 1 ", "-2", "2147483647", "-2147483648", ""])
def test_integers(text):
    xml = f'<mujoco><worldbody><geom size="1" group="{text}"/></worldbody></mujoco>'
    spec = parse_string(xml)
    ours = spec.resolve(spec.worldbody.children[0])["group"]
    assert ours == mujoco.MjSpec.from_string(xml).geoms[0].group
    assert isinstance(ours, int)


@pytest.mark.parametrize("text", ["1.0", "0x10", "1e1", "99999999999", "2147483648", "inf", "1 2"])
def test_no_integers(text):
    xml = f'<mujoco><worldbody><geom size="1" group="{text}"/></worldbody></mujoco>'
    with pytest.raises(ValueError, match="group"):
        mujoco.MjSpec.from_string(xml)
    assert "attribute 'group'" in error(xml)


def test_nan_is_let_through_with_a_warning():
    xml = '<mujoco><worldbody><geom size="nan"/></worldbody></mujoco>'
    assert np.isnan(mujoco.MjSpec.from_string(xml).geoms[0].size[0])
    with pytest.warns(UserWarning, match=r"<string>:1: element <geom>: attribute 'size' has a NaN"):
        spec = parse_string(xml)
    assert np.isnan(spec.worldbody.children[0].get("size")[0])


def test_single_precision_attributes_are_rounded():
    spec = parse_string(world('<geom size="0.1" rgba="0.1 0.2 0.3 1"/>'))
    geom = spec.worldbody.children[0]
    np.testing.assert_array_equal(geom.get("rgba"), np.float32([0.1, 0.2, 0.3, 1]).astype(np.float64))
    assert geom.get("size")[0] == 0.1


def test_types_of_values():
    xml = world('<camera name="c" output="rgb depth" mode="fixed" fovy="30"/><body mocap="true" user="1 2"/>')
    camera, body = parse_string(xml).worldbody.children
    assert camera.attrib["output"] == ("rgb", "depth")
    assert (camera.get("mode"), camera.get("fovy"), camera.get("name")) == ("fixed", 30.0, "c")
    assert body.get("mocap") is True
    np.testing.assert_array_equal(body.get("user"), [1, 2])


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


def test_cdata_text():
    spec = parse_string("<mujoco><custom><text name='a'><![CDATA[x < y]]></text></custom></mujoco>")
    assert spec.sections["custom"][0].get("data") == "x < y"


def test_what_tinyxml_lets_through():
    xml = "\ufeff<mujoco xmlns:x='http://a' x:y='1'><!-- a -- b\n -->\n<option timestep='1'/>text</mujoco>"
    assert parse_string(xml).option["timestep"] == 1


def test_line_numbers_survive_comments_and_long_tags():
    message = error("<mujoco>\n<!-- a\n b -->\n<worldbody>\n<geom\n size='1'\n bad='1'/>\n</worldbody></mujoco>")
    assert message.startswith(("<string>:5:", "<string>:7:"))


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


BALL = '<mujoco><worldbody><body name="a"><geom size="1"/></body></worldbody></mujoco>'
SLIPS = {
    "version 0": '<?xml version="0.0" ?>' + BALL,
    "no version": '<?xml encoding="utf-8"?>' + BALL,
    "no quotes": "<?xml version=1.0?>" + BALL,
    "line before": '\n<?xml version="1.0"?>\n' + BALL,
    "two declarations": '<?xml version="1.0"?>\n<?xml version="1.0"?>' + BALL,
    "a byte 0": BALL + "\0<",
    "half a comment": BALL.replace("<body ", "<! no comment ><body "),
    "no space between attributes": BALL.replace('name="a"', "name=\"a\"pos='1 2 3'"),
    "space before a name": BALL.replace("<body", "< body"),
    "ampersand": BALL.replace('"a"', '"a&b &d;"'),
    "less": BALL.replace('"a"', '"a<b"'),
    "text": BALL.replace("<geom", "a & b ]]> c &lt; <geom"),
}


@pytest.mark.parametrize("case", SLIPS)
def test_slips_that_mujoco_takes(case):
    theirs = mujoco.MjModel.from_xml_string(SLIPS[case])
    name = parse_string(SLIPS[case]).worldbody.children[0].attrib["name"]
    assert [name] == [theirs.body(i).name for i in range(1, theirs.nbody)]


def test_errors_after_a_slip_name_their_line():
    assert error(SLIPS["version 0"].replace("</body>", "\n</boddy>")).startswith("<string>:2: malformed XML: Opening")
    assert error(SLIPS["ampersand"].replace("<geom", "\n<gem")).startswith("<string>:2: element <gem>: unknown")


@pytest.mark.parametrize("start", ["<!--", "<![CDATA[", "<!", "<?", "<a b='", "<a"])
def test_many_starts_without_an_end_are_refused_in_time(start):
    begun = time.perf_counter()
    assert error(start * 50_000).startswith("<string>:1: malformed XML")
    assert time.perf_counter() - begun < 10


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


def test_deep_nesting_ends_in_an_error():
    assert "malformed XML" in error("<mujoco><worldbody>" + "<body>" * 5000)
    deep = "<mujoco><worldbody>" + "<body>" * 498 + "</body>" * 498 + "</worldbody></mujoco>"
    with pytest.raises(ValueError, match="DEPTH"):
        mujoco.MjSpec.from_string(deep)
    assert error(deep) == "<string>:1: malformed XML: elements within 499 others"


def test_a_long_chain_is_read_compiled_and_written():
    chain = "<mujoco><worldbody>" + "<body><geom size='1'/>" * 496 + "</body>" * 496 + "</worldbody></mujoco>"
    spec = parse_string(chain)
    assert len(list(spec.worldbody.iter("body"))) == 496
    assert to_xml(parse_string(to_xml(spec))) == to_xml(spec)
    assert compile_spec(spec).fields["nbody"] == mujoco.MjModel.from_xml_string(chain).nbody == 497


LONG = " ".join(["1", ".5", "-2.25e-3", "+3.", "1E2"] * 60)


@pytest.mark.parametrize("end", ["", " 0x10", "\n1e39", "\tinf", " 7 \r"])
def test_long_vectors_are_read_as_short_ones(end):
    xml = f'<mujoco><custom><numeric name="n" data="{LONG}{end}"/></custom></mujoco>'
    theirs = mujoco.MjSpec.from_string(xml)  # owns the data
    np.testing.assert_array_equal(parse_string(xml).sections["custom"][0].get("data"), theirs.numerics[0].data)


@pytest.mark.parametrize("end", ["1e", "--1", ".", "1 2 e", "1,2", "1e40"])
def test_a_bad_number_in_a_long_vector_is_named(end):
    message = error(f'<mujoco><asset><mesh name="m" vertex="{LONG} {end}"/></asset></mujoco>')
    assert "attribute 'vertex'" in message
    assert f"'{end.split()[-1]}'" in message


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
