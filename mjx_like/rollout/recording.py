"""What a rollout records: a function of the Data after each step."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from mjx_like.errors import InputError, shown
from mjx_like.types.data import Data
from mjx_like.types.pytree import Record, Role, leaf, record

Array = jax.Array

Recorder = Callable[[Data], Any]


@record
class Trajectory(Record):
    """What a rollout records by default: the state after each step, and the sensors at the step's start."""

    time: Array = leaf("steps", unit="s", role=Role.STATE)
    qpos: Array = leaf("steps", "nq", unit="m or rad; quaternions wxyz", role=Role.STATE)
    qvel: Array = leaf("steps", "nv", unit="m/s or rad/s", role=Role.STATE)
    act: Array = leaf("steps", "na", unit="depends on dyntype", role=Role.STATE)
    sensordata: Array = leaf("steps", "nsensordata", unit="depends on the sensor", role=Role.RESULT)


def record_state(d: Data) -> Trajectory:
    """Return the default record of one step."""
    return Trajectory(**{name: getattr(d, name) for name in Trajectory.__dataclass_fields__})


@dataclasses.dataclass(frozen=True)
class WithStart:
    """A recorder of what `record` returns and of the state at the start of each step.

    That state is what comes in: no value that the step computes has a further use, and its code stays what it is.
    """

    record: Recorder


def check_record(record: Any) -> None:
    record = record.record if isinstance(record, WithStart) else record
    if not callable(record):
        raise InputError(
            f"record={shown(record)}: must be a function of the Data after a step, such as lambda d: d.xpos"
        )
    try:
        hash(record)
    except TypeError:
        raise InputError(
            f"record={shown(record)}: has no hash, which compiling for it needs; take a function"
        ) from None
