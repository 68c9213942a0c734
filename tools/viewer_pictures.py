"""Makes the pictures of the viewer, with Chromium and the extra `viewer`.

`python tools/viewer_pictures.py` makes those of docs/images, `--small` those that tests/viewer/test_pictures.py
compares, `--still` only those of docs/images that need no simulation.
"""

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
from tests.viewer.shots import FILES, HERE, LARGE, shot, small_shot  # noqa: E402

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
            save(page.screenshot(), ROOT / "docs/images/replay.png")


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
            save(page.screenshot(), ROOT / "docs/images/viewer.png")
        stopped.set()
        loop.join()


def still() -> None:
    """Each of a few models, as the viewer shows it at first."""
    for name in FILES:
        save(shot(name, LARGE), ROOT / f"docs/images/view_{name}.png")


def small() -> None:
    """The pictures that tests compare."""
    for name in FILES:
        Image.fromarray(small_shot(name)).save(HERE / f"{name}.png", optimize=True)


def save(image: np.ndarray, path: pathlib.Path) -> None:
    """Write an image with 128 colours."""
    Image.fromarray(image).convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e3:.1f} kB")


if __name__ == "__main__":
    mjx.compile_quickly()
    chosen = sys.argv[1:]
    for make in {"--small": (small,), "--still": (still,)}.get(chosen[0], ()) if chosen else (still, replay, live):
        make()
