"""Replicates against the oracle: names, poses, nesting."""

import mujoco
import numpy as np
import pytest

from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_string
from tests.compiler.compare import compile_source, differences

DOCUMENTS = {
    "plain": '<replicate count="3" offset="1 0 0"><geom name="g" size="1"/></replicate>',
    "turned": '<replicate count="10" offset="1 2 3" euler="10 20 30"><body name="b">'
    '<site name="s"/></body></replicate>',
    "nested": '<replicate count="2" offset="0 1 0" euler="90 0 0"><replicate count="2" sep="-" offset="1 0 0" '
    'euler="0 90 0"><frame name="f" pos="0 0 1"><geom name="A" size=".1"/></frame></replicate></replicate>',
    "none": '<geom name="a" size="1"/><replicate count="0"><geom name="g" size="1"/></replicate>',
    "target": '<replicate count="2"><body name="b"/><camera name="c" mode="targetbody" target="b"/></replicate>',
    "class": '<replicate count="2" childclass="k"><geom name="g"/></replicate>',
    "order": '<body name="p"><body name="a"/><replicate count="2"><body name="r"/></replicate><body name="z"/></body>',
}
COMPILERS = ['<compiler eulerseq="xyz"/>', '<compiler angle="radian" eulerseq="zYx"/>']
CLASS = '<default><default class="k"><geom size="3"/></default></default>'


@pytest.mark.parametrize("compiler", COMPILERS, ids=["degree", "radian"])
@pytest.mark.parametrize("case", DOCUMENTS)
def test_same_elements_and_frames(case, compiler):
    xml = f"<mujoco>{compiler}{CLASS}<worldbody>{DOCUMENTS[case]}</worldbody></mujoco>"
    spec, oracle = parse_string(xml), mujoco.MjSpec.from_string(xml)
    found = {}
    for element in spec.worldbody.iter():
        found.setdefault(element.tag, []).append(element)
    for tag, theirs in (("geom", oracle.geoms), ("site", oracle.sites), ("camera", oracle.cameras)):
        assert sorted(e.get("name", "") for e in found.get(tag, [])) == sorted(other.name for other in theirs)
    assert [e.get("name", "") for e in found.get("body", [])] == [body.name for body in oracle.bodies[1:]]
    assert [e.get("target") for e in found.get("camera", [])] == [camera.targetbody for camera in oracle.cameras]
    frames = [frame for frame in found.get("frame", [])]
    assert len(frames) == len(oracle.frames)
    ours = sorted((*np.round(f.get("pos"), 9), *np.round(f.get("quat", np.eye(4)[0]), 9)) for f in frames)
    theirs = sorted((*np.round(f.pos, 9), *np.round(f.quat, 9)) for f in oracle.frames)
    np.testing.assert_allclose(np.array(ours), np.array(theirs), atol=1e-9)


def test_class_of_a_replicate():
    spec = parse_string(f"<mujoco>{CLASS}<worldbody>{DOCUMENTS['class']}</worldbody></mujoco>")
    frame = spec.worldbody.children[0]
    assert spec.resolve(frame.children[0], frame.get("childclass"))["size"][0] == 3


B = """<body name="b"><joint name="j"/><geom name="g" size=".1"/><site name="s"/><site name="s2" pos="1 0 0"/>
<camera name="c" pos="1 2 3" resolution="2 2" mode="targetbody" target="b"/></body>"""
OUTER = """<body name="o" pos="3 0 0"><joint name="oj"/><geom name="og" size=".1"/><site name="os"/><site name="os2"
 pos="1 0 0"/></body>"""
R = f'<replicate count="2" offset="1 0 0">{B}</replicate>'
SKIN = """<deformable><skin name="{0}" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="{1}" bindpos="0 0 0"
 bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin></deformable>"""


def world(tree: str, rest: str = "", head: str = "") -> str:
    """Return a model with a tree and other sections."""
    return f"<mujoco>{head}<worldbody>{tree}</worldbody>{rest}</mujoco>"


