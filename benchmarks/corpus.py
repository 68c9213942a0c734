"""Speed beside MuJoCo C on model files that others wrote, one line each: `python -m benchmarks.corpus [PART ...]`.

All files of dm_control's suite and walkers, of gymnasium and of mujoco-mjx's test_data, or those whose path contains a
PART. What stands out is a model that some stage of ours makes slow.
"""

import argparse
import pathlib

from benchmarks.throughput import GYM, SUITE, folder
from mjx_like.bench.engines import Settings, compare
from mjx_like.errors import InputError

FOLDERS = (
    (SUITE, "*.xml"),
    (SUITE.parent / "locomotion/walkers/assets", "**/*.xml"),
    (SUITE.parent / "third_party/kinova", "*.xml"),
    (GYM, "*.xml"),
    (folder("mujoco") / "mjx/test_data", "**/*.xml"),
)


def line(path: pathlib.Path, batch: int, steps: int, limit: float) -> str:
    """Return the comparison of one model as a line of text."""
    name = "/".join(path.parts[-2:])
    try:
        settings = Settings(str(path), batch=batch, steps=steps, limit=limit)
        ours, peer = compare(settings, ("mujoco",), tell=lambda text: None).values()
    except InputError as error:
        return f"{name:44s} {error}"
    for answer in (peer, ours):
        if "refused" in answer:
            return f"{name:44s} {answer['refused']}"
    rates = ours["cpu_rate"], peer["cpu_rate"]
    start = ours["trace_s"] + ours["compile_s"]
    return (
        f"{name:44s} {rates[0]:12,.0f} {rates[1]:12,.0f} {rates[0] / rates[1]:7.2f} {start:8.1f} {ours['overflow']:5d}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="part of the path of the models to run")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that an engine gets for a model")
    args = parser.parse_args()
    paths = [path for root, pattern in FOLDERS for path in sorted(root.glob(pattern))]
    print(f"{'model':44s} {'ours, steps/s':>12s} {'MuJoCo C':>12s} {'ratio':>7s} {'start, s':>8s} {'full':>5s}")
    for path in paths:
        if not args.parts or any(part in str(path) for part in args.parts):
            print(line(path, args.batch, args.steps, args.limit), flush=True)


if __name__ == "__main__":
    main()
