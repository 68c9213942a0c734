"""Attached models and parts of models against the oracle: whole compile results, and every message."""

import warnings

import mujoco
import numpy as np
import pytest

from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_string
from mjx_like.mjcf.writer import to_xml
from tests.compiler.compare import compile_source, differences
from tests.mjcf.fuzzing import FILES

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CHILD = """<mujoco model="kid"><compiler angle="radian" eulerseq="ZYX"/><option timestep=".01"/>
<default><geom rgba="1 0 0 1"/><default class="dd"><geom size=".3"/></default></default>
<asset><texture name="tex" type="2d" builtin="flat" width="2" height="2"/><material name="mat" texture="tex"/>
<hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="1 2 3 4"/></asset>
<worldbody><geom name="wg" size=".1"/><light name="wl"/>
<frame name="F" pos="0 0 1"><body name="fb"><geom class="dd"/></body></frame>
<body name="b" pos="1 0 0" childclass="dd"><joint name="j" range="-1 1"/>
<geom name="g" material="mat" euler=".1 .2 .3"/>
<site name="s"/><body name="c"><joint name="cj"/><geom name="cg" class="dd"/></body></body>
<body name="z"><joint name="zj"/><geom name="zg" size=".1"/><site name="zs"/></body></worldbody>
<sensor><gyro name="gy" site="s"/><gyro name="gz" site="zs"/><clock name="cl"/></sensor>
<actuator><motor name="m" joint="j"/><motor name="mz" joint="zj"/></actuator>
<contact><exclude name="ex" body1="b" body2="z"/><pair name="p" geom1="g" geom2="wg"/></contact>
<tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="zj" coef="1"/></fixed></tendon>
<equality><weld name="w" body1="b"/></equality>
<custom><numeric name="n" data="1 2"/><text name="tt" data="x"/>
<tuple name="tu"><element objtype="body" objname="b"/></tuple></custom>
<keyframe><key name="k" qpos=".1 .2 .3" ctrl="1 2"/></keyframe></mujoco>"""

KEYED = """<mujoco model="kid"><worldbody><body name="mo" mocap="true" pos="1 1 1"/>
<body name="b"><joint name="j" ref="10"/><geom size=".1"/><body name="c"><joint type="ball" name="cj"/><geom size=".1"/>
</body></body><body name="z"><freejoint name="zj"/><geom size=".1"/></body>
<body name="mo2" mocap="true" pos="2 1 1"/></worldbody>
<actuator><general name="m" joint="j" dyntype="integrator"/><pid name="pi" joint="j" input="pos vel" kp="1" kv="1"
 ki="1"/><general name="mz" joint="zj" dyntype="filter"/></actuator>
<keyframe><key name="k" time="3" qpos=".1 1 0 0 1 1 2 3 1 0 0 1" qvel="1 2 3 4 5 6 7 8 9 10" ctrl="1 2 3"
 act=".1 .2 .3" mpos="1 2 3 4 5 6" mquat="1 0 0 1 1 0 0 2"/><key name="short" qpos="5"/><key/></keyframe></mujoco>"""


def parent(part: str, head: str = "", key: str = '<key name="pk" qpos="5 6"/>') -> str:
    """Return a model with an attach element, or whatever is given, in the middle of its tree."""
    return f"""<mujoco model="par">{head}<asset><material name="pm"/><model name="kid" file="kid.xml"/></asset>
<worldbody><body name="P"><joint name="pj"/><geom name="pg" size=".1"/>{part}<geom name="pg2" size=".1"/>
<body name="Q"><joint name="qj" ref="20"/><geom name="qg" size=".1"/></body></body>
<body name="pm" mocap="true" pos="7 7 7"/></worldbody><sensor><jointpos name="pjp" joint="pj"/></sensor>
<actuator><general name="pm" joint="pj" dyntype="filter"/></actuator><custom><numeric name="pn" data="1"/></custom>
<keyframe>{key}</keyframe></mujoco>"""


