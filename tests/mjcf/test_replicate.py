"""Replicates against the oracle: names, poses, nesting."""

import mujoco
import numpy as np
import pytest

from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_string

DOCUMENTS = {
    "plain": '<replicate count="3" offset="1 0 0"><geom name="g" size="1"/></replicate>',
    "turned": '<replicate count="10" offset="1 2 3" euler="10 20 30"><body name="b">'
    '<site name="s"/></body></replicate>',
    "nested": '<replicate count="2" offset="0 1 0" euler="90 0 0"><replicate count="2" sep="-" offset="1 0 0" '
    'euler="0 90 0"><frame name="f" pos="0 0 1"><geom name="A" size=".1"/></frame></replicate></replicate>',
    "none": '<geom name="a" size="1"/><replicate count="0"><geom name="g" size="1"/></replicate>',
    "target": '<replicate count="2"><body name="b"/><camera name="c" mode="targetbody" target="b"/></replicate>',
    "class": '<replicate count="2" childclass="k"><geom name="g"/></replicate>',
    "order": '<body name="p"><body name="a"/><replicate count="2"><body name="r"/></replicate><body name="z"/></body>',
}
COMPILERS = ['<compiler eulerseq="xyz"/>', '<compiler angle="radian" eulerseq="zYx"/>']
CLASS = '<default><default class="k"><geom size="3"/></default></default>'


@pytest.mark.parametrize("compiler", COMPILERS, ids=["degree", "radian"])
@pytest.mark.parametrize("case", DOCUMENTS)
def test_same_elements_and_frames(case, compiler):
    xml = f"<mujoco>{compiler}{CLASS}<worldbody>{DOCUMENTS[case]}</worldbody></mujoco>"
    spec, oracle = parse_string(xml), mujoco.MjSpec.from_string(xml)
    found = {}
    for element in spec.worldbody.iter():
        found.setdefault(element.tag, []).append(element)
    for tag, theirs in (("geom", oracle.geoms), ("site", oracle.sites), ("camera", oracle.cameras)):
        assert sorted(e.get("name", "") for e in found.get(tag, [])) == sorted(other.name for other in theirs)
    assert [e.get("name", "") for e in found.get("body", [])] == [body.name for body in oracle.bodies[1:]]
    assert [e.get("target") for e in found.get("camera", [])] == [camera.targetbody for camera in oracle.cameras]
    frames = [frame for frame in found.get("frame", [])]
    assert len(frames) == len(oracle.frames)
    ours = sorted((*np.round(f.get("pos"), 9), *np.round(f.get("quat", np.eye(4)[0]), 9)) for f in frames)
    theirs = sorted((*np.round(f.pos, 9), *np.round(f.quat, 9)) for f in oracle.frames)
    np.testing.assert_allclose(np.array(ours), np.array(theirs), atol=1e-9)


def test_class_of_a_replicate():
    spec = parse_string(f"<mujoco>{CLASS}<worldbody>{DOCUMENTS['class']}</worldbody></mujoco>")
    frame = spec.worldbody.children[0]
    assert spec.resolve(frame.children[0], frame.get("childclass"))["size"][0] == 3


def test_reference_into_a_replicate_is_refused_by_name():
    xml = (
        '<mujoco><worldbody><replicate count="2"><site name="s"/></replicate></worldbody>\n'
        '<sensor><gyro name="g" site="s"/></sensor></mujoco>'
    )
    message = r"<string>:2: element <gyro name='g'>: attribute 'site' names 's', which stands in a <replicate>"
    with pytest.raises(ModelError, match=message):
        parse_string(xml)


@pytest.mark.parametrize("child", ["<joint/>", "<freejoint/>", "<frame><joint/></frame>"])
def test_joint_directly_in_a_replicate(child):
    xml = f'<mujoco><worldbody><body><replicate count="2">{child}</replicate></body></worldbody></mujoco>'
    with pytest.raises(ValueError):
        mujoco.MjSpec.from_string(xml)
    with pytest.raises(ModelError, match="may not stand directly in <replicate>"):
        parse_string(xml)


def test_too_many_copies():
    inner = '<geom size="1"/>'
    for _ in range(5):
        inner = f'<replicate count="1000">{inner}</replicate>'
    with pytest.raises(ModelError, match="at most"):
        parse_string(f"<mujoco><worldbody>{inner}</worldbody></mujoco>")


def test_unread_attributes_of_a_frame_are_noted():
    with pytest.warns(UserWarning, match="attribute 'mocap' has no meaning here"):
        parse_string('<mujoco><worldbody><frame mocap="true"/></worldbody></mujoco>')
