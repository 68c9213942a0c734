"""Linear models of the steps of a trajectory."""

from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.control.states import States, before, states_of, with_state
from mjx_like.derivative import transition_jacobian
from mjx_like.errors import InputError
from mjx_like.rollout.sharding import in_blocks
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.worlds import one_world

Array = jax.Array

# On a CPU, steps that are linearised together, by the number of dofs; above the last one by one.
TOGETHER = ((8, 1024), (20, 16))


def linearise(m: Model, d: Data, ctrl: Array, trajectory: Any) -> tuple[Array, Array]:
    """Return the linear models of the steps of a trajectory: dx[t+1] = A[t] dx[t] + B[t] du[t].

    `trajectory` is `rollout(m, d, ctrl)`: those of its states that are before a step and what else `d` holds are the
    points of expansion. Coordinates are those of `transition_jacobian` and `state_difference`. The steps are mapped all
    at once where that is fastest, else in groups or one by one.

    Args:
      m: the model.
      d: the start, one world.
      ctrl: controls of each step, shape (steps, nu).
      trajectory: the states after each step: a Trajectory, or anything with time, qpos, qvel and act; where it has
        qacc_warmstart too, the solver starts from there.

    Returns:
      A, shape (steps, 2 nv + na, 2 nv + na), and B, shape (steps, 2 nv + na, nu).

    Raises:
      InputError: `d` is not one world of `m`, or the shapes do not fit.
    """
    one_world("linearise", m, d)
    ctrl = jnp.asarray(ctrl, d.ctrl.dtype)
    steps = len(ctrl) if ctrl.ndim == 2 else "steps"
    if ctrl.shape != (steps, m.nu):
        raise InputError(f"linearise: ctrl has shape {ctrl.shape}; it must be (steps, nu), with nu={m.nu}")
    for name, size in (("qpos", m.nq), ("qvel", m.nv), ("act", m.na)):
        shape = jnp.shape(getattr(trajectory, name, 0))
        if shape != (steps, size):
            raise InputError(
                f"linearise: trajectory.{name} has shape {shape}; it must be {(steps, size)}, that of "
                "rollout(m, d, ctrl)"
            )
    guess = getattr(trajectory, "qacc_warmstart", jnp.broadcast_to(d.qacc_warmstart, (steps, m.nv)))
    states = States(trajectory.time, trajectory.qpos, trajectory.qvel, trajectory.act, guess)
    start = jax.tree.map(lambda x: x[None], states_of(d))
    return linearise_at(m, d, before(start, states), ctrl)


def linearise_at(m: Model, d: Data, states: States, ctrl: Array) -> tuple[Array, Array]:
    """Return A and B of steps from many states, each with its controls.  d: one world, for all else it holds."""

    def one(at: tuple[States, Array]) -> tuple[Array, ...]:
        return transition_jacobian(m, with_state(d, *at))

    group = together(m, len(ctrl))
    if group > 1:
        return in_blocks(lambda at, _: jax.vmap(one)(at), group)((states, ctrl), None)
    return jax.lax.map(one, (states, ctrl))


def together(m: Model, steps: int) -> int:
    """Return how many steps to linearise together."""
    if jax.default_backend() != "cpu":
        return steps
    return next((size for dofs, size in TOGETHER if m.nv <= dofs), 1)
