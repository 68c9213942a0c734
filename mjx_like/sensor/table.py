"""The table of sensors: a row for each type that the engine evaluates.

What the language says of a type, its size, stage and unit among it, is in its row of SensorType.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax

from mjx_like.postconstraint.rne_postconstraint import rne_postconstraint
from mjx_like.sensor import contact, distance, frame, joint, scene, site, tactile, touch, view
from mjx_like.smooth.energy import energy_pos, energy_vel
from mjx_like.smooth.subtree_vel import subtree_vel
from mjx_like.types.data import Data
from mjx_like.types.enums import SensorType, Stage
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup
from mjx_like.types.topology import Topology

Kernel = Callable[[Model, Data, SensorGroup], jax.Array]
Computation = Callable[[Model, Data], Data]

# What sensors need beyond forward dynamics, computed before the sensors of its stage where one of them asks for it.
NEEDS: dict[Computation, Stage] = {
    energy_pos: Stage.POS,
    energy_vel: Stage.POS,
    subtree_vel: Stage.VEL,
    rne_postconstraint: Stage.ACC,
}


def _complete(t: Topology, sensor: int) -> tuple[str, ...]:
    return ()


class Sensor(NamedTuple):
    """What the engine must know of a type of sensor.

    kernel: takes a group of sensors of one kind and returns their values, sensor by sensor.
    needs: computations of NEEDS that the kernel reads from.
    bounded: whether the cutoff bounds the values; else it bounds what is looked for.
    planned: whether its objects stand in the SensorPlan, so that sensors of objects of other kinds share a kernel call.
    misses: whether a negative value says that nothing was found; it takes no noise.
    lacks: says of a sensor, by its id, what the engine cannot run of it.
    gradient: what the derivative leaves out; empty where it is that of the values.
    """

    kernel: Kernel
    needs: tuple[Computation, ...] = ()
    bounded: bool = True
    planned: bool = False
    misses: bool = False
    lacks: Callable[[Topology, int], tuple[str, ...]] = _complete
    gradient: str = ""


SENSORS = {
    SensorType.TOUCH: Sensor(touch.touch, lacks=touch.lacks, gradient="none through the choice of contacts that count"),
    SensorType.ACCELEROMETER: Sensor(site.accelerometer, needs=(rne_postconstraint,)),
    SensorType.VELOCIMETER: Sensor(site.velocimeter),
    SensorType.GYRO: Sensor(site.gyro),
    SensorType.FORCE: Sensor(site.force, needs=(rne_postconstraint,)),
    SensorType.TORQUE: Sensor(site.torque, needs=(rne_postconstraint,)),
    SensorType.MAGNETOMETER: Sensor(site.magnetometer),
    SensorType.RANGEFINDER: Sensor(
        view.rangefinder,
        misses=True,
        lacks=view.rangefinder_lacks,
        gradient="none where the ray passes from one surface to another",
    ),
    SensorType.CAMPROJECTION: Sensor(view.camprojection),
    SensorType.JOINTPOS: Sensor(joint.jointpos),
    SensorType.JOINTVEL: Sensor(joint.jointvel),
    SensorType.TENDONPOS: Sensor(joint.tendonpos),
    SensorType.TENDONVEL: Sensor(joint.tendonvel),
    SensorType.ACTUATORPOS: Sensor(joint.actuatorpos),
    SensorType.ACTUATORVEL: Sensor(joint.actuatorvel),
    SensorType.ACTUATORFRC: Sensor(joint.actuatorfrc),
    SensorType.JOINTACTFRC: Sensor(joint.jointactfrc),
    SensorType.TENDONACTFRC: Sensor(joint.tendonactfrc),
    SensorType.BALLQUAT: Sensor(joint.ballquat),
    SensorType.BALLANGVEL: Sensor(joint.ballangvel),
    SensorType.JOINTLIMITPOS: Sensor(joint.jointlimitpos),
    SensorType.JOINTLIMITVEL: Sensor(joint.jointlimitvel),
    SensorType.JOINTLIMITFRC: Sensor(joint.jointlimitfrc),
    SensorType.TENDONLIMITPOS: Sensor(joint.tendonlimitpos),
    SensorType.TENDONLIMITVEL: Sensor(joint.tendonlimitvel),
    SensorType.TENDONLIMITFRC: Sensor(joint.tendonlimitfrc),
    SensorType.FRAMEPOS: Sensor(frame.framepos),
    SensorType.FRAMEQUAT: Sensor(frame.framequat),
    SensorType.FRAMEXAXIS: Sensor(frame.framexaxis),
    SensorType.FRAMEYAXIS: Sensor(frame.frameyaxis),
    SensorType.FRAMEZAXIS: Sensor(frame.framezaxis),
    SensorType.FRAMELINVEL: Sensor(frame.framelinvel),
    SensorType.FRAMEANGVEL: Sensor(frame.frameangvel),
    SensorType.FRAMELINACC: Sensor(frame.framelinacc, needs=(rne_postconstraint,)),
    SensorType.FRAMEANGACC: Sensor(frame.frameangacc, needs=(rne_postconstraint,)),
    SensorType.CONTACT: Sensor(
        contact.contact,
        bounded=False,
        planned=True,
        gradient="none through which contacts are found, and their order",
    ),
    SensorType.GEOMDIST: Sensor(distance.geomdist, planned=True, lacks=distance.lacks),
    SensorType.GEOMNORMAL: Sensor(distance.geomnormal, planned=True, lacks=distance.lacks),
    SensorType.GEOMFROMTO: Sensor(distance.geomfromto, bounded=False, planned=True, lacks=distance.lacks),
    SensorType.SUBTREECOM: Sensor(scene.subtreecom),
    SensorType.SUBTREELINVEL: Sensor(scene.subtreelinvel, needs=(subtree_vel,)),
    SensorType.SUBTREEANGMOM: Sensor(scene.subtreeangmom, needs=(subtree_vel,)),
    SensorType.INSIDESITE: Sensor(scene.insidesite, gradient="none, except with `enclosed`"),
    SensorType.E_POTENTIAL: Sensor(scene.e_potential, needs=(energy_pos,)),
    SensorType.E_KINETIC: Sensor(scene.e_kinetic, needs=(energy_vel,)),
    SensorType.CLOCK: Sensor(scene.clock),
    SensorType.TACTILE: Sensor(tactile.tactile),
    SensorType.USER: Sensor(scene.user, needs=(subtree_vel, rne_postconstraint)),
}
UNBUILT = {SensorType.PLUGIN: "plugins written in C cannot run in JAX"}
