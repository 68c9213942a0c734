"""Attributes of the compiler element over small models: every field as MuJoCo's, every refusal with its reason."""

import mujoco
import pytest

from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source, differences

HINGE = "<joint/>"


def body(name: str, inner: str = "", joint: str = "", attributes: str = "") -> str:
    """Return a body with a geom and a site."""
    return (
        f'<body name="{name}" {attributes}>{joint}<geom name="g{name}" size=".1"/><site name="s{name}"/>{inner}</body>'
    )


def world(tree: str, rest: str = "", compiler: str = "", head: str = "") -> str:
    """Return a model with compiler attributes."""
    return f"<mujoco><compiler {compiler}/>{head}<worldbody>{tree}</worldbody>{rest}</mujoco>"


STATIC = """<body name="s" pos="1 0 0" euler="0 0 90"><geom name="sg" size=".1"/><site name="ss" pos="1 2 3"/>
<camera name="sc" pos="1 1 1"/><light name="sl" pos="0 0 1" dir="1 0 0"/><body name="k" pos="0 1 0"><joint name="kj"/>
<geom name="kg" size=".1"/></body></body>"""
MOVING = f"""<body name="m"><joint name="j"/><geom name="mg" size=".2"/>{STATIC}<geom name="mg2" size=".1"
 pos="1 1 1"/></body>"""
SKIN = """<deformable><skin name="k" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="s" bindpos="0 0 0"
 bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin></deformable>"""
INERTIAL = '<inertial pos="0 0 .1" mass="1" diaginertia="1 1 1.5"/>'

# tree, other sections, further compiler attributes, head
FUSED = {
    "world": (STATIC,),
    "moving": (MOVING,),
    "geom pair": (MOVING, '<contact><pair geom1="sg" geom2="kg"/></contact>'),
    "exclude": (MOVING, '<contact><exclude body1="s" body2="k"/></contact>'),
    "weld": (MOVING, '<equality><weld body1="s"/></equality>'),
    "gyro": (MOVING, '<sensor><gyro site="ss"/></sensor>'),
    "force": (MOVING, '<sensor><force site="ss"/></sensor>'),
    "torque": (body("m", body("s", body("t")), HINGE), '<sensor><torque site="st"/></sensor>'),
    "framepos": (MOVING, '<sensor><framepos objtype="xbody" objname="s"/></sensor>'),
    "subtree": (body("m", body("s", body("t")), HINGE), '<sensor><subtreecom body="t"/></sensor>'),
    "contact": (body("m", body("s", body("t")), HINGE), '<sensor><contact body1="t"/></sensor>'),
    "tuple": (MOVING, '<custom><tuple name="t"><element objtype="body" objname="s"/></tuple></custom>'),
    "tuple of a geom": (MOVING, '<custom><tuple name="t"><element objtype="geom" objname="sg"/></tuple></custom>'),
    "adhesion": (body("m", body("s"), HINGE), '<actuator><adhesion body="s" ctrlrange="0 1"/></actuator>'),
    "skin": (body("m", body("s"), HINGE), SKIN),
    "camera": (MOVING.replace("<joint", '<camera mode="targetbody" target="s"/><joint', 1),),
    "light": (body("m", body("s") + '<light mode="targetbody" target="s"/>', HINGE),),
    "fuse": (MOVING.replace('name="s"', 'name="s" fuse="false"'),),
    "gravcomp": (MOVING.replace('name="s"', 'name="s" gravcomp="1"'),),
    "gravcomp of both": (MOVING.replace('name="s"', 'name="s" gravcomp="1"').replace('"m"', '"m" gravcomp="1"'),),
    "gravcomp in the world": (body("s", "", "", 'gravcomp="1"'),),
    "fluid": (MOVING, "", "", '<option density="1"/>'),
    "fluid in the world": (body("s"), "", "", '<option viscosity="1"/>'),
    "fluid without mass": (
        body("m", body("s").replace("size", 'mass="0" size'), HINGE), "", "", '<option viscosity="1"/>',
    ),
    "ellipsoid": (
        body("m", body("s").replace("size", 'mass="0" fluidshape="ellipsoid" size'), HINGE), "", "",
        '<option viscosity="1"/>',
    ),
    "mocap": (body("m", body("s"), "", 'mocap="true"'),),
    "order": (
        body("m", body("s", body("k", "", HINGE) + body("t", body("u") + body("l", "", HINGE)))
             + body("p", "", HINGE) + body("v", body("n", "", HINGE)), HINGE),
    ),
    "nested": (
        """<body name="a"><geom size=".1"/><body name="b" pos="1 0 0"><geom size=".2"/><body name="c" pos="0 1 0">
        <joint/><geom size=".3"/><body name="d"><geom size=".1" pos="1 0 0"/><body name="e" euler="10 20 30"><geom
        type="box" size=".15 .1 .2"/></body></body></body></body></body>""",
    ),
    "frames": (
        f"""<body name="m"><joint/><geom name="a" size=".1"/><frame pos="1 0 0" euler="0 20 0">
        {body("s", body("k", "", HINGE))}<geom name="z" size=".2"/></frame>{body("q", "", HINGE)}</body>""",
    ),
    "inertial": (MOVING.replace("<geom", INERTIAL + "<geom", 1),),
    "inertial of it": (MOVING.replace('<geom name="sg" size=".1"/>', INERTIAL),),
    "inertial of both": (
        MOVING.replace('<geom name="sg"', INERTIAL + '<geom name="sg"').replace("<geom", INERTIAL + "<geom", 1),
    ),
    "inertia of geoms": (MOVING, "", 'inertiafromgeom="true"'),
    "no inertia of geoms": (
        f"<body><joint/>{INERTIAL}<geom size='1'/><body pos='1 0 0'>{INERTIAL}<geom size='1'/></body></body>", "",
        'inertiafromgeom="false"',
    ),
    "groups": (MOVING.replace('name="sg"', 'name="sg" group="3"'), "", 'inertiagrouprange="0 2"'),
    "boundmass": (MOVING, "", 'boundmass="50"'),
    "boundmass of geoms": (MOVING, "", 'boundmass="50" inertiafromgeom="true"'),
    "boundmass of nothing": (
        body("m", '<body pos="1 0 0"><site/></body>', HINGE), "", 'boundmass=".5" boundinertia=".1"',
    ),
    "balance": (MOVING.replace("<geom", '<inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/><geom', 1), "",
                'balanceinertia="true"'),
    "user": (MOVING.replace('name="s"', 'name="s" user="1 2 3"'),),
    "free": ("""<body><freejoint align="true"/><geom size=".1"/><body pos="1 0 0"><geom size=".2"/></body></body>""",),
    "keyframe": (MOVING, '<keyframe><key qpos="1 2"/></keyframe>'),
    "moves by its children": ('<body><joint/><body name="s"><geom size=".1"/></body></body>',),
    "settotalmass": (MOVING, "", 'settotalmass="3"'),
}  # fmt: skip

