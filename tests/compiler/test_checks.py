"""What goes together and what does not: refused where the oracle refuses it, equal where it does not."""

import mujoco
import pytest

from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source, differences

TREE = """<site name="w"/><body name="A"><joint name="j"/><geom name="g" size=".1"/><site name="s" pos="0 0 .2"/></body>
<body name="B" pos="1 0 0"><joint name="b" type="ball"/><geom size=".1"/><site name="r"/></body>"""
TENDONS = """<fixed name="t"><joint joint="j" coef="1"/></fixed>
<spatial name="wrapped"><site site="w"/><geom geom="g"/><site site="r"/></spatial>"""


def model(text: str = "", head: str = "", tree: str = "", tendons: str = "") -> str:
    return (
        f"<mujoco>{head}<worldbody>{TREE}{tree}</worldbody><tendon>{TENDONS}{tendons}</tendon>"
        f"<actuator>{text}</actuator></mujoco>"
    )


PID = '<general joint="j" gaintype="pid" biastype="affine" gainprm="{}" {}/>'
SO3 = '<general joint="b" gaintype="so3" biastype="so3" gainprm="1" biasprm="0 -1" {}/>'
MOTOR = '<general joint="j" gaintype="dcmotor" biastype="dcmotor" dyntype="dcmotor" actearly="true" {}/>'
PLAIN = '<general joint="j" gainprm="1 2 .75 1.05 .5 1.6 1.5 1.3 1.2" biasprm="1 2 -1 1.05 .5 1.6 1.5 1.3 1.2" {}/>'
NO_RANGE = "<compiler><lengthrange mode='none'/></compiler>"
KINDS = [
    f'gaintype="{gain}" biastype="{bias}" dyntype="{dynamics}"'
    for gain in "fixed affine muscle dcmotor so3 pid user".split()
    for bias in "none affine muscle dcmotor so3 user".split()
    for dynamics in "none integrator filter filterexact muscle dcmotor pid user".split()
]
PID_DETAILS = [
    *("", 'dyntype="pid"', 'dyntype="pid" actdim="1"', 'dyntype="pid" actdim="2"', 'dyntype="pid" dynprm="-1"'),
    *('dynprm="-1"', 'dynprm="0 -1"', 'dyntype="pid" dynprm="0 1"', 'dyntype="pid" dynprm="0 1" actdim="2"'),
    *('input="vel"', 'input="vel" dyntype="pid" dynprm="0 1"', 'input="none"', 'input="voltage"'),
    *('ctrllimited="true"', 'ctrllimited="true" ctrlrange="0 1"', 'ctrllimited="true" velrange="0 1"'),
    *('ctrllimited="true" ctrlrange="0 1" velrange="2 1"', 'ctrllimited="false" ctrlrange="0 1" velrange="0 1"'),
]
SO3_DETAILS = [
    *("", 'dyntype="integrator"', 'dyntype="integrator" actdim="3"', 'dyntype="integrator" actdim="2"', 'input="quat"'),
    *('input="quat" dyntype="integrator" actdim="3"', 'input="pos"', 'input="none"', 'dyntype="filter"', 'actdim="3"'),
    *('forcerange="1 2"', 'forcerange="0 2"', 'ctrlrange="0 1"'),
]
MOTOR_DETAILS = [
    *('gainprm="1 1" dynprm="0"', 'gainprm="1 1" dynprm="1"', 'gainprm="1 1" dynprm="1" actdim="0"', 'gainprm="1 1"'),
    *('gainprm="1 1 0 0 1" dynprm="0"', 'gainprm="1 1 0 0 1" dynprm="0" input="pos"', 'gainprm="1 0" input="pos"'),
    *('gainprm="1 1 0 0 0 1" dynprm="0" input="vel"', 'gainprm="1 1" dynprm="0 0 0 0 0 0 0 1"'),
    *('gainprm="1 1" dynprm="0 0 0 1" actdim="1"', 'gainprm="1 1" dynprm="0 0 1 0"', 'input="none" gainprm="1 0"'),
    *('gainprm="1 1" nsample="2" input="none"', 'gainprm="1 1" dynprm="0 0 0 0 0 1" nsample="2"'),
]
TARGETS = (
    *('joint="j"', 'jointinparent="j"', 'tendon="t"', 'site="s"', 'body="A"'),
    *('cranksite="s" slidersite="w" cranklength="1"', 'tendon="wrapped"', 'site="s" refsite="w"', 'joint="b"'),
)
ACTUATORS = (
    [PID.format(k, text) for k in (0, 1) for text in PID_DETAILS]
    + [SO3.format(text) for text in SO3_DETAILS]
    + [SO3.replace('joint="b"', target).format("") for target in TARGETS]
    + [MOTOR.format(text) for text in MOTOR_DETAILS]
    + [f'<general {target} {text}="1"/>' for target in TARGETS for text in ("armature", "damping")]
    + ['<general body="A" gaintype="pid" biastype="affine" gainprm="0"/>', '<orientation joint="b" forcerange="1 2"/>']
    + ['<dcmotor joint="j" resistance="1" motorconst="1" controller="1"/>', '<orientation site="r" refsite="w"/>']
)
OTHERS = {
    "softness": model(tree='<light softness="1.5"/>'),
    "springyield of a joint": model(tree='<body><joint springyield="-1"/><geom size="1"/></body>'),
    "springyield of a tendon": model(tendons='<fixed springyield="-1"><joint joint="j" coef="1"/></fixed>'),
    "ipc": model(head='<option><flag ipc="enable"/></option>'),
    "ipc with PGS": model(head='<option integrator="discrete" solver="PGS"><flag ipc="enable"/></option>'),
    "site of type sdf": model(tree='<site type="sdf"/>'),
    "site of type sdf with a mesh": model(
        head='<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 2"/></asset>', tree='<site type="sdf" mesh="m"/>'
    ),
    "class of a replicate of none": model(tree='<replicate count="0" childclass="no"/>'),
    "target that another one overrides": model('<motor jointinparent="none" tendon="t"/>'),
    **{
        f"texture {text}": model(head=f'<asset><texture name="x" {text}/></asset>')
        for text in (
            *('type="2d" builtin="flat" width="4" height="4" nchannel="4"', 'builtin="flat" width="4" embed="true"'),
            *('builtin="flat" width="4" embed="false"', 'type="2d" builtin="flat" width="0" height="4"', 'type="2d"'),
        )
    },
}


