"""Capacities and solver iterations that a model needs, from random rollouts, and what taking them saves."""

import argparse
import copy
import math
import statistics
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.cli.controls import random_controls
from mjx_like.cli.progress import phase
from mjx_like.cli.setup import load
from mjx_like.errors import InputError
from mjx_like.rollout.rollout import rollout, start_of
from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from mjx_like.types.model import Model

STEPS = 500
MARGIN = 0.25
LEAST_CONTACTS = 4  # those of one more pair of boxes
LEAST_ITERATIONS = 2
TIMED = 20  # steps of a round
ROUNDS = 7


class Proposal(NamedTuple):
    """Contacts, constraint rows and solver iterations to allow; no iterations where the model has none of its own."""

    nconmax: int
    njmax: int
    iterations: int | None


class Cost(NamedTuple):
    """What a model takes: bytes of Data of a world, and seconds of a step of all worlds in each round."""

    memory: int
    seconds: list[float]


def run(args: argparse.Namespace) -> None:
    """Print what the model of the command line needs, what is proposed, and what that saves.

    Raises:
      InputError: a margin below 0, or buffers that overflowed, so that their need is not known.
    """
    if not 0 <= args.margin < math.inf:
        raise InputError(f"--margin {args.margin:g}: must be a share of at least 0, such as {MARGIN}")
    steps = STEPS if args.steps is None else args.steps
    m = limited(load(args), args.iterations)
    with phase(f"{steps} steps of {args.batch} worlds"):
        seen, end = observed(m, args.batch, steps, args.seed)
    proposal = proposed(m, seen, args.margin)
    less = limited(load(_with_capacities(args, proposal)), proposal.iterations)
    with phase("the same with other controls and the proposal"):
        again = overflowed(less, observed(less, args.batch, steps, args.seed + 1)[1])
    with phase(f"timing in turn, {ROUNDS} rounds"):
        costs = measured((m, less), end, args.seed + 2)
    print(f"{args.model}: {args.batch} worlds, {steps} steps of random controls, seed {args.seed}, {args.dtype}")
    print(needs_table(m, seen, proposal, args.margin))
    print(costs_table(costs, args.batch))
    print(f"other controls (seed {args.seed + 1}), {steps} steps: the proposal overflowed in {again} worlds")
    print(f"for the command line: --nconmax {proposal.nconmax} --njmax {proposal.njmax}")
    print(f"in Python: Model.from_xml_path(path, nconmax={proposal.nconmax}, njmax={proposal.njmax})")
    if proposal.iterations is not None:
        print(f"           m.replace(opt=m.opt.replace(iterations={proposal.iterations}))")


def limited(m: Model, iterations: int | None) -> Model:
    """Return the Model with at most so many iterations of the solver, None for its own."""
    return m if iterations is None else m.replace(opt=m.opt.replace(iterations=iterations))


def _with_capacities(args: argparse.Namespace, proposal: Proposal) -> argparse.Namespace:
    changed = copy.copy(args)
    changed.nconmax, changed.njmax = proposal.nconmax, proposal.njmax
    return changed


def _needs(d: Data) -> dict[str, jax.Array]:
    return {"contacts": d.ncon, "rows": d.nefc, "iterations": d.solver_niter}


def observed(m: Model, batch: int, steps: int, seed: int) -> tuple[dict[str, np.ndarray], Data]:
    """Return contacts, rows and iterations of each world and step, shape (batch, steps), and the worlds at the end."""
    worlds = _start(m, batch, seed)
    ctrl = jnp.asarray(random_controls(m, seed, batch, 0, steps), worlds.qpos.dtype)
    seen, end = rollout(m, worlds, ctrl, record=_needs, return_data=True)
    seen = {name: np.asarray(x) for name, x in seen.items()}
    return seen | {"most": np.stack([end.maxuse_con, end.maxuse_efc])}, end


def _start(m: Model, batch: int, seed: int) -> Data:
    """Return worlds at the first keyframe or at qpos0, with small random velocities."""
    d = make_data(m, key=0 if m.nkey else None)
    worlds = jax.tree.map(lambda x: jnp.broadcast_to(x, (batch, *x.shape)), d)
    moved = 0.01 * np.random.default_rng(seed).normal(size=(batch, m.nv))
    return worlds.replace(qvel=worlds.qvel + jnp.asarray(moved, worlds.qvel.dtype))


def overflowed(m: Model, end: Data) -> int:
    """Return in how many worlds a buffer was too small at some step."""
    return int(np.count_nonzero((end.maxuse_con > m.nconmax) | (end.maxuse_efc > m.njmax)))


