"""How the arrays of many worlds lie, and how many worlds run together."""

from collections.abc import Sequence
from typing import Any

import jax

from mjx_like.arguments import whole_number
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.worlds import ranks

Array = jax.Array

# Worlds that run together on a CPU, so that a step stays in the cache: those whose Data take so many bytes
_LEAST_BLOCK, _MOST_BLOCK, _BLOCK_BYTES = 16, 128, 6_000_000
# On a CPU, up to this many dofs, arrays of one world are so short that having the worlds last is faster.
MOST_DOFS_LAST = 16


def worlds_are_last(m: Model) -> bool:
    """Return whether arrays of many worlds have the axis of the worlds last within a step."""
    return jax.default_backend() == "cpu" and m.nv <= MOST_DOFS_LAST


def own_axes(m: Model, d: Data, ctrl: Array | None) -> list[bool]:
    """Return which leaves of (m, d, ctrl) have an axis of worlds, in the order of `jax.tree.leaves`."""
    declared = [*ranks(m), *ranks(d), *([] if ctrl is None else [2])]
    return [x.ndim > rank for x, rank in zip(jax.tree.leaves((m, d, ctrl)), declared, strict=True)]


def block_of(
    m: Model, d: Data, batch: int | None, block: int | None, devices: Sequence[jax.Device] | None = None
) -> int | None:
    """Return how many worlds run together, None for one without a world axis."""
    if block is not None:
        block = whole_number("block", block, least=1)
    if batch is None:
        return None
    return default_block(m, d, batch, devices) if block is None else block


def default_block(m: Model, worlds: Any, batch: int, devices: Sequence[jax.Device] | None = None) -> int:
    """Return how many worlds run together where `block` is None.

    worlds: Data, or a pytree that has it, of all of them.
    """
    platform = jax.default_backend() if devices is None else devices[0].platform
    if platform != "cpu":
        return batch
    if worlds_are_last(m) or m.hard is not None:  # lanes take many at a time; long searches are longer in few lots
        return _MOST_BLOCK
    each = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(worlds)) / max(batch, 1)
    block = _MOST_BLOCK
    while block > _LEAST_BLOCK and block * each > _BLOCK_BYTES:
        block //= 2
    return block
