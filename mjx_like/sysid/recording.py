"""Recordings: what was measured and commanded, each at its own times, with NaN for what is missing."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.errors import InputError, shown

Stream = Any  # an array of values at `time`, or a pair (times, values)

MEASURED = ("qpos", "qvel", "sensordata")


class Recording:
    """One experiment: measured positions, velocities and sensors, and the controls that were sent.

    A stream is an array with one row for each of `time`, or a pair (times, values) with times of its own. What is
    missing is NaN; rows of all streams are merged on the union of their times.

    Args:
      time: of the frames, shape (frames,), increasing [s]; may be left out where all streams have their own.
      qpos: shape (frames, nq); qvel: (frames, nv); sensordata: (frames, nsensordata).
      ctrl: controls, shape (frames, nu), each held until the next; None for those of `make_data`, zero.
      act: activations at the first frame, shape (na,); None for zero.
      start: mapping with qpos and qvel of the first frame, where they are known and not measured.

    Attributes: time, qpos, qvel, sensordata (None where nothing was measured), ctrl_time, ctrl, act, start.

    Raises:
      InputError: streams that do not fit their times, times that do not increase, nothing measured.
    """

    def __init__(
        self,
        time: Any = None,
        *,
        qpos: Stream = None,
        qvel: Stream = None,
        sensordata: Stream = None,
        ctrl: Stream = None,
        act: Any = None,
        start: Mapping[str, Any] | None = None,
    ) -> None:
        time = None if time is None else _times("time", time)
        given = {"qpos": qpos, "qvel": qvel, "sensordata": sensordata}
        streams = {name: _stream(name, x, time) for name, x in given.items() if x is not None}
        if not streams:
            raise InputError("Recording: nothing measured: give qpos=, qvel= or sensordata=")
        self.time = _union([times for times, _ in streams.values()])
        self.qpos, self.qvel, self.sensordata = (
            _merged(self.time, *streams[name]) if name in streams else None for name in MEASURED
        )
        self.ctrl_time, self.ctrl = (None, None) if ctrl is None else _stream("ctrl", ctrl, time)
        if self.ctrl is not None and not np.isfinite(self.ctrl).all():
            raise InputError("Recording: ctrl has values that are not finite: a control that is held needs no rows")
        self.act = None if act is None else np.asarray(act, float)
        self.start = {name: np.asarray(value, float) for name, value in (start or {}).items()}
        if set(self.start) - {"qpos", "qvel"}:
            raise InputError(f"Recording: start has {sorted(self.start)}; allowed are qpos and qvel")

    def __repr__(self) -> str:
        names = ", ".join(name for name in MEASURED if getattr(self, name) is not None)
        return f"Recording({len(self.time)} frames, {self.time[0]:g} to {self.time[-1]:g} s: {names})"


def recording_of(
    trajectory: Any, start: Any = None, ctrl: Any = None, *, timestep: float | None = None, sensors: bool = False
) -> Recording:
    """Return the Recording of a rollout of one world.

    Args:
      trajectory: what `rollout` returned: time, qpos, qvel and sensordata of every step.
      start: the Data that the rollout began at, for its state as the first frame.
      ctrl: what `rollout` was given, shape (steps, nu), or None; it needs `timestep`, that of the steps.
      sensors: whether to take sensordata, which stand for the start of each step, a time step earlier.

    Raises:
      InputError: as `Recording`.
    """
    time, qpos, qvel = (np.asarray(getattr(trajectory, name), float) for name in ("time", "qpos", "qvel"))
    timestep = float(np.median(np.diff(time))) if timestep is None else timestep
    begin = time - timestep
    if start is not None:
        time = np.concatenate([[float(start.time)], time])
        qpos = np.concatenate([np.asarray(start.qpos, float)[None], qpos])
        qvel = np.concatenate([np.asarray(start.qvel, float)[None], qvel])
    return Recording(
        time,
        qpos=qpos,
        qvel=qvel,
        sensordata=(begin, trajectory.sensordata) if sensors else None,
        ctrl=None if ctrl is None else (begin, ctrl),
    )


def _times(name: str, value: Any) -> np.ndarray:
    try:
        times = np.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(f"Recording: {name}={shown(value)}: must be an array of times [s]") from None
    if times.ndim != 1 or not times.size or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise InputError(f"Recording: {name} must have shape (frames,), finite and increasing; it has {times.shape}")
    return times


def _stream(name: str, given: Stream, time: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return times and values, shape (rows, size), of a stream."""
    if isinstance(given, tuple) and len(given) == 2:
        times, given = _times(f"{name} times", given[0]), given[1]
    elif time is not None:
        times = time
    else:
        raise InputError(f"Recording: {name} has no times: give time=, or {name}=(times, values)")
    try:
        values = np.asarray(given, float)
    except (TypeError, ValueError):
        raise InputError(f"Recording: {name}={shown(given)}: must be an array of numbers, NaN where missing") from None
    if values.ndim != 2 or len(values) != len(times):
        raise InputError(
            f"Recording: {name} has shape {values.shape}; it must be ({len(times)}, size), a row for each time"
        )
    return times, values


def _union(times: list[np.ndarray]) -> np.ndarray:
    """Return all times in their order, those within a nanosecond once."""
    joined = np.sort(np.concatenate(times))
    return joined[np.concatenate([[True], np.diff(joined) > 1e-9])]


def _merged(time: np.ndarray, own: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return values on the union of times, NaN where there are none."""
    merged = np.full((len(time), values.shape[1]), np.nan)
    merged[np.searchsorted(time, own - 5e-10)] = values
    return merged
