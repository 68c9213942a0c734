"""Sensors: one table of kernels, evaluated in three stages."""

import jax
import jax.numpy as jnp

from mjx_like.math.select import take
from mjx_like.postconstraint.rne_postconstraint import rne_postconstraint
from mjx_like.sensor import frame, joint, scene, site, view
from mjx_like.sensor.contact import contact
from mjx_like.sensor.delay import held, record, total_recorded
from mjx_like.sensor.distance import geomdist, geomfromto, geomnormal
from mjx_like.sensor.tactile import tactile
from mjx_like.sensor.touch import touch
from mjx_like.smooth.energy import energy_pos, energy_vel
from mjx_like.smooth.subtree_vel import subtree_vel
from mjx_like.tree.history import Buffers
from mjx_like.types.data import Data
from mjx_like.types.enums import SensorType
from mjx_like.types.model import Model
from mjx_like.types.plans import HistoryGroup, SensorStage

Array = jax.Array

# Each kernel takes (m, d, group) and returns the values of the group's sensors, sensor by sensor.
SENSORS = {
    SensorType.TOUCH: touch,
    SensorType.ACCELEROMETER: site.accelerometer,
    SensorType.VELOCIMETER: site.velocimeter,
    SensorType.GYRO: site.gyro,
    SensorType.FORCE: site.force,
    SensorType.TORQUE: site.torque,
    SensorType.MAGNETOMETER: site.magnetometer,
    SensorType.RANGEFINDER: view.rangefinder,
    SensorType.CAMPROJECTION: view.camprojection,
    SensorType.JOINTPOS: joint.jointpos,
    SensorType.JOINTVEL: joint.jointvel,
    SensorType.TENDONPOS: joint.tendonpos,
    SensorType.TENDONVEL: joint.tendonvel,
    SensorType.ACTUATORPOS: joint.actuatorpos,
    SensorType.ACTUATORVEL: joint.actuatorvel,
    SensorType.ACTUATORFRC: joint.actuatorfrc,
    SensorType.JOINTACTFRC: joint.jointactfrc,
    SensorType.TENDONACTFRC: joint.tendonactfrc,
    SensorType.BALLQUAT: joint.ballquat,
    SensorType.BALLANGVEL: joint.ballangvel,
    SensorType.JOINTLIMITPOS: joint.jointlimitpos,
    SensorType.JOINTLIMITVEL: joint.jointlimitvel,
    SensorType.JOINTLIMITFRC: joint.jointlimitfrc,
    SensorType.TENDONLIMITPOS: joint.tendonlimitpos,
    SensorType.TENDONLIMITVEL: joint.tendonlimitvel,
    SensorType.TENDONLIMITFRC: joint.tendonlimitfrc,
    SensorType.FRAMEPOS: frame.framepos,
    SensorType.FRAMEQUAT: frame.framequat,
    SensorType.FRAMEXAXIS: frame.framexaxis,
    SensorType.FRAMEYAXIS: frame.frameyaxis,
    SensorType.FRAMEZAXIS: frame.framezaxis,
    SensorType.FRAMELINVEL: frame.framelinvel,
    SensorType.FRAMEANGVEL: frame.frameangvel,
    SensorType.FRAMELINACC: frame.framelinacc,
    SensorType.FRAMEANGACC: frame.frameangacc,
    SensorType.CONTACT: contact,
    SensorType.GEOMDIST: geomdist,
    SensorType.GEOMNORMAL: geomnormal,
    SensorType.GEOMFROMTO: geomfromto,
    SensorType.SUBTREECOM: scene.subtreecom,
    SensorType.SUBTREELINVEL: scene.subtreelinvel,
    SensorType.SUBTREEANGMOM: scene.subtreeangmom,
    SensorType.INSIDESITE: scene.insidesite,
    SensorType.E_POTENTIAL: scene.e_potential,
    SensorType.E_KINETIC: scene.e_kinetic,
    SensorType.CLOCK: scene.clock,
    SensorType.TACTILE: tactile,
    SensorType.USER: scene.user,
}
SUBTREE = {SensorType.SUBTREELINVEL, SensorType.SUBTREEANGMOM, SensorType.USER}
BODY_FORCE = {
    SensorType.ACCELEROMETER,
    SensorType.FORCE,
    SensorType.TORQUE,
    SensorType.FRAMELINACC,
    SensorType.FRAMEANGACC,
    SensorType.USER,
}


def sensor_pos(m: Model, d: Data) -> Data:
    """Return `d` with the sensors that depend on position only.

    Reads positions, poses and constraint rows. Writes sensordata, energy (where a sensor asks for it); the sensor of
    the kinetic energy belongs here, as in MuJoCo, and reads M and qvel.
    Source: mj_sensorPos.
    """
    stage = m.plans.sensor.pos
    if SensorType.E_POTENTIAL in stage.types:
        d = energy_pos(m, d)
    if SensorType.E_KINETIC in stage.types:
        d = energy_vel(m, d)
    return _evaluate(m, d, stage)


def sensor_vel(m: Model, d: Data) -> Data:
    """Return `d` with the sensors that depend on velocity.

    Reads velocities and constraint rows. Writes sensordata, and where a sensor asks for them subtree_linvel and
    subtree_angmom.  Source: mj_sensorVel.
    """
    stage = m.plans.sensor.vel
    if stage.types & SUBTREE:
        d = subtree_vel(m, d)
    return _evaluate(m, d, stage)


def sensor_acc(m: Model, d: Data) -> Data:
    """Return `d` with the sensors that depend on acceleration or force.

    Reads accelerations, forces and contacts. Writes sensordata, and where a sensor asks for them cacc, cfrc_ext and
    cfrc_int.  Source: mj_sensorAcc.
    """
    stage = m.plans.sensor.acc
    if stage.types & BODY_FORCE:
        d = rne_postconstraint(m, d)
    return _evaluate(m, d, stage)


def recorded_sensors(m: Model, d: Data) -> list[tuple[HistoryGroup, Buffers]]:
    """Return the buffers of sensors with the samples of this time that are due in them.

    A sensor with a delay is evaluated again; what `sensordata` holds of it is older.
    Reads time, sensordata, history and what the sensors read.  Source: mj_advance.
    """
    if not m.plans.sensor.history:
        return []
    now = _evaluate(m, d, m.plans.sensor.delayed, recorded=False).sensordata
    return record(m, d, now)


def _evaluate(m: Model, d: Data, stage: SensorStage, recorded: bool = True) -> Data:
    if not stage.groups:
        return d
    values = [jnp.ravel(SENSORS[SensorType(group.type)](m, d, group)) for group in stage.groups]
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
