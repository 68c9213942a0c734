"""User data, custom fields, keyframes, skins, and the classes of nested frames, each as MuJoCo compiles it."""

import mujoco
import pytest

from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source, differences

GEOM = '<geom size=".1"/>'
CLASSES = """<default><geom size=".7"/><default class="a"><geom size=".1"/><default class="b"><geom size=".2"/>
<site size=".3"/></default></default></default>"""
SEVERAL = """<body name="b"><joint name="j"/><geom name="g" size=".1"/><site name="s"/><camera name="c"/>
<light name="l"/></body><body name="e"/>"""
KINDS = [
    ("body", "b"), ("xbody", "b"), ("joint", "j"), ("geom", "g"), ("site", "s"), ("camera", "c"), ("light", "l"),
    ("numeric", "n"), ("text", "t"), ("key", "k"), ("tuple", "q2"), ("material", "m"), ("exclude", "x"),
    ("tendon", "T"), ("actuator", "A"), ("sensor", "S"), ("equality", "E"),
]  # fmt: skip
MEMBERS = "".join(f'<element objtype="{kind}" objname="{name}" prm="{i}"/>' for i, (kind, name) in enumerate(KINDS))


def world(tree: str, rest: str = "", head: str = "") -> str:
    """Return a model with a tree and other sections."""
    return f"<mujoco>{head}<worldbody>{tree}</worldbody>{rest}</mujoco>"


def skin(attributes: str = "", bone: str = 'vertid="0 1 2" vertweight="1 2 1"', quat: str = "1 0 0 1") -> str:
    """Return a model with a skin over one bone."""
    attributes = attributes or 'vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"'
    bone = f'<bone body="b" bindpos="0 0 0" bindquat="{quat}" {bone}/>'
    return world('<body name="b"/>', f'<deformable><skin name="k" {attributes}>{bone}</skin></deformable>')