ASSETS = """<asset><texture name="t" type="2d" builtin="flat" width="2" height="2"/><texture name="t2" type="2d"
 builtin="flat" width="2" height="2"/><texture name="sky" type="skybox" builtin="flat" width="2" height="2"/>
<material name="m" texture="t"/><material name="m2" texture="t2"/></asset>"""
UNSEEN = 'contype="0" conaffinity="0"'
SEEN = f"""<body name="s"><joint/><geom name="g" size=".1" material="m"/><geom name="v" size=".2" pos="1 0 0" {UNSEEN}/>
<geom name="w" size=".1" contype="0"/><site name="s" material="m"/></body>"""
WRAP = """<tendon><spatial material="m"><site site="s3"/><geom geom="v"/><site site="s2"/></spatial></tendon>"""
DISCARDED = {
    "plain": (SEEN,),
    "world": (f'<geom name="x" size="1" {UNSEEN}/>' + SEEN,),
    "sensor": (SEEN, '<sensor><distance geom1="v" geom2="g"/></sensor>'),
    "frame sensor": (SEEN, '<sensor><framepos objtype="geom" objname="v"/></sensor>'),
    "pair": (SEEN, '<contact><pair geom1="v" geom2="w"/></contact>'),
    "tuple": (
        SEEN, """<custom><tuple name="q"><element objtype="geom" objname="v"/><element objtype="material" objname="m"/>
        <element objtype="texture" objname="t2"/></tuple></custom>""",
    ),
    "tendon": (SEEN + '<site name="s2" pos="3 0 0"/><site name="s3" pos="-1 0 0"/>', WRAP),
    "skin": (SEEN, SKIN.replace('"k"', '"k" material="m"')),
    "light": (SEEN + '<light type="image" texture="t2"/>',),
    "fluid": (SEEN.replace('name="v"', 'name="v" fluidshape="ellipsoid"'),),
    "no mass": (SEEN.replace('name="v"', 'name="v" mass="0"'), "", 'inertiafromgeom="true"'),
    "inertial": (SEEN.replace("<joint/>", "<joint/>" + INERTIAL),),
    "group": (SEEN.replace('name="v"', 'name="v" group="4"'), "", 'inertiagrouprange="0 2"'),
    "bounds": (f'<body><joint/><geom size=".01" {UNSEEN}/></body>', "", 'boundmass="1" boundinertia=".1"'),
    "free": (f'<body><freejoint align="true"/><geom size=".1"/><geom size=".2" pos="1 0 0" {UNSEEN}/></body>',),
    "fused": (f"<body><joint/><geom size='.1'/><body pos='1 0 0'><geom size='.2' {UNSEEN}/></body></body>", "",
              'fusestatic="true"'),
    "plane and height field": (
        f'<geom type="plane" size="1 1 1" {UNSEEN}/><geom type="hfield" hfield="h" {UNSEEN}/>', "", "",
        '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>',
    ),
    "class": ('<body><joint/><geom size="1"/></body>', "", "", '<default><geom material="m"/></default>'),
}  # fmt: skip

