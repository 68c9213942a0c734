"""Keyword -> MuJoCo's number, for every attribute that takes keywords.

Source: XML reference of MuJoCo 4.0.0; numbers from its headers (mjx_like.types.enums).
"""

from mjx_like.types import enums as e


def members(enum, spelling: str, *names: str) -> dict[str, int]:
    """Keywords separated by spaces -> members of an enum; `names` where a member is not named like its keyword."""
    words = spelling.split()
    return {word: int(enum[member.upper()]) for word, member in zip(words, names or words, strict=True)}


def named(enum) -> dict[str, int]:
    """Keywords that are the names of an enum's members in lower case."""
    return {member.name.lower(): int(member) for member in enum}


def counted(spelling: str) -> dict[str, int]:
    """Keywords separated by spaces -> 0, 1, 2, ..."""
    return {word: number for number, word in enumerate(spelling.split())}


COORDINATE = counted("local global")
ANGLE = counted("radian degree")
FLUIDSHAPE = counted("none ellipsoid")
ENABLE = counted("disable enable")
TRISTATE = counted("false true auto")
HEADLIGHT = TRISTATE | {"0": 0, "1": 1, "2": 2}
FALSE_AUTO = counted("false auto")
PASSTHROUGH = counted("none textures")
SCALING = counted("similar geometry")
INTERP = counted("zoh linear cubic")
REDUCE = counted("none mindist maxforce netforce")
ELASTIC2D = counted("none bend stretch both")
SECTION = counted("circle box")
FLEX_EQUALITY = {"false": 0, "true": 1, "strain": 3}
FLEXCOMP = counted("grid box cylinder ellipsoid square disc circle mesh gmsh direct")
FLEX_DOF = counted("full radial trilinear quadratic 2d")
COMPOSITE = counted("particle grid rope loop cable cloth box cylinder ellipsoid")
COMPOSITE_JOINT = counted("main twist stretch particle")

SLEEP = members(e.SleepPolicy, "auto never allowed init")
JOINT = members(e.JointType, "free ball slide hinge")
GEOM = members(e.GeomType, "plane hfield sphere capsule ellipsoid cylinder box mesh sdf")
PROJECTION = members(e.ProjectionType, "perspective orthographic")
CAMLIGHT = members(e.CamLightType, "fixed track trackcom targetbody targetbodycom")
LIGHT = members(e.LightType, "spot directional point image")
TEXTURE_ROLE = members(e.TextureRole, "rgb occlusion roughness metallic normal opacity emissive rgba orm")
TEXTURE = members(e.TextureType, "2d cube skybox", "texture_2d", "cube", "skybox")
COLORSPACE = members(e.ColorSpace, "auto linear sRGB")
BUILTIN = members(e.Builtin, "none gradient checker flat")
MARK = members(e.Mark, "none edge cross random")
INTEGRATOR = {kind.keyword: int(kind) for kind in e.IntegratorType if kind != e.IntegratorType.VARIATIONAL}
CONE = members(e.ConeType, "pyramidal elliptic")
JACOBIAN = members(e.JacobianType, "dense sparse auto")
SOLVER = members(e.SolverType, "PGS CG Newton")
LRMODE = members(e.LRMode, "none muscle muscleuser all")
CONFLICT = members(e.Conflict, "warning merge error")
MESH_INERTIA = members(e.MeshInertia, "convex legacy exact shell")
MESH_BUILTIN = members(
    e.MeshBuiltin,
    "none sphere hemisphere cone supertorus supersphere wedge plate grid box cylinder ellipsoid square disc",
)
FLEX_SELF = members(e.FlexSelf, "none narrow bvh sap auto")
EQUALITY = members(e.EqType, "connect weld joint tendon flex flexstrain")

DYN, GAIN, BIAS = named(e.DynType), named(e.GainType), named(e.BiasType)
INPUT_CHART = members(e.CtrlChart, "expmap quat")
INPUT_NONE = members(e.CtrlInput, "none")
INPUT_BIT = members(e.CtrlInput, "pos vel ff voltage pressure")

STAGE = members(e.Stage, "none pos vel acc")
DATATYPE = members(e.DataType, "real positive axis quaternion")
FRAME_OBJECT = members(e.ObjType, "body xbody geom site camera")
CONTACT_DATA = members(e.ConDataField, "found force torque dist pos normal tangent linvel angvel")
RAY_DATA = members(e.RayDataField, "dist dir origin point normal depth")
CAMERA_OUTPUT = members(e.CamOutBit, "rgb depth distance normal segmentation", "rgb", "depth", "dist", "normal", "seg")
