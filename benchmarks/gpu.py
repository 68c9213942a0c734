"""All that there is to measure on a GPU, by one command: `python -m benchmarks.gpu`, in less than nine minutes.

It checks the results against those of the CPU, compares kernels of our own with the plain operations, sweeps the number
of worlds, and runs MJX beside, where it is installed; what the time does not allow it leaves out and says so. It writes
a JSON file, which grows as parts end, a table and a picture. Without a GPU it counts the work of the same programs
(`benchmarks.gpu_meter`).
"""

import argparse
import dataclasses
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = {name: str(ROOT / f"models/{name}.xml") for name in ("humanoid", "ant", "half_cheetah", "quadruped")}
BATCH, STEPS = 8192, 20
SWEEP = (1024, 4096, 16384, 65536)
MOST_SECONDS = 520.0


@dataclasses.dataclass(frozen=True)
class Part:
    """Something to measure: its name, seconds that it should take at the most, and the function that returns rows."""

    name: str
    seconds: float
    rows: Callable[[], Iterator[dict[str, Any]]]


def start(m: Any, batch: int, steps: int) -> tuple[Any, Any]:
    """Return Data of many worlds, which differ a little, and random controls."""
    import jax
    import jax.numpy as jnp

    import mjx_like as mjx
    from mjx_like.cli.controls import random_controls

    d = mjx.make_data(m, key=0 if m.nkey else None)
    worlds = jax.tree.map(lambda x: jnp.broadcast_to(x, (batch, *x.shape)), d)
    qvel = worlds.qvel + 0.01 * jax.random.normal(jax.random.key(0), worlds.qvel.shape, worlds.qvel.dtype)
    return worlds.replace(qvel=qvel), jnp.asarray(random_controls(m, 0, batch, 0, steps), d.qpos.dtype)


def program(m: Any, d: Any, ctrl: Any, device: Any = None) -> tuple[Callable[[], Any], float]:
    """Return a rollout that is compiled, with its arguments on the device, and the seconds that it took to compile."""
    import jax

    import mjx_like as mjx

    def end(m, d, ctrl):
        last = mjx.rollout(m, d, ctrl, record=lambda d: d.qpos, return_data=True)[1]
        return last.qpos, last.qvel, last.maxuse_con, last.maxuse_efc, last.unconverged

    args = jax.device_put((m, d, ctrl), device)
    begin = time.perf_counter()
    compiled = jax.jit(end).lower(*args).compile()
    return lambda: jax.block_until_ready(compiled(*args)), time.perf_counter() - begin


def rate(run: Callable[[], Any], work: int) -> float:
    """Return steps per second: the best of some runs, in a second at least."""
    run()
    best, begin = 0.0, time.perf_counter()
    while time.perf_counter() - begin < 1:
        now = time.perf_counter()
        run()
        best = max(best, work / (time.perf_counter() - now))
    return best


def checked() -> Iterator[dict[str, Any]]:
    """Yield how far the GPU's states are from the CPU's after few steps, in single precision."""
    import jax
    import numpy as np

    import mjx_like as mjx

    for name, path in MODELS.items():
        m = mjx.Model.from_xml_path(path)
        d, ctrl = start(m, 64, 5)
        ends = [program(m, d, ctrl, jax.devices(kind)[0])[0]() for kind in ("gpu", "cpu")]
        apart = [float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in zip(*ends, strict=True)]
        yield {"model": name, "qpos_apart": apart[0], "qvel_apart": apart[1], "finite": bool(np.isfinite(apart[1]))}


