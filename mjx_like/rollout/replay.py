"""Replays: one world of a rollout of many, again and in its own bits."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError, MjxLikeError
from mjx_like.rollout.layout import block_of, own_axes
from mjx_like.rollout.recording import Recorder, WithStart, record_state
from mjx_like.rollout.rollout import rollout
from mjx_like.rollout.sharding import neighbours
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.worlds import number_of_worlds

Array = jax.Array


def replay(
    m: Model,
    d: Data,
    ctrl: Array | None = None,
    *,
    world: int,
    step: int | Sequence[int],
    records: Any = None,
    steps: int | None = None,
    record: Recorder = record_state,
    remat: bool = True,
    unroll: int = 1,
    block: int | None = None,
    devices: Sequence[jax.Device] | None = None,
) -> Data:
    """Return the Data of one world as a step of a rollout begins, on a CPU with its state in the bits of the rollout.

    All arguments but `world`, `step` and `records` are those of the call of `rollout` that is replayed: they decide the
    compiled loop, and it the bits. The worlds that shared the block of the world run again with it, since they have a
    share in its bits. What `rollout` carries from step to step is exact, the controls are those of the step, and
    derived fields are those of `d` until `forward` is called. What is computed from that Data outside the loop, its
    next state too, is that of the rollout up to rounding. A rollout with a policy, or with `every`, has no replay.

    Args:
      world: its number in the batch.
      step: number of the step, from 0; the number of steps for the end of the rollout. Several numbers give arrays
        with a leading axis for them.
      records: what the rollout returned; with it the replay proves that its bits are those of the rollout.

    Raises:
      InputError: there is no such world or step, or arguments whose shapes do not fit.
      MjxLikeError: the replay does not give the `records` of the world: the rollout was another one, or XLA compiled
        its loop anew in another way, as it may with flags that are not its defaults.
    """
    batch = number_of_worlds("replay", m, d) or 0
    if not 0 <= world < batch:
        raise InputError(
            f"world={world}: d holds {f'worlds 0 to {batch - 1}' if batch else 'one world, without an axis'}"
        )
    ctrl = None if ctrl is None else jnp.asarray(ctrl, d.ctrl.dtype)
    if ctrl is not None and ctrl.ndim > 2 and ctrl.shape[0] != batch:
        raise InputError(f"ctrl has shape {ctrl.shape}, but d holds {batch} worlds")
    block = block_of(m, d, batch, block, devices)
    index, place, width = neighbours(world, batch, block, 1 if devices is None else len(devices))
    some_m, some_d, some_ctrl = _worlds(index, m, d, ctrl)
    options = {"steps": steps, "remat": remat, "unroll": unroll, "block": width, "devices": devices}
    (shown, starts), end = rollout(some_m, some_d, some_ctrl, record=WithStart(record), return_data=True, **options)
    shown, starts, end = jax.tree.map(lambda x: x[place], (shown, starts, end))
    if records is not None:
        _compare(jax.tree.map(lambda x: x[world], records), shown, world)
    u = some_ctrl if ctrl is None or ctrl.ndim < 3 else some_ctrl[place]
    return _begin(starts, end, u, step)


def _worlds(index: np.ndarray, m: Model, d: Data, ctrl: Array | None) -> tuple[Model, Data, Array | None]:
    """Return the arguments with the worlds at `index`, where they have an axis of worlds."""
    leaves, structure = jax.tree.flatten((m, d, ctrl))
    chosen = [x[index] if own else x for x, own in zip(leaves, own_axes(m, d, ctrl), strict=True)]
    return jax.tree.unflatten(structure, chosen)


def _compare(records: Any, shown: Any, world: int) -> None:
    """Raise where what a replay recorded of a world differs in a bit from what the rollout did."""
    if jax.tree.structure(records) != jax.tree.structure(shown):
        raise InputError("records= is not what this rollout returns: give both the same record=")
    for a, b in zip(jax.tree.leaves(records), jax.tree.leaves(shown), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if a.tobytes() != b.tobytes():
            step = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x.tobytes() != y.tobytes()), len(b))
            raise MjxLikeError(
                f"the replay of world {world} differs from records= at step {step}: give the arguments of the rollout; "
                "if they are, XLA compiled its loop in another way: let the rollout itself record what you want to see"
            )


def _begin(starts: dict[str, Array], end: Data, ctrl: Array | None, step: int | Sequence[int]) -> Data:
    """Return the Data with which steps begin.  starts: the state at the start of each step."""
    number, length = np.asarray(step), len(starts["time"])
    if number.dtype.kind not in "iu" or np.any(number < 0) or np.any(number > length):
        raise InputError(f"step={step}: the rollout has steps 0 to {length - 1}, and {length} is its end")
    before = starts if ctrl is None else starts | {"ctrl": ctrl}
    state = {name: jnp.concatenate([x, getattr(end, name)[None]])[number] for name, x in before.items()}
    same = jax.tree.map(lambda x: jnp.broadcast_to(x, (*number.shape, *x.shape)), end)
    return same.replace(**state)