TURNED = """<body name="b" euler="10 20 30"><joint range="-10 20" ref="5"/><geom type="box" size=".1 .2 .3"
 axisangle="1 2 3 40"/><frame euler="3 2 1" pos="1 0 0"><geom size=".1"/><site euler="1 2 3"/></frame></body>"""
OTHERS = {
    **{f"eulerseq {word}": (TURNED, "", f'eulerseq="{word}"') for word in ("xyz", "ZYX", "zXz", "YzX")},
    "radian": (TURNED, "", 'angle="radian"'),
    "balanceinertia": (
        '<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/></body>', "", 'balanceinertia="true"',
    ),
    "boundmass": ("<body><joint/></body>", "", 'boundmass=".5" boundinertia=".1"'),
    "settotalmass": (MOVING, "", 'settotalmass="7"'),
    "no settotalmass": (MOVING, "", 'settotalmass="0"'),
    "alignfree": ('<body><freejoint/><geom type="box" size=".1 .2 .3" pos="1 2 3"/></body>', "", 'alignfree="true"'),
    "inertiagrouprange": (TURNED.replace("<geom", '<geom group="3"', 1), "", 'inertiagrouprange="0 2"'),
    "inertiafromgeom": (TURNED.replace("<joint", INERTIAL + "<joint"), "", 'inertiafromgeom="true"'),
    "no inertiafromgeom": (TURNED.replace("<joint", INERTIAL + "<joint"), "", 'inertiafromgeom="false"'),
    "saving": (TURNED, "", 'saveinertial="true" savecompiled="false" savecanonical="false" usethread="false"'),
    "autolimits": (TURNED.replace("range", 'limited="true" range'), "", 'autolimits="false"'),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", FUSED)
def test_fusestatic(case):
    tree, rest, compiler, head = (*FUSED[case], "", "", "")[:4]
    assert differences(world(tree, rest, f'fusestatic="true" {compiler}', head)) == {}


@pytest.mark.parametrize("case", DISCARDED)
def test_discardvisual(case):
    tree, rest, compiler, head = (*DISCARDED[case], "", "", "")[:4]
    assert differences(world(tree, rest, f'discardvisual="true" {compiler}', ASSETS + head)) == {}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", OTHERS)
def test_other_flags(case):
    assert differences(world(*OTHERS[case])) == {}


def test_strippath():
    xml = world(
        '<geom type="hfield" hfield="h"/>', "", 'strippath="true" meshdir="sub"',
        '<asset><hfield name="h" file="far/away/h.bin" size="1 1 1 1"/></asset>',
    )  # fmt: skip
    image = b"\x02\x00\x00\x00\x02\x00\x00\x00" + b"\x00\x00\x80\x3f" + b"\x00" * 12
    assert differences(xml, {"h.bin": image}) == {}


def test_compilation_leaves_the_model_as_it_is():
    """Fusing and discarding work on what is compiled, so that a second compilation gives the same."""
    from mjx_like.compiler.compile import compile_spec
    from mjx_like.mjcf.reader import parse_string

    spec = parse_string(
        world(SEEN.replace('"s"', '"seen"') + MOVING, "", 'fusestatic="true" discardvisual="true"', ASSETS)
    )
    first, second = compile_spec(spec), compile_spec(spec)
    assert first.names == second.names and first.fields["nbody"] == second.fields["nbody"]
    assert [element.tag for element in spec.sections["asset"]].count("material") == 2


REFUSED = {
    "inertia": (world(SEEN, "", 'discardvisual="true" inertiafromgeom="true"', ASSETS), "inertiafromgeom 'auto' keeps"),
    "sleep": (world(body("s", "", "", 'sleep="never"'), "", 'fusestatic="true"'), "sleep can only be given"),
    "balance": (world('<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/></body>'), "balanceinertia mends it"),
    "limits": (world(TURNED, "", 'autolimits="false"'), "has range but not limited"),
    "no inertia": (world(MOVING, "", 'inertiafromgeom="false"'), "mass and inertia of a moving body"),
    "eulerseq": (world(TURNED, "", 'eulerseq="abc"'), "needs three of: x, y, z, X, Y, Z"),
    "global": (world("", "", 'coordinate="global"'), "MuJoCo dropped"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_message(case):
    xml, message = REFUSED[case]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(ModelError, match=message):
        compile_source(xml)
