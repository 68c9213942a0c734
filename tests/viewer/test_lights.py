"""The model's lights as viser has them: kinds, colours, fading, where they are."""

import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.viewer.lights import Lights, ambient_light, fading
from mjx_like.viewer.server import server
from mjx_like.visual.frames import poses

viser = pytest.importorskip("viser")

MODEL = """<mujoco><visual><headlight ambient=".1 .2 .3" diffuse=".2 .2 .2"/></visual><worldbody>
  <light name="sun" type="directional" pos="0 0 9" dir="0 1 -1" diffuse=".8 .4 .4" ambient=".1 0 0"/>
  <light name="off" active="false" ambient="1 1 1"/>
  <light name="bulb" type="point" pos="0 0 2" castshadow="false" attenuation="0 0 4"/>
  <body pos="0 0 1"><joint type="slide" axis="1 0 0"/><geom size=".1"/>
    <light name="torch" pos="0 0 .5" dir="1 0 0" cutoff="30" castshadow="false"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def m():
    return mjx.Model.from_xml_string(MODEL)


def frames(m, *qpos: float):
    return poses(m, np.array(qpos).reshape(-1, 1, m.nq), 0.1)


def test_each_kind_is_drawn_where_it_is(m):
    with server() as opened:
        lights = Lights(opened.scene, m, 1)
        lights.show(frames(m, 0.0))
        sky, *drawn = lights._handles
        assert isinstance(sky, viser.HemisphereLightHandle)
        sun, bulb, torch = drawn
        assert isinstance(sun, viser.DirectionalLightHandle) and sun.cast_shadow and sun.color == (255, 128, 128)
        np.testing.assert_allclose(sun.position, np.array([0, -10, 10]) / np.sqrt(2), atol=1e-6)
        assert isinstance(bulb, viser.PointLightHandle) and bulb.decay == 2
        np.testing.assert_allclose(bulb.position, [0, 0, 2])
        assert isinstance(torch, viser.SpotLightHandle) and torch.angle == pytest.approx(np.pi / 6)
        np.testing.assert_allclose(torch.direction, [1, 0, 0], atol=1e-6)
        lights.show(frames(m, 0.0, 0.7), 1)
        np.testing.assert_allclose(torch.position, [0.7, 0, 1.5], atol=1e-6)
        np.testing.assert_allclose(bulb.position, [0, 0, 2])


def test_an_even_light_is_in_their_stead(m):
    with server() as opened:
        lights = Lights(opened.scene, m, 1)
        lights.show(frames(m, 0.0))
        lights.own = False
        lights.show(frames(m, 0.0))
        names = [handle.name for handle in lights._handles]
        assert names == ["/lights/sky", "/lights/sun"]
        lights.show(frames(m, 0.0))
        assert [handle.name for handle in lights._handles] == names
        for other, worlds in ((m, 2), (mjx.Model.from_xml_string("<mujoco/>"), 1)):
            assert not Lights(opened.scene, other, worlds).own


def test_light_from_all_sides_is_the_sum(m):
    np.testing.assert_allclose(ambient_light(m), np.array([0.2, 0.2, 0.3]) + 0.9 * 0.2, rtol=1e-6)


@pytest.mark.parametrize("attenuation", [[1, 0, 0], [1, 0.5, 0], [0, 0.5, 0], [0.2, 0.1, 2.0]])
def test_fading_is_that_of_mujoco_at_the_distance(attenuation):
    c, b, a = attenuation
    fade, far = fading(np.array(attenuation, float), 3.0), 3.0
    assert fade.intensity / far**fade.decay == pytest.approx(1 / (c + b * far + a * far**2))
    assert fade.decay == max(np.flatnonzero(attenuation))
