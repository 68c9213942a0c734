"""MuJoCo's enumerations, with its values.

Members drop the C prefix; sentinels that only count are left out.
Source: mjmodel.h, mjdata.h and mjspec.h of MuJoCo 4.0.0.
"""

from enum import IntEnum, IntFlag

from mjx_like.types.actuator_type import BiasType as BiasType
from mjx_like.types.actuator_type import DynType as DynType
from mjx_like.types.actuator_type import GainType as GainType
from mjx_like.types.actuator_type import Parameters as Parameters
from mjx_like.types.sensor_type import SENSOR_OF_TAG as SENSOR_OF_TAG
from mjx_like.types.sensor_type import Attachment as Attachment
from mjx_like.types.sensor_type import DataType as DataType
from mjx_like.types.sensor_type import Measure as Measure
from mjx_like.types.sensor_type import SensorType as SensorType
from mjx_like.types.sensor_type import Stage as Stage


class DisableBit(IntFlag):
    CONSTRAINT = 1
    EQUALITY = 2
    FRICTIONLOSS = 4
    LIMIT = 8
    CONTACT = 16
    SPRING = 32
    DAMPER = 64
    GRAVITY = 128
    CLAMPCTRL = 256
    WARMSTART = 512
    FILTERPARENT = 1024
    ACTUATION = 2048
    REFSAFE = 4096
    SENSOR = 8192
    MIDPHASE = 16384
    EULERDAMP = 32768
    AUTORESET = 65536
    NATIVECCD = 131072
    ISLAND = 262144
    MULTICCD = 524288


class EnableBit(IntFlag):
    OVERRIDE = 1
    ENERGY = 2
    FWDINV = 4
    INVDISCRETE = 8
    SLEEP = 16
    DIAGEXACT = 32
    IPC = 64
    SPECULATIVE = 128


class JointType(IntEnum):
    FREE = 0
    BALL = 1
    SLIDE = 2
    HINGE = 3

    def qpos_width(self) -> int:
        """Return how many entries of `qpos` such a joint has."""
        return (7, 4, 1, 1)[self]

    def dof_width(self) -> int:
        """Return how many degrees of freedom such a joint has."""
        return (6, 3, 1, 1)[self]


class GeomType(IntEnum):
    PLANE = 0
    HFIELD = 1
    SPHERE = 2
    CAPSULE = 3
    ELLIPSOID = 4
    CYLINDER = 5
    BOX = 6
    MESH = 7
    SDF = 8
    ARROW = 100
    ARROW1 = 101
    ARROW2 = 102
    LINE = 103
    LINEBOX = 104
    FLEX = 105
    SKIN = 106
    LABEL = 107
    TRIANGLE = 108
    NONE = 1001


class CamLightType(IntEnum):
    FIXED = 0
    TRACK = 1
    TRACKCOM = 2
    TARGETBODY = 3
    TARGETBODYCOM = 4


class ProjectionType(IntEnum):
    PERSPECTIVE = 0
    ORTHOGRAPHIC = 1


class LightType(IntEnum):
    SPOT = 0
    DIRECTIONAL = 1
    POINT = 2
    IMAGE = 3


class TextureType(IntEnum):
    TEXTURE_2D = 0
    CUBE = 1
    SKYBOX = 2


class TextureRole(IntEnum):
    USER = 0
    RGB = 1
    OCCLUSION = 2
    ROUGHNESS = 3
    METALLIC = 4
    NORMAL = 5
    OPACITY = 6
    EMISSIVE = 7
    RGBA = 8
    ORM = 9


class ColorSpace(IntEnum):
    AUTO = 0
    LINEAR = 1
    SRGB = 2


class IntegratorType(IntEnum):
    """The integrators; keyword: the word of MJCF. Their rows in the engine are in `integrator/table.py`.

    VARIATIONAL is not MuJoCo's: a model file has it as the custom text `integrator`, which MuJoCo leaves alone.
    """

    keyword: str

    def __new__(cls, number: int, keyword: str) -> "IntegratorType":
        member = int.__new__(cls, number)
        member._value_ = number
        member.keyword = keyword
        return member

    EULER = 0, "Euler"
    RK4 = 1, "RK4"
    IMPLICIT = 2, "implicit"
    IMPLICITFAST = 3, "implicitfast"
    DISCRETE = 4, "discrete"
    VARIATIONAL = 100, "variational"


class ConeType(IntEnum):
    PYRAMIDAL = 0
    ELLIPTIC = 1


class JacobianType(IntEnum):
    DENSE = 0
    SPARSE = 1
    AUTO = 2


class SolverType(IntEnum):
    PGS = 0
    CG = 1
    NEWTON = 2


class EqType(IntEnum):
    CONNECT = 0
    WELD = 1
    JOINT = 2
    TENDON = 3
    FLEX = 4
    FLEXVERT = 5
    FLEXSTRAIN = 6
    DISTANCE = 7


class WrapType(IntEnum):
    NONE = 0
    JOINT = 1
    PULLEY = 2
    SITE = 3
    SPHERE = 4
    CYLINDER = 5


