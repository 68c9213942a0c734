"""Screenshots of pages in headless Chromium, without a network."""

import io
import pathlib
import shutil
import subprocess

import numpy as np
from PIL import Image

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage", "--ignore-gpu-blocklist", "--window-size=640,480",
)  # fmt: skip
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND"


def screenshot(url: str, path: pathlib.Path, milliseconds: int, *, offline: bool = True) -> np.ndarray:
    """Return the picture of a page after some time of its own clock, shape (height, width, 3), uint8."""
    command = [CHROMIUM, *FLAGS, f"--virtual-time-budget={milliseconds}", f"--screenshot={path}"]
    command += [OFFLINE] if offline else []
    subprocess.run([*command, url], check=True, capture_output=True, timeout=240)
    return np.asarray(Image.open(io.BytesIO(path.read_bytes())).convert("RGB"))
