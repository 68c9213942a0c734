"""What a task is, and where tasks have their models from."""

import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from mjx_like.control.cost import Cost, at_knot
from mjx_like.errors import InputError
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array

MODELS = pathlib.Path(__file__).parents[3] / "models"


class Task(NamedTuple):
    """A problem of trajectory optimisation, with what counts as solved."""

    m: Model
    d: Data  # the start
    cost: Cost
    ctrl: Array  # (steps, nu) to begin with; its length is the horizon
    solved: Callable[[Model, Data], Array]  # of the Data at the end of the trajectory
    criterion: str  # what `solved` asks for, in words
    settings: dict[str, Any] = {}  # further arguments of `ilqr` that suit it


def load(name: str, **options: Any) -> Model:
    """Return a model of the repository's folder `models`.  options: of `Model.from_xml_path`.

    Raises:
      InputError: this is an installation without that folder.
    """
    path = MODELS / f"{name}.xml"
    if not path.is_file():
        raise InputError(f"{path} is not there: tasks read the models of the repository; run them in its checkout")
    return Model.from_xml_path(str(path), **options)


def is_solved(task: Task, qpos: Array, qvel: Array) -> bool:
    """Return whether a trajectory solves the task.  qpos, qvel: after each step, shapes (steps, nq) and (steps, nv)."""
    end = task.d.replace(qpos=qpos[-1], qvel=qvel[-1])
    return bool(task.solved(task.m, at_knot(task.m, end)))
