"""Delayed and periodic sensors: what `sensordata` takes from history buffers, and what goes into them."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.select import take
from mjx_like.tree.history import Buffers, buffers, insert, read
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.plans import HistoryGroup, SensorStage

Array = jax.Array


def held(m: Model, d: Data, stage: SensorStage, values: Array) -> Array:
    """Return the values of a stage, shape (nvalue,), with those of sensors that do not show them now from buffers.

    A sensor with a delay shows what it was at `time` less the delay; a periodic one is evaluated when its tick is due.
    Reads time, history.  Source: compute_or_read_sensor of engine_sensor.
    """
    past, shown = [jnp.zeros(0, values.dtype)], [jnp.zeros(0, bool)]
    for g in m.plans.sensor.history:
        b, delay, period = buffers(d.history, g), take(m.sensor_delay, g.ids), take(m.sensor_interval, g.ids)[:, 0]
        late = m.has["sensor_delay"][g.ids] & (delay > 0)
        waits = (period > 0) & (b.tick + period > d.time)
        past.append(read(b, d.time - jnp.where(late, delay, 0), g.interp).ravel())
        shown.append(jnp.repeat(late | waits, g.dim, total_repeat_length=g.ids.size * g.dim))
    past = take(jnp.concatenate([*past, jnp.zeros(1, values.dtype)]), stage.recorded)
    shown = take(jnp.concatenate([*shown, jnp.zeros(1, bool)]), stage.recorded)
    return jnp.where(shown, past, values)


def record(m: Model, d: Data, now: Array) -> list[tuple[HistoryGroup, Buffers]]:
    """Return the buffers with the samples of this time that are due in them.

    now: sensordata with the values of delayed sensors at this time, shape (nsensordata,).
    Reads time, sensordata, history.
    """
    out = []
    for g in m.plans.sensor.history:
        b, cells = buffers(d.history, g), (m.sensor_adr[g.ids, None] + np.arange(g.dim)).ravel()
        late = m.has["sensor_delay"][g.ids] & (take(m.sensor_delay, g.ids) > 0)
        period = take(m.sensor_interval, g.ids)[:, 0]
        samples = [take(x, cells).reshape(-1, g.dim) for x in (now, d.sensordata)]
        new = insert(b, d.time, jnp.where(late[:, None], *samples))
        due = (period <= 0) | (b.tick + period <= d.time)
        tick = jnp.where((period > 0) & due, b.tick + period, b.tick)
        kept = jax.tree.map(lambda x, y: jnp.where(due.reshape(-1, *(1,) * (x.ndim - 1)), x, y), new, b)  # noqa: B023
        out.append((g, kept._replace(tick=tick)))
    return out


def total_recorded(m: Model) -> int:
    """Return the number of values that one sample of every sensor's buffer holds."""
    return sum(g.ids.size * g.dim for g in m.plans.sensor.history)
