"""State vectors: chosen parts of Data as one flat array, by bit mask."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError
from mjx_like.types.data import Data
from mjx_like.types.enums import State
from mjx_like.types.model import Model
from mjx_like.types.pytree import leaves, shape_in
from mjx_like.worlds import one_world

Array = jax.Array

# In the order of the bits, which is the order in the vector; plugins, which are out of scope, have no entries in it.
FIELDS = dict(sorted((f.metadata["bit"], f.name) for f in leaves(Data) if f.metadata["bit"]))


def _names(spec: State | int) -> list[str]:
    mask = whole_number("spec", spec, also=", bits of State")
    if not 0 <= mask < 1 << 15:
        raise InputError(f"state mask {mask} has bits that are no member of State")
    return [name for bit, name in FIELDS.items() if mask & bit]


def _shapes(m: Model, names: list[str]) -> list[tuple[int, ...]]:
    return [shape_in(m.topology, Data.__dataclass_fields__[name].metadata["shape"]) for name in names]


def state_size(m: Model, spec: State | int) -> int:
    """Return the length of the state vector of the parts in `spec`.  Source: mj_stateSize."""
    return sum(int(np.prod(shape)) for shape in _shapes(m, _names(spec)))


def get_state(m: Model, d: Data, spec: State | int) -> Array:
    """Return the parts of `d` in `spec`, one after the other, shape (state_size,).

    Raises:
      InputError: `d` is not one world of `m`, or bits that are no member of State.

    Source: mj_getState.
    """
    one_world("get_state", m, d)
    parts = [jnp.ravel(getattr(d, name)).astype(d.qpos.dtype) for name in _names(spec)]
    return jnp.concatenate(parts) if parts else jnp.zeros(0, d.qpos.dtype)


def set_state(m: Model, d: Data, state: Array, spec: State | int) -> Data:
    """Return `d` with the parts in `spec` taken from a vector of shape (state_size,).

    Raises:
      InputError: `d` is not one world of `m`, or a vector of another length.

    Source: mj_setState.
    """
    one_world("set_state", m, d)
    names, state = _names(spec), jnp.asarray(state)
    if state.shape != (state_size(m, spec),):
        raise InputError(f"the state vector has shape {state.shape}, this mask needs ({state_size(m, spec)},)")
    changes, at = {}, 0
    for name, shape in zip(names, _shapes(m, names), strict=True):
        size = int(np.prod(shape))
        changes[name] = state[at : at + size].reshape(shape).astype(getattr(d, name).dtype)
        at += size
    return d.replace(**changes)