PARTS = {
    "body": '<attach model="kid" body="b" prefix="A_"/>',
    "whole": '<attach model="kid" prefix="A_"/>',
    "frame": '<attach model="kid" frame="F" prefix="A_"/>',
    "world": '<attach model="kid" body="world" prefix="A_"/>',
    "twice": '<attach model="kid" body="b" prefix="A_"/><attach model="kid" body="b" prefix="B_"/>',
    "in a frame": '<frame pos="1 0 0" euler="10 20 30"><attach model="kid" body="c" prefix="A_"/></frame>',
    "class of it": '<attach model="kid" body="c" prefix="A_"/><body childclass="A_dd"><geom/></body>',
    "in a replicate": '<replicate count="2" sep="-"><attach model="kid" body="b" prefix="A_"/></replicate>',
    "of itself": '<attach body="P" prefix="A_"/>',
}


@pytest.mark.parametrize("part", PARTS)
def test_part(part):
    assert differences(parent(PARTS[part]), {"kid.xml": CHILD.encode()}) == {}


@pytest.mark.parametrize("body", ["z", "mo2"])
def test_keyframes_of_parts(body):
    part = f'</body><attach model="kid" body="{body}" prefix="A_"/><body name="R"><joint/>'
    assert differences(parent(part), {"kid.xml": KEYED.encode()}) == {}


@pytest.mark.parametrize(
    "part",
    [
        '<attach model="kid" prefix="A_"/>',
        '<replicate count="3"><attach model="kid" body="b" prefix="A_"/></replicate>',
        '<replicate count="2"><replicate count="2"><attach model="kid" body="b" prefix="A_"/></replicate></replicate>',
    ],
)
def test_keyframes(part):
    part = f'</body>{part}<body name="R"><joint/>'
    assert differences(parent(part), {"kid.xml": KEYED.encode()}) == {}


@pytest.mark.parametrize("body", ["x", "hold", "world"])
def test_keyframes_of_an_attached_model_that_attached_another(body):
    kid = """<mujoco model="kid"><asset><model name="gk" file="g.xml"/></asset><worldbody><body name="x">
    <joint name="xj"/><geom size=".1"/></body><body name="hold"><attach model="gk" body="b" prefix="G_"/></body>
    </worldbody><keyframe><key name="ck" qpos="9 8"/></keyframe></mujoco>"""
    assets = {"kid.xml": kid.encode(), "g.xml": KEYED.encode()}
    assert differences(parent(f'<attach model="kid" body="{body}" prefix="A_"/>'), assets) == {}


DEFAULTS = """<default><geom rgba="1 0 0 1" material="m"/><joint armature=".1"/><position kp="7"/><motor gear="2"/>
<tendon width=".1" material="m"/><equality solref=".5 1"/><default class="q"><geom size=".4"/><position kp="9"/>
<default class="qq"><geom mass="3"/></default></default></default>"""
TREE = """<body name="b" euler=".1 .2 .3"><joint name="j" range="-1 1" limited="true" ref=".1" springref=".2"/>
<geom name="g" type="box" size=".1 .2 .3" euler=".1 .2 .3"/><site zaxis="1 1 1"/><camera axisangle="1 1 0 .4"/>
<frame euler=".3 .1 .2" pos="1 2 3"><geom size=".2" group="1"/></frame></body>"""
CLASSES = f"""<mujoco>{DEFAULTS}<asset><material name="m"/></asset><worldbody><body name="out" childclass="qq">
<body name="b"><joint name="j"/><geom/><site name="s1"/><site name="s2" pos="1 0 0"/><body name="c" childclass="q"><geom
 name="cg"/><joint name="cj"/><geom class="main" size="1"/></body></body></body></worldbody>
<actuator><position joint="j"/><position joint="cj" class="qq"/><motor joint="j"/><general joint="cj" class="q"/>
</actuator><tendon><fixed name="t"><joint joint="j" coef="1"/></fixed><spatial><site site="s1"/><site site="s2"/>
</spatial></tendon><equality><joint joint1="j" joint2="cj"/><weld body1="b" class="q"/></equality></mujoco>"""
SKIN = """<skin name="{0}" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="{1}" bindpos="0 0 0"
 bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin>"""
