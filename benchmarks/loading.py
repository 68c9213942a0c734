"""Time from an XML file to a model, mjx_like beside MuJoCo C: `python benchmarks/loading.py [FILE ...]`.

Without files: our humanoid and dm_control's. "first" is the first load of a process whose JAX has started, "again" the
median of ten more; mjx_like's compiler is plain NumPy, so that the two differ by little.
"""

import argparse
import importlib.util
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"
REPEATS = 10


def _suite() -> pathlib.Path:
    return pathlib.Path(importlib.util.find_spec("dm_control").origin).parent / "suite"


def _loader(engine: str) -> Callable[[str], object]:
    """The loading function of an engine, its libraries started."""
    if engine == "mujoco":
        import mujoco

        return mujoco.MjModel.from_xml_path
    import jax

    import mjx_like

    jax.devices()
    return mjx_like.Model.from_xml_path


def measure(engine: str, path: str) -> tuple[float, float]:
    """Seconds of the first load and the median of those after it, in this process."""
    load, seconds = _loader(engine), []
    for _ in range(1 + REPEATS):
        start = time.perf_counter()
        load(path)
        seconds.append(time.perf_counter() - start)
    return seconds[0], statistics.median(seconds[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="models; default: two humanoids")
    parser.add_argument("--engine", choices=("mjx_like", "mujoco"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.engine:
        print(*measure(args.engine, args.files[0]))
        return
    print(f"{'model':40} {'engine':10} {'first [ms]':>10} {'again [ms]':>10}")
    for path in args.files or (str(MODELS / "humanoid.xml"), str(_suite() / "humanoid.xml")):
        for engine in ("mjx_like", "mujoco"):
            command = [sys.executable, __file__, "--engine", engine, path]
            said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            first, again = (1e3 * float(number) for number in said.split()[-2:])
            print(f"{path[-40:]:40} {engine:10} {first:10.1f} {again:10.1f}", flush=True)


if __name__ == "__main__":
    main()
