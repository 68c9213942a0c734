"""Models that the engine cannot run are shown at rest: keyframes and joints move them, nothing steps them."""

import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.viewer.session import Session
from mjx_like.viewer.still import Still, open_session
from tests.viewer.browser import CHROMIUM, open_page, wait

pytest.importorskip("viser")

CLOTH = """<mujoco><worldbody><light pos="0 0 3"/><geom type="plane" size="2 2 1" rgba=".3 .4 .3 1"/>
  <body name="arm" pos="0 0 .5"><joint name="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/>
    <flexcomp name="cloth" type="grid" count="4 4 1" spacing=".2 .2 .2" dim="2" radius=".01" rgba="1 0 0 1"
      pos=".8 0 0"><pin id="0 1 2 3"/></flexcomp></body></worldbody>
  <sensor><jointpos joint="hinge"/></sensor>
  <keyframe><key name="raised" qpos="-.7 {zeros}"/></keyframe></mujoco>""".format(zeros="0 " * 36)


@pytest.fixture(scope="module")
def session():
    return open_session(mjx.Model.from_xml_string(CLOTH), 2, "raised")


def test_only_what_is_not_supported_is_still(session):
    assert isinstance(session, Still) and session.lacks == mjx.Model.from_xml_string(CLOTH).unsupported
    assert type(open_session(mjx.Model.from_xml_string("<mujoco/>"))) is Session


def test_keyframes_and_joints_pose_it(session):
    turned = [np.cos(0.35), 0, -np.sin(0.35), 0]
    session.reset("raised")
    np.testing.assert_allclose(session.d.xquat[:, 1], [turned] * 2, atol=1e-6)
    session.set_joint(0, 0.0)
    np.testing.assert_allclose(session.d.xquat[:, 1], [[1, 0, 0, 0]] * 2, atol=1e-6)
    assert session.advance(1.0) == 0 and float(session.d.time[0]) == 0
    with pytest.raises(mjx.InputError, match="no keyframe 'none'; the model has: raised"):
        session.reset("none")


def test_positions_from_elsewhere_are_replayed(tmp_path):
    m = mjx.Model.from_xml_string(CLOTH)
    qpos = np.tile(np.asarray(m.qpos0), (3, 1))
    rest, moved = (
        mjx.save_html(m, {"qpos": q}, tmp_path / "run.html", fps=500).stat().st_size
        for q in (qpos, qpos + 0.1 * np.arange(3)[:, None])
    )
    assert moved > rest + 100  # vertices were sent again


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_it_is_seen_with_what_it_lacks():
    from mjx_like.viewer.live import Live
    from mjx_like.viewer.server import server

    def red(page) -> int:
        image = page.screenshot().astype(int)
        return int(np.sum((image[..., 0] > 100) & (image[..., 0] > 2 * image[..., 1])))

    with server() as opened:
        shown = Live(opened, mjx.Model.from_xml_string(CLOTH))
        shown.tick()
        with open_page(f"http://localhost:{opened.get_port()}") as page:
            assert wait(lambda: "collision is not built yet" in page.text(), 60)
            assert wait(lambda: red(page) > 2000, 60)
            assert page.evaluate("[...document.querySelectorAll('button')].find(b => b.innerText === 'Play').disabled")
            seen = red(page)
            shown.session.set_joint(0, np.pi / 2)
            shown.tick()
            assert wait(lambda: abs(red(page) - seen) > 500, 30)
