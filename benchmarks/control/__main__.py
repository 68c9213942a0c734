"""iLQR on our engine and on MuJoCo C with differences, the same algorithm, costs and starts.

    python -m benchmarks.control                        # every task, ten seeds of the cartpole
    python -m benchmarks.control cartpole --seeds 3

Both run `mjx_like.control.ilqr`: its loop, regularisation, line search and backward pass, and the derivatives of the
cost. What differs is what the engine gives: the linear model of each step (`transition_jacobian` or central differences
by `mjd_transitionFD`) and the rollouts with feedback (one batch, or a loop of `mj_step` in Python for each of the ten
step lengths; a line search that stops at the first that is better would save C a part of that). Float64.

C's differences have to be smaller than a resting contact is deep, else each second one breaks it and its column of A is
a jump over eps; and large enough for the rounding. So two sizes are tried. For them the solver's tolerance is small:
it must not stop before it answers so small a change. Zero would make it go on to its last iteration.
"""

import argparse
import contextlib
import functools
import pathlib
import statistics
import sys
import time
from collections.abc import Iterator
from unittest import mock

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx
from mjx_like.cli.setup import add_option_arguments, given_options
from mjx_like.control import Solution, ilqr
from mjx_like.control.backward import Expansion
from mjx_like.control.cost import quadratic, trajectory_cost
from mjx_like.control.follow import Path
from mjx_like.control.states import States, before, last, with_state
from mjx_like.control.tasks import TASKS, Task, is_solved

MODELS = pathlib.Path(__file__).parents[2] / "models"
FILES = {"box_right": "planar_box", "box_up": "planar_box", "arm_reach": "arm"}
SEEDS = {"cartpole": 10}  # of others 1
NOISE = 0.1  # of the guesses of seeds after the first
EPS = (1e-6, 1e-8)  # of C's differences
TOLERANCE = 1e-14  # of C's solver for them
BAD = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)


class InC:
    """What `ilqr` asks of an engine, by MuJoCo C: one start, one segment."""

    def __init__(self, name: str, task: Task, eps: float, centred: bool = True):
        self.task, self.eps, self.centred = task, eps, centred
        self.m = mujoco.MjModel.from_xml_path(str(MODELS / f"{FILES.get(name, name)}.xml"))
        self.m.opt.timestep = float(task.m.opt.timestep)
        self.m.opt.disableflags = int(task.m.opt.disableflags)
        self.d = mujoco.MjData(self.m)

    def set(self, state: States, k: int, ctrl: np.ndarray) -> None:
        self.d.time, self.d.qpos[:], self.d.qvel[:] = state.time[k], state.qpos[k], state.qvel[k]
        self.d.act[:], self.d.qacc_warmstart[:], self.d.ctrl[:] = state.act[k], state.qacc_warmstart[k], ctrl

    def expand(self, m, d, cost, path) -> Expansion:
        """Return what `ilqr.expand` does; the derivatives of the cost are shared."""
        gradients = _cost_expansion(self.task.m, self.task.d, cost, path)
        at = jax.tree.map(lambda x: np.asarray(x[0]), _before(path))
        steps, nx, nu = path.ctrl.shape[1], 2 * self.m.nv + self.m.na, self.m.nu
        A, B, ctrl = np.zeros((1, steps, nx, nx)), np.zeros((1, steps, nx, nu)), np.asarray(path.ctrl[0])
        tolerance, self.m.opt.tolerance = self.m.opt.tolerance, TOLERANCE
        for k in range(steps):
            self.set(at, k, ctrl[k])
            mujoco.mjd_transitionFD(self.m, self.d, self.eps, self.centred, A[0, k], B[0, k], None, None)
        self.m.opt.tolerance = tolerance
        return Expansion(A, B, np.zeros((1, steps, nx)), *gradients)

    def follow(self, m, d, cost, path, feedback, moved, lengths, limits) -> Path:
        """Return what `follow` does, one step length after the other."""
        reference = jax.tree.map(lambda x: np.asarray(x[0]), _before(path))
        ctrl, k, K, limits = (np.asarray(x) for x in (path.ctrl[0], feedback.k[0], feedback.K[0], limits))
        paths = [self._one(reference, ctrl, length * k, K, limits) for length in np.asarray(lengths)]
        states, ctrl = jax.tree.map(lambda *x: np.stack(x)[None], *paths)
        starts = jax.tree.map(lambda x: np.repeat(np.asarray(x)[:, None], len(lengths), 1), path.starts)
        value = _costs(self.task.m, self.task.d, cost, starts, states, ctrl)
        return Path(starts, states, ctrl, jnp.where(jnp.isfinite(value), value, jnp.inf), jnp.zeros_like(value))

    def _one(self, reference, ctrl, k, K, limits) -> tuple[States, np.ndarray]:
        m, d, dx = self.m, self.d, np.zeros(2 * self.m.nv + self.m.na)
        mujoco.mj_resetData(m, d)
        self.set(reference, 0, ctrl[0])
        states, applied = [], np.zeros_like(ctrl)
        for t in range(len(ctrl)):
            mujoco.mj_differentiatePos(m, dx[: m.nv], 1.0, reference.qpos[t], d.qpos)
            dx[m.nv : 2 * m.nv] = d.qvel - reference.qvel[t]
            dx[2 * m.nv :] = d.act - reference.act[t]
            applied[t] = np.clip(ctrl[t] + k[t] + K[t] @ dx, limits[:, 0], limits[:, 1])
            d.ctrl[:] = applied[t]
            mujoco.mj_step(m, d)
            states.append(States(d.time, *(getattr(d, name).copy() for name in States._fields[1:])))
        bad = any(d.warning[w].number for w in BAD)
        stacked = States(*(np.stack(x) for x in zip(*states, strict=True)))
        return stacked._replace(qpos=np.full_like(stacked.qpos, np.nan)) if bad else stacked, applied

    @contextlib.contextmanager
    def engine(self) -> Iterator[None]:
        """Give `ilqr` this engine for a while."""
        module = sys.modules["mjx_like.control.ilqr"]
        with mock.patch.object(module, "_expand", self.expand), mock.patch.object(module, "_follow", self.follow):
            yield


