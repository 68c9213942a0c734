"""States of environments: what a step starts from, and what it shows."""

import dataclasses
from typing import Any

import jax

from mjx_like.rollout.rollout import CARRIED
from mjx_like.types.data import Data
from mjx_like.types.pytree import Record, record

Array = jax.Array


def _world_state() -> type:
    """Return the record of what a step starts from: fields of Data, as Data declares them."""
    declared = {name: dataclasses.field(metadata=Data.__dataclass_fields__[name].metadata) for name in CARRIED}
    text = "What a step of one world starts from: state, inputs and counters of Data, without what it derives."
    body = {"__doc__": text, "__module__": __name__, "__annotations__": dict.fromkeys(CARRIED, Array)}
    return record(type("WorldState", (Record,), body | declared))


WorldState = _world_state()


@record
class State(Record):
    """State of an environment, of one world or with a leading axis of worlds.

    data: what the next step starts from, a WorldState; `Env.data` makes the full Data of it.
    obs: observation, shape (observation_size,).
    reward: of the step that led here, shape ().
    done: 1 where that step ended the episode, else 0, shape ().
    metrics: what the reward function measured besides, arrays of shape ().
    info: "terminated" and "truncated", 0 or 1: which way the episode ended; "steps": since its start; "rng": a key;
      "leaves": leaves of the Model that this world has for itself; "final_obs", of a VectorEnv: the observation before
      an automatic reset, that of the step.
    """

    data: Any
    obs: Array
    reward: Array
    done: Array
    metrics: dict[str, Array]
    info: dict[str, Any]


def world_state(d: Data) -> Any:
    """Return the part of Data that a step starts from."""
    return WorldState(**{name: getattr(d, name) for name in CARRIED})


def with_world_state(d: Data, state: Any) -> Data:
    """Return Data with that part replaced; what is derived stays that of `d`."""
    return d.replace(**{name: getattr(state, name) for name in CARRIED})
