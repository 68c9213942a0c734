"""Times a stranger's way to a moving robot: `python tools/first_look.py`, with Chromium and an index of packages.

Clones the repository into a folder that is removed at the end, installs it with the extra `viewer` in a fresh virtual
environment, runs `view` on a humanoid, and opens its page without a screen. Prints the seconds of each stage.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.viewer.browser import Page, open_page, wait  # noqa: E402

_PANEL = 350  # width of what lies over the picture on its right [pixels]
_LIMIT = 300.0  # for each stage of the viewer [s]


def main() -> None:
    """Install, start, look; print how long each took."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        folder, start = pathlib.Path(name), time.perf_counter()
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), folder / "clone"], check=True)
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        start = stage("clone, environment", start)
        pip = [folder / "env/bin/python", "-m", "pip", "install", "--quiet", ".[viewer]"]
        subprocess.run(pip, cwd=folder / "clone", check=True)
        look(folder, stage('pip install ".[viewer]"', start))


def look(folder: pathlib.Path, start: float) -> None:
    """Run the viewer, and wait until a page of it moves."""
    command = "-m mjx_like view models/humanoid.xml --no-browser --port 0".split()
    process = subprocess.Popen(
        [folder / "env/bin/python", *command],
        cwd=folder / "clone",
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"JAX_COMPILATION_CACHE_DIR": str(folder / "cache"), "XDG_CACHE_HOME": str(folder / "cache")},
    )
    try:
        url = next(line.split()[1] for line in process.stdout if line.startswith("viewer"))
        start = stage("view: until it says where", start)
        with open_page(url) as page:
            assert wait(lambda: np.ptp(picture(page)) > 100, _LIMIT), "no picture"
            start, first = stage("browser: first picture", start), picture(page)
            assert wait(lambda: changed(first, picture(page)) > 0.002, _LIMIT), "nothing moves"
            stage("until it moves", start)
    finally:
        process.kill()


def picture(page: Page) -> np.ndarray:
    """Return what is seen beside the panel."""
    return page.screenshot()[150:, :-_PANEL].astype(int)


def changed(one: np.ndarray, other: np.ndarray) -> float:
    """Return the share of pixels that differ clearly."""
    return float(np.mean(np.abs(one - other).max(axis=-1) > 40))


def stage(name: str, start: float) -> float:
    """Print how long a stage took, and return when it ended."""
    now = time.perf_counter()
    print(f"{name:<28}{now - start:7.1f} s", flush=True)
    return now


if __name__ == "__main__":
    main()
