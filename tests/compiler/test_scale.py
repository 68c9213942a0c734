"""Scaled frames: everything in them and what refers into them, equal to MuJoCo's arrays."""

import mujoco
import pytest

from mjx_like.errors import ModelError
from mjx_like.mjcf.edit.spec import Spec
from tests.compiler.compare import compile_source, differences

TREE = """<mujoco><worldbody><frame pos="1 2 3" euler="10 20 30" %s>
<body name="b" pos=".1 .2 .3" euler="0 20 10" gravcomp="0.5" user="7">
<joint name="h" type="hinge" pos=".1 .1 0" axis="1 2 3" stiffness="3 4 5" damping="1 2 3" frictionloss=".3"
armature=".2" range="-20 30" margin=".1" ref="10" springref="20" springyield="2" actuatorfrcrange="-3 4"
solreflimit="-100 -10" solimplimit=".8 .9 .02 .4 3" solreffriction="-100 -10" solimpfriction=".8 .9 .02 .4 3"
user="3"/>
<geom name="g" type="box" size=".1 .2 .3" pos=".01 .02 .03" margin=".01" gap=".02" solref="-100 -10" solimp=".8
.9 .02 .4 3" friction=".8 .1 .2" surfacevel="1 2 3 4 5 6" adhesion="2" user="4" fluidshape="ellipsoid"/>
<site name="s" pos=".1 0 0" size=".1 .2 .3" user="5"/>
<camera name="c" pos="0 1 0" ipd=".1" focal=".01 .01" sensorsize=".02 .02" resolution="100 100" principal=".001
.002" user="9"/>
<light name="l" pos="0 0 1" dir="1 1 1" bulbradius=".03" intensity="3" range="12" attenuation="1 .2 .3"
cutoff="30" exponent="3"/>
<body name="b2" pos="0 .5 0">
<joint name="sl" type="slide" axis="0 1 0" stiffness="3 4 5" damping="1 2 3" frictionloss=".3" armature=".2"
range="-.2 .3" margin=".1" ref=".1" springref=".2" springyield=".3" actuatorfrcrange="-3 4" solreflimit="-100
-10" solimplimit=".8 .9 .02 .4 3" solreffriction="-100 -10" solimpfriction=".8 .9 .02 .4 3"/>
<geom name="g2" type="capsule" size=".1 .2" mass="2"/></body>
<body name="b3" pos="0 .5 0">
<joint name="ba" type="ball" stiffness="3" damping="1 2 3" frictionloss=".3" armature=".2" range="0 30"
margin=".1"/><inertial pos=".1 .2 .3" mass="2" diaginertia="1 1.1 1.2" euler="10 20 30"/></body>
</body>
<body name="fr" pos="2 0 0"><freejoint name="f"/><geom size=".1"/><body pos="1 0 0">
<joint type="hinge" springdamper=".1 1"/><geom size=".1"/></body></body>
</frame></worldbody></mujoco>"""
REFERRED = """<mujoco><worldbody><site name="w" pos="-1 0 0"/>
<body name="out" pos="-3 0 0"><joint name="jo" type="slide"/>
<geom name="go" size=".1"/></body><frame %s>
<body name="b" pos=".1 .2 .3"><joint name="h" range="-20 30" axis="1 2 3"/><geom name="g" size=".1"/>
<site name="s" pos=".1 0 .3"/><site name="s1" pos=".5 0 .3"/>
<body name="b2" pos="0 .5 0"><joint name="sl" type="slide" axis="0 1 0" range="-.2 .3" pos=".1 0 0"/>
<geom name="g2" type="capsule" size=".1 .2" mass="2"/><site name="s2" pos="0 .1 0"/></body>
<body name="b4" pos="0 0 1"><joint name="h2" range="-20 30" axis="1 0 1"/><geom size=".1"/></body>
<body name="b5" pos="0 1 1"><joint name="sl2" type="slide" range="-20 30" axis="1 0 1"/><geom size=".1"/></body>
<body name="b3" pos="0 .5 0"><joint name="ba" type="ball"/><geom size=".1"/></body><camera name="cam"/>
</body>
<body name="fr" pos="2 0 0"><freejoint name="f"/><geom name="gf" size=".1"/></body>
<body name="mo" pos="2 0 3" mocap="true"><geom size=".1" contype="0" conaffinity="0"/></body>
</frame></worldbody>"""
TENDONS = """<tendon>
<spatial name="ts" stiffness="3 4 5" damping="1 2 3" frictionloss=".3" armature=".2" range=".1 2" margin=".1"
springlength=".4 .6" width=".01" actuatorfrcrange="-1 2" solreflimit="-100 -10" solimplimit=".8 .9 .02 .4 3"
solreffriction="-100 -10" solimpfriction=".8 .9 .02 .4 3" springyield=".1"><site site="s"/><site site="s2"/>
</spatial>
<fixed name="tf1" stiffness="3 4 5" damping="1 2 3" range=".1 2" frictionloss=".3" armature=".2"
springlength=".4" margin=".1"><joint joint="h" coef="2"/></fixed>
<fixed name="tf2" stiffness="3 4 5" damping="1 2 3" range=".1 2" frictionloss=".3" armature=".2"
springlength=".4" margin=".1"><joint joint="sl" coef="2"/></fixed>
<fixed name="tf3" stiffness="3 4 5" damping="1 2 3" range=".1 2" frictionloss=".3" armature=".2"
springlength=".4" margin=".1"><joint joint="h" coef="2"/><joint joint="sl" coef="3"/></fixed>
<fixed name="tf5" stiffness="3 4 5" damping="1 2 3" range=".1 2"><joint joint="sl" coef="3"/>
<joint joint="h" coef="2"/></fixed>
</tendon>"""
JOINED = """<equality>
<connect body1="b" body2="fr" anchor=".1 .2 .3" solref="-100 -10" solimp=".8 .9 .02 .4 3"/>
<connect body1="b" anchor=".1 .2 .3"/>
<weld body1="b" body2="fr" anchor=".1 .2 .3" relpose="1 2 3 1 0 0 0" torquescale="2" solimp=".8 .9 .02 .4 3"/>
<joint joint1="h" joint2="sl" polycoef="1 2 3 4 5" solimp=".8 .9 .02 .4 3"/>
<joint joint1="sl" joint2="h" polycoef="1 2 3 4 5" solimp=".8 .9 .02 .4 3"/>
<joint joint1="sl" polycoef="1 2 3 4 5"/>
<tendon tendon1="ts" tendon2="tf1" polycoef="1 2 3 4 5" solimp=".8 .9 .02 .4 3"/>
<tendon tendon1="tf1" tendon2="tf2" polycoef="1 2 3 4 5" solimp=".8 .9 .02 .4 3"/>
<tendon tendon1="tf3" polycoef="1 2 3 4 5" solimp=".8 .9 .02 .4 3"/></equality>
<contact><pair geom1="g" geom2="gf" margin=".1" gap=".02" friction="1 .8 .2 .3 .4" solimp=".8 .9 .02 .4 3"/>
<pair geom1="g" geom2="go" margin=".1" gap=".02" friction="1 .8 .2 .3 .4"/></contact>"""
SENSORS = """<sensor>
<touch cutoff="1" noise="2" site="s"/>
<accelerometer cutoff="1" noise="2" site="s"/>
<velocimeter cutoff="1" noise="2" site="s"/>
<gyro cutoff="1" noise="2" site="s"/>
<force cutoff="1" noise="2" site="s"/>
<torque cutoff="1" noise="2" site="s"/>
<magnetometer cutoff="1" noise="2" site="s"/>
<camprojection cutoff="1" noise="2" site="s" camera="cam"/>
<rangefinder cutoff="1" noise="2" site="s"/>
<jointpos cutoff="1" noise="2" joint="h"/>
<jointpos cutoff="1" noise="2" joint="sl"/>
<jointvel cutoff="1" noise="2" joint="sl"/>
<jointvel cutoff="1" noise="2" joint="h"/>
<tendonpos cutoff="1" noise="2" tendon="ts"/>
<tendonpos cutoff="1" noise="2" tendon="tf1"/>
<tendonpos cutoff="1" noise="2" tendon="tf3"/>
<tendonvel cutoff="1" noise="2" tendon="ts"/>
<jointactuatorfrc cutoff="1" noise="2" joint="h"/>
<jointactuatorfrc cutoff="1" noise="2" joint="sl"/>
<tendonactuatorfrc cutoff="1" noise="2" tendon="ts"/>
<ballangvel cutoff="1" noise="2" joint="ba"/>
<jointlimitpos cutoff="1" noise="2" joint="sl"/>
<jointlimitpos cutoff="1" noise="2" joint="h"/>
<jointlimitvel cutoff="1" noise="2" joint="sl"/>
<jointlimitfrc cutoff="1" noise="2" joint="h"/>
<jointlimitfrc cutoff="1" noise="2" joint="sl"/>
<tendonlimitpos cutoff="1" noise="2" tendon="ts"/>
<tendonlimitvel cutoff="1" noise="2" tendon="ts"/>
<tendonlimitfrc cutoff="1" noise="2" tendon="ts"/>
<framepos cutoff="1" noise="2" objtype="site" objname="s"/>
<framepos cutoff="1" noise="2" objtype="body" objname="out"/>
<framelinvel cutoff="1" noise="2" objtype="site" objname="s"/>
<frameangvel cutoff="1" noise="2" objtype="site" objname="s"/>
<framelinacc cutoff="1" noise="2" objtype="site" objname="s"/>
<frameangacc cutoff="1" noise="2" objtype="site" objname="s"/>
<subtreecom cutoff="1" noise="2" body="b"/>
<subtreelinvel cutoff="1" noise="2" body="b"/>
<subtreeangmom cutoff="1" noise="2" body="b"/>
<insidesite cutoff="1" noise="2" objtype="body" objname="b2" site="s"/>
<distance cutoff="1" noise="2" geom1="g" geom2="gf"/>
<distance cutoff="1" noise="2" geom1="go" geom2="g"/>
<normal cutoff="1" noise="2" geom1="g" geom2="gf"/>
<fromto cutoff="1" noise="2" geom1="g" geom2="gf"/>
<contact cutoff="1" noise="2" geom1="g" geom2="gf"/>
<contact cutoff="1" noise="2" geom1="g" geom2="gf" data="force"/>
<contact cutoff="1" noise="2" geom1="g" geom2="gf" data="dist"/>
<contact cutoff="1" noise="2" geom1="g" geom2="gf" data="force dist"/>
<e_potential cutoff="1" noise="2" />
<e_kinetic cutoff="1" noise="2" />
<clock cutoff="1" noise="2" />
<user dim="1" cutoff="2" noise="3" objtype="body" objname="b"/></sensor>"""
SCALES = ('scale="2" massscale="5"', 'scale="2" massscale="5" scaling="geometry"', 'scale="0.5"')