SKINS = f"""<mujoco><asset>{SKIN.format("as", "b")}</asset><worldbody><body name="b"/><body name="o"/></worldbody>
<deformable>{SKIN.format("s", "b")}{SKIN.format("lost", "o")}</deformable></mujoco>"""
OUTSIDE = """<mujoco><worldbody><body name="b"><site name="s" pos="1 0 0"/><geom name="g" size="1"/></body>
<site name="os"/><geom name="og" size="1"/><body name="ob"/></worldbody>
<tendon><spatial name="t"><site site="s"/><site site="os"/></spatial>
<spatial name="u"><site site="s"/><geom geom="og" sidesite="os"/><site site="os"/></spatial></tendon>
<contact><pair geom1="og" geom2="g"/><exclude body1="b" body2="ob"/><exclude body1="world" body2="b"/></contact>
<sensor><framepos objtype="site" objname="s" reftype="site" refname="os"/></sensor>
<equality><weld body1="b" body2="ob"/><weld body1="world" body2="b"/></equality></mujoco>"""
CHILDREN = {
    **{
        name: f'<mujoco><compiler angle="radian" {name}/><worldbody>{TREE}</worldbody></mujoco>'
        for name in (
            'eulerseq="ZYx"', 'autolimits="false"', 'inertiafromgeom="true"', 'boundmass="1000" boundinertia="900"',
            'inertiagrouprange="1 2"', 'settotalmass="5"', 'discardvisual="true"', 'fusestatic="true"',
            'balanceinertia="true"',
        )
    },
    "free": """<mujoco><compiler alignfree="true"/><worldbody><body name="b"><freejoint/>
      <geom type="box" size=".1 .2 .3" pos="1 2 3"/></body></worldbody></mujoco>""",
    "classes": CLASSES,
    "skins": SKINS,
    "outside": OUTSIDE,
    "user": '<mujoco><worldbody><body name="b" user="1 2"><geom size=".1" user="1"/></body></worldbody></mujoco>',
    "nested": """<mujoco><asset><model name="g" file="sub/g.xml"/></asset><worldbody><body name="b">
      <attach model="g" body="gb" prefix="G_"/></body></worldbody></mujoco>""",
}  # fmt: skip
GRANDCHILD = """<mujoco><compiler angle="radian"/><default><geom size=".3"/></default><worldbody><body name="gb">
<joint range="-1 1"/><geom euler="1 2 3" type="box" size=".1 .2 .3"/></body></worldbody></mujoco>"""
HEADS = [
    "",
    '<compiler angle="radian"/><default><geom rgba="0 0 1 1"/><position kp="99"/><default class="q"/></default>',
]


@pytest.mark.parametrize("head", HEADS, ids=["degree", "radian"])
@pytest.mark.parametrize("child", CHILDREN)
def test_settings_and_classes_of_the_child(child, head):
    xml = f"""<mujoco>{head}<asset><model name="k" file="k.xml"/></asset><worldbody>
    <site name="os"/><geom name="og" size="1"/>
    <attach model="k" body="b" prefix="A_"/><body name="ob"><joint range="-1 1"/><geom size=".1" type="box"
    euler="1 2 3"/></body></worldbody><deformable>{SKIN.format("mine", "ob")}</deformable></mujoco>"""
    xml = xml.replace('type="box"', 'type="capsule"').replace('size=".1" type', 'size=".1 .1" type')
    assert differences(xml, {"k.xml": CHILDREN[child].encode(), "sub/g.xml": GRANDCHILD.encode()}) == {}


SELF = {
    "twice": """<mujoco><worldbody><body name="o"><site name="os"/></body><attach body="o" prefix="A_"/><attach
      body="A_o" prefix="B_"/></worldbody><sensor><gyro name="g" site="os"/><clock name="c"/></sensor></mujoco>""",
    "frame": """<mujoco><worldbody><body name="P"><frame name="F" pos="1 0 0"><geom name="x" size="1"/><frame name="G"
      pos="0 1 0"><geom name="y" size="1"/></frame></frame></body><attach frame="G" prefix="A_"/>
      <body name="Q"><attach body="P" prefix="B_"/></body></worldbody></mujoco>""",
    "class": """<mujoco><default><default class="z"><geom size="1"/></default><default class="w"><geom size="2"/>
      </default></default><worldbody><body name="x" childclass="z"><body name="y"><geom/></body></body>
      <body childclass="w"><attach body="y" prefix="A_"/></body></worldbody></mujoco>""",
    "world": """<mujoco><worldbody><geom size="1" name="g"/><body name="o"/><attach body="world" prefix="A_"/>
      </worldbody></mujoco>""",
}