def compare(xml: str) -> None:
    """Refused by both, or the same model."""
    try:
        mujoco.MjModel.from_xml_string(xml)
    except ValueError as error:
        with pytest.raises(ModelError):
            compile_source(xml)
            pytest.fail(f"{xml}\noracle: {error}")
        return
    assert differences(xml) == {}, xml


@pytest.mark.parametrize("text", ACTUATORS)
def test_actuator(text):
    compare(model(text))


@pytest.mark.parametrize("gain", "fixed affine muscle dcmotor so3 pid user".split())
def test_gain_bias_and_dynamics(gain):
    for kind in KINDS:
        if f'gaintype="{gain}"' in kind:
            compare(model(PLAIN.format(kind), head=NO_RANGE))


@pytest.mark.parametrize("name", OTHERS)
def test_other(name):
    compare(OTHERS[name])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<body pos="nan 0 0"/>', ":1: element <body>: its pos comes out as a number that is not finite"),
        ('<body><joint armature="inf"/><geom size="1"/></body>', ":1: element <joint>: its armature is not a finite"),
        ('<body><joint ref="inf"/><geom size="1"/></body>', ":1: element <joint>: its reference position is not"),
        (
            '<body><joint/><geom size="1" pos="1e300 0 0"/></body>',
            ":1: element <mujoco>: the inertia matrix is not fin",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_numbers_that_are_not_finite(text, said):
    with pytest.raises(ModelError) as caught:
        compile_source(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    assert said in str(caught.value)


def test_inertia_without_inverse():
    """A chain whose armatures are negative has an inertia matrix that no factor inverts."""
    link = '<body pos=".1 0 0"><joint axis="0 1 0" armature="-.5"/><geom size=".1" pos=".1 0 0"/>'
    tree = f'<body><joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/>{link * 4}{"</body>" * 5}'
    with pytest.raises(ModelError, match="the inertia matrix at qpos0 has no inverse"):
        compile_source(f"<mujoco><worldbody>{tree}</worldbody></mujoco>")
