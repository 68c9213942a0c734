"""Every message of the compiler: MuJoCo refuses the model too, and the message says where, what and what is allowed."""

import mujoco
import pytest

from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source

GEOM = '<geom size=".1"/>'


def world(body: str, rest: str = "", head: str = "") -> str:
    """Return a model of one world."""
    return f"<mujoco>{head}<worldbody>{body}</worldbody>{rest}</mujoco>"


def moving(parts: str) -> str:
    """Return a body with a geom and what is given."""
    return f"<body name='b'>{parts}{GEOM}</body>"


JOINT = moving('<joint name="j" range="-1 1"/>')
BALL = moving('<joint name="j" type="ball"/>')
SITES = '<site name="s"/><site name="t"/><geom name="g" size=".1"/><geom name="box" type="box" size=".1 .1 .1"/>'


def tendon(path: str, attributes: str = "", kind: str = "spatial", tree: str = "") -> str:
    """Return a model with one tendon."""
    return world(SITES + (tree or JOINT), f'<tendon><{kind} name="q" {attributes}>{path}</{kind}></tendon>')


def actuator(text: str, tree: str = JOINT) -> str:
    """Return a model with one actuator."""
    return world(SITES + tree, f"<actuator>{text}</actuator>")


def sensor(text: str, tree: str = JOINT) -> str:
    """Return a model with one sensor."""
    return world(SITES + tree, f"<sensor>{text}</sensor>")


CELLS = (
    '<flexcomp name="f" type="{}" dim="{}" count="3 3 3" spacing=".1 .1 .1" mass="1" dof="{}" cellcount="2 1 1">'
    "{}</flexcomp>"
)
SHELL = CELLS.format("box", 2, "trilinear", '<elasticity elastic2d="bend" thickness="1"/>')


def strain(flexcomp: str, attributes: str) -> str:
    """Return a model with a strain constraint of a flex."""
    return world(flexcomp, f'<equality><flexstrain flex="f" {attributes}/></equality>')