@pytest.mark.parametrize("case", SELF)
def test_attachment_to_itself(case):
    assert differences(SELF[case]) == {}


def conflicting(policy: str, mine: str, theirs: str) -> tuple[str, dict[str, bytes]]:
    """Return a model and the model that it attaches, each with settings of its own."""
    xml = f"""<mujoco model="p"><compiler conflict="{policy}"/>{mine}<asset><model name="k" file="k.xml"/></asset>
    <worldbody><attach model="k" body="b" prefix="A_"/></worldbody></mujoco>"""
    kid = f"<mujoco>{theirs}<worldbody><body name='b'><joint/><geom size='.1' user='1'/></body></worldbody></mujoco>"
    return xml, {"k.xml": kid.encode()}


CONFLICTS = [
    ("", '<option timestep=".001"/>'),
    (
        '<option timestep=".003"/>',
        '<option timestep=".001" iterations="7" integrator="RK4"><flag gravity="disable" energy="enable"/></option>',
    ),
    ('<option><flag gravity="disable"/></option>', '<option><flag gravity="enable" energy="enable"/></option>'),
    ('<option gravity="0 0 0"/>', '<option gravity="0 0 1"/>'),
    (
        '<option actuatorgroupdisable="1"/><size nuserdata="3" nkey="1"/>',
        '<option actuatorgroupdisable="2"/><size nuserdata="5" nkey="4" nuser_geom="2"/>',
    ),
    ('<option integrator="Euler"/>', '<option integrator="RK4"/>'),
    ('<option solver="CG" tolerance="1e-4"/>', '<option solver="PGS" tolerance="1e-5"/>'),
    ('<statistic extent="3"/>', '<statistic extent="7"/>'),
]


@pytest.mark.parametrize("policy", ["warning", "merge", "error"])
@pytest.mark.parametrize("case", range(len(CONFLICTS)))
def test_conflicting_settings(policy, case):
    xml, assets = conflicting(policy, *CONFLICTS[case])
    try:
        mujoco.MjModel.from_xml_string(xml, assets)
    except ValueError:
        with pytest.raises(ModelError, match="<attach>: conflicts with the model it is attached to"):
            parse_string(xml, assets=assets)
    else:
        assert differences(xml, assets) == {}


def test_conflict_is_noted():
    xml, assets = conflicting("warning", "", '<option timestep=".001"/>')
    with pytest.warns(UserWarning, match="timestep: the model has 0.002, the attached one 0.001"):
        parse_string(xml, assets=assets)


