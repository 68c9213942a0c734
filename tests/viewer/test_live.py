"""The viewer in a browser: what is clicked and dragged there reaches the simulation, and what happens is seen."""

import threading
import time

import numpy as np
import pytest

import mjx_like as mjx
from tests.viewer.browser import CHROMIUM, open_page, wait

pytest.importorskip("viser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

BALL = """<mujoco><option gravity="0 0 0"/><worldbody><camera pos="0 -3 1" xyaxes="1 0 0 0 0 1"/>
  <geom type="plane" size="3 3 1" rgba=".3 .4 .3 1"/>
  <body name="ball" pos="0 0 1"><freejoint/><geom size=".3" rgba="1 0 0 1"/></body>
  <body pos="1 0 .1"><joint name="swing" axis="0 1 0"/><geom type="box" size=".1 .1 .1"/></body></worldbody>
  <actuator><motor joint="swing"/></actuator><sensor><jointpos joint="swing" name="angle"/></sensor></mujoco>"""


class Running:
    """A viewer whose loop runs in a thread of its own."""

    def __init__(self, shown):
        self.shown, self._stopped = shown, threading.Event()
        self._thread = threading.Thread(target=self._loop, daemon=True)
        self._thread.start()

    def _loop(self):
        while not self._stopped.is_set():
            self.shown.tick()

    def stop(self):
        self._stopped.set()
        self._thread.join()


@pytest.fixture(scope="module")
def live():
    from mjx_like.viewer.live import Live
    from mjx_like.viewer.server import server

    with server() as opened:
        shown = Live(opened, mjx.Model.from_xml_string(BALL))
        running = Running(shown)
        with open_page(f"http://localhost:{opened.get_port()}") as page:
            assert wait(lambda: "Connected" in page.text() and "contacts" in page.text(), 60)
            yield shown, page
            running.stop()


def ball(image: np.ndarray) -> np.ndarray:
    """Return the middle of the red pixels, (x, y)."""
    image = image.astype(int)
    found = np.argwhere(
        (image[..., 0] > 100) & (image[..., 1] < 90) & (image[..., 2] < 90) & (image[..., 0] > 2 * image[..., 1])
    )
    assert len(found) > 50
    return found.mean(axis=0)[::-1]


def test_buttons_and_boxes(live):
    shown, page = live
    page.click("Pause")
    assert wait(lambda: not shown.panel.playing, 10)
    before = float(shown.session.d.time[0])
    page.click("Step")
    assert wait(lambda: float(shown.session.d.time[0]) > before, 10)
    assert float(shown.session.d.time[0]) == pytest.approx(before + 0.002, abs=1e-5)
    page.click("Reset")
    assert wait(lambda: float(shown.session.d.time[0]) == 0, 10)
    shown.overlays.on = dict.fromkeys(shown.overlays.on, True)
    time.sleep(1)
    assert shown.overlays.shown() == ["cameras", "centre of mass", "frames", "joints"]  # there is no contact
    shown.overlays.on = dict.fromkeys(shown.overlays.on, False)
    assert wait(lambda: not shown.overlays.shown(), 10)
    page.click("Play")
    assert wait(lambda: shown.panel.playing, 10)


def test_a_dragged_body_follows(live):
    shown, page = live
    time.sleep(2)
    start, (x, y) = np.asarray(shown.session.d.qpos[0, :3]), ball(page.screenshot())

    def dragged() -> bool:  # a browser that is starved of time takes a quick drag for a click
        page.drag(ball(page.screenshot()), (x - 150, y), hold=2.0)
        return bool(np.linalg.norm(np.asarray(shown.session.d.qpos[0, :2]) - start[:2]) > 0.2)

    assert wait(dragged, 120) and wait(lambda: shown.session.pull.stiffness == 0, 30)


def test_a_sensor_is_plotted(live):
    shown, page = live
    shown.plot._choice.value = "angle"
    assert wait(lambda: shown.plot._chart is not None, 10)
    assert len(shown.plot._data()) == 2


def test_a_trajectory_is_played_and_scrubbed():
    from mjx_like.viewer.live import Player
    from mjx_like.viewer.server import server
    from mjx_like.visual.frames import frames_of

    m = mjx.Model.from_xml_string(BALL)
    qpos = np.tile(np.asarray(m.qpos0), (2, 100, 1))
    qpos[..., 2] += np.linspace(0, 1, 100)
    with server() as opened:
        shown = Player(opened, m, frames_of(m, {"qpos": qpos, "time": np.arange(100) / 50}, fps=50))
        running = Running(shown)
        with open_page(f"http://localhost:{opened.get_port()}") as page:
            assert wait(lambda: "Connected" in page.text(), 60)
            shown._play.value = False
            heights = []
            for seconds in (0.0, 1.9):
                shown._time.value = seconds
                time.sleep(3)
                heights.append(ball(page.screenshot())[1])
            running.stop()
    assert heights[1] < heights[0] - 20 and shown._shown == 95
