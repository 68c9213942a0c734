"""Where optimisation starts: worlds, controls and states that a solver is given, checked and in one shape."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.control.follow import Path
from mjx_like.control.states import check_memory, states_of
from mjx_like.errors import InputError, shown
from mjx_like.state.batch import batch
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.worlds import number_of_worlds

Array = jax.Array


class Start(NamedTuple):
    """Worlds and controls with an axis of starts."""

    d: Data  # (starts, ...)
    ctrl: Array  # (starts, steps, nu)
    many: bool  # whether they were given with that axis


def start_of(caller: str, m: Model, d: Data, ctrl: Any) -> Start:
    """Return worlds and controls of as many starts as either has.

    Args:
      d: one world or a batch; ctrl: shape (steps, nu), or (starts, steps, nu).

    Raises:
      InputError: shapes that do not fit, or controls that are not finite.
    """
    worlds = number_of_worlds(caller, m, d)
    check_memory(m)
    try:
        ctrl = jnp.asarray(ctrl, d.ctrl.dtype)
    except (TypeError, ValueError):
        raise InputError(f"{caller}: ctrl={shown(ctrl)}: must be an array of numbers") from None
    starts = ctrl.shape[0] if ctrl.ndim == 3 else None
    both = None not in (starts, worlds) and starts != worlds
    if ctrl.ndim not in (2, 3) or ctrl.shape[-1] != m.nu or 0 in ctrl.shape or both:
        lead = "starts" if worlds is None else worlds
        raise InputError(
            f"{caller}: ctrl has shape {ctrl.shape}; it must be (steps, nu) or ({lead}, steps, nu), with nu={m.nu}"
        )
    if not np.all(np.isfinite(ctrl)):
        raise InputError(f"{caller}: ctrl has numbers that are not finite")
    count = starts or worlds or 1
    d = batch(d, count) if worlds is None else d
    return Start(d, jnp.broadcast_to(ctrl, (count, *ctrl.shape[-2:])), starts is not None or worlds is not None)


def first_path(m: Model, start: Start, segments: int, states: Any, limits: Array) -> Path:
    """Return paths that hold the controls and segment starts to begin with; their states are not rolled out yet.

    states: guessed states after each step, with qpos and qvel of shape (..., steps, n); None for segments that all
    begin at `d`.

    Raises:
      InputError: segments that do not divide the steps, or states of another shape.
    """
    segments, (count, steps) = whole_number("segments", segments, least=1), start.ctrl.shape[:2]
    if steps % segments:
        raise InputError(f"segments={segments}: must divide the number of steps, {steps}")
    first = states_of(start.d)
    starts = jax.tree.map(lambda x: jnp.repeat(x[:, None], segments, axis=1), first)
    length = steps // segments
    clock = first.time[:, None] + m.opt.timestep * length * np.arange(segments)
    starts = starts._replace(time=clock.astype(first.time.dtype))
    if states is not None:
        known = {name: _guess(states, name, getattr(first, name), steps) for name in ("qpos", "qvel")}
        later = {name: x[:, length - 1 : -1 : length] for name, x in known.items()}
        starts = starts._replace(**{name: getattr(starts, name).at[:, 1:].set(x) for name, x in later.items()})
    held = jax.tree.map(lambda x: jnp.repeat(x, length, axis=1), starts)
    none = jnp.full(count, jnp.inf, start.ctrl.dtype)
    return Path(starts, held, jnp.clip(start.ctrl, limits[:, 0], limits[:, 1]), none, none)


def _guess(states: Any, name: str, one: Array, steps: int) -> Array:
    shape, wanted = jnp.shape(getattr(states, name, 0)), (steps, one.shape[-1])
    if shape not in (wanted, (len(one), *wanted)):
        raise InputError(f"states.{name} has shape {shape}; it must be {wanted}, the states after each step")
    return jnp.broadcast_to(getattr(states, name), (len(one), *wanted)).astype(one.dtype)