@jax.jit
def _before(path):
    return jax.vmap(before)(path.starts, path.states)


def _one_cost_expansion(m, d, cost, path):
    at, end = before(path.starts, path.states), last(path.states)
    running = jax.vmap(lambda s, u: quadratic(cost.running, m, with_state(d, s, u), m.nu))(at, path.ctrl)
    return running, quadratic(cost.final, m, with_state(d, end), 0)


_cost_expansion = jax.jit(
    lambda m, d, cost, path: jax.vmap(lambda path: _one_cost_expansion(m, d, cost, path))(path), static_argnums=2
)


def _one_cost(m, d, cost, starts, states, ctrl):
    return trajectory_cost(cost, m, d, before(starts, states), last(states), ctrl)


@functools.partial(jax.jit, static_argnums=2)
def _costs(m, d, cost, starts, states, ctrl):
    return jax.vmap(jax.vmap(lambda *x: _one_cost(m, d, cost, *x)))(starts, states, ctrl)


def guesses(task: Task, seeds: int) -> list[np.ndarray]:
    """Return the guess of the task, and others with noise."""
    noise = [np.random.default_rng(k).normal(size=task.ctrl.shape) * (NOISE if k else 0) for k in range(seeds)]
    return [np.asarray(task.ctrl) + x for x in noise]


def solve(task: Task, ctrl: np.ndarray, iterations: int) -> tuple[Solution, float]:
    """Return the solution and the seconds of a call."""
    began = time.perf_counter()
    options = dict(iterations=iterations, progress=False) | task.settings
    found = ilqr(task.m, task.d, task.cost, ctrl, **options)
    return found, time.perf_counter() - began


def row(name: str, engine: str, task: Task, seeds: int, iterations: int) -> str:
    """Return one line of the table."""
    starts = guesses(task, seeds)
    _, first = solve(task, starts[0], 1)  # compiles
    _, again = solve(task, starts[0], 1)
    runs = [solve(task, ctrl, iterations) for ctrl in starts]
    solved = sum(is_solved(task, x.qpos, x.qvel) for x, _ in runs)
    cost = statistics.median(float(x.cost) for x, _ in runs)
    rounds, seconds = [int(x.iterations) for x, _ in runs], [s for _, s in runs]
    each = 1e3 * sum(seconds) / max(sum(rounds), 1)
    return (
        f"| {name} | {engine} | {solved}/{seeds} | {cost:.4g} | {statistics.median(rounds):g} | "
        f"{statistics.median(seconds):.2f} | {each:.0f} | {max(first - again, 0):.0f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=list(TASKS), help=f"of {', '.join(TASKS)}")
    parser.add_argument("--seeds", type=int, help="guesses of each task")
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--eps", type=float, nargs="*", default=EPS, help="sizes of C's differences")
    parser.add_argument("--forward", action="store_true", help="C's differences go forward, not both ways")
    add_option_arguments(parser)
    args = parser.parse_args()
    mjx.compile_quickly()
    jax.config.update("jax_compilation_cache_dir", None)  # compile times are part of the table
    jax.config.update("jax_enable_x64", True)
    print("| task | engine | solved | cost, median | iterations | seconds | ms an iteration | compile [s] |")
    print("|---|---|---|---|---|---|---|---|")
    for name in args.tasks:
        task, seeds = TASKS[name](**given_options(args)), args.seeds or SEEDS.get(name, 1)
        hard = task.m.hard is not None
        print(row(name, "ours, hard contact" if hard else "ours", task, seeds, args.iterations), flush=True)
        for eps in () if hard else args.eps:  # C has soft contact
            with InC(name, task, eps, not args.forward).engine():
                print(row(name, f"MuJoCo C, {eps:g}", task, seeds, args.iterations), flush=True)


if __name__ == "__main__":
    main()
