"""What solvers of trajectories return."""

from typing import Any, NamedTuple

import jax
import numpy as np

from mjx_like.errors import InputError

Array = jax.Array


class Solution(NamedTuple):
    """Where a solver ended; with an axis of starts in front where it was given several."""

    ctrl: Array  # (steps, nu)
    time: Array  # (steps,) [s], of the states after each step, as all that follow
    qpos: Array  # (steps, nq)
    qvel: Array  # (steps, nv)
    act: Array  # (steps, na)
    K: Array | None  # (steps, nu, 2 nv + na): u + K state_difference(m, x, d), x before the step, holds the trajectory
    cost: np.ndarray
    defect: np.ndarray  # sum of the absolute gaps between segments
    history: np.ndarray  # (iterations + 1,): cost at the guess and after each iteration
    iterations: np.ndarray
    converged: np.ndarray
    seconds: Any  # of the whole call, with compiling


def best(solution: Solution) -> Solution:
    """Return the start of the least cost.

    Raises:
      InputError: the solution has no axis of starts.
    """
    if np.ndim(solution.cost) != 1:
        raise InputError("best: the solution is that of one start")
    index = int(np.argmin(solution.cost))
    chosen = jax.tree.map(lambda x: x[index], solution._replace(seconds=None))
    return chosen._replace(seconds=solution.seconds)


def check_first(caller: str, cost: np.ndarray) -> None:
    """Raise InputError where what a solver begins with has no finite cost."""
    bad = np.flatnonzero(~np.isfinite(cost))
    if bad.size:
        raise InputError(
            f"{caller}: the cost of start {bad[0]} is not finite at the guess, or its world blew up: begin with other "
            "controls, take a smaller time step, or a cost that is finite there"
        )