REFERRING = {
    "order": world(
        OUTER + R,
        """<sensor><gyro name="a" site="os"/><gyro name="in" site="s"/><gyro name="z" site="os"/><jointpos name="jp"
        joint="j"/></sensor><actuator><motor name="m1" joint="oj"/><motor name="m2" joint="j"/><motor name="m3"
        joint="oj"/><adhesion name="ad" body="b" ctrlrange="0 1"/></actuator><equality><weld name="ww" body1="o"/>
        <weld name="w" body1="b"/></equality><custom><numeric name="n" data="1"/><text name="tx" data="x"/></custom>
        <keyframe><key name="k" qpos="1 2 3"/></keyframe>""",
    ),
    "actuators": world(
        OUTER + R,
        """<actuator><motor name="a1" site="s" refsite="os"/><motor name="a2" site="os" refsite="s"/><motor name="a3"
        site="s" refsite="s2"/><general name="a4" cranksite="s" slidersite="os" cranklength="1"/><motor name="a5"
        tendon="t"/></actuator><tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
        <sensor><actuatorpos actuator="a5"/><tendonpos tendon="t"/></sensor>""",
    ),
    "tendons": world(
        OUTER + R,
        """<tendon><spatial name="t1"><site site="s"/><geom geom="og" sidesite="s2"/><site site="os"/></spatial>
        <spatial name="t2"><site site="s"/><geom geom="g" sidesite="os2"/><site site="os"/></spatial><spatial
        name="t3" material="m"><site site="os"/><geom geom="g"/><site site="os2"/></spatial><spatial name="t4"><site
        site="os"/><geom geom="og" sidesite="s"/><site site="os2"/></spatial><spatial name="t5"><site site="os"/>
        <site site="s"/><pulley divisor="2"/><site site="os"/><site site="os2"/></spatial></tendon>""",
        '<asset><material name="m"/></asset>',
    ),
    "sensors": world(
        OUTER + R,
        """<sensor><framepos name="f1" objtype="site" objname="s" reftype="site" refname="os"/><framepos name="f2"
        objtype="site" objname="os" reftype="site" refname="s"/><framepos name="f3" objtype="site" objname="os"
        reftype="site" refname="os2"/><camprojection name="cp" camera="c" site="os"/><distance name="d" geom1="g"
        geom2="og"/><contact name="cg" geom1="g" geom2="og"/><contact name="cs" site="os" body2="b"/><contact
        name="cn"/><insidesite name="i" site="os" objtype="body" objname="b"/><framepos name="w" objtype="site"
        objname="s" reftype="body" refname="world"/><clock/><user dim="1"/></sensor>""",
    ),
    "equalities": world(
        OUTER + R,
        """<equality><connect name="e1" body1="b" body2="world" anchor="0 0 0"/><connect name="e2" site1="s"
        site2="os"/><connect name="e3" site1="s" site2="s2"/><weld name="e4" body1="o" body2="b"/><weld name="e5"
        body1="world" body2="b"/><joint joint1="j"/><joint joint1="j" joint2="oj"/></equality>""",
    ),
    "contacts": world(
        OUTER + R,
        """<contact><pair name="p" geom1="og" geom2="g"/><exclude name="e" body1="world" body2="b"/><exclude
        name="e2" body1="b" body2="o"/><exclude name="e3" body1="o" body2="world"/></contact>""",
    ),
    "tuples": world(
        OUTER + R,
        """<custom><tuple name="t1"><element objtype="site" objname="s"/><element objtype="site" objname="s2"/>
        </tuple><tuple name="t2"><element objtype="site" objname="s"/><element objtype="site" objname="os"/></tuple>
        <tuple name="t3"><element objtype="sensor" objname="q"/></tuple><tuple name="t4"><element objtype="tuple"
        objname="t1"/></tuple><tuple name="t0"><element objtype="tuple" objname="t9"/></tuple><tuple name="t9">
        <element objtype="site" objname="s"/><element objtype="body" objname="world"/></tuple></custom>
        <sensor><gyro name="q" site="s"/></sensor>""",
    ),
    "skins": world(OUTER + R, SKIN.format("k", "b") + SKIN.format("l", "o")),
    "nested": world(
        f"""<replicate count="2" offset="0 1 0"><body name="q"><site name="qs"/><replicate count="11" sep="-"
        offset="1 0 0">{B}</replicate></body></replicate>""",
        """<sensor><gyro name="in" site="s"/><gyro name="q" site="qs"/></sensor><tendon><spatial name="T"><site
        site="qs"/><site site="s"/></spatial></tendon>""",
    ),
    "names of copies": world(R, '<sensor><gyro name="in" site="s1"/></sensor>'),
    "count 1": world(R.replace('"2"', '"1"'), '<sensor><gyro name="in" site="s"/></sensor>'),
    "count 0": world(R.replace('"2"', '"0"'), '<sensor><gyro name="in" site="s"/></sensor>'),
    "materials": world(R.replace("size", 'material="m" size'), head='<asset><material name="m"/></asset>'),
    "of an attachment": world(
        OUTER + '<replicate count="2"><attach body="o" prefix="A_"/></replicate>',
        '<sensor><gyro name="g" site="os"/></sensor>',
    ),
}


