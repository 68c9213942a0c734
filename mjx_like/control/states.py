"""States along a trajectory: their record in a rollout, the state before each step, Data at them."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.errors import UnsupportedError
from mjx_like.state.difference import moved_state
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


class States(NamedTuple):
    """States of a world or of many, and where the solver starts from there."""

    time: Array  # (...) [s]
    qpos: Array  # (..., nq)
    qvel: Array  # (..., nv)
    act: Array  # (..., na)
    qacc_warmstart: Array  # (..., nv)


def states_of(d: Data) -> States:
    """Return the state of `d`: what a rollout records here."""
    return States(*(getattr(d, name) for name in States._fields))


def with_state(d: Data, state: States, ctrl: Array | None = None) -> Data:
    """Return one world `d` at another state, with other controls if they are given."""
    return d.replace(**state._asdict()) if ctrl is None else d.replace(**state._asdict(), ctrl=ctrl)


def before(starts: States, states: States) -> States:
    """Return the state before each step.

    starts: those of the segments, shape (segments, ...); states: those after each step, shape (steps, ...). One
    segment is a whole trajectory.
    """

    def joined(start: Array, after: Array) -> Array:
        parts = in_segments(after, len(start))
        return jnp.concatenate([start[:, None], parts[:, :-1]], axis=1).reshape(after.shape)

    return jax.tree.map(joined, starts, states)


def in_segments(x: Array, segments: int) -> Array:
    """Return an array of steps, shape (steps, ...), by segments, shape (segments, steps / segments, ...)."""
    return x.reshape(segments, len(x) // segments, *x.shape[1:])


def last(states: States) -> States:
    """Return the state after the last step."""
    return jax.tree.map(lambda x: x[-1], states)


def on_tangent(m: Model, d: Data, z: Array) -> Data:
    """Return `d` moved by z = (dx, du), shape (2 nv + na + nu,), or (2 nv + na,) for no change of the controls."""
    nx = 2 * m.nv + m.na
    moved = d.replace(**moved_state(m, d, z[:nx]))
    return moved.replace(ctrl=d.ctrl + z[nx:]) if len(z) > nx else moved


def check_memory(m: Model) -> None:
    """Raise UnsupportedError for a model whose state is more than position, velocity and activation."""
    for name in ("nhistory", "nplastic"):
        if getattr(m, name):
            raise UnsupportedError(f"control: the model remembers more than its state ({name}={getattr(m, name)})")
