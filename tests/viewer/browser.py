"""Headless Chromium for tests: screenshots of pages, clicks and drags, through its debugging protocol."""

import base64
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator

import numpy as np
from PIL import Image

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage", "--ignore-gpu-blocklist", "--remote-debugging-port=0",
)  # fmt: skip
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"


class Page:
    """One page; `call` is any method of the Chrome DevTools Protocol."""

    def __init__(self, socket):
        self._socket, self._number = socket, 0

    def call(self, method: str, **parameters) -> dict:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=60))
            if answer.get("id") == self._number:
                return answer["result"]

    def screenshot(self, path: pathlib.Path | None = None) -> np.ndarray:
        """Return what is seen, shape (height, width, 3), uint8, and write it to a file."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(data)
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def text(self) -> str:
        """Return the words on the page."""
        return self.evaluate("document.body.innerText") or ""

    def evaluate(self, script: str):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def click(self, label: str) -> None:
        """Click the element whose own words are `label`."""
        self.evaluate(
            "[...document.querySelectorAll('button, label, [role=button], p, span, div')]"
            f".filter(e => e.innerText === {json.dumps(label)}).pop().click()"
        )

    def drag(self, start: tuple[float, float], end: tuple[float, float], hold: float = 0.0) -> None:
        """Press the left button at a point [pixels], move to another, keep it there for a while [s], release it."""
        mouse = {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=start[0], y=start[1])
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], **mouse)
        for share in np.linspace(0.1, 1, 10):
            x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, buttons=1, **mouse)
            time.sleep(0.05)
        time.sleep(hold)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], **mouse)


@contextlib.contextmanager
def open_page(url: str, size: tuple[int, int] = (800, 600)) -> Iterator[Page]:
    """A page in a browser of its own, without a network beyond this machine; size: of the window [pixels]."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [
            CHROMIUM,
            *FLAGS,
            OFFLINE,
            f"--window-size={size[0]},{size[1]}",
            f"--user-data-dir={folder}",
            "about:blank",
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port_file = pathlib.Path(folder) / "DevToolsActivePort"
            _until(port_file.exists, 30)
            port = port_file.read_text().split()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
                target = next(page for page in json.load(answer) if page["type"] == "page")
            with connect(target["webSocketDebuggerUrl"], max_size=None) as socket:
                page = Page(socket)
                page.call("Page.enable")
                page.call("Page.navigate", url=url)
                _until(lambda: page.evaluate("document.readyState") == "complete", 60)
                yield page
        finally:
            process.kill()
            process.wait()


def wait(condition, seconds: float) -> bool:
    """Return whether a condition came true within some time."""
    with contextlib.suppress(TimeoutError):
        _until(condition, seconds)
        return True
    return False


def _until(condition, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.2)
