"""Worlds in parallel: in blocks that stay in the CPU cache, and over devices, of several hosts too.

`in_blocks` and `over_devices` wrap a function `(worlds, shared) -> result`: `worlds` and `result` are pytrees of arrays
with a leading world axis, `shared` is the same for all. What a world computes depends on how the worlds are divided by
rounding at most; not even by that where blocks have the same worlds and each device has several of them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jaxlib
import numpy as np
from jax import lax
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from mjx_like.errors import InputError, UnsupportedError, shown

Batched = Callable[[Any, Any], Any]

_CRASHES = "0.11.2"  # jaxlib that ends the process where it compiles a program for several devices of a CPU


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


def can_share_cpu() -> bool:
    """Return whether programs for several devices of a CPU can be compiled."""
    return jaxlib.__version__ != _CRASHES


def over_devices(function: Batched, devices: Sequence[jax.Device]) -> Batched:
    """Return `function` applied to an equal share of the worlds on each device, all at the same time.

    Several devices on one CPU: set the environment variable NPROC well above their number before JAX starts, or XLA's
    runtime can hang with all its worker threads waiting for each other.

    Raises:
      UnsupportedError: several devices of a CPU, with the release of jaxlib that ends the process over them.
    """
    if len(devices) > 1 and devices[0].platform == "cpu" and not can_share_cpu():
        raise UnsupportedError(f"{len(devices)} devices of a CPU: jaxlib {_CRASHES} crashes; take another release")
    mesh = Mesh(np.asarray(devices), ("worlds",))
    split, whole = PartitionSpec("worlds"), PartitionSpec()
    sharded = jax.shard_map(function, mesh=mesh, in_specs=(split, whole), out_specs=split, check_vma=False)

    def spread(worlds: Any, shared: Any) -> Any:
        batch = _batch(worlds)
        return jax.tree.map(lambda x: x[:batch], sharded(_pad(worlds, len(devices)), shared))

    return spread


def spread_worlds(worlds: Any, devices: Sequence[jax.Device]) -> Any:
    """Return worlds with an equal share of them on each device, for `rollout(..., devices=devices)`.

    With several hosts (`jax.distributed.initialize`, then `devices=jax.devices()`, those of all hosts) each host gives
    all worlds and keeps the share of its own devices.

    Args:
      worlds: pytree of arrays with a leading world axis, as a batch of Data or controls (batch, steps, nu).
      devices: the devices, each once.

    Raises:
      InputError: no devices, or arrays without a leading axis that they share equally.
    """
    devices = list(devices)
    if not devices or not all(isinstance(x, jax.Device) for x in devices) or len(set(devices)) < len(devices):
        raise InputError(f"spread_worlds: devices={shown(devices)}: give devices, each once, such as jax.devices()")
    sharding = NamedSharding(Mesh(np.asarray(devices), ("worlds",)), PartitionSpec("worlds"))

    def spread(x: Any) -> jax.Array:
        shape = np.shape(x)
        if not shape or shape[0] % len(devices):
            raise InputError(
                f"spread_worlds: an array of shape {shape} has no worlds that {len(devices)} devices share equally"
            )
        return jax.make_array_from_callback(shape, sharding, lambda index: x[index])

    return jax.tree.map(spread, worlds)


def gather_worlds(worlds: Any) -> Any:
    """Return arrays of NumPy with all worlds, on every host: what a rollout over several hosts recorded.

    All hosts must call it, since they exchange their shares.  worlds: pytree of arrays, shared by hosts or not.
    """
    return jax.tree.map(lambda x: _gathered(x) if isinstance(x, jax.Array) else np.asarray(x), worlds)


def _gathered(x: jax.Array) -> np.ndarray:
    whole = x.is_fully_addressable
    return np.asarray(x) if whole else np.asarray(multihost_utils.process_allgather(x, tiled=True))


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
