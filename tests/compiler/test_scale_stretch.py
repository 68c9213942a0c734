"""Frames stretched along their axes, and what joins parts of frames of different scales, equal to MuJoCo's arrays."""

import mujoco
import pytest

from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source, differences
from tests.compiler.test_scale import ASSETS, world

STRETCH = 'scale="2 3 5" scaling="geometry"'
SHAPES = """<geom type="box" size=".1 .2 .3" pos="1 1 1" euler="0 0 3" margin="1" gap="1" friction="1 1 1"
solimp=".9 .95 .1" surfacevel="1 2 3 4 5 6"/><geom type="ellipsoid" size="1 2 3" euler="90 0 90"/>
<geom type="plane" size="1 1 1" euler="90 0 0"/><geom type="box" size="1 1 1" shellinertia="true"/>
<site size=".1"/><site type="box" size=".1 .1 .1" euler="0 0 30"/><site type="capsule" size=".1 .1" euler="30 0 30"/>
<site type="capsule" size=".1" fromto="0 0 0 1 1 1"/><camera pos="1 1 1" ipd="1"/>
<light pos="1 1 1" dir="0 0 -1" bulbradius="1" range="1" attenuation="1 1 1"/>
<frame scale="2 1 1" scaling="geometry" euler="0 0 90" pos="1 0 0"><geom type="box" size=".1 .2 .3" pos="1 2 3"/>
<frame scale="2" euler="10 20 30"><site pos="1 2 3" size=".1"/></frame></frame>"""
ROUND = """<geom type="capsule" size=".1 .2"/><geom type="capsule" size=".1" fromto="0 0 0 0 0 1"/>
<geom type="cylinder" size=".1 .2"/>"""
BRANCH = """<body pos="1 1 1" euler="0 0 30"><joint type="slide" axis="0 0 1" pos=".1 .1 .1" range="-1 1" stiffness="3"
damping="3" armature="2" frictionloss="1" margin=".1" ref=".1" springref=".2" springyield=".3"
solimplimit=".9 .95 .1"/><geom type="box" size=".1 .2 .3" euler="0 0 -30" pos=".1 .2 .3" mass="2"/>
<body pos=".5 0 0"><joint axis="0 0 1"/><inertial pos=".1 .2 .3" mass="2" fullinertia="3 4 5 .1 .2 .3"/></body>
<body><joint type="ball" range="0 1" pos="1 1 1"/><inertial pos=".1 .2 .3" mass="2" diaginertia="3 4 5"
euler="10 20 30"/></body></body>"""
PARTS = """<body name="a" pos="1 0 0"><joint name="ja" type="slide" axis="1 0 0"/><joint name="ha" axis="1 0 0"/>
<geom name="ga" type="box" size="1 1 1"/><site name="sa"/></body>"""
OTHERS = """<body name="b" pos="0 1 0" euler="0 0 90"><joint name="jb" type="slide" axis="1 0 0"/>
<joint name="hb" axis="0 0 1"/><geom name="gb" type="box" size="1 1 1"/><site name="sb" pos="1 1 1"/></body>"""
OUTSIDE = """<body name="o"><joint name="jo" type="slide"/><joint name="ho"/><geom type="box" size="1 1 1"/>
<site name="so"/></body>"""
WIDE = 'solimp=".9 .95 1"'
SPAN = """range="1 1.1" margin="1" springlength="1" stiffness="1" damping="1" armature="1" frictionloss="1"
solimplimit=".9 .95 1" """
LINKS = f"""<equality><connect body1="a" body2="o" anchor="1 2 3" {WIDE}/>
<connect body1="o" body2="a" anchor="1 2 3" {WIDE}/><connect body1="b" body2="a" anchor="1 2 3" {WIDE}/>
<weld body1="a" body2="o" anchor="1 2 3" relpose="1 2 3 1 0 0 0" torquescale="2" {WIDE}/>
<weld body1="b" body2="a" anchor="1 2 3" relpose="1 2 3 1 0 0 0" torquescale="2" {WIDE}/>
<connect site1="sa" site2="sb" {WIDE}/><weld site1="sb" site2="so" torquescale="2" {WIDE}/>
<joint joint1="ja" joint2="jb" polycoef="1 1 1 1 1" {WIDE}/><joint joint1="jb" joint2="ha" polycoef="1 1 1 1 1"/>
<joint joint1="jo" joint2="ja" polycoef="1 1 1 1 1" {WIDE}/></equality>
<tendon><spatial {SPAN} width="1"><site site="sa"/><site site="sb"/></spatial>
<spatial {SPAN}><site site="sa"/><site site="so"/><site site="sb"/></spatial>
<fixed {SPAN}><joint joint="ja" coef="1"/><joint joint="jb" coef="1"/></fixed>
<fixed {SPAN}><joint joint="ja" coef="1"/><joint joint="hb" coef="1"/></fixed>
<fixed {SPAN}><joint joint="ha" coef="1"/><joint joint="hb" coef="1"/></fixed></tendon>
<actuator><position joint="ja" kp="1" ctrlrange="-1 1"/><position joint="jb" kp="1" ctrlrange="-1 1"/>
<motor site="sb" gear="1 2 3 4 5 6"/><motor site="sa" refsite="sb" gear="1 1 1 1 1 1" forcerange="-1 1"/>
<motor cranksite="sa" slidersite="sb" cranklength="1" forcerange="-1 1"/></actuator>
<sensor><framepos objtype="site" objname="sa" reftype="site" refname="sb" cutoff="1"/>
<framepos objtype="site" objname="so" reftype="site" refname="sb" cutoff="1"/><jointpos joint="ja" cutoff="1"/>
<jointpos joint="jb" cutoff="1"/><accelerometer site="sa" cutoff="1"/><force site="sa" cutoff="1"/></sensor>"""