ERRORS = {
    "no model": (parent('<attach model="x" prefix="A_"/>'), "names model 'x', which is no asset; known: kid"),
    "no body": (parent('<attach model="kid" body="x" prefix="A_"/>'), "names body 'x', which is not in model 'kid'"),
    "no frame": (parent('<attach model="kid" frame="x" prefix="A_"/>'), "names frame 'x'"),
    "later": (parent('<attach body="Q" prefix="A_"/>'), "names body 'Q', which is not in the tree before it"),
    "nothing": (parent('<attach prefix="A_"/>'), "without 'model' it needs 'body' or 'frame'"),
    "same names": (parent('<attach body="P" prefix=""/>'), "name 'P' is already taken"),
    "same assets": (
        parent('<attach model="kid" body="b" prefix="A_"/><attach model="kid" body="z" prefix="A_"/>'),
        "name 'A_h' is already taken",
    ),
    "no file": (parent("").replace("kid.xml", "none.xml"), "<model name='kid'>: cannot read model file 'none.xml'"),
    "free joint": (parent('<attach model="kid" body="fr" prefix="A_"/>'), "free joint"),
    "key": (parent('<attach model="kid" body="b" prefix="A_"/>', key='<key name="A_k"/>'), "name 'A_k' is already"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_message(case):
    xml, message = ERRORS[case]
    child = CHILD.replace("<worldbody>", '<worldbody><body name="fr"><freejoint/><geom size="1"/></body>', 1)
    child = child.replace('qpos=".1 .2 .3"', "")
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml, {"kid.xml": child.encode()})
    with pytest.raises(ModelError, match=message):
        compile_source(xml, {"kid.xml": child.encode()})


def test_keyframe_of_the_child_is_too_long():
    child = CHILD.replace('qpos=".1 .2 .3"', 'qpos=".1 .2 .3 4"')
    with pytest.raises(ModelError, match="keyframe 'k' has 4 numbers in qpos, needs 3"):
        parse_string(parent(PARTS["body"]), assets={"kid.xml": child.encode()})


def test_a_texture_without_a_name_gets_no_prefix():
    child = CHILD.replace("<asset>", '<asset><texture type="skybox" builtin="flat" width="2" height="12"/>')
    head = '<asset><model name="kid" file="kid.xml"/></asset>'
    xml = f'<mujoco>{head}<worldbody><attach model="kid" body="b" prefix="p_"/></worldbody></mujoco>'
    assert differences(xml, {"kid.xml": child.encode()}) == {}


def test_model_that_attaches_itself():
    kid = '<mujoco><asset><model name="kid" file="kid.xml"/></asset><worldbody><body name="b"/></worldbody></mujoco>'
    with pytest.raises(ModelError, match="a model cannot be part of itself"):
        parse_string(parent(PARTS["body"]), assets={"kid.xml": kid.encode()})


def test_too_many_attachments():
    """Thirty models, each with two of the next, are refused before they fill the memory."""
    assets = {
        f"{i}.xml": f'<mujoco><asset><model name="n" file="{i + 1}.xml"/></asset><worldbody><body name="b"><attach '
        'model="n" body="b" prefix="l"/><attach model="n" body="b" prefix="r"/></body></worldbody></mujoco>'.encode()
        for i in range(30)
    }
    assets["30.xml"] = b'<mujoco><worldbody><body name="b"/></worldbody></mujoco>'
    xml = parent(PARTS["body"]).replace("kid.xml", "0.xml")
    with pytest.raises(ModelError, match="at most"), warnings.catch_warnings():
        parse_string(xml, assets=assets)


SKINNED = """<mujoco><asset><skin name="s" file="a.skn"/></asset>
<worldbody><body name="b"><geom size=".1"/></body></worldbody></mujoco>"""
BETWEEN = """<mujoco><asset><model name="m" file="skinned.xml"/></asset>
<worldbody><body name="base"><attach model="m" body="b" prefix="r-"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("file", "body"), [("skinned.xml", "b"), ("between.xml", "base")])
def test_bodies_that_a_skin_file_names_get_the_prefix(file, body):
    assets = {"a.skn": FILES["a.skn"], "skinned.xml": SKINNED.encode(), "between.xml": BETWEEN.encode()}
    attached = "".join(f'<attach model="m" body="{body}" prefix="{prefix}-"/>' for prefix in "pq")
    xml = f'<mujoco><asset><model name="m" file="{file}"/></asset><worldbody>{attached}</worldbody></mujoco>'
    assert differences(xml, assets) == {}
    assert len(set(compile_source(xml, assets).fields["skin_bonebodyid"])) == 2
    written = to_xml(parse_string(xml, assets))
    assert "a.skn" not in written
    assert differences(written) == {}
    before, after = compile_source(xml, assets).fields, compile_source(written).fields
    for name in ("skin_vert", "skin_face", "skin_bonebodyid", "skin_bonebindpos", "skin_bonevertweight"):
        assert np.array_equal(before[name], after[name])


def test_a_skin_from_a_file_is_not_copied_with_a_replicate():
    xml = SKINNED.replace("</worldbody>", '<replicate count="2"><body><geom size="1"/></body></replicate></worldbody>')
    assert differences(xml, {"a.skn": FILES["a.skn"]}) == {}
