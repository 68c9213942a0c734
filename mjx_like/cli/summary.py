"""Statistics of a rollout, collected while it runs: what is printed, saved and plotted."""

import pathlib
from collections.abc import Callable

import jax
import numpy as np

from mjx_like.types.data import Data
from mjx_like.types.enums import WarningType
from mjx_like.types.model import Model
from mjx_like.types.pytree import Role, with_role

Array = jax.Array

STATE = with_role(Data, Role.STATE)
SHOWN = 16  # worlds whose state is saved at every step
QUANTILES = (0.05, 0.5, 0.95)
COUNTERS = with_role(Data, Role.COUNTER)
BAD = (WarningType.BADQPOS, WarningType.BADQVEL, WarningType.BADQACC)


def recorder(m: Model) -> Callable[[Data], dict[str, Array]]:
    """Return the function that picks from Data, after each step, what `Summary` needs.

    The base is the first body with a joint; its height, contacts, rows and energy are those of the step's start.
    """
    base = int(m.jnt_bodyid[0]) if m.njnt else 0

    def record(d: Data) -> dict[str, Array]:
        fields = (*STATE, *COUNTERS, "ncon", "nefc", "solver_niter", "energy")
        return {name: getattr(d, name) for name in fields} | {"height": d.xpos[base, 2]}

    return record


def _spread_over_worlds(x: np.ndarray) -> np.ndarray:
    """Return 5 %, 50 % and 95 % quantiles and the mean over the first axis, stacked."""
    x = x.astype(float)
    return np.concatenate([np.quantile(x, QUANTILES, axis=0), x.mean(axis=0)[None]])


class Summary:
    """Collects the records of all worlds, chunk by chunk, and keeps no more than is asked for.

    m: the model; steps: number of steps, records beyond are dropped; keep_all: save every world, not the first 16.
    """

    def __init__(self, m: Model, steps: int, keep_all: bool):
        self.m, self.steps, self.keep_all = m, steps, keep_all
        self.seen, self.batch = 0, 0
        self.states: list[dict[str, np.ndarray]] = []
        self.quantiles: list[dict[str, np.ndarray]] = []
        self.counts: list[dict[str, np.ndarray]] = []
        self.last: dict[str, np.ndarray] = {}

    def add(self, records: dict[str, np.ndarray]) -> None:
        """Take the records of some more steps, arrays of shape (batch, steps, ...)."""
        count = min(self.steps - self.seen, records["time"].shape[1])
        records = {name: x[:, :count] for name, x in records.items()}
        self.seen, self.batch = self.seen + count, records["time"].shape[0]
        kept = self.batch if self.keep_all else SHOWN
        self.states.append({name: records[name][:kept].copy() for name in STATE})
        self.quantiles.append({name: _spread_over_worlds(records[name]) for name in ("qpos", "qvel", "height", "ncon")})
        self.counts.append({name: records[name].copy() for name in ("ncon", "nefc", "solver_niter", "energy")})
        self.last = {name: records[name][:, -1].copy() for name in COUNTERS}

    def _whole(self, parts: list[dict[str, np.ndarray]], name: str) -> np.ndarray:
        return np.concatenate([part[name] for part in parts], axis=1)

    def text(self, seconds: float) -> str:
        """Return speed and quality as lines of text; seconds: wall time of all steps."""
        m, work = self.m, self.batch * self.steps
        energy = self._whole(self.counts, "energy").astype(float).sum(-1)
        rows = [
            ("steps/s", f"{work / seconds:,.0f}  ({seconds:.1f} s)"),
            ("simulated s/s", f"{work * float(m.opt.timestep) / seconds:,.1f}"),
            ("contacts", self._spread("ncon", "maxuse_con", m.nconmax)),
            ("constraint rows", self._spread("nefc", "maxuse_efc", m.njmax)),
            ("solver iterations", self._spread("solver_niter")),
            ("unconverged worlds", f"{np.count_nonzero(self.last['unconverged'])} of {self.batch} "
                                   f"({self.last['unconverged'].sum() / work:.2%} of all solves)"),
            ("worlds reset", f"{np.count_nonzero(self.last['warning'][:, list(BAD)].sum(-1))} after a bad state"),
            ("energy, mean", f"{energy[:, 0].mean():.6g} J at the start, {energy[:, -1].mean():.6g} J at the end"),
        ]  # fmt: skip
        return "\n".join(f"{name:<22}{value}" for name, value in rows)

    def _spread(self, name: str, peak: str | None = None, capacity: int = 0) -> str:
        values = self._whole(self.counts, name)
        said = f"mean {values.mean():.2f}, p95 {np.quantile(values, 0.95):.0f}, max {values.max(initial=0)}"
        if peak is None:
            return said
        full = np.count_nonzero(self.last[peak] > capacity)
        return f"{said}, capacity {capacity}, overflow in {full} worlds"

    def curves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return time [s] and, over the batch, quantiles and mean of base height [m] and of contacts."""
        height, contacts = (self._whole(self.quantiles, name) for name in ("height", "ncon"))
        return np.arange(self.steps) * float(self.m.opt.timestep), height, contacts

    def trajectory(self) -> dict[str, np.ndarray]:
        """Return the states that are kept, by name, shape (worlds, steps, ...), after each step."""
        return {name: self._whole(self.states, name) for name in STATE}

    def save(self, path: pathlib.Path, model: str) -> None:
        """Write the states, and the quantiles over all worlds, as .npz.

        `model`: the path of its file. `qpos` and the like: shape (worlds, steps, ...), after each step.
        `qpos_quantiles`, `height_quantiles` ...: shape (4, steps, ...): 5 %, 50 %, 95 % and the mean.
        """
        spread = {f"{name}_quantiles": self._whole(self.quantiles, name) for name in self.quantiles[0]}
        spread = {name: x.astype(np.float32) for name, x in spread.items()}
        np.savez_compressed(path, model=str(pathlib.Path(model).absolute()), **self.trajectory(), **spread)
