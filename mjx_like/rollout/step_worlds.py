"""One step of many worlds, for loops that users write themselves."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.arguments import truth
from mjx_like.errors import InputError
from mjx_like.math.world_last import map_last
from mjx_like.rollout.layout import block_of, own_axes, worlds_are_last
from mjx_like.rollout.recording import Recorder, check_record, record_state
from mjx_like.rollout.rollout import check_types, recomputed, start_of
from mjx_like.rollout.sharding import in_blocks
from mjx_like.step import step
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.worlds import number_of_worlds

Array = jax.Array


def step_worlds(
    m: Model, d: Data, *, record: Recorder = record_state, remat: bool = True, block: int | None = None
) -> tuple[Any, Data]:
    """Return what was recorded of one step of many worlds, and their Data one time step later: `(records, Data)`.

    What `jax.vmap(step)` does, at the speed of `rollout`, for a loop of your own: `jax.lax.scan` with a network in it,
    controls by what was seen, a change of the model on the way. As in `rollout` only state, inputs and counters of the
    Data returned are new; its derived fields are those of `d`, so that a loop neither writes nor carries them. What you
    read of a step (`xpos`, `sensordata`, contacts), `record` returns. Differentiable in both modes.

    Args:
      m: the model; its arrays may have a world axis too.
      d: the worlds: Data whose arrays have a leading world axis.
      record: function of the Data of one world after the step, derived fields being those of its start, as `step`
        leaves them; any pytree. The Trajectory of state and sensors by default.
      remat: in reverse mode, store only the state, the solver's acceleration and what the search for contacts of convex
        geoms found, and compute the rest again.
      block: worlds that run together; None on a CPU for 16 to 128, as many as its cache has room for, else for all.

    Raises:
      InputError: `d` has no world axis or does not fit `m`; another argument that is not as said.
    """
    batch = number_of_worlds("step_worlds", m, d)
    if batch is None:
        raise InputError("step_worlds: d holds one world: take step(m, d), or give its arrays a leading world axis")
    check_types("step_worlds", m, d)
    check_record(record)
    remat = truth("remat", remat)
    block = block_of(m, d, batch, block)
    own, (leaves, structure) = own_axes(m, d, None), jax.tree.flatten((m, d))
    one = functools.partial(_step, record)
    mapped = jax.tree.unflatten(structure, own)
    many = (
        _worlds_last(one, mapped)
        if worlds_are_last(m)
        else jax.vmap(one, jax.tree.map(lambda x: 0 if x else None, mapped))
    )

    def together(worlds: list[Array], shared: list[Array]) -> tuple[dict[str, Array], Any]:
        worlds, shared = iter(worlds), iter(shared)
        return many(*jax.tree.unflatten(structure, [next(worlds if x else shared) for x in own]))

    parts = ([x for x, is_own in zip(leaves, own, strict=True) if is_own == wanted] for wanted in (True, False))
    state, records = in_blocks(recomputed(together, remat), block)(*parts)
    return records, d.replace(**state)


def _step(record: Recorder, m: Model, d: Data) -> tuple[dict[str, Array], Any]:
    d = step(m, d)
    return start_of(d), record(d)


def _worlds_last(one: Any, mapped: Any) -> Any:
    """Return `one` as a function of many worlds, with these on the last axis of every array inside."""

    def many(*args: Any) -> Any:
        args = jax.tree.map(lambda x, own: jnp.moveaxis(x, 0, -1) if own else x, args, mapped)
        return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), map_last(one, mapped)(*args))

    return many
