"""All that there is to measure on a GPU, by one command: `python -m benchmarks.gpu`, in less than nine minutes.

It checks the results against those of the CPU, compares kernels of our own with the plain operations, sweeps the number
of worlds, and runs MJX beside, where it is installed. Programs compile at the same time, each in its own process, and
are timed one after the other; those that are not ready in time are left out, which is said. It writes a JSON file after
every round, a table and a picture. Without a GPU it counts the work of the same programs (`benchmarks.gpu_meter`).
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

from benchmarks.gpu_case import Case

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = {name: str(ROOT / f"models/{name}.xml") for name in ("humanoid", "ant", "half_cheetah", "quadruped")}
BATCH = 8192
SWEEP = (1024, 4096, 16384, 65536)
MOST_SECONDS = 520.0
ROUNDS = 3


def cases(
    batch: int, sweep: tuple[int, ...], folder: pathlib.Path, also: tuple[str, ...] = (), checked: tuple[str, ...] = ()
) -> list[Case]:
    """Return what is measured, the most important first.

    also: model files beyond our own, by both engines; checked: those whose states are compared with the CPU's.
    """
    humanoid, cheetah = MODELS["humanoid"], MODELS["half_cheetah"]
    ours = [Case("rollout", path, batch) for path in MODELS.values()]
    hard = [Case("rollout", path, batch, contact="hard") for path in (cheetah, humanoid)]
    checks = [Case("check", path, 64, steps=5) for path in MODELS.values()]
    checks += [Case("check", path, 64, steps=5, contact="hard") for path in (cheetah, humanoid)]
    checks += [Case("check_gradient", path, 64, steps=5) for path in (cheetah, humanoid)]
    checks.append(Case("check", humanoid, 64, steps=5, float64=True))
    plain, gradient = Case("rollout", humanoid, batch, kernels=False), Case("gradient", humanoid, batch // 4)
    peers = [Case("mjx", MODELS[name], batch) for name in ("humanoid", "ant")]
    more = [Case(what, path, batch) for path in also for what in ("rollout", "mjx")]
    more += [Case("rollout", humanoid, n) for n in sweep]
    more += [Case("check", path, 64, steps=5) for path in checked]
    profiled = {"humanoid": ours[0], "gradient": gradient, "hard_humanoid": hard[1]}
    names = {case: str(folder / name) for name, case in profiled.items()}
    found = [*ours, *hard, *peers, *checks, plain, gradient, *more]
    return [dataclasses.replace(case, profile=names.get(case)) for case in found]


class Process:
    """A case in its process: it compiles, then times a round whenever it is asked to."""

    def __init__(self, case: Case, room: threading.Semaphore):
        """room: how many may compile at the same time."""
        self.case, self.found, self._stopped = case, {}, False
        self.command = [sys.executable, "-m", "benchmarks.gpu_case", json.dumps(dataclasses.asdict(case))]
        self._room, self._process, self._said = room, None, tempfile.TemporaryFile("w+")
        self._state, self._changed = "busy", threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Wait until it does not compile or measure any more, some seconds at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._state != "busy", timeout=max(seconds, 0))

    def round(self, seconds: float) -> None:
        """Have it time one round, if it is ready."""
        if self._state == "ready":
            self._state = "busy"
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
            self.wait(seconds)

    def stop(self) -> None:
        self._stopped = True
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def row(self) -> dict[str, Any]:
        """Return what it found, and why no more."""
        about = dataclasses.asdict(self.case) | {"name": self.case.name}
        return about | (self.found or {"failed": "not ready in time"})

    def _run(self) -> None:
        with self._room:
            if self._stopped:
                return
            self._process = subprocess.Popen(
                self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True
            )
            ended = not self._heard()
        while not ended:
            ended = not self._heard()
        if self._process.wait() and not self._stopped:
            self._said.seek(0)
            lines = [line.strip() for line in self._said.read().splitlines() if line.strip()]
            self.found["failed"] = (lines or [f"status {self._process.returncode}"])[-1][:300]
        self._become("ended")

    def _heard(self) -> bool:
        """Take a line of results from the process; return whether there was one."""
        for line in self._process.stdout:
            word, _, rest = line.partition(" ")
            if word in ("ready", "done"):
                row = json.loads(rest)
                self.found |= row | {"rate": max(row["rate"], self.found.get("rate", 0))} if "rate" in row else row
                self._become(word)
                return True
        return False

    def _become(self, state: str) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()


def measure(device: dict[str, str], processes: list[Process], limit: float, out: pathlib.Path) -> dict[str, Any]:
    """Measure cases within a time, write what is found after each round, and return it.

    Our own are timed once as soon as all of them are compiled, then all cases in turn once the peers are.
    """
    begin = time.monotonic()

    def left(share: float) -> float:
        return begin + share * limit - time.monotonic()

    def results() -> dict[str, Any]:
        found = device | {"seconds": time.monotonic() - begin, "cases": [p.row() for p in processes]}
        (out / "gpu.json").write_text(json.dumps(found, indent=1))
        return found

    ours = [p for p in processes if p.case.what != "mjx"]
    for group, share, count in ((ours, 0.5, 1), (processes, 0.8, ROUNDS)):
        for p in group:
            p.wait(left(share))
        for _ in range(count):
            for p in group:
                p.round(min(left(1), limit / 10))
                results()
    for p in processes:
        p.stop()
    return results()


def device_at_hand() -> dict[str, str]:
    """Return the device and its platform as another process sees them: this one must not take the device's memory."""
    line = "import jax; d = jax.devices()[0]; print(d.device_kind, d.platform, jax.__version__, sep='|')"
    said = subprocess.check_output([sys.executable, "-c", line], text=True).splitlines()[-1]
    return dict(zip(("device", "platform", "jax"), said.split("|"), strict=True))


