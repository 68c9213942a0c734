"""Models and Data from objects of `mujoco` and back; state vectors.

Arguments that choose among MJX's implementations or size the buffers of Warp are taken and change nothing: there is one
engine here, and the capacities are those of the Model (`put_model(m, nconmax=..., njmax=...)`).
"""

from typing import Any

import jax

from mjx_like.compat.mjx._src.types import Data, Impl, Model, adapted, data_of, model_of, native
from mjx_like.interop.convert import put_data as _put_data
from mjx_like.interop.convert import put_model as _put_model
from mjx_like.interop.to_mujoco import get_data as _get_data
from mjx_like.interop.to_mujoco import get_data_into as _get_data_into
from mjx_like.state.initial import make_data as _make_data
from mjx_like.state.vector import get_state as _get_state
from mjx_like.state.vector import set_state as _set_state
from mjx_like.state.vector import state_size as _state_size
from mjx_like.types import model as _model

get_state = adapted(_get_state)
set_state = adapted(_set_state)
state_size = adapted(_state_size)


def put_model(
    m: Any,
    device: jax.Device | None = None,
    impl: str | Impl | None = None,
    graph_mode: Any = None,
    keepalive_refs: dict | None = None,
    batch_sizes: dict | None = None,
    **capacities: Any,
) -> Model:
    """Return the Model of a mujoco.MjModel.

    Args:
      m: the MjModel.
      device: where its arrays are put; None for the default device.
      impl: a name of MJX's; likewise graph_mode, keepalive_refs and batch_sizes change nothing.
      capacities: `nconmax`, `njmax`, and what else `mjx_like.put_model` takes.

    Raises:
      ValueError: an `impl` that MJX does not have.
    """
    _check(impl)
    return jax.device_put(model_of(_put_model(m, **capacities)), device)


def make_data(
    m: Any,
    device: jax.Device | None = None,
    impl: str | Impl | None = None,
    _full_compat: bool = False,
    naconmax: int | None = None,
    naccdmax: int | None = None,
    njmax: int | None = None,
    nvmax: int | None = None,
    keepalive_refs: dict | None = None,
) -> Data:
    """Return the Data of one world at `qpos0`, of a Model or a mujoco.MjModel; other arguments as `put_model`."""
    _check(impl)
    m = native(m) if isinstance(m, _model.Model) else _put_model(m)
    return jax.device_put(data_of(_make_data(m)), device)


def put_data(
    m: Any,
    d: Any,
    device: jax.Device | None = None,
    impl: str | Impl | None = None,
    naconmax: int | None = None,
    naccdmax: int | None = None,
    njmax: int | None = None,
    nvmax: int | None = None,
    dummy_arg_for_batching: jax.Array | None = None,
    keepalive_refs: dict | None = None,
) -> Data:
    """Return the Data of a mujoco.MjData, contacts and constraint rows included; other arguments as `put_model`."""
    _check(impl)
    return jax.device_put(data_of(_put_data(m, d)), device)


def get_data(m: Any, d: Data, keepalive_refs: dict | None = None) -> Any:
    """Return a new mujoco.MjData that holds `d`; a list of them if `d` has a leading batch axis."""
    return _get_data(m, native(d))


def get_data_into(result: Any, m: Any, d: Data, keepalive_refs: dict | None = None) -> None:
    """Write `d` into an existing mujoco.MjData, or a list of them if `d` has a leading batch axis."""
    _get_data_into(result, m, native(d))


def _check(impl: str | Impl | None) -> None:
    if impl is not None:
        Impl(impl)
