"""Table rows: the tree. worldbody, body, frame, replicate and what stands in them."""

from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.grammar import (
    boolean,
    element,
    exclusive,
    integer,
    key,
    keys,
    many,
    name,
    once,
    only_elements,
    real,
    real32,
    reals,
    recursive,
    ref,
    required,
    text,
)
from mjx_like.mjcf.schema.settings import SOLIMP, SOLREF

ORIGIN = (0.0, 0.0, 0.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0)
GREY = (0.5, 0.5, 0.5, 1.0)
ALTERNATIVES = ("axisangle", "xyaxes", "zaxis", "euler")
ORIENTATION = {
    "quat": real(4, default=IDENTITY),
    "axisangle": real(4),
    "xyaxes": real(6),
    "zaxis": real(3),
    "euler": real(3),
}
ONE_ORIENTATION = exclusive("quat", *ALTERNATIVES)

IN_TREE = (
    many("joint", "freejoint", "geom", "attach", "site", "camera", "light", "plugin", "composite", "flexcomp")
    | once("inertial")
    | recursive("body", "frame", "replicate")
)

BODY = element(
    {
        "name": name("body"),
        "childclass": ref("default"),
        "pos": real(3, default=ORIGIN),
        **ORIENTATION,
        "mocap": boolean(False),
        "gravcomp": real(default=0.0),
        "sleep": key(k.SLEEP, "auto"),
        "simple": key(k.FALSE_AUTO, "auto"),
        "fuse": key(k.FALSE_AUTO, "auto"),
        "user": reals(),
    },
    IN_TREE,
    [ONE_ORIENTATION],
)

WORLDBODY = element(children=IN_TREE)

FRAME = element(
    {
        "name": name("frame"),
        "class": ref("default"),
        "childclass": ref("default"),
        "pos": real(3, default=ORIGIN),
        **ORIENTATION,
        "scale": real(1, 3, default=(1.0, 1.0, 1.0)),
        "scaling": key(k.SCALING, "similar"),
        "massscale": real(default=0.0),
    },
    IN_TREE,
    [ONE_ORIENTATION],
)

REPLICATE = element(
    {
        "count": required(integer()),
        "offset": real(3, default=ORIGIN),
        "euler": real(3, default=ORIGIN),
        "sep": text(""),
        "class": ref("default"),
        "childclass": ref("default"),
    },
    IN_TREE,
)

INERTIAL = element(
    {
        "pos": required(real(3)),
        "quat": real(4, default=IDENTITY),
        "mass": required(real()),
        "diaginertia": real(3, default=ORIGIN),
        "axisangle": real(4),
        "xyaxes": real(6),
        "zaxis": real(3),
        "euler": real(3),
        "fullinertia": real(6),
    },
    rules=[exclusive("fullinertia", "quat", *ALTERNATIVES)],
)

JOINT = element(
    {
        "name": name("joint"),
        "class": ref("default", in_default=False),
        "type": key(k.JOINT, "hinge"),
        "group": integer(default=0),
        "pos": real(3, default=ORIGIN),
        "axis": real(3, default=(0.0, 0.0, 1.0)),
        "springdamper": real(2, default=(0.0, 0.0)),
        "limited": key(k.TRISTATE, "auto"),
        "actuatorfrclimited": key(k.TRISTATE, "auto"),
        "solreflimit": real(1, 2, default=SOLREF),
        "solimplimit": real(1, 5, default=SOLIMP),
        "solreffriction": real(1, 2, default=SOLREF),
        "solimpfriction": real(1, 5, default=SOLIMP),
        "stiffness": real(1, 3, default=ORIGIN),
        "range": real(2, default=(0.0, 0.0)),
        "actuatorfrcrange": real(2, default=(0.0, 0.0)),
        "actuatorgravcomp": boolean(False),
        "margin": real(default=0.0),
        "ref": real(default=0.0),
        "springref": real(default=0.0),
        "springyield": real(default=0.0),
        "armature": real(default=0.0),
        "damping": real(1, 3, default=ORIGIN),
        "frictionloss": real(default=0.0),
        "user": reals(),
    },
    record="joint",
)

FREEJOINT = element(
    {
        "name": name("joint"),
        "group": integer(default=0, blank=False),
        "align": key(k.TRISTATE, "auto"),
    }
)

# What geoms and flexes share.
CONTACT_FILTER = {
    "contype": integer(default=1),
    "conaffinity": integer(default=1),
    "condim": integer(default=3),
    "priority": integer(default=0),
    "friction": real(1, 3, default=(1.0, 0.005, 0.0001)),
    "solmix": real(default=1.0),
    "solref": real(1, 2, default=SOLREF),
    "solimp": real(1, 5, default=SOLIMP),
    "margin": real(default=0.0),
    "gap": real(default=0.0),
}

