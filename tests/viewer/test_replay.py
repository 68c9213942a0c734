"""Replays: one file, small, that plays without a network."""

import sys

import numpy as np
import pytest

import mjx_like as mjx
from tests.support.oracle import GYM
from tests.viewer.browser import CHROMIUM, open_page, wait

pytest.importorskip("viser")

BALL = """<mujoco><worldbody><geom type="plane" size="3 3 1" rgba=".3 .4 .3 1"/>
  <body name="ball" pos="0 0 1"><freejoint/><geom size=".3" rgba="1 0 0 1"/>
    <site name="end" pos="0 0 .3" size=".05"/></body>
  <body name="box" pos="1 0 .3"><geom type="box" size=".2 .2 .2" rgba="0 0 1 1"/><site name="top" pos="0 0 .2"/></body>
  </worldbody><tendon><spatial><site site="end"/><site site="top"/></spatial></tendon></mujoco>"""


def red(image: np.ndarray) -> np.ndarray:
    """Return rows and columns of the red pixels, shape (n, 2)."""
    image = image.astype(int)
    return np.argwhere(
        (image[..., 0] > 100) & (image[..., 0] > 2 * image[..., 1]) & (image[..., 0] > 2 * image[..., 2])
    )


def written(folder, name: str, rise: float):
    """Write a replay of two seconds whose ball is higher from the second frame on."""
    m = mjx.Model.from_xml_string(BALL)
    qpos = np.tile(np.asarray(m.qpos0), (60, 1))
    qpos[1:, 2] += rise
    return mjx.save_html(m, {"qpos": qpos, "time": np.arange(60) / 30}, folder / name)


@pytest.fixture(scope="module")
def falling(tmp_path_factory):
    return written(tmp_path_factory.mktemp("replay"), "ball.html", 0.7)


def height_of_ball(page) -> float:
    pixels = red(page.screenshot())
    return pixels[:, 0].mean() if len(pixels) > 200 else np.nan


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_it_plays_without_a_network(falling, tmp_path):
    with open_page(written(tmp_path, "still.html", 0.0).as_uri()) as page:
        assert wait(lambda: height_of_ball(page) > 0, 60)
        low = height_of_ball(page)
    with open_page(falling.as_uri()) as page:
        assert wait(lambda: height_of_ball(page) < low - 20, 60)


def test_a_file_is_whole_and_small(falling):
    text = falling.read_text()
    assert text.lstrip().startswith("<!") and falling.stat().st_size < 1.5e6
    assert 'src="http' not in text and 'href="http' not in text


def test_a_humanoid_of_a_thousand_steps_is_small(tmp_path):
    m = mjx.Model.from_xml_path(GYM / "humanoid.xml")
    rng = np.random.default_rng(0)
    qpos = np.asarray(m.qpos0) + 0.05 * np.cumsum(rng.normal(size=(1000, m.nq)), axis=0)
    path = mjx.save_html(m, {"qpos": qpos, "time": 0.005 * np.arange(1000)}, tmp_path / "h.html")
    assert path.stat().st_size < 3e6


def test_a_batch_is_drawn(tmp_path):
    m = mjx.Model.from_xml_string(BALL)
    one = mjx.save_html(m, {"qpos": np.tile(np.asarray(m.qpos0), (9, 2, 1))}, tmp_path / "a.html", worlds=1)
    nine = mjx.save_html(m, {"qpos": np.tile(np.asarray(m.qpos0), (9, 2, 1))}, tmp_path / "b.html")
    assert nine.stat().st_size > one.stat().st_size


def test_errors(tmp_path, monkeypatch):
    m = mjx.Model.from_xml_string(BALL)
    with pytest.raises(mjx.InputError, match="the name of a replay ends in .html"):
        mjx.save_html(m, {"qpos": np.zeros((1, m.nq))}, tmp_path / "a.mp4")
    with pytest.raises(mjx.InputError, match="qpos has shape"):
        mjx.save_html(m, {"qpos": np.zeros((1, 3))}, tmp_path / "a.html")
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(mjx.UnsupportedError, match=r'the viewer needs viser: pip install "mjx_like\[viewer\]"'):
        mjx.save_html(m, {"qpos": np.zeros((1, m.nq))}, tmp_path / "a.html")
    assert not list(tmp_path.iterdir())