ERRORS = {
    "negative nuserdata": (world("", head='<size nuserdata="-1"/>'), "nuserdata is -1, must not be negative"),
    "strain without a cell": (strain(CELLS.format("grid", 3, "trilinear", ""), ""), "has no cell; flex 'f' has"),
    "strain beyond the cells": (strain(CELLS.format("grid", 3, "trilinear", ""), 'cell="0 1 0"'), r"cells"),
    "strain without cells": (strain(CELLS.format("grid", 3, "full", ""), 'cell="0 0 0"'), "has no cells"),
    "strain of no face": (strain(SHELL, 'cell="10 -1 -1"'), "must be a face"),
    "strain of a rigid flex": (
        strain(CELLS.format("grid", 3, "full", "").replace("<flexcomp", '<flexcomp rigid="true"'), 'cell="0 0 0"'),
        "is rigid",
    ),
    "massless": (world("<body name='b'><joint/></body>"), "moving body"),
    "small mass": (world('<body><joint/><geom size="1e-6"/></body>'), "moving body"),
    "repeated geom": (world('<geom name="g" size=".1"/><geom name="g" size=".1"/>'), "already taken"),
    "repeated body": (world('<body name="b"/><body name="b"/>'), "already taken"),
    "geom size": (world("<geom/>"), "size 0 of a sphere must be positive"),
    "capsule size": (world('<geom type="capsule" size=".1"/>'), "size 1 of a capsule"),
    "plane size": (world('<geom type="plane" size="1 1"/>'), "third size of a plane"),
    "site size": (world('<site size="-1"/>'), "size 0 of a sphere"),
    "plane moves": (world('<body><joint/><geom type="plane" size="1 1 1"/></body>'), "static body"),
    "site plane": (world('<site type="plane" size="1 1 1"/>'), "cannot be a plane"),
    "condim": (world('<geom size=".1" condim="2"/>'), "none of 1, 3, 4, 6"),
    "fromto sphere": (world('<geom size=".1" fromto="0 0 0 1 0 0"/>'), "needs a capsule"),
    "fromto pos": (world('<geom type="box" size=".1" fromto="0 0 0 1 0 0" pos="1 0 0"/>'), "cannot both be given"),
    "fromto short": (world('<geom type="box" size=".1" fromto="0 0 0 0 0 0"/>'), "too close"),
    "negative mass": (world('<body><geom size=".1" mass="-1"/></body>'), "negative"),
    "negative density": (world('<body><geom size=".1" density="-1"/></body>'), "negative"),
    "no material": (world('<geom size=".1" material="m"/>'), "does not exist"),
    "no hfield": (world('<geom type="hfield"/>'), "must name a hfield"),
    "axisangle": (world('<body axisangle="0 0 0 1"/>'), "axisangle is too small"),
    "xyaxes": (world('<body xyaxes="1 0 0 2 0 0"/>'), "y axis"),
    "zaxis": (world('<body zaxis="0 0 0"/>'), "zaxis is too small"),
    "world joint": (world("<joint/>"), "world"),
    "free below": (world(moving("<joint/>" + moving("<freejoint/>").replace("'b'", "'c'"))), "free joint"),
    "free with joint": (world(moving("<freejoint/><joint/>")), "degrees of freedom"),
    "seven dofs": (world(moving("<joint/>" * 7)), "7 degrees of freedom"),
    "ball then hinge": (world(moving('<joint type="ball"/><joint/>')), "after a ball joint"),
    "axis": (world(moving('<joint axis="0 0 0"/>')), "axis is too small"),
    "joint range": (world(moving('<joint range="1 0" limited="true"/>')), "must be smaller"),
    "ball range": (world(moving('<joint type="ball" range="1 2"/>')), "must be 0"),
    "autolimits": (
        world(moving('<joint range="0 1"/>'), head='<compiler autolimits="false"/>'),
        "has range but not limited",
    ),
    "actuatorfrcrange": (world(moving('<joint actuatorfrcrange="1 0" actuatorfrclimited="true"/>')), "smaller"),
    "springdamper": (world(moving('<joint springdamper="1 0"/>')), "both values must be positive"),
    "mocap joint": (world('<body mocap="true"><joint/><geom size=".1"/></body>'), "mocap body"),
    "mocap below": (world('<body><body mocap="true"/></body>'), "mocap body"),
    "inertia": (world('<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>'), "A + B >= C"),
    "full inertia": (
        world('<body><inertial pos="0 0 0" mass="1" fullinertia="1 1 -1 0 0 0"/></body>'),
        "positive eigenvalues",
    ),
    "user body": (world('<body user="1 2"/>', head='<size nuser_body="1"/>'), "user has 2 values"),
    "camera target": (world('<camera target="x"/>'), "does not exist"),
    "camera fovy": (world('<camera fovy="180"/>'), "fovy"),
    "camera focal": (world('<camera focal="1 1"/>'), "sensorsize"),
    "camera resolution": (world('<camera sensorsize="1 1" resolution="0 1"/>'), "positive resolution"),
    "light dir": (world('<light dir="0 0 0"/>'), "no length"),
    "light target": (world('<light target="x"/>'), "does not exist"),
    "pair geom": (world(SITES, '<contact><pair geom1="x" geom2="g"/></contact>'), "does not exist"),
    "pair condim": (world(SITES, '<contact><pair geom1="box" geom2="g" condim="2"/></contact>'), "none of 1, 3"),
    "exclude body": (world(SITES, '<contact><exclude body1="x" body2="world"/></contact>'), "does not exist"),
    "equality body": (world(JOINT, '<equality><weld body1="x"/></equality>'), "does not exist"),
    "equality self": (world(JOINT, '<equality><weld body1="b" body2="b"/></equality>'), "itself"),
    "equality ball": (world(BALL, '<equality><joint joint1="j"/></equality>'), "hinge and slide"),
    "equality site": (world(SITES, '<equality><weld site1="s" site2="x"/></equality>'), "does not exist"),
    "tendon empty": (tendon("", kind="fixed"), "empty"),
    "tendon one": (tendon('<site site="s"/>'), "two or more"),
    "tendon joint": (tendon('<joint joint="x" coef="1"/>', kind="fixed"), "does not exist"),
    "tendon ball": (tendon('<joint joint="j" coef="1"/>', kind="fixed", tree=BALL), "hinge and slide"),
    "tendon twice": (tendon('<joint joint="j" coef="1"/><joint joint="j" coef="2"/>', kind="fixed"), "twice"),
    "tendon armature": (tendon('<joint joint="j" coef="1"/>', 'armature="-1"', "fixed"), "negative"),
    "tendon pulleys": (
        tendon('<site site="s"/><site site="t"/><pulley divisor="1"/><pulley divisor="1"/><site site="s"/>'),
        "follow each other",
    ),
    "tendon pulley end": (tendon('<site site="s"/><site site="t"/><pulley divisor="1"/>'), "ends with a pulley"),
    "tendon divisor": (
        tendon('<site site="s"/><site site="t"/><pulley divisor="0"/><site site="s"/><site site="t"/>'),
        "must be positive",
    ),
    "tendon lone site": (
        tendon('<site site="s"/><site site="t"/><pulley divisor="1"/><site site="s"/>'),
        "needs a neighbour",
    ),
    "tendon repeated": (tendon('<site site="s"/><site site="s"/>'), "repeated"),
    "tendon geom": (tendon('<geom geom="g"/><site site="s"/>'), "between two sites"),
    "tendon box": (tendon('<site site="s"/><geom geom="box"/><site site="t"/>'), "neither a sphere"),
    "tendon sidesite": (tendon('<site site="s"/><geom geom="g" sidesite="x"/><site site="t"/>'), "does not exist"),
    "tendon range": (tendon('<site site="s"/><site site="t"/>', 'range="1 0" limited="true"'), "smaller"),
    "tendon width": (tendon('<site site="s"/><site site="t"/>', 'width="0"'), "width"),
    "tendon force": (tendon('<site site="s"/><site site="t"/>', 'actuatorfrcrange="1 2"'), "holds zero"),
    "tendon spring": (tendon('<site site="s"/><site site="t"/>', 'springlength="2 1"'), "larger"),
    "actuator target": (actuator("<motor/>"), "no transmission target"),
    "actuator joint": (actuator('<motor joint="x"/>'), "does not exist"),
    "actuator ctrlrange": (actuator('<motor joint="j" ctrlrange="1 0" ctrllimited="true"/>'), "ctrlrange"),
    "actuator forcerange": (actuator('<motor joint="j" forcerange="1 0" forcelimited="true"/>'), "forcerange"),
    "actuator actrange": (actuator('<general joint="j" actrange="0 1"/>'), "no activation"),
    "actuator actdim": (actuator('<general joint="j" actdim="2"/>'), "actdim 2"),
    "actuator actdim 1": (actuator('<general joint="j" actdim="1"/>'), "actdim 1"),
    "actuator actdim 0": (actuator('<general joint="j" dyntype="filter" actdim="0"/>'), "actdim 0"),
    "actuator inherit": (actuator('<position joint="j" inheritrange="1"/>', BALL), "hinge or slide"),
    "actuator inherit site": (actuator('<position site="s" inheritrange="1"/>'), "joint or tendon"),
    "actuator inherit none": (
        actuator('<position joint="j" inheritrange="1"/>', moving('<joint name="j"/>')),
        "has no range",
    ),
    "muscle range": (actuator('<muscle joint="j" range="1 .5"/>'), "muscle range"),
    "muscle lmin": (actuator('<muscle joint="j" lmin="1.5"/>'), "lmin < 1 < lmax"),
    "muscle vmax": (actuator('<muscle joint="j" vmax="0"/>'), "must be positive"),
    "actuator delay": (actuator('<motor joint="j" delay=".1"/>'), "history buffer"),
    "slider": (actuator('<general cranksite="s" cranklength="1"/>'), "slidersite"),
    "crank": (actuator('<general cranksite="s" slidersite="t"/>'), "cranklength must be positive"),
    "refsite": (actuator('<motor site="s" refsite="x"/>'), "does not exist"),
    "sensor site": (sensor('<gyro site="x"/>'), "does not exist"),
    "sensor ball": (sensor('<jointpos joint="j"/>', BALL), "hinge or slide"),
    "sensor hinge": (sensor('<ballquat joint="j"/>'), "must be a ball"),
    "sensor limit": (sensor('<jointlimitpos joint="j"/>', moving('<joint name="j"/>')), "must have a range"),
    "sensor cutoff": (sensor('<clock cutoff="-1"/>'), "negative"),
    "sensor noise": (sensor('<clock noise="-1"/>'), "negative"),
    "sensor axis cutoff": (sensor('<framexaxis objtype="site" objname="s" cutoff="1"/>'), "cutoff"),
    "sensor same": (sensor('<distance geom1="g" geom2="g"/>'), "must differ"),
    "sensor user": (sensor('<user dim="2" datatype="axis"/>'), "needs dim 3"),
    "sensor user dim": (sensor('<user dim="-1"/>'), "negative"),
    "sensor delay": (sensor('<clock delay=".1"/>'), "history buffer"),
    "sensor interval": (sensor('<clock interval="-1"/>'), "interval"),
    "sensor phase": (sensor('<clock interval=".1 .05"/>'), "phase"),
    "sensor name": (sensor('<framepos objtype="body" objname="x"/>'), "is no body"),
    "key": (world(JOINT, '<keyframe><key qpos="1 2"/></keyframe>'), "qpos has 2 values"),
    "numeric size": (world("", '<custom><numeric name="n" size="1" data="1 2"/></custom>'), "at most 1"),
    "text": (world("", '<custom><text name="n" data=""/></custom>'), "empty"),
    "tuple": (world("", '<custom><tuple name="n"/></custom>'), "empty"),
    "tuple object": (
        world("", '<custom><tuple name="n"><element objtype="body" objname="x"/></tuple></custom>'),
        "is no body",
    ),
    "hfield size": (world("", "", '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 0 1"/></asset>'), "positive"),
    "hfield data": (
        world("", "", '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="1"/></asset>'),
        "elevation",
    ),
    "hfield small": (world("", "", '<asset><hfield name="h" nrow="1" ncol="2" size="1 1 1 1"/></asset>'), "least"),
    "texture": (world("", "", '<asset><texture name="t" type="2d" builtin="flat"/></asset>'), "positive"),
    "texture none": (world("", "", '<asset><texture name="t" type="2d"/></asset>'), "needs builtin or file"),
    "material texture": (world("", "", '<asset><material name="t" texture="x"/></asset>'), "does not exist"),
    "sleep": (world(JOINT + '<body sleep="never"/>'), "sleep"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    source, words = ERRORS[name]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(source)
    with pytest.raises(ModelError) as info:
        compile_source(source)
    message = str(info.value)
    assert words in message
    assert "\n" not in message
    assert ":1: " in message, "the message must say the line"