def proposed(m: Model, seen: dict[str, np.ndarray], margin: float) -> Proposal:
    """Return the most that was needed and a margin, no more than the model has now.

    The margin is the share `margin`, at least 4 contacts, the rows of these, and 2 iterations.

    Raises:
      InputError: more was needed than there is room for, so that the need is not known.
    """
    contacts, rows = (int(x) for x in seen["most"].max(axis=1, initial=0))
    if contacts > m.nconmax or rows > m.njmax:
        raise InputError(
            f"buffers overflowed: {contacts} contacts of {m.nconmax}, {rows} rows of {m.njmax} at least; "
            f"measure with more, such as --nconmax {2 * max(contacts, m.nconmax)} --njmax {2 * max(rows, m.njmax)}"
        )
    least_rows = LEAST_CONTACTS * m.plans.constraint.contact_rows[1]
    iterations = None
    if m.hard is None:
        iterations = _more(int(seen["iterations"].max(initial=0)), margin, LEAST_ITERATIONS, m.opt.iterations)
    return Proposal(
        _more(contacts, margin, LEAST_CONTACTS, m.nconmax), _more(rows, margin, least_rows, m.njmax), iterations
    )


def _more(need: int, margin: float, least: int, most: int) -> int:
    return min(need + max(math.ceil(margin * need), least), most)


def measured(models: tuple[Model, ...], end: Data, seed: int) -> list[Cost]:
    """Return what each model takes from the state of the worlds at `end` on, timed in turn."""
    batch = len(end.qpos)
    ctrl = jnp.asarray(random_controls(models[0], seed, batch, 0, TIMED), end.qpos.dtype)
    costs, programs = [], []
    for m in models:
        d = make_data(m)
        memory = sum(x.nbytes for x in jax.tree.leaves(d))
        worlds = jax.tree.map(lambda x: jnp.broadcast_to(x, (batch, *x.shape)), d).replace(**start_of(end))
        costs.append(Cost(memory, []))
        programs.append((m, worlds))
    for number in range(ROUNDS + 1):
        for cost, (m, worlds) in zip(costs, programs, strict=True):
            seconds = _seconds(m, worlds, ctrl)
            cost.seconds.extend([seconds / TIMED] * (number > 0))  # the first compiles
    return costs


def _seconds(m: Model, worlds: Data, ctrl: jax.Array) -> float:
    """Return what a rollout takes: processor time on a CPU, where other programs run too, else wall time."""
    clock = time.process_time if jax.default_backend() == "cpu" else time.perf_counter
    begin = clock()
    jax.block_until_ready(rollout(m, worlds, ctrl, record=_qpos))
    return clock() - begin


def _qpos(d: Data) -> jax.Array:
    return d.qpos


def needs_table(m: Model, seen: dict[str, np.ndarray], p: Proposal, margin: float) -> str:
    """Return as text what was needed, what there is and what is proposed."""
    peaks = dict(zip(("contacts", "rows"), seen["most"].max(axis=1, initial=0), strict=True))
    lines = [f"{'':20s}{'mean':>9s}{'95 %':>9s}{'max':>9s}{'now':>9s}{'proposed':>10s}"]
    for name, label, now, then in (
        ("contacts", "contacts", m.nconmax, p.nconmax),
        ("rows", "constraint rows", m.njmax, p.njmax),
        ("iterations", "solver iterations", m.opt.iterations, p.iterations),
    ):
        x, ours = seen[name], "-" if then is None else f"{now}"
        most = peaks.get(name, x.max(initial=0))
        then = "-" if then is None else then
        lines.append(f"{label:20s}{x.mean():9.2f}{np.quantile(x, 0.95):9.0f}{most:9d}{ours:>9s}{then:>10}")
    least = f"{LEAST_CONTACTS} contacts, their rows and {LEAST_ITERATIONS} iterations"
    return "\n".join([*lines, f"proposed: the max and {margin:.0%}, at least {least}; never more than now"])


def costs_table(costs: list[Cost], batch: int) -> str:
    """Return as text what the model takes now and as proposed."""
    now, then = costs
    memory = [cost.memory / 1e3 for cost in costs]
    micro = [1e6 * statistics.median(cost.seconds) / batch for cost in costs]
    faster = statistics.median(b / a for a, b in zip(now.seconds, then.seconds, strict=True))
    rows = (("Data, kB a world", *memory, memory[1] / memory[0]), ("step, us a world", *micro, faster))
    lines = [f"{label:20s}{a:9.1f}{b:10.1f}{ratio:9.2f}" for label, a, b, ratio in rows]
    return "\n".join([f"{'':20s}{'now':>9s}{'proposed':>10s}{'ratio':>9s}", *lines])
