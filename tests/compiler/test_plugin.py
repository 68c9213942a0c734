"""Plugins: what declares one compiles as in MuJoCo, what uses one is refused by its name."""

import mujoco
import pytest

from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source, differences


def model(extension: str = "", joint: str = "", geom: str = "", rest: str = "", mesh: str = "") -> str:
    """Return a model with a body, and what is given in its places."""
    assets = f'<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1">{mesh}</mesh></asset>' if mesh else ""
    return f"""<mujoco><extension>{extension}</extension>{assets}<worldbody><body name="b"><joint name="j"/>{joint}
    <geom size=".1">{geom}</geom><site name="s"/></body></worldbody>{rest}</mujoco>"""


def declared(name: str, instance: str = "") -> str:
    """Return the declaration of a plugin."""
    return f'<plugin plugin="{name}">{instance}</plugin>'


TORUS = declared("mujoco.sdf.torus", '<instance name="i"><config key="radius1" value="1"/></instance>')
PID = declared("mujoco.pid", '<instance name="p"><config key="kp" value="1"/></instance>')
DECLARED = {
    "one": declared("mujoco.pid"),
    "twice": 2 * declared("mujoco.pid"),
    "instance": TORUS,
}
USED = {
    "actuator": (
        model(declared("mujoco.pid"), rest='<actuator><plugin joint="j" plugin="mujoco.pid"/></actuator>'),
        r"<plugin>: plugin 'mujoco.pid' is not built yet",
    ),
    "instance": (model(PID, rest='<actuator><plugin joint="j" instance="p"/></actuator>'), "plugin 'mujoco.pid' is"),
    "sensor": (
        model(
            declared("mujoco.sensor.touch_grid"),
            rest='<sensor><plugin plugin="mujoco.sensor.touch_grid" objtype="site" objname="s"/></sensor>',
        ),
        "plugin 'mujoco.sensor.touch_grid' is not built yet",
    ),
    "mesh": (model(TORUS, mesh='<plugin instance="i"/>'), "plugin 'mujoco.sdf.torus' is not built yet"),
    "body": (model(joint='<plugin plugin="mujoco.elasticity.shell"/>'), "plugin 'mujoco.elasticity.shell' is not"),
    "cable elsewhere": (model(geom='<plugin plugin="mujoco.elasticity.cable"/>'), "elasticity.cable' is not built yet"),
}
REFUSED = {
    "unknown": (model(declared("nope")), "plugin 'nope' is unknown; known: mujoco.pid"),
    "no instance": (
        model(declared("mujoco.pid"), rest='<actuator><plugin joint="j" instance="q"/></actuator>'),
        "attribute 'instance' names instance 'q', which does not exist",
    ),
    "repeated instance": (model(2 * PID), "name 'p' is already taken"),
    "repeated key": (
        model(declared("mujoco.pid", '<instance name="p">' + 2 * '<config key="k" value="1"/>' + "</instance>")),
        "attribute 'key' has 'k' twice",
    ),
}


@pytest.mark.parametrize("case", DECLARED)
def test_declared(case):
    assert differences(model(DECLARED[case])) == {}


@pytest.mark.parametrize("case", USED)
def test_used(case):
    xml, message = USED[case]
    with pytest.raises(ModelError, match=message):
        compile_source(xml)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    xml, message = REFUSED[case]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(ModelError, match=message):
        compile_source(xml)
