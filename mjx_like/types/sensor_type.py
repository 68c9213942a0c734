"""The types of sensors: MuJoCo's numbers, and what MJCF and the compiler must know of each.

A row of SensorType is the whole of what the language says of a sensor; its kernel has a row in `sensor/table.py`.
"""

import enum
from enum import IntEnum


class Stage(IntEnum):
    NONE = 0
    POS = 1
    VEL = 2
    ACC = 3


class DataType(IntEnum):
    REAL = 0
    POSITIVE = 1
    AXIS = 2
    QUATERNION = 3


class Attachment(enum.Enum):
    """What a sensor is attached to, and so the attributes that name it.

    FRAME: a body, geom, site or camera, in the frame of another. ISOLATED_FRAME: in the world's frame. PAIR: two bodies
    or geoms. NOTHING: the whole model. OWN: attributes of its own (`OTHER_SENSORS` of `mjcf/schema/sensor.py`).
    """

    SITE = enum.auto()
    SCALAR_JOINT = enum.auto()
    BALL_JOINT = enum.auto()
    LIMITED_JOINT = enum.auto()
    TENDON = enum.auto()
    LIMITED_TENDON = enum.auto()
    ACTUATOR = enum.auto()
    BODY = enum.auto()
    FRAME = enum.auto()
    ISOLATED_FRAME = enum.auto()
    PAIR = enum.auto()
    NOTHING = enum.auto()
    OWN = enum.auto()

    @property
    def attribute(self) -> str:
        """The attribute that names the one object, a kind of object in lower case; empty for other attachments."""
        kind = self.name.lower().rpartition("_")[2]
        return kind if kind in ("site", "joint", "tendon", "actuator", "body") else ""


class Measure(enum.Enum):
    """How a value changes in a scaled frame: by the factor of lengths, forces or torques there, or not at all.

    Of joints, tendons and actuators, LENGTH and FORCE are those of their own motion: of a hinge, 1 and the factor of
    torques. UNKNOWN: the sensor cannot be scaled.
    """

    UNSCALED = enum.auto()
    LENGTH = enum.auto()
    FORCE = enum.auto()
    TORQUE = enum.auto()
    UNKNOWN = enum.auto()


_R, _P, _A, _Q = DataType.REAL, DataType.POSITIVE, DataType.AXIS, DataType.QUATERNION
_POS, _VEL, _ACC = Stage.POS, Stage.VEL, Stage.ACC
_TO, _BY = Attachment, Measure