def of(sections: str, scale: str) -> str:
    """Return the model of references with these sections."""
    return REFERRED % scale + sections + "</mujoco>"


@pytest.mark.parametrize("scale", SCALES)
def test_tree(scale):
    assert differences(TREE % scale) == {}


@pytest.mark.parametrize("scale", SCALES)
def test_what_refers_into_a_frame(scale):
    assert differences(of(TENDONS + JOINED + SENSORS, scale)) == {}


ACTUATORS = (
    '<motor {} ctrlrange="-1 1" forcerange="-2 3"/>',
    '<position {} kp="3" kv="2" ctrlrange="-1 1" forcerange="-2 3" timeconst=".2"/>',
    '<position {} kp="3" dampratio="1"/>',
    '<velocity {} kv="2" ctrlrange="-1 1"/>',
    '<intvelocity {} kp="3" kv=".1" actrange="-1 1"/>',
    '<damper {} kv="2" ctrlrange="0 1"/>',
    '<cylinder {} timeconst=".1" area=".3" bias="1 2 3"/>',
    '<pid {} kp="2" ki="3" kv="1" imax="4" slewmax="5" ctrlrange="-1 1" velrange="-2 2" input="pos vel"/>',
    '<general {} gainprm="1 2 3" biasprm="1 2 3" biastype="affine" gaintype="affine" dyntype="integrator"/>',
    '<general {} gainprm="3" biasprm="0 -3 -1" biastype="affine" input="pos" ctrlrange="-1 1"/>',
)
MUSCLES = (
    '<muscle {} lengthrange=".1 2" range=".7 1" force="20"/>',
    '<muscle {} lengthrange=".1 2" force="-1"/>',
)
DRIVES = (
    '<motor {} gear="2" armature=".1" damping="1 2 3"/>',
    *MUSCLES,
)
TARGETS = {
    'joint="h"': DRIVES,
    'joint="sl"': DRIVES,
    'tendon="ts"': DRIVES,
    'site="s" gear="1 2 3 4 5 6"': (),
    'site="s" refsite="s2" gear="1 2 3 0 0 0"': (),
    'cranksite="s" slidersite="s2" cranklength=".4"': MUSCLES,
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("target", TARGETS)
def test_actuators(scale, target):
    tendon = '<tendon><spatial name="ts"><site site="s"/><site site="s2"/></spatial></tendon>'
    lines = "\n".join(text.format(target) for text in ACTUATORS + TARGETS[target])
    assert differences(of(f"{tendon}<actuator>{lines}</actuator>", scale)) == {}


CHAIN = """<body><joint stiffness="2" damping=".3"/><geom type="capsule" size=".1" fromto="0 0 0 1 1 1"/>
<frame scale="3" massscale="2" scaling="geometry" pos=".1 0 0"><body pos="1 1 0" euler="0 20 0">
<joint type="slide" stiffness="3" armature=".2" range="-1 1"/><geom size=".2"/><site pos="1 0 0"/></body>
<geom size=".3" mass="2" pos="1 0 0"/></frame></body>"""
ASSETS = """<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" refpos=".1 .2 .3" inertia="shell"/>
<mesh name="n" vertex="0 0 0 1 0 0 0 1 0 0 0 2" scale="1 2 3"/><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/>
</asset>"""


def sized(mesh: str, scale: int | None) -> str:
    """Return a body with a mesh in a scaled frame."""
    body = f'<body><geom type="mesh" mesh="{mesh}"/><site type="mesh" mesh="n"/></body>'
    return f'<frame scale="{scale}" pos="1 2 3" euler="10 20 30">{body}</frame>' if scale else body


FIELD = '<geom type="hfield" hfield="h"/>'
KEYS = """<mujoco><worldbody><frame scale="2" massscale="5"><body><freejoint/><geom size="1"/>
<body><joint type="slide"/><geom size="1"/><body><joint type="ball"/><geom size="1"/>
<body><joint name="h"/><geom size="1"/><site name="s"/></body></body></body></body><body mocap="true"/></frame>
</worldbody>
<actuator><position name="p" {0}/><general {0} dyntype="integrator"/><intvelocity {0} actrange="-1 1"/></actuator>
<keyframe><key qpos="1 1 1 1 0 0 0 1 1 0 0 0 1" qvel="1 1 1 1 1 1 1 1 1 1 1" ctrl="1 1 1" act="1 1" mpos="1 2 3"/>
<key/></keyframe></mujoco>"""


def world(tree: str, head: str = "") -> str:
    """Return a model."""
    return f"<mujoco>{head}<worldbody>{tree}</worldbody></mujoco>"


MODELS = {
    "nested": world(f'<frame pos="1 2 3" euler="0 0 30" scale="2">{CHAIN}</frame>'),
    "replicate": world(
        f'<frame scale="2"><replicate count="2" offset="1 0 0" euler="0 0 20">{CHAIN}</replicate></frame>'
    ),
    "replicated": world(
        f'<replicate count="2" offset="1 0 0"><frame scale="2"><geom size="1"/>{CHAIN}</frame></replicate>'
    ),
    "fused": world(
        f'<frame scale="2"><body pos="1 0 0">{CHAIN}<body pos="1 0 0"><geom size=".1"/></body></body></frame>',
        '<compiler fusestatic="true"/>',
    ),
    "class": world(
        '<frame scale="2" childclass="a"><body><joint type="slide"/><geom size="1"/></body></frame>'
        '<body childclass="a"><joint/><geom size="1"/></body>',
        '<default><default class="a"><geom margin=".1" solimp=".8 .9 .1"/><joint armature=".3"/></default></default>',
    ),
    "inertia": world(
        '<frame scale="2" massscale="3"><body><joint/>'
        '<inertial pos="1 0 0" mass="2" fullinertia="1 1.1 1.2 .1 .1 .05"/>'
        '</body><body><freejoint align="true"/><geom type="box" size=".1 .2 .3" pos="1 0 0"/></body>'
        '<body><joint type="free" damping="1 2" armature=".3"/><geom size="1" shellinertia="true"/></body></frame>'
    ),
    "meshes": world(sized("m", 2) + sized("n", None) + sized("m", 3) + sized("n", 2) + sized("m", 2), ASSETS),
    "meshes, the first not scaled": world(sized("m", None) + sized("m", 2), ASSETS),
    "height fields": world(f'<frame scale="2">{FIELD}</frame>{FIELD}', ASSETS),
    "keys of a joint": KEYS.format('joint="h"'),
    "keys of a site": KEYS.format('site="s"'),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    hull = ("mesh_graph", "mesh_poly", "nmeshpoly") if "<mesh" in MODELS[name] else ()
    assert differences(MODELS[name], skip=hull) == {}


def test_a_spec_keeps_what_its_file_says():
    text = Spec.from_string(MODELS["nested"]).to_xml()
    assert 'scale="3" massscale="2" scaling="geometry"' in text
    assert differences(text) == {}


ERRORS = {
    "zero": (world('<frame scale="0"/>'), "must be positive and finite"),
    "two": (world('<frame scale="1 1"/>'), "needs one number or three"),
    "mass": (world('<frame massscale="-1"/>'), "must be finite and not negative"),
    "motor": (
        of('<actuator><dcmotor joint="h" resistance="1" motorconst="1"/></actuator>', SCALES[0]),
        "the parameters of this actuator cannot be scaled",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    xml, message = ERRORS[name]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(ModelError, match=message):
        compile_source(xml)