TAKEN = {
    "user": world(
        '<body user="1 2"><joint user="1"/><geom size=".1" user="3 4 5"/><site user="1"/><camera user="2 3"/></body>'
        + GEOM
    ),
    "user sizes": world('<body user="1 2"/>' + GEOM, "", '<size nuser_body="4" nuser_geom="2"/>'),
    "user of a class": world(
        '<body><joint/><geom class="c" size=".1" user="1"/><geom size=".1"/></body>',
        "",
        '<default><joint user="1"/><default class="c"><geom user="7 8"/></default></default>',
    ),
    "nuserdata": world("", "", '<size nuserdata="3"/>'),
    "text": world("", '<custom><text name="a" data="hello &amp; x"/><text name="b" data="ä"/></custom>'),
    "numeric": world(
        "",
        """<custom><numeric name="a" size="5"/><numeric name="b" size="3" data="1 2"/><numeric name="c" data="1"/>
        <numeric name="d" size="501"/></custom>""",
    ),
    "tuple": world(
        SEVERAL,
        f"""<custom><numeric name="n" data="1"/><text name="t" data="x"/><tuple name="q">{MEMBERS}</tuple><tuple
        name="q2"><element objtype="body" objname="world"/></tuple></custom><keyframe><key name="k"/></keyframe>
        <asset><material name="m"/></asset><contact><exclude name="x" body1="b" body2="e"/></contact><tendon><fixed
        name="T"><joint joint="j" coef="1"/></fixed></tendon><actuator><motor name="A" joint="j"/></actuator><sensor>
        <jointpos name="S" joint="j"/></sensor><equality><joint name="E" joint1="j"/></equality>""",
    ),
    "tuple of pairs": world(
        '<geom name="g" size="1"/><body><geom name="h" size="1"/></body><body><geom name="i" size="1"/></body>',
        """<contact><pair name="p1" geom1="h" geom2="i"/><pair name="p2" geom1="g" geom2="h"/></contact><custom>
        <tuple name="q"><element objtype="pair" objname="p1"/><element objtype="pair" objname="p2"/></tuple>
        </custom>""",
    ),
    "mocap keyframes": world(
        '<body mocap="true" pos="1 2 3" quat="1 1 0 0"><geom size=".1"/></body><body mocap="true"/>',
        """<keyframe><key/><key mpos="1 2 3"/><key mpos="1 2 3 4 5 6" mquat="0 0 0 0 1 1 0 0"/><key mpos="1"/>
        </keyframe>""",
    ),
    "activations in keyframes": world(
        '<body><joint name="j"/><geom size="1"/></body>',
        """<actuator><general joint="j" dyntype="integrator"/></actuator><keyframe><key act="3" time="2" qvel="1"/>
        <key act=""/></keyframe>""",
    ),
    "nkey": world("", "<keyframe><key/></keyframe>", '<size nkey="3"/>'),
    "nkey too small": world("", "<keyframe><key/><key/></keyframe>", '<size nkey="1"/>'),
    "frames": world(
        """<frame childclass="a" pos="1 0 0"><geom/><frame childclass="b" euler="0 90 0"><geom/><body><geom/><frame>
        <geom class="a"/><site/></frame></body><frame><geom/></frame></frame><geom/></frame><body childclass="b">
        <frame childclass="a"><joint/><geom/></frame><geom/><body><geom/></body></body>""",
        "",
        CLASSES,
    ),
    "class of a frame": world('<frame class="a"><geom/><body><geom/></body></frame>', "", CLASSES),
    "both classes of a frame": world('<frame class="a" childclass="b"><geom/></frame>', "", CLASSES),
    "class of a replicate": world('<replicate count="2" class="a"><geom/></replicate>', "", CLASSES),
    "replicate in a class": world(
        '<body childclass="b"><replicate count="2" childclass="a"><geom/><body><geom/></body></replicate></body>',
        "",
        CLASSES,
    ),
    "skin": skin(),
    "skin without orientation": skin(quat="0 0 0 0"),
}
REFUSED = {
    "user": (world('<body user="1 2"/>', "", '<size nuser_body="1"/>'), "user has 2 values, but nuser_body is 1"),
    "numeric data": (world("", '<custom><numeric name="d" size="1" data="1 2"/></custom>'), "needs at most 1"),
    "numeric": (world("", '<custom><numeric name="d"/></custom>'), "needs 'data' or 'size'"),
    "text": (world("", '<custom><text name="d" data=""/></custom>'), "missing attribute 'data', or it is empty"),
    "tuple": (world("", '<custom><tuple name="q"/></custom>'), "is empty"),
    "tuple member": (
        world("", '<custom><tuple name="q"><element objtype="body" objname="z"/></tuple></custom>'),
        "objname 'z' is no body of this model",
    ),
    "mpos": (world('<body mocap="true"/>', '<keyframe><key mpos="1 2 3 4"/></keyframe>'), "mpos has 4 values"),
    "frame names": (world('<frame name="a"/><frame name="a"/>'), "name 'a' is already taken by a frame"),
    "frame class": (world('<frame class="x"/>'), "unknown class 'x'"),
    "skin vertices": (skin('vertex="0 0 0 1 0 0 0 1" face="0 1 2"'), "vertex has 8 numbers, needs a multiple of 3"),
    "skin faces": (skin('vertex="0 0 0 1 0 0 0 1 0" face="0 1"'), "face has 2 numbers"),
    "skin face": (skin('vertex="0 0 0 1 0 0 0 1 0" face="0 1 3"'), "a face names a vertex that does not exist"),
    "skin texcoord": (skin('vertex="0 0 0 1 0 0 0 1 0" face="0 1 2" texcoord="0 1 2 3"'), "2 texture coordinates"),
    "bone vertex": (skin(bone='vertid="0 1 3" vertweight="1 1 1"'), "must name vertices between 0 and 2"),
    "bone weights": (skin(bone='vertid="0 1 2" vertweight="1 1"'), "must have one length"),
    "weights": (skin(bone='vertid="0 1 2" vertweight="1 1 0"'), "weights of vertex 2 must have a positive sum"),
}


@pytest.mark.parametrize("case", TAKEN)
def test_taken(case):
    assert differences(TAKEN[case]) == {}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    xml, message = REFUSED[case]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(ModelError, match=message):
        compile_source(xml)