GEOM = element(
    {
        "name": name("geom"),
        "class": ref("default", in_default=False),
        "type": key(k.GEOM, "sphere"),
        **CONTACT_FILTER,
        "group": integer(default=0),
        "size": real(1, 3, default=ORIGIN),
        "material": ref("material"),
        "mass": real(),
        "density": real(default=1000.0),
        "shellinertia": boolean(False),
        "surfacevel": real(1, 6, default=(0.0,) * 6),
        "adhesion": real(default=0.0),
        "fromto": real(6),
        "pos": real(3, default=ORIGIN),
        **ORIENTATION,
        "hfield": ref("hfield"),
        "mesh": ref("mesh"),
        "fitscale": real(default=1.0),
        "rgba": real32(4, default=GREY),
        "castshadow": boolean(True),
        "fluidshape": key(k.FLUIDSHAPE, "none"),
        "fluidcoef": real(1, 5, default=(0.5, 0.25, 1.5, 1.0, 1.0)),
        "user": reals(),
    },
    many("plugin"),
    [ONE_ORIENTATION],
    record="geom",
)

SITE = element(
    {
        "name": name("site"),
        "class": ref("default", in_default=False),
        "type": key(k.GEOM, "sphere"),
        "group": integer(default=0),
        "pos": real(3, default=ORIGIN),
        **ORIENTATION,
        "material": ref("material"),
        "mesh": ref("mesh"),
        "size": real(1, 3, default=(0.005, 0.005, 0.005)),
        "fromto": real(6),
        "rgba": real32(4, default=GREY),
        "user": reals(),
    },
    rules=[ONE_ORIENTATION],
    record="site",
)

CAMERA = element(
    {
        "name": name("camera"),
        "class": ref("default", in_default=False),
        "projection": key(k.PROJECTION, "perspective"),
        "fovy": real(default=45.0),
        "ipd": real(default=0.068),
        "resolution": integer(2, default=(1, 1)),
        "output": keys(k.CAMERA_OUTPUT, default=("rgb",)),
        "pos": real(3, default=ORIGIN),
        **ORIENTATION,
        "mode": key(k.CAMLIGHT, "fixed"),
        "target": only_elements(ref("body")),
        "focal": real32(2, default=(0.0, 0.0)),
        "focalpixel": real32(2, default=(0.0, 0.0)),
        "principal": real32(2, default=(0.0, 0.0)),
        "principalpixel": real32(2, default=(0.0, 0.0)),
        "sensorsize": real32(2, default=(0.0, 0.0)),
        "user": reals(),
    },
    rules=[ONE_ORIENTATION, exclusive("fovy", "sensorsize")],
    record="camera",
)

LIGHT = element(
    {
        "name": name("light"),
        "class": ref("default", in_default=False),
        "directional": boolean(),
        "type": key(k.LIGHT, "spot"),
        "castshadow": boolean(True),
        "active": boolean(True),
        "pos": real(3, default=ORIGIN),
        "dir": real(3, default=(0.0, 0.0, -1.0)),
        "bulbradius": real32(default=0.02),
        "intensity": real32(default=0.0),
        "range": real32(default=10.0),
        "attenuation": real32(3, default=(1.0, 0.0, 0.0)),
        "cutoff": real32(default=45.0),
        "softness": real32(default=0.2),
        "exponent": real32(default=10.0),
        "ambient": real32(3, default=ORIGIN),
        "diffuse": real32(3, default=(0.7, 0.7, 0.7)),
        "specular": real32(3, default=(0.3, 0.3, 0.3)),
        "mode": key(k.CAMLIGHT, "fixed"),
        "target": only_elements(ref("body")),
        "texture": only_elements(ref("texture")),
    },
    rules=[exclusive("directional", "type")],
    record="light",
)

ATTACH = element(
    {
        "model": ref("model"),
        "body": ref("body"),
        "frame": ref("frame"),
        "prefix": required(text()),
    },
    rules=[exclusive("body", "frame")],
)

ELEMENTS = {
    "worldbody": WORLDBODY,
    "body": BODY,
    "frame": FRAME,
    "replicate": REPLICATE,
    "inertial": INERTIAL,
    "joint": JOINT,
    "freejoint": FREEJOINT,
    "geom": GEOM,
    "site": SITE,
    "camera": CAMERA,
    "light": LIGHT,
    "attach": ATTACH,
}
