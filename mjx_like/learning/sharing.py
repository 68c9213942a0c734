"""Worlds shared by devices: each collects from its own and learns from their data, with the mean of all gradients."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Array = jax.Array
AXIS = "worlds"
SHARED, OWN = PartitionSpec(), PartitionSpec(AXIS)


def shared_by(devices: Sequence[jax.Device], function: Callable[..., Any], arguments: Any, results: Any) -> Any:
    """Return a function that runs on all devices at once, each with its share of the worlds.

    arguments, results: trees of SHARED and OWN, which say what has an axis of worlds.
    """
    return jax.shard_map(function, mesh=_mesh(devices), in_specs=arguments, out_specs=results, check_vma=False)


def places(devices: Sequence[jax.Device], tree: Any) -> Any:
    """Return a tree of SHARED and OWN as shardings."""
    mesh = _mesh(devices)
    return jax.tree.map(lambda spec: NamedSharding(mesh, spec), tree, is_leaf=lambda x: isinstance(x, PartitionSpec))


def _mesh(devices: Sequence[jax.Device]) -> Mesh:
    return Mesh(np.asarray(devices), (AXIS,))


def mean(tree: Any) -> Any:
    """Return the mean over the devices."""
    return lax.pmean(tree, AXIS)


def total(tree: Any) -> Any:
    """Return the sum over the devices."""
    return lax.psum(tree, AXIS)


def own_key(rng: Array) -> Array:
    """Return a key that this device has for itself."""
    return jax.random.fold_in(rng, lax.axis_index(AXIS))


def fitting(devices: Sequence[jax.Device] | None, *worlds: int) -> tuple[jax.Device, ...]:
    """Return the devices, or all there are, without those at the end for whom the numbers of worlds do not divide."""
    chosen = tuple(jax.devices() if devices is None else devices)
    while any(number % len(chosen) for number in worlds):
        chosen = chosen[:-1]
    return chosen
