"""History buffers at rest, and reading and filling them by hand."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError
from mjx_like.math import safe
from mjx_like.tree.history import Buffers, buffers, empty, join, read
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.plans import HistoryGroup

Array = jax.Array


def initial_history(m: Model) -> Array:
    """Return the history buffers of a world that starts at time 0, shape (nhistory,): samples of zero in the past.

    Those of periodic sensors stand a period apart, at the first time step that is not before.  Source: mj_resetData.
    """
    h, parts = m.opt.timestep, []
    for g in m.plans.actuator.history:
        steps = jnp.broadcast_to(h * (np.arange(g.nsample) - g.nsample), (g.ids.size, g.nsample))
        parts.append((g, empty(g, steps, jnp.zeros(g.ids.size, h.dtype))))
    for g in m.plans.sensor.history:
        period, phase = (m.sensor_interval[g.ids, k, None] for k in (0, 1))
        last = jnp.where(phase == 0, -period, phase)
        ticks = jnp.ceil(safe.ratio(last + period * (np.arange(g.nsample) + 1 - g.nsample), h)) * h
        times = jnp.where(period > 0, ticks, h * (np.arange(g.nsample) - g.nsample))
        parts.append((g, empty(g, times, jnp.where(period > 0, last, -h)[:, 0])))
    return join(jnp.zeros(m.nhistory, h.dtype), parts)


def read_ctrl(m: Model, d: Data, actuator: int, time: Array | float, interp: int = -1) -> Array:
    """Return the controls that an actuator with its delay sees at a time [s], shape (ctrlnum,).

    interp: 0 the sample before, 1 linear, 2 cubic, -1 as the model says. Without a buffer: the controls of now.
    Reads ctrl, history.  Source: mj_readCtrl.
    """
    group = _group(m.plans.actuator.history, actuator)
    if group is None:
        start = m.actuator_ctrladr[actuator]
        return d.ctrl[start : start + m.actuator_ctrlnum[actuator]]
    return _read(d, group, actuator, jnp.asarray(time, d.time.dtype) - m.actuator_delay[actuator], interp)


def read_sensor(m: Model, d: Data, sensor: int, time: Array | float, interp: int = -1) -> Array:
    """Return the values that a sensor with its delay shows at a time [s], shape (dim,); arguments as `read_ctrl`.

    Reads sensordata, history.  Source: mj_readSensor.
    """
    group = _group(m.plans.sensor.history, sensor)
    if group is None:
        start = m.sensor_adr[sensor]
        return d.sensordata[start : start + m.sensor_dim[sensor]]
    return _read(d, group, sensor, jnp.asarray(time, d.time.dtype) - m.sensor_delay[sensor], interp)


def init_ctrl_history(m: Model, d: Data, actuator: int, times: Array | None, values: Array) -> Data:
    """Return `d` with the samples of an actuator's buffer, oldest first; times None: as they are.

    times: shape (nsample,), increasing [s]; values: shape (nsample, ctrlnum).

    Raises:
      InputError: the actuator has no buffer, or an array has another shape.

    Source: mj_initCtrlHistory.
    """
    return _fill(d, _group(m.plans.actuator.history, actuator), "actuator", actuator, times, values, None)


def init_sensor_history(
    m: Model, d: Data, sensor: int, times: Array | None, values: Array, phase: Array | float
) -> Data:
    """Return `d` with the samples of a sensor's buffer, oldest first; times None: as they are.

    times: shape (nsample,), increasing [s]; values: shape (nsample, dim); phase: time of the last periodic sample [s].

    Raises:
      InputError: the sensor has no buffer, or an array has another shape.

    Source: mj_initSensorHistory.
    """
    return _fill(d, _group(m.plans.sensor.history, sensor), "sensor", sensor, times, values, phase)


def _group(groups: tuple[HistoryGroup, ...], index: int) -> HistoryGroup | None:
    """Return the group of one actuator or sensor alone, or None where it has no buffer."""
    for g in groups:
        if index in g.ids:
            row = np.flatnonzero(g.ids == index)
            return HistoryGroup(g.nsample, g.dim, g.interp, g.ids[row], g.cells[row])
    return None


def _read(d: Data, group: HistoryGroup, index: int, time: Array, interp: int) -> Array:
    return read(buffers(d.history, group), time[None], group.interp if interp < 0 else interp)[0]


def _fill(
    d: Data,
    group: HistoryGroup | None,
    kind: str,
    index: int,
    times: Array | None,
    values: Array,
    tick: Array | float | None,
) -> Data:
    if group is None:
        raise InputError(f"{kind} {index} has no history buffer; give it nsample")
    old, values = buffers(d.history, group), jnp.asarray(values, d.history.dtype)
    wanted = (group.nsample,), (group.nsample, group.dim)
    given = wanted[0] if times is None else jnp.shape(times)
    if given != wanted[0] or values.shape != wanted[1]:
        raise InputError(f"times {given} and values {values.shape} of {kind} {index} need shapes {wanted}")
    tick = old.tick if tick is None else jnp.reshape(jnp.asarray(tick, old.tick.dtype), 1)
    if times is None:
        rank = jnp.mod(np.arange(group.nsample) - old.cursor[0].astype(int) - 1, group.nsample)
        new = Buffers(tick, old.cursor, old.times, values[rank][None])
    else:
        last = jnp.full_like(old.cursor, group.nsample - 1)
        new = Buffers(tick, last, jnp.asarray(times, d.history.dtype)[None], values[None])
    return d.replace(history=join(d.history, [(group, new)]))
