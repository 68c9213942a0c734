"""Pictures of a few models in the viewer: the small ones that tests compare, and those of the documentation."""

import base64
import io
import pathlib
import time

import numpy as np
from PIL import Image

import mjx_like as mjx
from tests.viewer.browser import open_page, wait

HERE = pathlib.Path(__file__).parent / "pictures"
MODELS = pathlib.Path(__file__).parents[2] / "models"
FILES = {
    "humanoid": MODELS / "humanoid.xml",
    "quadruped": MODELS / "quadruped.xml",
    "arm": MODELS / "arm.xml",
    "cloth": HERE / "cloth.xml",
}
SMALL, LARGE = (160, 120), (800, 500)
_OVER = 4  # a small picture is the mean of so many pixels each way
_CANVAS = """(() => { const all = [...document.querySelectorAll('canvas')];
  return all.sort((a, b) => b.width * b.height - a.width * a.height)[0].toDataURL(); })()"""


def positions(name: str, m: mjx.Model) -> np.ndarray:
    """Return qpos of the first keyframe, or qpos0; a cloth falls over its ball."""
    qpos = np.array(m.key_qpos[0] if m.nkey else m.qpos0, float)
    if name == "cloth":
        x, y = (a.ravel() for a in np.meshgrid(*[0.04 * (np.arange(15) - 7)] * 2, indexing="ij"))
        qpos[: 3 * len(x)].reshape(-1, 3)[:, 2] -= np.minimum(2.2 * (x**2 + y**2), 0.37)
    return qpos


def shot(name: str, size: tuple[int, int], m: mjx.Model | None = None) -> np.ndarray:
    """Return what the viewer shows of a model, without its panel, shape (height, width, 3), uint8; m: another model."""
    from mjx_like.viewer.replay import set_camera
    from mjx_like.viewer.scene import Scene
    from mjx_like.viewer.server import server
    from mjx_like.visual.frames import poses

    m = mjx.Model.from_xml_path(FILES[name]) if m is None else m
    frames = poses(m, positions(name, m)[None, None], 0.1)
    with server() as opened:
        scene = Scene(opened.scene, m, frames)
        scene.show(frames)
        set_camera(opened, m, scene)
        with open_page(f"http://localhost:{opened.get_port()}") as page:
            width, height = size
            page.call(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
            )
            return _settled(page, size)


def small_shot(name: str, m: mjx.Model | None = None) -> np.ndarray:
    """Return a small picture; each pixel is the mean of many, so that edges count little."""
    width, height = SMALL
    large = shot(name, (_OVER * width, _OVER * height), m)
    return large.reshape(height, _OVER, width, _OVER, 3).mean(axis=(1, 3)).round().astype(np.uint8)


def _settled(page, size: tuple[int, int]) -> np.ndarray:
    """Return the picture once it is of the size, not blank, and the same for a second."""
    seen: list[np.ndarray] = []

    def still() -> bool:
        data = page.evaluate(_CANVAS)
        if not data:
            return False
        image = Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2]))).convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        seen.append(np.asarray(Image.alpha_composite(white, image).convert("RGB")))
        time.sleep(0.8)
        alike = len(seen) > 2 and all(np.array_equal(seen[-1], old) for old in seen[-3:-1])
        return alike and image.size == size and np.ptp(seen[-1]) > 50

    assert wait(still, 60), "the picture does not settle"
    return seen[-1]


def difference(image: np.ndarray, stored: np.ndarray) -> float:
    """Return the share of pixels of which a colour is off by more than a tenth of its range."""
    return float(np.mean(np.abs(image.astype(int) - stored).max(axis=-1) > 25))
