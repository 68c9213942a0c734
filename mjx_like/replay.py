"""Replays: one world of a rollout of many, again and in its own bits."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError
from mjx_like.rollout import CARRIED, Recorder, default_block, record_state, rollout
from mjx_like.sharding import neighbours
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.worlds import number_of_worlds, ranks

Array = jax.Array


def replay(
    m: Model,
    d: Data,
    ctrl: Array | None = None,
    *,
    world: int,
    step: int | Sequence[int],
    steps: int | None = None,
    record: Recorder = record_state,
    remat: bool = True,
    unroll: int = 1,
    block: int | None = None,
    devices: Sequence[jax.Device] | None = None,
) -> Data:
    """Return the Data of one world as a step of a rollout begins, its state bit for bit that of the rollout.

    All arguments but `world` and `step` are those of the call of `rollout` that is replayed: they decide the compiled
    loop, and it the bits. Only the worlds that shared its block run again, all of them, since they have a share in the
    bits too. What `rollout` carries from step to step is exact, the controls are those of the step, and derived fields
    are those of `d` until `forward` is called. What is computed from that Data outside the loop, its next state too,
    is that of the rollout up to rounding.

    Args:
      world: its number in the batch.
      step: number of the step, from 0; the number of steps for the end of the rollout. Several numbers give arrays
        with a leading axis for them.

    Raises:
      InputError: there is no such world or step, or arguments whose shapes do not fit.
    """
    batch = number_of_worlds("replay", m, d) or 0
    if not 0 <= world < batch:
        raise InputError(
            f"world={world}: d holds {f'worlds 0 to {batch - 1}' if batch else 'one world, without an axis'}"
        )
    ctrl = None if ctrl is None else jnp.asarray(ctrl, d.ctrl.dtype)
    if ctrl is not None and ctrl.ndim > 2 and ctrl.shape[0] != batch:
        raise InputError(f"ctrl has shape {ctrl.shape}, but d holds {batch} worlds")
    index, place, width = neighbours(world, batch, block or default_block(batch, devices), len(devices or "1"))
    some_m, some_d, some_ctrl = _worlds(index, m, d, ctrl)
    options = {"steps": steps, "remat": remat, "unroll": unroll, "block": width, "devices": devices}
    _, after = rollout(some_m, some_d, some_ctrl, record=_with_state(record), **options)
    own = None if ctrl is None else ctrl if ctrl.ndim < 3 else ctrl[world]
    return _begin(jax.tree.map(lambda x: x[world], d), own, jax.tree.map(lambda x: x[place], after), step)


def _worlds(index: np.ndarray, m: Model, d: Data, ctrl: Array | None) -> tuple[Model, Data, Array | None]:
    """Return the arguments with the worlds at `index`, where they have an axis of worlds."""
    leaves, structure = jax.tree.flatten((m, d, ctrl))
    declared = [*ranks(m), *ranks(d), *([] if ctrl is None else [2])]
    chosen = [x[index] if x.ndim > rank else x for x, rank in zip(leaves, declared, strict=True)]
    return jax.tree.unflatten(structure, chosen)


@functools.lru_cache
def _with_state(record: Recorder) -> Recorder:
    """Return the recorder of what `record` returns and of the state; the same one each time, compiled once."""

    def both(d: Data) -> tuple[Any, dict[str, Array]]:
        return record(d), {name: getattr(d, name) for name in CARRIED}

    return both


def _begin(d: Data, ctrl: Array | None, after: dict[str, Array], step: int | Sequence[int]) -> Data:
    """Return the Data with which steps begin.  d: the start; after: the state after each step."""
    number, length = np.asarray(step), len(after["time"])
    if number.dtype.kind not in "iu" or np.any(number < 0) or np.any(number > length):
        raise InputError(f"step={step}: the rollout has steps 0 to {length - 1}, and {length} is its end")
    state = {name: jnp.concatenate([getattr(d, name)[None], x]) for name, x in after.items()}
    if ctrl is not None:
        state["ctrl"] = jnp.concatenate([ctrl, state["ctrl"][-1:]])
    same = jax.tree.map(lambda x: jnp.broadcast_to(x, (*number.shape, *x.shape)), d)
    return same.replace(**{name: x[number] for name, x in state.items()})
