"""Values of attributes as MuJoCo reads them: numbers, integers, words, long vectors."""

import mujoco
import numpy as np
import pytest

from mjx_like.mjcf.reader import parse_string
from tests.mjcf.messages import error, world

NUMBERS = ["1e3", "+.5", "-.5", "inf", "-inf", "infinity", "INF", "0x10", "1.", "1e-400", " 1 ", "", "  ", "+5", "00.5"]
NO_NUMBERS = ["1e", "1.5f", "1,2", "1_0", "1d3", "5e400", ".", "--1", "1 2 3 4", "0x", "e5", "٣"]


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers(text):
    xml = f'<mujoco><worldbody><geom size="{text}"/></worldbody></mujoco>'
    spec = parse_string(xml)
    ours = spec.resolve(spec.worldbody.children[0])["size"]
    np.testing.assert_array_equal(ours, mujoco.MjSpec.from_string(xml).geoms[0].size)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_no_numbers(text):
    xml = f'<mujoco><worldbody><geom size="{text}"/></worldbody></mujoco>'
    with pytest.raises(ValueError, match="size"):
        mujoco.MjSpec.from_string(xml)
    assert "attribute 'size'" in error(xml)


@pytest.mark.parametrize("text", ["1", "+1", "01", " 1 ", "-2", "2147483647", "-2147483648", ""])
def test_integers(text):
    xml = f'<mujoco><worldbody><geom size="1" group="{text}"/></worldbody></mujoco>'
    spec = parse_string(xml)
    ours = spec.resolve(spec.worldbody.children[0])["group"]
    assert ours == mujoco.MjSpec.from_string(xml).geoms[0].group
    assert isinstance(ours, int)


@pytest.mark.parametrize("text", ["1.0", "0x10", "1e1", "99999999999", "2147483648", "inf", "1 2"])
def test_no_integers(text):
    xml = f'<mujoco><worldbody><geom size="1" group="{text}"/></worldbody></mujoco>'
    with pytest.raises(ValueError, match="group"):
        mujoco.MjSpec.from_string(xml)
    assert "attribute 'group'" in error(xml)


def test_nan_is_let_through_with_a_warning():
    xml = '<mujoco><worldbody><geom size="nan"/></worldbody></mujoco>'
    assert np.isnan(mujoco.MjSpec.from_string(xml).geoms[0].size[0])
    with pytest.warns(UserWarning, match=r"<string>:1: element <geom>: attribute 'size' has a NaN"):
        spec = parse_string(xml)
    assert np.isnan(spec.worldbody.children[0].get("size")[0])


def test_single_precision_attributes_are_rounded():
    spec = parse_string(world('<geom size="0.1" rgba="0.1 0.2 0.3 1"/>'))
    geom = spec.worldbody.children[0]
    np.testing.assert_array_equal(geom.get("rgba"), np.float32([0.1, 0.2, 0.3, 1]).astype(np.float64))
    assert geom.get("size")[0] == 0.1


def test_types_of_values():
    xml = world('<camera name="c" output="rgb depth" mode="fixed" fovy="30"/><body mocap="true" user="1 2"/>')
    camera, body = parse_string(xml).worldbody.children
    assert camera.attrib["output"] == ("rgb", "depth")
    assert (camera.get("mode"), camera.get("fovy"), camera.get("name")) == ("fixed", 30.0, "c")
    assert body.get("mocap") is True
    np.testing.assert_array_equal(body.get("user"), [1, 2])


LONG = " ".join(["1", ".5", "-2.25e-3", "+3.", "1E2"] * 60)


@pytest.mark.parametrize("end", ["", " 0x10", "\n1e39", "\tinf", " 7 \r"])
def test_long_vectors_are_read_as_short_ones(end):
    xml = f'<mujoco><custom><numeric name="n" data="{LONG}{end}"/></custom></mujoco>'
    theirs = mujoco.MjSpec.from_string(xml)  # owns the data
    np.testing.assert_array_equal(parse_string(xml).sections["custom"][0].get("data"), theirs.numerics[0].data)


@pytest.mark.parametrize("end", ["1e", "--1", ".", "1 2 e", "1,2", "1e40"])
def test_a_bad_number_in_a_long_vector_is_named(end):
    message = error(f'<mujoco><asset><mesh name="m" vertex="{LONG} {end}"/></asset></mujoco>')
    assert "attribute 'vertex'" in message
    assert f"'{end.split()[-1]}'" in message
