"""Delayed controls, read from the history buffers of their actuators."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.select import take
from mjx_like.tree.history import Buffers, buffers, insert, read
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.plans import HistoryGroup

Array = jax.Array


def delayed_controls(m: Model, d: Data) -> Array:
    """Return the controls, shape (nu,), those of actuators with a delay as they were at `time` less the delay.

    Reads time, ctrl, history.  Source: mj_fwdActuation.
    """
    plan = m.plans.actuator
    if not m.has["actuator_delay"].any():
        return d.ctrl
    values = [
        read(buffers(d.history, g), d.time - take(m.actuator_delay, g.ids), g.interp).ravel() for g in plan.history
    ]
    past = take(jnp.concatenate([*values, jnp.zeros(1, d.ctrl.dtype)]), plan.delayed)
    owner = np.repeat(np.arange(m.nactuator), m.actuator_ctrlnum)
    return jnp.where(m.has["actuator_delay"][owner] & (take(m.actuator_delay, owner) != 0), past, d.ctrl)


def recorded_controls(m: Model, d: Data) -> list[tuple[HistoryGroup, Buffers]]:
    """Return the buffers of controls with those of this time in them.

    Reads time, ctrl, history.  Source: mj_advance.
    """
    out = []
    for g in m.plans.actuator.history:
        cells = (m.actuator_ctrladr[g.ids, None] + np.arange(g.dim)).ravel()
        out.append((g, insert(buffers(d.history, g), d.time, take(d.ctrl, cells).reshape(-1, g.dim))))
    return out