def measured(names: tuple[str, ...], batches: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Yield steps per second of rollouts."""
    import mjx_like as mjx

    for name in names:
        m = mjx.Model.from_xml_path(MODELS[name])
        for batch in batches:
            run, seconds = program(m, *start(m, batch, STEPS))
            _, _, contacts, rows, unconverged = run()
            yield {
                "model": name,
                "batch": batch,
                "rate": rate(run, batch * STEPS),
                "compile_s": seconds,
                "overflow": int(((contacts > m.nconmax) | (rows > m.njmax)).sum()),
                "unconverged": int(unconverged.sum()),
            }


def without_kernels() -> Iterator[dict[str, Any]]:
    """Yield the rate of the humanoid with plain operations alone, from a process of its own."""
    from mjx_like.math.kernel import SWITCH

    line = "import json; from benchmarks import gpu; print(json.dumps(list(gpu.measured(('humanoid',), (gpu.BATCH,)))))"
    environment = os.environ | {SWITCH: "off", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    done = subprocess.run(
        [sys.executable, "-c", line], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    yield from json.loads(done.stdout.splitlines()[-1]) if not done.returncode else [{"failed": done.stderr[-300:]}]


def beside(name: str) -> Iterator[dict[str, Any]]:
    """Yield the answers of mjx_like and MJX, timed in turn."""
    from mjx_like.bench.engines import Settings, compare, table

    if importlib.util.find_spec("mujoco") is None or importlib.util.find_spec("mujoco.mjx") is None:
        yield {"model": name, "failed": "mujoco-mjx is not installed"}
        return
    settings = Settings(MODELS[name], batch=BATCH, steps=STEPS, platform="gpu", limit=170)
    answers = compare(settings, ("mjx",))
    print(table(settings, answers))
    for answer in answers.values():
        yield {"model": name, **{k: v for k, v in answer.items() if not isinstance(v, tuple | list)}}


PARTS = (
    Part("check against the CPU", 120, checked),
    Part("rate at 8192 worlds", 120, lambda: measured(tuple(MODELS), (BATCH,))),
    Part("humanoid with plain operations alone", 60, without_kernels),
    Part("humanoid beside MJX", 170, lambda: beside("humanoid")),
    Part("humanoid by number of worlds", 120, lambda: measured(("humanoid",), SWEEP)),
    Part("ant beside MJX", 150, lambda: beside("ant")),
)


def picture(results: dict[str, Any], path: pathlib.Path) -> None:
    """Draw steps per second over the number of worlds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.2), layout="constrained")
    rows = [r for part in results["parts"].values() for r in part if "rate" in r and "batch" in r]
    for name in MODELS:
        points = sorted({(r["batch"], r["rate"]) for r in rows if r["model"] == name})
        axes.plot(*zip(*points, strict=True), "o-", label=name) if points else None
    axes.set(xscale="log", yscale="log", xlabel="worlds", ylabel="steps/s", title=results["device"])
    axes.legend(frameon=False)
    figure.savefig(path, dpi=100)


def run(limit: float, out: pathlib.Path) -> None:
    """Measure part after part, as far as the time allows, and write what was found after each."""
    import jax

    begin, results = time.monotonic(), {"device": jax.devices()[0].device_kind, "jax": jax.__version__, "parts": {}}
    for part in PARTS:
        if time.monotonic() - begin + part.seconds > limit:
            print(f"{part.name}: left out, {time.monotonic() - begin:.0f} s of {limit:.0f} are gone", flush=True)
            continue
        rows = results["parts"].setdefault(part.name, [])
        print(f"== {part.name}", flush=True)
        try:
            for row in part.rows():
                rows.append(row)
                print(
                    "   ",
                    "  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()),
                    flush=True,
                )
        except Exception as error:  # what else there is to measure goes on
            rows.append({"failed": f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"})
            print("   ", rows[-1]["failed"])
        (out / "gpu.json").write_text(json.dumps(results, indent=1))
    picture(results, out / "gpu.png")
    print(f"{time.monotonic() - begin:.0f} s; written: {out / 'gpu.json'}, {out / 'gpu.png'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs"), help="folder for results")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="time that there is")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other processes use the device in turn
    import jax

    if jax.default_backend() != "gpu":
        print(f"no GPU (jax runs on {jax.default_backend()}): counting what its programs would do on one", flush=True)
        return subprocess.run([sys.executable, "-m", "benchmarks.gpu_meter", *MODELS.values()], check=False).returncode
    run(args.seconds, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
