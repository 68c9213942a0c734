"""Segments: pieces of recordings of one length, padded to one shape, with the state that each begins at."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, shown
from mjx_like.integrator.position import differentiate_pos
from mjx_like.sysid.recording import MEASURED, Recording
from mjx_like.types.model import Model
from mjx_like.worlds import one_model

_ON_STEP = 1e-3  # share of a time step by which a frame may miss it

SIZES = {"qpos": "nq", "qvel": "nv", "sensordata": "nsensordata", "ctrl": "nu", "act": "na"}


class Segments(NamedTuple):
    """Pieces of recordings, n of them, arrays of NumPy; a frame is an instant with measurements.

    Measured values are NaN where missing and in frames that pad. `step` and `share` say where a frame lies: so many
    whole time steps after the start, and a share of the next.
    """

    recording: np.ndarray  # (n,) which recording, from 0
    first: np.ndarray  # (n,) its first frame there
    joined: np.ndarray  # (n,) whether the next segment begins where this one ends
    time: np.ndarray  # (n, frames) [s]
    step: np.ndarray  # (n, frames)
    share: np.ndarray  # (n, frames), in [0, 1)
    start: dict[str, np.ndarray]  # qpos (n, nq), qvel (n, nv), act (n, na) at the first frame
    ctrl: np.ndarray | None  # (n, steps, nu)
    measured: dict[str, np.ndarray]  # qpos, qvel, sensordata: (n, frames, size), those of any recording
    steps: int  # time steps that the longest needs

    def __len__(self) -> int:
        return len(self.recording)


def segments(m: Model, recordings: Sequence[Recording], length: int | None = None) -> Segments:
    """Return the recordings in pieces of `length` frames after the first, or whole.

    Each piece begins at a frame that is the last of the one before. A frame that is no multiple of the time step after
    the start of its piece, to a thousandth, is compared with the state between the two steps about it. The controls of
    a step are those sent last before it begins. Where a piece is to begin, position must be complete; a velocity that
    was not measured is estimated from the positions about it.

    Args:
      m: one model, for sizes and the time step.
      recordings: a list of Recording.
      length: frames of a piece, at least 1; None for whole recordings. The last piece of each may be shorter.

    Raises:
      InputError: recordings of another model, or without the state that a piece begins at.
    """
    one_model("segments", m)
    length = None if length is None else whole_number("length", length, least=1)
    if not isinstance(recordings, Sequence) or not recordings or not all(isinstance(r, Recording) for r in recordings):
        raise InputError(f"recordings={shown(recordings)}: must be a list of Recording")
    pieces = []
    for index, r in enumerate(recordings):
        _check_sizes(m, index, r)
        last = len(r.time) - 1
        if last < 1:
            raise InputError(f"recording {index} has one frame: nothing follows the start")
        firsts = range(0, last, last if length is None else length)
        pieces += [(index, r, first, min(first + (length or last), last)) for first in firsts]
    return _padded(m, pieces)


def _check_sizes(m: Model, index: int, r: Recording) -> None:
    for name, size in SIZES.items():
        value = getattr(r, name)
        if value is not None and value.shape[-1] != getattr(m, size):
            raise InputError(
                f"recording {index}: {name} has {value.shape[-1]} columns, the model has {size} = {getattr(m, size)}"
            )
    for name, value in r.start.items():
        if value.shape != (getattr(m, SIZES[name]),):
            raise InputError(
                f"recording {index}: start {name} has shape {value.shape}, needs ({getattr(m, SIZES[name])},)"
            )


def _padded(m: Model, pieces: list[tuple[int, Recording, int, int]]) -> Segments:
    h = float(m.opt.timestep)
    frames = max(stop - first for _, _, first, stop in pieces) + 1
    time = np.full((len(pieces), frames), np.nan)
    measured = {n: np.full((len(pieces), frames, getattr(m, SIZES[n])), np.nan) for n in MEASURED
                if any(getattr(r, n) is not None for _, r, _, _ in pieces)}  # fmt: skip
    starts: dict[str, list[Any]] = {"qpos": [], "qvel": [], "act": []}
    for i, (index, r, first, stop) in enumerate(pieces):
        rows = slice(first, stop + 1)
        time[i, : stop + 1 - first] = r.time[rows]
        for name, padded in measured.items():
            if getattr(r, name) is not None:
                padded[i, : stop + 1 - first] = getattr(r, name)[rows]
        for name, value in _state(m, index, r, first).items():
            starts[name].append(value)
    after = np.nan_to_num((time - time[:, :1]) / h)
    near = np.round(after)
    on_step = np.abs(after - near) < _ON_STEP
    step = np.where(on_step, near, np.floor(after)).astype(int)
    share = np.where(on_step, 0.0, after - step)
    steps = int((step + (share > 0)).max()) + ("sensordata" in measured)
    follows = [a[0] == b[0] and a[3] == b[2] for a, b in zip(pieces, pieces[1:], strict=False)]
    return Segments(
        recording=np.array([index for index, *_ in pieces]),
        first=np.array([first for _, _, first, _ in pieces]),
        joined=np.array([*follows, False]),
        time=time,
        step=step,
        share=share,
        start={name: np.stack(value) for name, value in starts.items()},
        ctrl=_controls(m, pieces, steps),
        measured=measured,
        steps=steps,
    )


def _state(m: Model, index: int, r: Recording, frame: int) -> dict[str, np.ndarray]:
    """Return the state at a frame of a recording; activations are known at its first alone."""
    known = r.start if frame == 0 else {}
    qpos = known.get("qpos", None if r.qpos is None else r.qpos[frame])
    if qpos is None or not np.isfinite(qpos).all():
        raise InputError(
            f"recording {index}: a segment begins at frame {frame}, {r.time[frame]:g} s, where qpos is not complete: "
            "give start= to the Recording, or another length of segments"
        )
    qvel = known.get("qvel", None if r.qvel is None else r.qvel[frame])
    qvel = _slope(m, index, r, frame) if qvel is None or not np.isfinite(qvel).all() else qvel
    if frame and m.na:
        raise InputError("recordings of models with activations cannot be cut into segments: use whole ones")
    return {"qpos": qpos, "qvel": qvel, "act": np.zeros(m.na) if r.act is None else r.act}


def _slope(m: Model, index: int, r: Recording, frame: int) -> np.ndarray:
    """Return the velocity at a frame from the positions of the frames about it."""
    complete = np.flatnonzero(np.isfinite(r.qpos).all(axis=1)) if r.qpos is not None else np.array([], int)
    low, high = complete[complete <= frame][-2:], complete[complete >= frame][:2]
    if not (low.size and high.size) or low[0] == high[-1]:
        raise InputError(
            f"recording {index}: a segment begins at frame {frame}, where qvel is neither measured nor to be had from "
            "qpos: give start= to the Recording"
        )
    low, high = low[0], high[-1]
    with jax.ensure_compile_time_eval():
        move = differentiate_pos(m, jnp.asarray(r.qpos[low]), jnp.asarray(r.qpos[high]), r.time[high] - r.time[low])
    return np.asarray(move)


def _controls(m: Model, pieces: list[tuple[int, Recording, int, int]], steps: int) -> np.ndarray | None:
    """Return the controls of each time step, held from the last that was sent."""
    if not m.nu or all(r.ctrl is None for _, r, _, _ in pieces):
        return None
    h, found = float(m.opt.timestep), np.zeros((len(pieces), steps, m.nu))
    for i, (_, r, first, _) in enumerate(pieces):
        if r.ctrl is not None:
            begin = r.time[first] + h * np.arange(steps)
            found[i] = r.ctrl[np.maximum(np.searchsorted(r.ctrl_time, begin + _ON_STEP * h, side="right") - 1, 0)]
    return found