class SensorType(IntEnum):
    """The types of sensors.

    attachment: what it is attached to. dim: how many values it has, 0 where attributes say. datatype, stage: of its
    values, unless attributes say. measure: how its values change in a scaled frame. tag: its element in MJCF, the
    member's name in lower case unless the row says.
    Source: mjtSensor, mjtDataType and mjtStage of MuJoCo 4.0.0; XML reference, element sensor.
    """

    attachment: Attachment
    dim: int
    datatype: DataType
    stage: Stage
    measure: Measure
    tag: str

    def __new__(cls, number: int, *row: object) -> "SensorType":
        member = int.__new__(cls, number)
        member._value_ = number
        return member

    def __init__(
        self,
        number: int,
        attachment: Attachment,
        dim: int,
        datatype: DataType,
        stage: Stage,
        measure: Measure,
        tag: str = "",
    ) -> None:
        self.attachment, self.dim, self.datatype = attachment, dim, datatype
        self.stage, self.measure, self.tag = stage, measure, tag or self.name.lower()

    TOUCH = 0, _TO.SITE, 1, _P, _ACC, _BY.FORCE
    ACCELEROMETER = 1, _TO.SITE, 3, _R, _ACC, _BY.LENGTH
    VELOCIMETER = 2, _TO.SITE, 3, _R, _VEL, _BY.LENGTH
    GYRO = 3, _TO.SITE, 3, _R, _VEL, _BY.UNSCALED
    FORCE = 4, _TO.SITE, 3, _R, _ACC, _BY.FORCE
    TORQUE = 5, _TO.SITE, 3, _R, _ACC, _BY.TORQUE
    MAGNETOMETER = 6, _TO.SITE, 3, _R, _POS, _BY.UNSCALED
    RANGEFINDER = 7, _TO.OWN, 1, _R, _POS, _BY.LENGTH
    CAMPROJECTION = 8, _TO.OWN, 2, _R, _POS, _BY.UNSCALED
    JOINTPOS = 9, _TO.SCALAR_JOINT, 1, _R, _POS, _BY.LENGTH
    JOINTVEL = 10, _TO.SCALAR_JOINT, 1, _R, _VEL, _BY.LENGTH
    TENDONPOS = 11, _TO.TENDON, 1, _R, _POS, _BY.LENGTH
    TENDONVEL = 12, _TO.TENDON, 1, _R, _VEL, _BY.LENGTH
    ACTUATORPOS = 13, _TO.ACTUATOR, 1, _R, _POS, _BY.LENGTH
    ACTUATORVEL = 14, _TO.ACTUATOR, 1, _R, _VEL, _BY.LENGTH
    ACTUATORFRC = 15, _TO.ACTUATOR, 1, _R, _ACC, _BY.FORCE
    JOINTACTFRC = 16, _TO.SCALAR_JOINT, 1, _R, _ACC, _BY.FORCE, "jointactuatorfrc"
    TENDONACTFRC = 17, _TO.TENDON, 1, _R, _ACC, _BY.FORCE, "tendonactuatorfrc"
    BALLQUAT = 18, _TO.BALL_JOINT, 4, _Q, _POS, _BY.UNSCALED
    BALLANGVEL = 19, _TO.BALL_JOINT, 3, _R, _VEL, _BY.UNSCALED
    JOINTLIMITPOS = 20, _TO.LIMITED_JOINT, 1, _R, _POS, _BY.LENGTH
    JOINTLIMITVEL = 21, _TO.LIMITED_JOINT, 1, _R, _VEL, _BY.LENGTH
    JOINTLIMITFRC = 22, _TO.LIMITED_JOINT, 1, _R, _ACC, _BY.FORCE
    TENDONLIMITPOS = 23, _TO.LIMITED_TENDON, 1, _R, _POS, _BY.LENGTH
    TENDONLIMITVEL = 24, _TO.LIMITED_TENDON, 1, _R, _VEL, _BY.LENGTH
    TENDONLIMITFRC = 25, _TO.LIMITED_TENDON, 1, _R, _ACC, _BY.FORCE
    FRAMEPOS = 26, _TO.FRAME, 3, _R, _POS, _BY.LENGTH
    FRAMEQUAT = 27, _TO.FRAME, 4, _Q, _POS, _BY.UNSCALED
    FRAMEXAXIS = 28, _TO.FRAME, 3, _A, _POS, _BY.UNSCALED
    FRAMEYAXIS = 29, _TO.FRAME, 3, _A, _POS, _BY.UNSCALED
    FRAMEZAXIS = 30, _TO.FRAME, 3, _A, _POS, _BY.UNSCALED
    FRAMELINVEL = 31, _TO.FRAME, 3, _R, _VEL, _BY.LENGTH
    FRAMEANGVEL = 32, _TO.FRAME, 3, _R, _VEL, _BY.UNSCALED
    FRAMELINACC = 33, _TO.ISOLATED_FRAME, 3, _R, _ACC, _BY.LENGTH
    FRAMEANGACC = 34, _TO.ISOLATED_FRAME, 3, _R, _ACC, _BY.UNSCALED
    SUBTREECOM = 35, _TO.BODY, 3, _R, _POS, _BY.LENGTH
    SUBTREELINVEL = 36, _TO.BODY, 3, _R, _VEL, _BY.LENGTH
    SUBTREEANGMOM = 37, _TO.BODY, 3, _R, _VEL, _BY.TORQUE
    INSIDESITE = 38, _TO.OWN, 1, _P, _POS, _BY.UNSCALED
    GEOMDIST = 39, _TO.PAIR, 1, _R, _POS, _BY.LENGTH, "distance"
    GEOMNORMAL = 40, _TO.PAIR, 3, _A, _POS, _BY.LENGTH, "normal"
    GEOMFROMTO = 41, _TO.PAIR, 6, _R, _POS, _BY.LENGTH, "fromto"
    CONTACT = 42, _TO.OWN, 0, _R, _POS, _BY.UNSCALED
    E_POTENTIAL = 43, _TO.NOTHING, 1, _R, _POS, _BY.UNSCALED
    E_KINETIC = 44, _TO.NOTHING, 1, _R, _POS, _BY.UNSCALED
    CLOCK = 45, _TO.NOTHING, 1, _R, _POS, _BY.UNSCALED
    TACTILE = 46, _TO.OWN, 0, _R, _VEL, _BY.UNKNOWN
    PLUGIN = 47, _TO.OWN, 0, _R, _ACC, _BY.UNKNOWN
    USER = 48, _TO.OWN, 0, _R, _ACC, _BY.UNSCALED


SENSOR_OF_TAG = {kind.tag: kind for kind in SensorType}
