"""Sensors, evaluated in three stages."""

import jax
import jax.numpy as jnp

from mjx_like.math.select import take
from mjx_like.sensor.delay import held, record, total_recorded
from mjx_like.sensor.table import NEEDS, SENSORS
from mjx_like.tree.history import Buffers
from mjx_like.types.data import Data
from mjx_like.types.enums import SensorType, Stage
from mjx_like.types.model import Model
from mjx_like.types.plans import HistoryGroup, SensorStage

Array = jax.Array


def sensor_pos(m: Model, d: Data) -> Data:
    """Return `d` with the sensors that depend on position only.

    Reads positions, poses and constraint rows. Writes sensordata, energy (where a sensor asks for it); the sensor of
    the kinetic energy belongs here, as in MuJoCo, and reads M and qvel.
    Source: mj_sensorPos.
    """
    return _evaluate(m, _prepared(m, d, m.plans.sensor.pos, Stage.POS), m.plans.sensor.pos)


def sensor_vel(m: Model, d: Data) -> Data:
    """Return `d` with the sensors that depend on velocity.

    Reads velocities and constraint rows. Writes sensordata, and where a sensor asks for them subtree_linvel and
    subtree_angmom.  Source: mj_sensorVel.
    """
    return _evaluate(m, _prepared(m, d, m.plans.sensor.vel, Stage.VEL), m.plans.sensor.vel)


def sensor_acc(m: Model, d: Data) -> Data:
    """Return `d` with the sensors that depend on acceleration or force.

    Reads accelerations, forces and contacts. Writes sensordata, and where a sensor asks for them cacc, cfrc_ext and
    cfrc_int.  Source: mj_sensorAcc.
    """
    return _evaluate(m, _prepared(m, d, m.plans.sensor.acc, Stage.ACC), m.plans.sensor.acc)


def recorded_sensors(m: Model, d: Data) -> list[tuple[HistoryGroup, Buffers]]:
    """Return the buffers of sensors with the samples of this time that are due in them.

    A sensor with a delay is evaluated again; what `sensordata` holds of it is older.
    Reads time, sensordata, history and what the sensors read.  Source: mj_advance.
    """
    if not m.plans.sensor.history:
        return []
    now = _evaluate(m, d, m.plans.sensor.delayed, recorded=False).sensordata
    return record(m, d, now)


def _prepared(m: Model, d: Data, sensors: SensorStage, stage: Stage) -> Data:
    """Return `d` with what the sensors of a stage need beyond forward dynamics."""
    asked = {computation for kind in sensors.types for computation in SENSORS[SensorType(kind)].needs}
    for computation, at in NEEDS.items():
        if at == stage and computation in asked:
            d = computation(m, d)
    return d


def _evaluate(m: Model, d: Data, stage: SensorStage, recorded: bool = True) -> Data:
    if not stage.groups:
        return d
    values = [jnp.ravel(SENSORS[SensorType(group.type)].kernel(m, d, group)) for group in stage.groups]
    values = cut_off(m, stage, jnp.concatenate(values).astype(d.sensordata.dtype))
    if recorded and (stage.recorded < total_recorded(m)).any():
        values = held(m, d, stage, values)
    return d.replace(sensordata=take(jnp.concatenate([values, d.sensordata]), stage.order))


def cut_off(m: Model, stage: SensorStage, values: Array) -> Array:
    """Return sensor values within their cutoffs: real ones on both sides, positive ones from above."""
    cutoff = take(m.sensor_cutoff, stage.owner)
    on = stage.clipped & (cutoff > 0)
    values = jnp.where(on & (values > cutoff), cutoff, values)
    return jnp.where(on & stage.symmetric & (values < -cutoff), -cutoff, values)
