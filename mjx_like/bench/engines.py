"""The benchmark: mjx_like beside its peers, each in a process of its own, on the same states and controls.

The processes compile one after the other; then all are timed in turn, round by round, so that a machine whose speed
drifts does not favour one: the ratios are those of the same round.
"""

import dataclasses
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from mjx_like.errors import InputError

PEERS = {"mjx": "mjx_peer.py", "mujoco": "mujoco_peer.py"}
FOLDER = pathlib.Path(__file__).resolve().parent / "peers"
LIMIT = 300.0  # seconds that a peer gets
ROUNDS = 7


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is measured; the same for all engines.

    iterations and ls_iterations: None to leave the model's own. nconmax and njmax: capacities of mjx_like, None for
    its defaults. contact, gap, slip, refresh and integrator: of mjx_like, None for what the model says; its peers have
    soft contact and the integrator of the model.
    platform: `cpu` (one pinned core an engine) or `gpu`.
    """

    model: str
    batch: int = 1024
    steps: int = 20
    iterations: int | None = None
    ls_iterations: int | None = None
    nconmax: int | None = None
    njmax: int | None = None
    contact: str | None = None
    gap: float | None = None
    slip: float | None = None
    refresh: int | None = None
    integrator: str | None = None
    dtype: str = "float32"
    seed: int = 0
    platform: str = "cpu"
    limit: float = LIMIT


def compare(settings: Settings, peers: tuple[str, ...], tell: Callable[[str], None] = print) -> dict[str, dict]:
    """Return the answers of mjx_like and of each peer by name, `{"refused": why}` for one that gave none.

    Raises:
      InputError: an unknown peer, or a model that neither MuJoCo nor mjx_like takes.
    """
    for peer in peers:
        if peer not in PEERS:
            raise InputError(f"unknown peer {peer!r}; allowed: {', '.join(PEERS)}")
    with tempfile.TemporaryDirectory() as folder:
        states = pathlib.Path(folder) / "states.npz"
        job = dataclasses.asdict(settings) | {"states": str(states), "prepare": True}
        tell("preparing states and controls")
        made = _answer(PEERS["mujoco"], job, folder)
        if "refused" in made:
            tell(f"MuJoCo C cannot make them ({made['refused']}): starting from rest, without error figures")
            made = _answer("ours.py", job, folder)
        if "refused" in made:
            raise InputError(made["refused"])
        scripts = {"mjx_like": "ours.py", **{peer: PEERS[peer] for peer in peers}}
        return _in_turn(scripts, job | {"prepare": False}, folder, tell)


def _in_turn(scripts: dict[str, str], job: dict, folder: str, tell: Callable[[str], None]) -> dict[str, dict]:
    """Return the answers of engines that compile one after the other and are timed in turn."""
    engines = {}
    for name, script in scripts.items():
        tell(f"compiling {name}")
        engines[name] = _Engine(script, job, folder)
        engines[name].until_ready()
    tell(f"timing in turn, {ROUNDS} rounds")
    for _ in range(ROUNDS):
        for engine in engines.values():
            engine.go()
    return {name: engine.answer() for name, engine in engines.items()}


def _answer(script: str, job: dict[str, Any], folder: str) -> dict[str, Any]:
    """Run a peer that is not timed, at most `limit` seconds, and return what it answers."""
    return _Engine(script, job, folder).answer()


class _Engine:
    """The process of a peer: it says `ready` when it waits to be timed, and does so for each line that it reads.

    One that ends early, or is stopped at the limit of its own time, takes no further part.
    """

    def __init__(self, script: str, job: dict[str, Any], folder: str):
        path = pathlib.Path(folder) / pathlib.Path(script).stem
        self._out, self._said, order = (path.with_suffix(end) for end in (".out", ".err", ".job"))
        self._out.unlink(missing_ok=True)
        order.write_text(json.dumps(job | {"out": str(self._out)}))
        self._limit = self._left = job["limit"]
        self._ready = self._hung = False
        with self._said.open("w") as said:
            self._process = subprocess.Popen(
                [sys.executable, str(FOLDER / script), str(order)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                start_new_session=True,
            )

    def until_ready(self) -> None:
        """Wait until the process asks to be timed, or ends."""
        begin = time.monotonic()
        stop = threading.Timer(self._left, self._stop)
        stop.start()
        self._ready = any(line.strip() == "ready" for line in self._process.stdout)
        stop.cancel()
        self._left -= time.monotonic() - begin

    def go(self) -> None:
        """Have the process time one round."""
        if self._ready:
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
            self.until_ready()

    def answer(self) -> dict[str, Any]:
        """Let the process finish, and return what it answers."""
        try:
            self._process.communicate(timeout=max(self._left, 0))
        except subprocess.TimeoutExpired:
            self._stop()
            self._process.wait()
        if self._hung:
            return {"refused": f"no result within {self._limit:g} s"}
        if self._process.returncode or not self._out.exists():
            return {"refused": _last_line(self._said.read_text()) or f"ended with status {self._process.returncode}"}
        return json.loads(self._out.read_text())

    def _stop(self) -> None:
        if self._process.poll() is None:
            self._hung = True
            os.killpg(self._process.pid, signal.SIGKILL)


def _last_line(text: str) -> str:
    """Return the last line, without the class of an error of our own."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"^mjx_like\.errors\.\w+: ", "", lines[-1])[:200] if lines else ""


