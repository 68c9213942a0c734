"""Makes docs/images/{viewer,replay}.png: `python tools/viewer_pictures.py`, with Chromium and the extra `viewer`."""

import pathlib
import sys
import tempfile
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import mjx_like as mjx  # noqa: E402
from mjx_like.viewer.live import Live  # noqa: E402
from mjx_like.viewer.server import server  # noqa: E402
from tests.viewer.browser import open_page, wait  # noqa: E402

WARNING = "document.querySelectorAll('.mantine-Notifications-root, [role=alert]').forEach(e => e.remove())"


def replay() -> None:
    """Sixteen humanoids under random controls, three quarters of a second after they were let go."""
    m = mjx.Model.from_xml_path(str(ROOT / "models/humanoid.xml"))
    d = jax.tree.map(lambda x: jnp.broadcast_to(x, (16, *x.shape)), mjx.make_data(m))
    ctrl = jax.random.uniform(jax.random.key(0), (16, 150, m.nu), minval=-1, maxval=1)
    trajectory = mjx.rollout(m, d, ctrl)
    with tempfile.TemporaryDirectory() as folder:
        path = mjx.save_html(m, {"qpos": np.asarray(trajectory.qpos)[:, 149:]}, pathlib.Path(folder) / "run.html")
        with open_page(path.as_uri(), (1000, 640)) as page:
            time.sleep(8)
            page.evaluate(WARNING)
            page.screenshot(ROOT / "docs/images/replay.png")


def live() -> None:
    """A quadruped that stands, with contact forces and joints shown."""
    m = mjx.Model.from_xml_path(str(ROOT / "models/quadruped.xml"))
    stopped = threading.Event()
    with server() as opened:
        shown = Live(opened, m, key=0)
        shown.overlays.on |= {"contact points": True, "contact forces": True, "joints": True}
        loop = threading.Thread(target=lambda: [shown.tick() for _ in iter(stopped.is_set, True)], daemon=True)
        loop.start()
        with open_page(f"http://localhost:{opened.get_port()}", (1200, 760)) as page:
            wait(lambda: "contacts" in page.text(), 60)
            time.sleep(8)
            page.evaluate(WARNING)
            page.screenshot(ROOT / "docs/images/viewer.png")
        stopped.set()
        loop.join()


if __name__ == "__main__":
    mjx.compile_quickly()
    replay()
    live()
    for name in ("replay", "viewer"):
        path = ROOT / f"docs/images/{name}.png"
        Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(path, optimize=True)