def joined(first: str, second: str) -> str:
    """Return a model with constraints, tendons, actuators and sensors between two frames and what is outside."""
    tree = f"<frame {first}>{PARTS}</frame><frame {second}>{OTHERS}</frame>{OUTSIDE}"
    return f"<mujoco><worldbody>{tree}</worldbody>{LINKS}</mujoco>"


FIRST = """<body name="a"><joint name="ja" type="slide"/><geom size="1" mass="1"/><site name="sa"/></body>"""
SECOND = FIRST.replace('a"', 'b"').replace("<body", '<body pos="1 0 0"')
SKIN = """<skin vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 3 2" inflate=".1">
<bone body="a" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1" vertweight="1 1"/>
<bone body="b" bindpos="0 0 0" bindquat="1 0 0 0" vertid="2 3" vertweight="1 1"/></skin>"""


LOOSE = """<body name="x" pos=".1 .2 .3"><freejoint name="f"/><geom type="box" size="1 1 1"/><site name="s"/></body>
<body name="m" mocap="true" pos="1 0 0"/>"""
SCREWS = """<actuator><motor joint="f" gear="1 2 3 4 5 6"/><motor joint="f" gear="0 0 0 4 5 6"/><motor joint="f"/>
<position jointinparent="f" gear="1 2 3 4 5 6" kp="2"/><motor site="s" gear="0 0 0 4 5 6"/>
<position site="s" refsite="o" gear="0 0 0 1 2 3" kp="2" ctrlrange="-1 1"/>
<position site="s" refsite="o" gear="1 0 0 1 2 3" kp="2" kv="1" ctrlrange="-1 1"/></actuator>"""


def loose(frames: str) -> str:
    """Return a model with a free and a mocap body in frames, a keyframe, and actuators that move and turn."""
    return f"""<mujoco><worldbody>{frames.format(LOOSE)}<site name="o" pos="1 1 1"/></worldbody>{SCREWS}<keyframe>
<key qpos=".3 .4 .5 1 0 0 0" qvel="1 2 3 4 5 6" mpos="1 2 3"/><key/></keyframe></mujoco>"""


def common(frames: str, skin: str = "") -> str:
    """Return a model with tendons and a flex between two frames in one that is scaled."""
    return f"""<mujoco><worldbody><frame scale="2">{frames}</frame></worldbody>
<deformable><flex name="f" dim="1" body="a b" element="0 1" radius=".02" vertex="0 0 .1 .1 0 0">
<edge stiffness="10" damping="1"/></flex>{skin}</deformable>
<tendon><spatial width="1" springlength="1"><site site="sa"/><site site="sb"/></spatial>
<fixed springlength="1"><joint joint="ja" coef="1"/><joint joint="jb" coef="1"/></fixed></tendon></mujoco>"""


