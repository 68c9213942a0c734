"""URDF files against the oracle: whole compile results, and every message."""

import jax
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_string
from tests.compiler.compare import compile_source, differences
from tests.compiler.meshes import stl

BALL = '<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/>'
ARM = """<robot name="arm">{extension}
<material name="red"><color rgba="1 0 0 1"/></material>
<link name="base"><inertial><origin xyz="0 0 .1" rpy=".1 .2 .3"/><mass value="2"/>
<inertia ixx=".1" iyy=".2" izz=".25" ixy=".01" ixz=".02" iyz=".03"/></inertial>
<visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
<collision><origin xyz="1 0 0"/><geometry><box size=".1 .2 .3"/></geometry></collision></link>
<link name="upper"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><cylinder radius=".1" length=".5"/></geometry></collision></link>
<link name="lower"><collision name="ball"><origin rpy="1 0 0"/><geometry><sphere radius=".1"/></geometry></collision>
<inertial><mass value=".5"/>{inertia}</inertial></link>
<link name="tip"><collision><geometry><capsule radius=".1" length=".3"/></geometry></collision>
<inertial><mass value=".5"/>{inertia}</inertial></link>
<joint name="j1" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 1" rpy="0 .5 0"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="10" velocity="3"/><dynamics damping=".3" friction=".1"/></joint>
<joint name="j2" type="{type}"><parent link="upper"/><child link="lower"/><origin xyz="0 0 .3"/><axis xyz="0 1 0"/>
{joint}</joint>
<joint name="j3" type="fixed"><parent link="lower"/><child link="tip"/><origin xyz=".1 0 .3"/></joint>
<transmission name="passed over"><type>x</type></transmission></robot>"""
HUNG = """<robot name="w"><link name="world"/><link name="b"><inertial><mass value="1"/>{inertia}</inertial></link>
<joint name="j" type="{type}"><parent link="world"/><child link="b"/><axis xyz="0 0 2"/></joint></robot>"""
MESH = """<robot name="m"><mujoco><compiler discardvisual="false"/></mujoco>
<link name="a"><inertial><mass value="1"/>{inertia}</inertial>
<visual><geometry><mesh filename="package/deep/part.stl" scale="1 2 3"/></geometry></visual>
<collision><geometry><mesh filename="other/part.stl"/></geometry></collision></link></robot>"""

EXTENSIONS = {
    "plain": "",
    "unfused": '<mujoco><compiler fusestatic="false" discardvisual="false"/><option timestep=".01"/></mujoco>',
    "balanced": '<mujoco><compiler strippath="false" balanceinertia="true"/><size nuser_body="2"/></mujoco>',
}


def arm(type="revolute", extension="", joint="", text=ARM):
    filled = text.replace("{extension}", extension).replace("{inertia}", BALL).replace("{type}", type)
    return filled.replace("{joint}", joint)


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("type", ["revolute", "continuous", "prismatic", "planar", "spherical", "fixed"])
def test_joints(type, extension):
    assert differences(arm(type, EXTENSIONS[extension])) == {}


@pytest.mark.parametrize("type", ["revolute", "floating", "fixed"])
def test_the_link_called_world_is_the_world(type):
    assert differences(arm(type, text=HUNG)) == {}


@pytest.mark.parametrize(
    "joint",
    [
        '<limit lower=".5" upper=".2" effort="3"/>',
        '<limit upper="2" effort="-3"/>',
        '<limit effort="0"/>',
        '<dynamics damping="1"/>',
        '<mimic joint="j1" multiplier="2" offset=".1"/>',
        '<mimic joint="j1"/>',
    ],
)
def test_limits_dynamics_and_mimic(joint):
    assert differences(arm(joint=joint)) == {}


def test_a_mimic_of_a_ball_is_dropped_with_a_warning():
    with pytest.warns(UserWarning, match="does not follow"):
        made = compile_source(arm("spherical", joint='<mimic joint="j1"/>'))
    assert not made.fields["eq_type"].size


def test_meshes_lose_their_folders_and_share_a_file():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    assets = {"part.stl": stl(corners, faces)}
    text = arm(text=MESH).replace("<compiler ", '<compiler strippath="true" ')
    assert differences(text, assets, skip=("mesh_graph", "mesh_poly", "mesh_normal")) == {}


def test_a_model_is_made_from_a_file_and_from_text(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(arm())
    mj = mujoco.MjModel.from_xml_string(arm())
    data = mujoco.MjData(mj)
    data.qpos[:] = [0.3, -0.4]
    mujoco.mj_kinematics(mj, data)
    for m in (mjx.Model.from_xml_string(arm()), mjx.Model.from_xml_path(path)):
        d = jax.jit(mjx.kinematics)(m, mjx.make_data(m).replace(qpos=np.array([0.3, -0.4])))
        np.testing.assert_allclose(d.xipos, data.xipos, atol=1e-12)


ERRORS = {
    "no parent": ('<joint name="j"/>', "<link name='a'/>", "missing element <parent>"),
    "keyword": (
        '<joint name="j" type="screw"><parent link="a"/><child link="b"/></joint>',
        "<link name='a'/><link name='b'/>",
        "needs one of: revolute",
    ),
    "no link": (
        '<joint name="j" type="fixed"><parent link="a"/><child link="x"/></joint>',
        "<link name='a'/>",
        "link 'x'",
    ),
    "two parents": (
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="fixed"><parent link="a"/><child link="b"/></joint>',
        "<link name='a'/><link name='b'/>",
        "child of another joint",
    ),
    "loop": (
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>',
        "<link name='a'/><link name='b'/>",
        "loop",
    ),
    "same name": ("", "<link name='a'/><link name='a'/>", "already taken"),
    "no shape": ("", "<link name='a'><collision><geometry/></collision></link>", "needs one of: box"),
    "not a number": ("", "<link name='a'><inertial><mass value='heavy'/></inertial></link>", "value"),
    "root": ("", None, "must be <mujoco> or <robot>"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_one_line_with_a_place(name):
    joints, links, message = ERRORS[name]
    text = "<machine/>" if links is None else f"<robot name='r'>\n{links}{joints}</robot>"
    with pytest.raises(ModelError, match=message) as caught:
        parse_string(text)
    assert str(caught.value).startswith("<string>:") and "\n" not in str(caught.value)