# Rows of the table: label, and the text of one answer; `-` where an engine has no such figure.
ROWS: tuple[tuple[str, Callable[[dict], str]], ...] = (
    ("steps/s, wall", lambda a: f"{a['wall_rate']:,.0f}"),
    ("steps per CPU-second", lambda a: f"{a['cpu_rate']:,.0f}"),
    ("error of qacc, median", lambda a: f"{a['error_median']:.1e}"),
    ("error of qacc, max", lambda a: f"{a['error_max']:.1e}"),
    ("iterations, mean/p95/max", lambda a: _three(a, "iterations")),
    ("contacts, mean/p95/max", lambda a: _three(a, "contacts")),
    ("rows, mean/p95/max", lambda a: _three(a, "rows")),
    ("contacts/rows allocated", lambda a: a["allocated"]),
    ("worlds that overflowed", lambda a: f"{a['overflow']}"),
    ("solves not converged", lambda a: f"{a['unconverged']}"),
    ("trace, s", lambda a: f"{a['trace_s']:.1f}"),
    ("compile, s", lambda a: f"{a['compile_s']:.1f}"),
    ("jaxpr equations", lambda a: f"{a['equations']:,.0f}"),
    ("HLO instructions", lambda a: f"{a['hlo']:,.0f}"),
    ("peak memory, MiB", lambda a: f"{a['peak_mib']:,.0f}"),
)


def _three(answer: dict, name: str) -> str:
    return f"{answer[name + '_mean']:.1f} / {answer[name + '_p95']:.0f} / {answer[name + '_max']:.0f}"


def table(settings: Settings, answers: dict[str, dict]) -> str:
    """Return the comparison as text: settings, one column an engine, ratios, and INVALID after an overflow."""
    ran = {name: a for name, a in answers.items() if "refused" not in a}
    lines = [_title(settings)]
    cells = [["", *(a["engine"] for a in ran.values())]]
    for label, text in ROWS:
        row = [_cell(text, a) for a in ran.values()]
        cells += [[label, *row]] if set(row) - {"-"} else []
    if "mjx_like" in ran:
        cells.append(["mjx_like is faster by", *(_ratio(ran["mjx_like"], a) for a in ran.values())])
    widths = [max(len(row[i]) for row in cells) for i in range(len(ran) + 1)]
    for row in cells if ran else []:
        lines.append(
            "  ".join(
                text.rjust(w) if i else text.ljust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True))
            )
        )
    lines += [f"{name}: no result ({a['refused']})" for name, a in answers.items() if "refused" in a]
    if ran.get("mjx_like", {}).get("overflow"):
        lines.append("INVALID: a contact or row buffer of mjx_like overflowed; give larger --nconmax and --njmax")
    return "\n".join(lines)


def _ratio(ours: dict, theirs: dict) -> str:
    """Return the median of the ratios round by round, and from where to where they reach."""
    ratios = [a / b for a, b in zip(ours["cpu_rates"], theirs["cpu_rates"], strict=True)]
    middle = f"{statistics.median(ratios):.2f}"
    return middle if ours is theirs else f"{middle} ({min(ratios):.2f} to {max(ratios):.2f})"


def _cell(text: Callable[[dict], str], answer: dict) -> str:
    try:
        return text(answer)
    except KeyError:
        return "-"


def _title(s: Settings) -> str:
    solver = ", ".join(f"{n} {getattr(s, n) or 'as in the model'}" for n in ("iterations", "ls_iterations"))
    cores = "each engine pinned to one core" if s.platform == "cpu" else "one GPU"
    return f"{s.model}: batch {s.batch}, {s.steps} steps of random controls, {s.dtype}, {solver}; {cores}"
