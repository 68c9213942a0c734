"""What a task is."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from mjx_like.control.cost import Cost, at_knot
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


class Task(NamedTuple):
    """A problem of trajectory optimisation, with what counts as solved."""

    m: Model
    d: Data  # the start
    cost: Cost
    ctrl: Array  # (steps, nu) to begin with; its length is the horizon
    solved: Callable[[Model, Data], Array]  # of the Data at the end of the trajectory
    criterion: str  # what `solved` asks for, in words
    settings: dict[str, Any] = {}  # further arguments of `ilqr` that suit it


def is_solved(task: Task, qpos: Array, qvel: Array) -> bool:
    """Return whether a trajectory solves the task.  qpos, qvel: after each step, shapes (steps, nq) and (steps, nv)."""
    end = task.d.replace(qpos=qpos[-1], qvel=qvel[-1])
    return bool(task.solved(task.m, at_knot(task.m, end)))