class TrnType(IntEnum):
    JOINT = 0
    JOINTINPARENT = 1
    SLIDERCRANK = 2
    TENDON = 3
    SITE = 4
    BODY = 5
    SO3 = 6
    UNDEFINED = 1000


class ObjType(IntEnum):
    UNKNOWN = 0
    BODY = 1
    XBODY = 2
    JOINT = 3
    DOF = 4
    GEOM = 5
    SITE = 6
    CAMERA = 7
    LIGHT = 8
    FLEX = 9
    MESH = 10
    SKIN = 11
    HFIELD = 12
    TEXTURE = 13
    MATERIAL = 14
    PAIR = 15
    EXCLUDE = 16
    EQUALITY = 17
    TENDON = 18
    ACTUATOR = 19
    SENSOR = 20
    NUMERIC = 21
    TEXT = 22
    TUPLE = 23
    KEY = 24
    PLUGIN = 25
    FRAME = 100
    DEFAULT = 101
    MODEL = 102


class ConDataField(IntEnum):
    FOUND = 0
    FORCE = 1
    TORQUE = 2
    DIST = 3
    POS = 4
    NORMAL = 5
    TANGENT = 6
    LINVEL = 7
    ANGVEL = 8


class RayDataField(IntEnum):
    DIST = 0
    DIR = 1
    ORIGIN = 2
    POINT = 3
    NORMAL = 4
    DEPTH = 5


class CamOutBit(IntFlag):
    RGB = 1
    DEPTH = 2
    DIST = 4
    NORMAL = 8
    SEG = 16


class ConstraintType(IntEnum):
    EQUALITY = 0
    FRICTION_DOF = 1
    FRICTION_TENDON = 2
    LIMIT_JOINT = 3
    LIMIT_TENDON = 4
    CONTACT_FRICTIONLESS = 5
    CONTACT_PYRAMIDAL = 6
    CONTACT_ELLIPTIC = 7


class ConstraintState(IntEnum):
    SATISFIED = 0
    QUADRATIC = 1
    LINEARNEG = 2
    LINEARPOS = 3
    CONE = 4


class State(IntFlag):
    TIME = 1
    QPOS = 2
    QVEL = 4
    ACT = 8
    HISTORY = 16
    WARMSTART = 32
    CTRL = 64
    QFRC_APPLIED = 128
    XFRC_APPLIED = 256
    EQ_ACTIVE = 512
    MOCAP_POS = 1024
    MOCAP_QUAT = 2048
    USERDATA = 4096
    PLUGIN = 8192
    PLASTIC = 16384
    PHYSICS = 16414
    FULLPHYSICS = 24607
    USER = 8128
    INTEGRATION = 32767


class WarningType(IntEnum):
    INERTIA = 0
    CONTACTFULL = 1
    CNSTRFULL = 2
    BADQPOS = 3
    BADQVEL = 4
    BADQACC = 5
    BADCTRL = 6


class CtrlInput(IntFlag):
    POS = 1
    VEL = 2
    FF = 4
    VOLTAGE = 8
    NONE = 16
    PRESSURE = 32


class CtrlChart(IntEnum):
    EXPMAP = 1
    QUAT = 2


class TendonType(IntEnum):
    FIXED = 0
    SPATIAL = 1


class SleepPolicy(IntEnum):
    AUTO = 0
    AUTO_NEVER = 1
    AUTO_ALLOWED = 2
    NEVER = 3
    ALLOWED = 4
    INIT = 5


class FlexSelf(IntEnum):
    NONE = 0
    NARROW = 1
    BVH = 2
    SAP = 3
    AUTO = 4


class LRMode(IntEnum):
    NONE = 0
    MUSCLE = 1
    MUSCLEUSER = 2
    ALL = 3


class MeshInertia(IntEnum):
    CONVEX = 0
    EXACT = 1
    LEGACY = 2
    SHELL = 3


class MeshBuiltin(IntEnum):
    NONE = 0
    SPHERE = 1
    HEMISPHERE = 2
    CONE = 3
    SUPERSPHERE = 4
    SUPERTORUS = 5
    WEDGE = 6
    PLATE = 7
    GRID = 8
    BOX = 9
    CYLINDER = 10
    ELLIPSOID = 11
    SQUARE = 12
    DISC = 13


class InertiaFromGeom(IntEnum):
    FALSE = 0
    TRUE = 1
    AUTO = 2


class AlignFree(IntEnum):
    FALSE = 0
    TRUE = 1
    AUTO = 2


class Limited(IntEnum):
    FALSE = 0
    TRUE = 1
    AUTO = 2


class Builtin(IntEnum):
    NONE = 0
    GRADIENT = 1
    CHECKER = 2
    FLAT = 3


class Mark(IntEnum):
    NONE = 0
    EDGE = 1
    CROSS = 2
    RANDOM = 3


class Orientation(IntEnum):
    QUAT = 0
    AXISANGLE = 1
    XYAXES = 2
    ZAXIS = 3
    EULER = 4


class Conflict(IntEnum):
    WARNING = 0
    MERGE = 1
    ERROR = 2
