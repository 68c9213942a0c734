"""What each type of sensor measures: size, type and stage of its data, and the kind of object it is attached to."""

import dataclasses

from mjx_like.types.enums import DataType, ObjType, SensorType, Stage


@dataclasses.dataclass(frozen=True)
class Kind:
    """Of one sensor type: its data and the kind of object it is attached to, None if its attributes say."""

    type: SensorType
    dim: int
    datatype: DataType
    stage: Stage
    obj: ObjType | None
    attribute: str = ""


_R, _P, _A, _Q = DataType.REAL, DataType.POSITIVE, DataType.AXIS, DataType.QUATERNION
_SITE, _JOINT, _TENDON, _ACTUATOR = ObjType.SITE, ObjType.JOINT, ObjType.TENDON, ObjType.ACTUATOR
_T, _POS, _VEL, _ACC = SensorType, Stage.POS, Stage.VEL, Stage.ACC
SENSORS = {
    "touch": Kind(_T.TOUCH, 1, _P, _ACC, _SITE, "site"),
    "accelerometer": Kind(_T.ACCELEROMETER, 3, _R, _ACC, _SITE, "site"),
    "velocimeter": Kind(_T.VELOCIMETER, 3, _R, _VEL, _SITE, "site"),
    "gyro": Kind(_T.GYRO, 3, _R, _VEL, _SITE, "site"),
    "force": Kind(_T.FORCE, 3, _R, _ACC, _SITE, "site"),
    "torque": Kind(_T.TORQUE, 3, _R, _ACC, _SITE, "site"),
    "magnetometer": Kind(_T.MAGNETOMETER, 3, _R, _POS, _SITE, "site"),
    "camprojection": Kind(_T.CAMPROJECTION, 2, _R, _POS, _SITE, "site"),
    "rangefinder": Kind(_T.RANGEFINDER, 1, _R, _POS, None),
    "jointpos": Kind(_T.JOINTPOS, 1, _R, _POS, _JOINT, "joint"),
    "jointvel": Kind(_T.JOINTVEL, 1, _R, _VEL, _JOINT, "joint"),
    "tendonpos": Kind(_T.TENDONPOS, 1, _R, _POS, _TENDON, "tendon"),
    "tendonvel": Kind(_T.TENDONVEL, 1, _R, _VEL, _TENDON, "tendon"),
    "actuatorpos": Kind(_T.ACTUATORPOS, 1, _R, _POS, _ACTUATOR, "actuator"),
    "actuatorvel": Kind(_T.ACTUATORVEL, 1, _R, _VEL, _ACTUATOR, "actuator"),
    "actuatorfrc": Kind(_T.ACTUATORFRC, 1, _R, _ACC, _ACTUATOR, "actuator"),
    "jointactuatorfrc": Kind(_T.JOINTACTFRC, 1, _R, _ACC, _JOINT, "joint"),
    "tendonactuatorfrc": Kind(_T.TENDONACTFRC, 1, _R, _ACC, _TENDON, "tendon"),
    "ballquat": Kind(_T.BALLQUAT, 4, _Q, _POS, _JOINT, "joint"),
    "ballangvel": Kind(_T.BALLANGVEL, 3, _R, _VEL, _JOINT, "joint"),
    "jointlimitpos": Kind(_T.JOINTLIMITPOS, 1, _R, _POS, _JOINT, "joint"),
    "jointlimitvel": Kind(_T.JOINTLIMITVEL, 1, _R, _VEL, _JOINT, "joint"),
    "jointlimitfrc": Kind(_T.JOINTLIMITFRC, 1, _R, _ACC, _JOINT, "joint"),
    "tendonlimitpos": Kind(_T.TENDONLIMITPOS, 1, _R, _POS, _TENDON, "tendon"),
    "tendonlimitvel": Kind(_T.TENDONLIMITVEL, 1, _R, _VEL, _TENDON, "tendon"),
    "tendonlimitfrc": Kind(_T.TENDONLIMITFRC, 1, _R, _ACC, _TENDON, "tendon"),
    "framepos": Kind(_T.FRAMEPOS, 3, _R, _POS, None),
    "framequat": Kind(_T.FRAMEQUAT, 4, _Q, _POS, None),
    "framexaxis": Kind(_T.FRAMEXAXIS, 3, _A, _POS, None),
    "frameyaxis": Kind(_T.FRAMEYAXIS, 3, _A, _POS, None),
    "framezaxis": Kind(_T.FRAMEZAXIS, 3, _A, _POS, None),
    "framelinvel": Kind(_T.FRAMELINVEL, 3, _R, _VEL, None),
    "frameangvel": Kind(_T.FRAMEANGVEL, 3, _R, _VEL, None),
    "framelinacc": Kind(_T.FRAMELINACC, 3, _R, _ACC, None),
    "frameangacc": Kind(_T.FRAMEANGACC, 3, _R, _ACC, None),
    "subtreecom": Kind(_T.SUBTREECOM, 3, _R, _POS, ObjType.BODY, "body"),
    "subtreelinvel": Kind(_T.SUBTREELINVEL, 3, _R, _VEL, ObjType.BODY, "body"),
    "subtreeangmom": Kind(_T.SUBTREEANGMOM, 3, _R, _VEL, ObjType.BODY, "body"),
    "insidesite": Kind(_T.INSIDESITE, 1, _P, _POS, None),
    "distance": Kind(_T.GEOMDIST, 1, _R, _POS, None),
    "normal": Kind(_T.GEOMNORMAL, 3, _A, _POS, None),
    "fromto": Kind(_T.GEOMFROMTO, 6, _R, _POS, None),
    "tactile": Kind(_T.TACTILE, 0, _R, _VEL, None),
    "contact": Kind(_T.CONTACT, 0, _R, _POS, None),
    "e_potential": Kind(_T.E_POTENTIAL, 1, _R, _POS, ObjType.UNKNOWN),
    "e_kinetic": Kind(_T.E_KINETIC, 1, _R, _POS, ObjType.UNKNOWN),
    "clock": Kind(_T.CLOCK, 1, _R, _POS, ObjType.UNKNOWN),
    "user": Kind(_T.USER, 0, _R, _ACC, None),
    "plugin": Kind(_T.PLUGIN, 0, _R, _ACC, None),
}
