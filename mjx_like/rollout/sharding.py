"""Worlds in parallel: in blocks that stay in the CPU cache, and over devices.

Both wrap a function `(worlds, shared) -> result`: `worlds` and `result` are pytrees of arrays with a leading world
axis, `shared` is the same for all. What a world computes depends on how the worlds are divided by rounding at most.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

Batched = Callable[[Any, Any], Any]


def in_blocks(function: Batched, size: int) -> Batched:
    """Return `function` applied to blocks of at most `size` worlds, one block after the other.

    Blocks are equal: 1000 worlds in blocks of 128 are 8 blocks of 125; a last block that is short repeats worlds.
    """

    def blocked(worlds: Any, shared: Any) -> Any:
        batch = _batch(worlds)
        count = -(-batch // size)
        if count <= 1:
            return function(worlds, shared)
        padded = _pad(worlds, count)
        split = jax.tree.map(lambda x: x.reshape((count, x.shape[0] // count, *x.shape[1:])), padded)
        result = lax.map(lambda block: function(block, shared), split)
        return jax.tree.map(lambda x: x.reshape((x.shape[0] * x.shape[1], *x.shape[2:]))[:batch], result)

    return blocked


def over_devices(function: Batched, devices: Sequence[jax.Device]) -> Batched:
    """Return `function` applied to an equal share of the worlds on each device, all at the same time.

    Several devices on one CPU: set the environment variable NPROC well above their number before JAX starts, or XLA's
    runtime can hang with all its worker threads waiting for each other.
    """
    mesh = Mesh(np.asarray(devices), ("worlds",))
    split, whole = PartitionSpec("worlds"), PartitionSpec()
    sharded = jax.shard_map(function, mesh=mesh, in_specs=(split, whole), out_specs=split, check_vma=False)

    def spread(worlds: Any, shared: Any) -> Any:
        batch = _batch(worlds)
        return jax.tree.map(lambda x: x[:batch], sharded(_pad(worlds, len(devices)), shared))

    return spread


def neighbours(world: int, batch: int, size: int, devices: int = 1) -> tuple[np.ndarray, int, int]:
    """Return which worlds to run for the block of one world to run anew: (worlds, its place in them, size of a block).

    A loop over several blocks is not compiled as one block alone is, but its bits do not depend on their number: of a
    block that was one of several, there are two; and as many for each device.
    """
    share = -(-batch // devices)
    count = -(-share // size)
    width = -(-share // count)
    device, own = divmod(world, share)
    block, place = divmod(own, width)
    index = (device * share + (block * width + np.arange(width)) % share) % batch
    return np.tile(index, devices * min(count, 2)), place, width


def _batch(worlds: Any) -> int:
    return jax.tree.leaves(worlds)[0].shape[0]


def _pad(worlds: Any, parts: int) -> Any:
    """Return `worlds` with the first ones repeated at the end, so that their number divides by `parts`."""
    batch = _batch(worlds)
    index = np.arange(-(-batch // parts) * parts) % batch
    return worlds if len(index) == batch else jax.tree.map(lambda x: x[index], worlds)
