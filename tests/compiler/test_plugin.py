"""Plugins: models that use one compile as in MuJoCo; the engine refuses them by the name of the plugin."""

import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import ModelError, UnsupportedError
from mjx_like.interop.convert import put_model
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
DECLARED = {
    "one": declared("mujoco.pid"),
    "twice": 2 * declared("mujoco.pid"),
    "instance": TORUS,
}
CHANNELS = '<config key="size" value="7 5"/><config key="fov" value="10 10"/>{}'
GRID = (
    '<sensor><plugin plugin="mujoco.sensor.touch_grid" name="t" objtype="site" objname="s" cutoff="2" user="1 2">'
    f"{CHANNELS}</plugin></sensor>"
)
PID = declared("mujoco.pid", '<instance name="p"><config key="kp" value="1"/>{}</instance>')
DRIVE = '<actuator><plugin joint="j" instance="p" {}/><motor joint="j"/></actuator>'
KI, SLEW = '<config key="ki" value="2"/>', '<config key="slewmax" value="1"/>'


def distance(name: str, configuration: str = "", geom: str = "", mesh: str = "") -> str:
    """Return a model with a shape of a signed distance plugin."""
    return f"""<mujoco><extension><plugin plugin="mujoco.sdf.{name}">
    <instance name="i">{configuration}</instance></plugin>
    </extension><asset><mesh name="m" {mesh}><plugin instance="i"/></mesh></asset><worldbody><body><freejoint/>
    <geom type="sdf" mesh="m" pos="1 2 3" euler="10 20 30" {geom}><plugin instance="i"/></geom></body></worldbody>
    </mujoco>"""


USED = {
    "pid": (model(PID.format(""), rest=DRIVE.format('gear="3"')), "plugin mujoco.pid"),
    "pid with states": (model(PID.format(KI + SLEW), rest=DRIVE.format('actdim="2"')), "plugin mujoco.pid"),
    "pid with a filter": (
        model(PID.format(KI), rest=DRIVE.format('actdim="2" dyntype="filter" nsample="3" delay=".1"')),
        "plugin mujoco.pid",
    ),
    "touch grid": (model(declared("mujoco.sensor.touch_grid"), rest=GRID.format("")), "type plugin"),
    "touch grid with channels": (
        model(declared("mujoco.sensor.touch_grid"), rest=GRID.format('<config key="nchannel" value="3"/>')),
        "type plugin",
    ),
}
NUT = distance("nut", '<config key="radius" value=".3"/>', geom='contype="0" conaffinity="0"')
NO_MESH = model(TORUS, geom='<plugin instance="i"/>')
OTHER_SHAPES = {
    "torus": distance("torus", mesh='inertia="shell" refpos="1 0 0"'),
    "bolt": distance("bolt"),
    "bowl": distance("bowl", '<config key="height" value=".2"/>'),
    "gear": distance("gear", '<config key="teeth" value="20"/><config key="alpha" value=".3"/>'),
}
REFUSED = {
    "unknown": (model(declared("nope")), "plugin 'nope' is unknown; known: mujoco.pid"),
    "no instance": (
        model(declared("mujoco.pid"), rest='<actuator><plugin joint="j" instance="q"/></actuator>'),
        "attribute 'instance' names instance 'q', which does not exist",
    ),
    "repeated instance": (model(2 * PID), "name 'p' is already taken"),
    "not declared": (
        model(rest='<sensor><plugin plugin="mujoco.sensor.touch_grid" objtype="site" objname="s"/></sensor>'),
        "plugin 'mujoco.sensor.touch_grid' is not declared",
    ),
    "unknown key": (model(PID.format('<config key="x" value="1"/>')), "key 'x' is unknown to plugin 'mujoco.pid'"),
    "actuator without states": (model(PID.format(KI), rest=DRIVE.format("")), "plugin and dyntype make 1 activations"),
    "negative slew": (model(PID.format('<config key="slewmax" value="-1"/>'), rest=DRIVE.format("")), "is negative"),
    "grid on a body": (
        model(
            declared("mujoco.sensor.touch_grid"),
            rest=GRID.format("").replace('"site" objname="s"', '"body" objname="b"'),
        ),
        "a touch grid belongs to a site",
    ),
    "grid without size": (
        model(declared("mujoco.sensor.touch_grid"), rest=GRID.format("").replace('"7 5"', '"7"')),
        "size of plugin mujoco.sensor.touch_grid needs two numbers",
    ),
    "too many channels": (
        model(declared("mujoco.sensor.touch_grid"), rest=GRID.format('<config key="nchannel" value="7"/>')),
        "nchannel 7",
    ),
    "body": (model(PID, joint='<plugin instance="p"/>'), "plugin 'mujoco.pid' does not go with a body"),
    "scaled": (distance("torus", mesh='scale="2 2 2"'), "has no scale"),
    "no number": (distance("torus", '<config key="radius1" value="x"/>'), "which is no number"),
    "repeated key": (
        model(declared("mujoco.pid", '<instance name="p">' + 2 * '<config key="k" value="1"/>' + "</instance>")),
        "attribute 'key' has 'k' twice",
    ),
}


@pytest.mark.parametrize("case", DECLARED)
def test_declared(case):
    assert differences(model(DECLARED[case])) == {}


# Rounding in the sum of the normals, and the order of a hull of thousands of points in a plane.
ROUNDED = ("mesh_graph", "mesh_normal")
# What an MjModel keeps within its plugins.
WITHIN = ("nsdf", "sdf_geomid", "sdf_kind", "sdf_param")


@pytest.mark.parametrize("case", USED)
def test_used(case):
    xml, lack = USED[case]
    assert differences(xml, skip=ROUNDED) == {}
    found = mjx.Model.from_xml_string(xml)
    with pytest.raises(UnsupportedError, match=lack):
        mjx.make_data(found)
    with pytest.raises(ModelError, match="a model with plugins that are not built cannot be written"):
        mjx.save_xml("/nowhere/model.xml", found)


@pytest.mark.parametrize("xml, parameters", [(NUT, [0.3, 0, 0, 0, 0]), (NO_MESH, [1, 0.15, 0, 0, 0])])
def test_signed_distances(xml, parameters):
    assert differences(xml, skip=(*ROUNDED, *WITHIN)) == {}
    found = mjx.Model.from_xml_string(xml)
    mjx.make_data(found)
    assert found.sdf_geomid.tolist() == [0] and np.allclose(found.sdf_param, [parameters])


def test_mjmodel_with_plugins_is_refused():
    """It does not say which plugins it has."""
    m = put_model(mujoco.MjModel.from_xml_string(NO_MESH))
    with pytest.raises(UnsupportedError, match="an MjModel does not tell what its plugins are"):
        mjx.make_data(m)


@pytest.mark.slow
@pytest.mark.parametrize("case", OTHER_SHAPES)
def test_other_shapes(case):
    assert differences(OTHER_SHAPES[case], skip=(*ROUNDED, *WITHIN)) == {}


def test_what_is_disabled_is_not_reported():
    xml = USED["pid"][0].replace("</extension>", '</extension><option><flag actuation="disable"/></option>')
    mjx.make_data(mjx.Model.from_xml_string(xml))


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    xml, message = REFUSED[case]
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(ModelError, match=message):
        compile_source(xml)
