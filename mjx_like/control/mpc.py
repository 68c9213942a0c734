"""The receding horizon: a controller plans from each state that the simulator comes to."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from mjx_like.arguments import whole_number
from mjx_like.control.cost import Cost
from mjx_like.control.guess import start_of
from mjx_like.errors import InputError, shown
from mjx_like.rollout.rollout import rollout
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array
Controller = Callable[[Model, Data, Array, Array], Array]


class Run(NamedTuple):
    """What a controller did to a simulator."""

    trajectory: Any  # what rollout records at each step: the Trajectory by default
    ctrl: Array  # (steps, nu)
    data: Data  # at the end
    seconds: np.ndarray  # of each plan; the first has the compiling in it


def mpc(
    m: Model,
    d: Data,
    controller: Controller,
    ctrl: Any,
    *,
    steps: int,
    every: int = 1,
    key: Array | int = 0,
    progress: bool = True,
) -> Run:
    """Return what a simulator does under a controller that plans anew every few steps.

    Each plan begins with the last one, shifted by the steps that have passed.

    Args:
      m: the model that is simulated; a controller may plan with another.
      d: the start, one world.
      controller: function `(m, d, ctrl, key) -> ctrl` from the plan to begin with to a better one, both of shape
        (horizon, nu); `controller_of` makes one of a solver.
      ctrl: the plan to begin with, shape (horizon, nu).
      steps: steps to simulate, a multiple of `every`.
      every: steps between plans, at most the horizon.
      key: of jax.random, or a seed.
      progress: whether to show a bar.

    Raises:
      InputError: an argument that does not fit, or a plan of another shape or with numbers that are not finite.
    """
    start = start_of("mpc", m, d, ctrl)
    if start.many:
        raise InputError("mpc: runs one world: give d and ctrl without an axis of worlds")
    if not callable(controller):
        raise InputError(f"controller={shown(controller)}: must be a function (m, d, ctrl, key) -> ctrl")
    plan, steps, every = start.ctrl[0], whole_number("steps", steps, least=1), whole_number("every", every, least=1)
    if steps % every or every > len(plan):
        raise InputError(f"every={every}: must divide steps={steps} and be at most the horizon, {len(plan)}")
    key = jax.random.key(key) if isinstance(key, int) else key
    shown_records, applied, seconds = [], [], []
    for turn in tqdm(range(steps // every), disable=not progress, desc="mpc"):
        began = time.perf_counter()
        new = jax.block_until_ready(controller(m, d, plan, jax.random.fold_in(key, turn)))
        seconds.append(time.perf_counter() - began)
        _check_plan(new, plan.shape, turn * every)
        records, d = rollout(m, d, new[:every], return_data=True)
        shown_records.append(records)
        applied.append(new[:every])
        plan = shifted(new, every)
    trajectory = jax.tree.map(lambda *x: jnp.concatenate(x), *shown_records)
    return Run(trajectory, jnp.concatenate(applied), d, np.array(seconds))


def controller_of(solve: Callable[..., Any], cost: Cost, **options: Any) -> Controller:
    """Return a controller of `mpc` that plans with `ilqr`, `shoot`, `mppi` or `predictive_sampling`.

    cost: what plans cost; options: of the solver, such as `iterations=3`.
    """
    if solve.__name__ in ("mppi", "predictive_sampling"):
        return lambda m, d, ctrl, key: solve(m, d, cost, ctrl, key, **options)
    return lambda m, d, ctrl, key: solve(m, d, cost, ctrl, **{"progress": False} | options).ctrl


def shifted(plan: Array, steps: int) -> Array:
    """Return a plan some steps later, with its last controls held at the end."""
    return jnp.concatenate([plan[steps:], jnp.repeat(plan[-1:], steps, axis=0)])


def _check_plan(plan: Any, shape: tuple[int, ...], step: int) -> None:
    if jnp.shape(plan) != shape:
        raise InputError(f"mpc: the controller returned shape {jnp.shape(plan)} at step {step}; it must be {shape}")
    if not np.all(np.isfinite(plan)):
        raise InputError(f"mpc: the controller's plan at step {step} has numbers that are not finite")
