"""Many worlds from one: the same Data, but for the fields that are given."""

from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, shown
from mjx_like.types.data import Data

Array = jax.Array


def batch(d: Data, worlds: int | None = None, **fields: Any) -> Data:
    """Return many worlds: copies of `d`, but for the fields given, which have a leading world axis.

    `batch(d, qpos=starts)` is what `rollout` and `jax.vmap` take as worlds at `starts`. Derived fields are those of `d`
    until `forward` is called.

    Args:
      d: one world.
      worlds: their number; None for that of the fields.
      fields: arrays of shape (worlds, ...), by the name of the field of Data.

    Raises:
      InputError: `d` has a world axis already, no such field, an array of another shape, or no number of worlds.
    """
    if not isinstance(d, Data) or jnp.ndim(d.time):
        raise InputError("batch: d must be one Data without a world axis, as make_data returns it")
    count = None if worlds is None else whole_number("worlds", worlds, least=1)
    given = {}
    for name, value in fields.items():
        given[name] = _field(d, name, value, count)
        count = len(given[name])
    if count is None:
        raise InputError("batch: give worlds=, or a field with a leading world axis, such as qpos=")
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (count, *x.shape)), d).replace(**given)


def _field(d: Data, name: str, value: Any, count: int | None) -> Array:
    """Return a field of many worlds in the dtype of that of `d`.  count: number of worlds, None for any."""
    one = getattr(d, name, None)
    if not hasattr(one, "shape"):
        raise InputError(f"batch: Data has no array {name!r}")
    try:
        array = jnp.asarray(value, one.dtype)
    except (TypeError, ValueError):
        raise InputError(f"batch: {name}={shown(value)}: must be an array of numbers") from None
    lead = "worlds" if count is None else count
    if array.shape[1:] != one.shape or not array.ndim or count not in (None, len(array)):
        shape = ", ".join(map(str, (lead, *one.shape))) + ("," if not one.shape else "")
        raise InputError(f"batch: {name} has shape {array.shape}; it must be ({shape})")
    return array