@pytest.mark.parametrize("case", REFERRING)
def test_what_refers_into_a_replicate(case):
    assert differences(REFERRING[case]) == {}


REFUSED = {
    "outer object behind it": (
        world(R + OUTER, '<contact><exclude name="e" body1="b" body2="o"/></contact>'),
        "<exclude name='e'>: attribute 'body1' names body 'b', which does not exist",
    ),
    "camera of an outer body": (
        world(OUTER + R.replace('target="b"', 'target="o"')),
        "attribute 'target' names body 'o0', which does not exist",
    ),
    "keyframe": (world(R, '<keyframe><key qpos="1 2 3"/></keyframe>'), "qpos has 3 values; the model has room for 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_message(case):
    xml, message = REFUSED[case]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(ModelError, match=message):
        compile_source(xml)


@pytest.mark.parametrize("child", ["<joint/>", "<freejoint/>", "<frame><joint/></frame>"])
def test_joint_directly_in_a_replicate(child):
    xml = f'<mujoco><worldbody><body><replicate count="2">{child}</replicate></body></worldbody></mujoco>'
    with pytest.raises(ValueError):
        mujoco.MjSpec.from_string(xml)
    with pytest.raises(ModelError, match="may not stand directly in <replicate>"):
        parse_string(xml)


def test_too_many_copies():
    inner = '<geom size="1"/>'
    for _ in range(5):
        inner = f'<replicate count="1000">{inner}</replicate>'
    with pytest.raises(ModelError, match="at most"):
        parse_string(f"<mujoco><worldbody>{inner}</worldbody></mujoco>")


def test_unread_attributes_of_a_frame_are_noted():
    with pytest.warns(UserWarning, match="attribute 'mocap' has no meaning here"):
        parse_string('<mujoco><worldbody><frame mocap="true"/></worldbody></mujoco>')


@pytest.mark.parametrize("around", ["<frame>{}</frame>", '<replicate count="2">{}</replicate>'])
@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<geom size="1" old="1"/>', "<geom>: attribute 'old'"),
        ('<body><joint old="1"/><geom size="1"/></body>', "<joint>: attribute 'old'"),
        ('<body><frame><site><old/></site></frame><geom size="1"/></body>', "element <old>:"),
    ],
)
def test_what_mujoco_passes_over_within_frames_is_noted(around, inside, message):
    xml = f"<mujoco><worldbody>{around.format(inside)}</worldbody></mujoco>"
    with pytest.warns(UserWarning, match=f"{message}.* has no meaning here"):
        assert differences(xml) == {}
    with pytest.raises(ModelError, match="unknown"):
        parse_string(f"<mujoco><worldbody>{inside.replace('<frame>', '').replace('</frame>', '')}</worldbody></mujoco>")