def table(results: dict[str, Any]) -> str:
    """Return the results as text, a line for each case."""
    lines = []
    for row in results["cases"]:
        shown = {k: v for k, v in row.items() if k not in {f.name for f in dataclasses.fields(Case)} | {"name"}}
        values = (
            f"{k} {v:,.0f}" if k == "rate" else f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}"
            for k, v in shown.items()
        )
        lines.append(f"{row['name']:48s} " + "  ".join(values))
    return "\n".join(lines)


def picture(results: dict[str, Any], path: pathlib.Path) -> None:
    """Draw steps per second over the number of worlds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.2), layout="constrained")
    rows = [r for r in results["cases"] if r.get("rate") and r["kernels"] and r["what"] != "gradient"]
    soft = [r for r in rows if r["contact"] == "soft"]
    for what, mark in (("rollout", "o-"), ("mjx", "s")):
        for name, model in MODELS.items():
            points = sorted({(r["batch"], r["rate"]) for r in soft if r["model"] == model and r["what"] == what})
            label = f"MJX, {name}" if what == "mjx" else name
            axes.plot(*zip(*points, strict=True), mark, label=label) if points else None
    axes.set(xscale="log", yscale="log", xlabel="worlds", ylabel="steps/s", title=results["device"])
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=100)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs"), help="folder for results")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="time that there is")
    parser.add_argument("--batch", type=int, default=BATCH, help="worlds, where they are not swept")
    parser.add_argument("--sweep", type=int, nargs="*", default=SWEEP, help="numbers of worlds for the humanoid")
    parser.add_argument("--models", nargs="*", default=(), metavar="MODEL", help="model files to measure as well")
    parser.add_argument("--checks", nargs="*", default=(), metavar="MODEL", help="model files to compare with the CPU")
    parser.add_argument("--anywhere", action="store_true", help="measure on the device at hand, whatever it is")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    device = device_at_hand()
    if device["platform"] != "gpu" and not args.anywhere:
        print(f"no GPU (jax runs on {device['platform']}): counting what its programs would do on one", flush=True)
        models = [*MODELS.values(), *args.models]
        return subprocess.run([sys.executable, "-m", "benchmarks.gpu_meter", *models], check=False).returncode
    room = threading.Semaphore(max(2, os.cpu_count() or 1))
    chosen = cases(args.batch, tuple(args.sweep), args.out.resolve(), tuple(args.models), tuple(args.checks))
    processes = [Process(case, room) for case in chosen]
    results = measure(device, processes, args.seconds, args.out)
    picture(results, args.out / "gpu.png")
    print(table(results))
    print(f"{results['device']}, {results['seconds']:.0f} s; written: {args.out / 'gpu.json'}, {args.out / 'gpu.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
