"""Trajectories that follow another one with changed controls and feedback: the forward pass, many at once."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.control.backward import Feedback
from mjx_like.control.cost import Cost, trajectory_cost
from mjx_like.control.states import States, before, in_segments, last, states_of
from mjx_like.math.linalg import matmul
from mjx_like.rollout.rollout import rollout
from mjx_like.state.difference import moved_state, state_difference
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


class Path(NamedTuple):
    """A trajectory in segments: each begins at a state of its own and is rolled out from there."""

    starts: States  # (segments, ...)
    states: States  # (steps, ...) after each step
    ctrl: Array  # (steps, nu)
    cost: Array
    defect: Array  # sum of the absolute gaps between segments


def follow(
    m: Model, d: Data, cost: Cost, path: Path, feedback: Feedback, moved: Array, lengths: Array, limits: Array
) -> Path:
    """Return the paths of several step lengths along a feedback: controls u + length k + K dx, within limits.

    The starts of the segments move by length times `moved`. All are rolled out in one batch of worlds. A cost that is
    not finite, or that of a world which blew up, is infinite.

    Args:
      d: worlds with an axis (batch,); path, feedback and moved have it too.
      moved: (batch, segments, 2 nv + na).
      lengths: (number,).
      limits: of the controls, (nu, 2).

    Returns:
      Paths with axes (batch, number).
    """
    segments = path.starts.time.shape[1]

    def driven(path: Path, feedback: Feedback, moved: Array, length: Array) -> tuple[States, Any]:
        """Return starts and inputs of each segment."""
        start = path.starts._replace(**moved_state(m, path.starts, length * moved))
        steps = (before(path.starts, path.states), path.ctrl, length * feedback.k, feedback.K)
        return start, jax.tree.map(lambda x: in_segments(x, segments), steps)

    def policy(d: Data, inputs: Any) -> Array:
        reference, ctrl, k, K = inputs
        ctrl = ctrl + k + matmul(K, state_difference(m, reference, d))
        return jnp.clip(ctrl, limits[:, 0], limits[:, 1])

    starts, inputs = jax.vmap(jax.vmap(driven, (None, None, None, 0)), (0, 0, 0, None))(path, feedback, moved, lengths)
    lead = starts.time.shape
    every = jax.tree.map(lambda x: jnp.broadcast_to(x[:, None, None], (*lead, *x.shape[1:])), d)
    worlds, inputs = jax.tree.map(
        lambda x: x.reshape(math.prod(lead), *x.shape[3:]), (every.replace(**starts._asdict()), inputs)
    )
    (states, ctrl), end = rollout(m, worlds, policy=policy, inputs=inputs, record=_state_and_ctrl, return_data=True)
    fell = jnp.any((end.warning > worlds.warning).reshape(*lead, -1), axis=(2, 3))
    states, ctrl = jax.tree.map(lambda x: x.reshape(*lead[:2], segments * x.shape[1], *x.shape[2:]), (states, ctrl))
    total = jax.vmap(lambda d, *paths: jax.vmap(lambda *path: _cost(m, cost, d, *path))(*paths))
    value = total(d, starts, states, ctrl)
    value = jnp.where(jnp.isfinite(value) & ~fell, value, jnp.inf)
    defect = jnp.sum(jnp.abs(jax.vmap(jax.vmap(lambda s, x: gaps(m, s, x)))(starts, states)), axis=(2, 3))
    return Path(starts, states, ctrl, value, defect)


def _state_and_ctrl(d: Data) -> tuple[States, Array]:
    return states_of(d), d.ctrl


def _cost(m: Model, cost: Cost, d: Data, starts: States, states: States, ctrl: Array) -> Array:
    return trajectory_cost(cost, m, d, before(starts, states), last(states), ctrl)


def gaps(m: Model, starts: States, states: States) -> Array:
    """Return from each next segment's start to where the segment before it ends, shape (segments - 1, 2 nv + na)."""
    ends = jax.tree.map(lambda x: in_segments(x, len(starts.time))[:-1, -1], states)
    return state_difference(m, jax.tree.map(lambda x: x[1:], starts), ends)