STRETCHED = {
    "shapes": world(f"<frame {STRETCH}>{SHAPES}</frame>"),
    "round shapes": world(f'<frame scale="2 2 5" scaling="geometry">{ROUND}</frame>'),
    "bodies": world(f"<frame {STRETCH}>{BRANCH}</frame>"),
    "meshes": world(
        f'<frame {STRETCH}><geom type="mesh" mesh="n" euler="0 0 30" surfacevel="1 2 3 1 1 1"/>'
        '<geom type="mesh" mesh="n"/><geom type="mesh" mesh="m" euler="0 0 90"/><geom type="box" mesh="n"/>'
        '<geom type="hfield" hfield="h" euler="0 0 90"/></frame>',
        ASSETS,
    ),
    "keys": f"""<mujoco><worldbody><frame {STRETCH}><body><joint type="slide" axis="1 0 0"/><geom type="box"
size="1 1 1"/></body><body><freejoint/><geom type="box" size="1 1 1"/></body><body mocap="true"/></frame></worldbody>
<keyframe><key qpos="1 1 1 1 1 0 0 0" qvel="1 1 1 1 1 1 1" mpos="1 1 1"/></keyframe></mujoco>""",
    "keys of servos": """<mujoco><worldbody><frame scale="2" massscale="5"><body><joint name="h"/><joint name="s"
type="slide"/><geom size="1"/></body></frame></worldbody><actuator><pid joint="h" kp="1" input="pos vel ff"/>
<pid joint="s" kp="1" input="pos vel ff"/><pid joint="s" kp="1" input="ff"/><pid joint="s" kp="1" input="vel"/>
</actuator><keyframe><key ctrl="1 1 1 1 1 1 1 1"/></keyframe></mujoco>""",
    "parts of one frame": f"<mujoco><worldbody><frame {STRETCH}>{PARTS}{OTHERS}</frame>{OUTSIDE}</worldbody>"
    f"{LINKS}</mujoco>",
    "parts of two frames": joined(STRETCH, 'scale="3" scaling="geometry"'),
    "parts of similar frames": joined('scale="2"', 'scale="3" massscale="2"'),
    "swapped factors": joined(STRETCH, 'scale="5 3 2" scaling="geometry"'),
    "equal factors": joined(STRETCH, STRETCH + ' euler="0 0 90"'),
    "factors of mean one": joined('scale="2 .5 1" scaling="geometry"', 'scale="1 2 .5" scaling="geometry"'),
    "moving and turning": loose('<frame pos="1 2 3" scale="2" massscale="5">{}</frame>'),
    "nested and turned": loose(
        '<frame pos="1 2 3" euler="10 20 90" scale="2"><frame pos="1 0 0" scale="3">{}</frame></frame>'
    ),
    "stretched and turned": loose(f'<frame pos="1 2 3" euler="0 0 90" {STRETCH}>{{}}</frame>'),
    "frames in a frame": common(f'<frame scale="2">{FIRST}</frame><frame scale="3">{SECOND}</frame>'),
    "equal frames in a frame": common(
        f'<frame massscale="3">{FIRST}</frame><frame massscale="5">{SECOND}</frame>', SKIN
    ),
}


@pytest.mark.parametrize("name", STRETCHED)
def test_stretched_and_joined_frames(name):
    hull = ("mesh_graph", "mesh_poly", "nmeshpoly") if "<mesh" in STRETCHED[name] else ()
    assert differences(STRETCHED[name], skip=hull) == {}


UNFIT = {
    "similar": ('<frame scale="1 2 3"/>', "needs scaling 'geometry'"),
    "sphere": (f'<frame {STRETCH}><geom size="1"/></frame>', "a sphere can only be scaled uniformly"),
    "capsule": (f'<frame {STRETCH}><geom type="capsule" size="1 1"/></frame>', "equally across its axis"),
    "turned": (f'<frame {STRETCH}><geom type="box" size="1 1 1" euler="0 0 30"/></frame>', "shape is not aligned"),
    "skin": (
        f'<frame {STRETCH}>{FIRST}</frame><frame scale="5 3 2" scaling="geometry">{SECOND}</frame></worldbody>'
        f"<deformable>{SKIN}</deformable><worldbody>".replace('size="1"', 'type="box" size="1 1 1"'),
        "the bones of a skin must have the same scale",
    ),
    "joint": (
        f'<frame {STRETCH}><body><joint axis="1 1 0"/><geom type="box" size="1 1 1"/></body></frame>',
        "the axis of this joint is not aligned",
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_cannot_be_stretched(name):
    xml, message = world(UNFIT[name][0]), UNFIT[name][1]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(ModelError, match=message):
        compile_source(xml)
