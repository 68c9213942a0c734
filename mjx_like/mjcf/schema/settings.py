"""Table rows: mujoco, compiler, option, size, statistic, visual."""

from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.grammar import (
    boolean,
    element,
    exclusive,
    integer,
    integers,
    key,
    many,
    once,
    real,
    real32,
    recursive,
    text,
)

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)

MUJOCO = element(
    {"model": text("MuJoCo Model")},
    many("compiler", "option", "size", "statistic", "visual")
    | recursive("default", worldbody="worldbody")
    | many("extension", "asset", "deformable", "contact", "tendon", "equality", "actuator", "sensor")
    | many("custom", "keyframe"),
)

COMPILER = element(
    {
        "autolimits": boolean(True),
        "boundmass": real(default=0.0),
        "boundinertia": real(default=0.0),
        "settotalmass": real(default=-1.0),
        "balanceinertia": boolean(False),
        "strippath": boolean(False),
        "coordinate": key(k.COORDINATE),
        "angle": key(k.ANGLE, "degree"),
        "fitaabb": boolean(False),
        "eulerseq": text("xyz", least=3, most=3, chars=True),
        "assetdir": text(),
        "meshdir": text(),
        "texturedir": text(),
        "discardvisual": boolean(False),
        "usethread": boolean(True),
        "fusestatic": boolean(False),
        "inertiafromgeom": key(k.TRISTATE, "auto"),
        "inertiagrouprange": integer(2, default=(0, 5)),
        "saveinertial": boolean(False),
        "savecompiled": boolean(True),
        "savecanonical": boolean(True),
        "passthrough": key(k.PASSTHROUGH, "none"),
        "alignfree": boolean(False),
        "conflict": key(k.CONFLICT, "warning"),
    },
    once("lengthrange"),
)

LENGTHRANGE = element(
    {
        "mode": key(k.LRMODE, "muscle"),
        "useexisting": boolean(True),
        "uselimit": boolean(False),
        "accel": real(default=20.0),
        "maxforce": real(default=0.0),
        "timeconst": real(default=1.0),
        "timestep": real(default=0.01),
        "inttotal": real(default=10.0),
        "interval": real(default=2.0),
        "tolrange": real(default=0.05),
    }
)

OPTION = element(
    {
        "timestep": real(default=0.002),
        "impratio": real(default=1.0),
        "tolerance": real(default=1e-8),
        "ls_tolerance": real(default=0.01),
        "noslip_tolerance": real(default=1e-6),
        "ccd_tolerance": real(default=1e-6),
        "sleep_tolerance": real(default=1e-3),
        "gravity": real(3, default=(0.0, 0.0, -9.81)),
        "wind": real(3, default=(0.0, 0.0, 0.0)),
        "magnetic": real(3, default=(0.0, -0.5, 0.0)),
        "density": real(default=0.0),
        "viscosity": real(default=0.0),
        "o_margin": real(default=0.0),
        "o_solref": real(1, 2, default=SOLREF),
        "o_solimp": real(1, 5, default=SOLIMP),
        "o_friction": real(1, 5, default=(1.0, 1.0, 0.005, 0.0001, 0.0001)),
        "integrator": key(k.INTEGRATOR, "Euler"),
        "cone": key(k.CONE, "pyramidal"),
        "jacobian": key(k.JACOBIAN, "auto"),
        "solver": key(k.SOLVER, "Newton"),
        "iterations": integer(default=100),
        "ls_iterations": integer(default=50),
        "noslip_iterations": integer(default=0),
        "ccd_iterations": integer(default=35),
        "sdf_iterations": integer(default=10),
        "sdf_initpoints": integer(default=40),
        "actuatorgroupdisable": integers(lowest=0, highest=30),
    },
    once("flag"),
)

STANDARD_FLAGS = (
    "constraint equality frictionloss limit contact spring damper gravity clampctrl warmstart filterparent actuation "
    "refsafe sensor midphase eulerdamp autoreset nativeccd island multiccd"
).split()
OPTIONAL_FLAGS = "override energy fwdinv invdiscrete sleep diagexact ipc speculative".split()

FLAG = element(
    {flag: key(k.ENABLE, "enable") for flag in STANDARD_FLAGS}
    | {flag: key(k.ENABLE, "disable") for flag in OPTIONAL_FLAGS}
)

SIZE = element(
    {
        "memory": text(),
        "njmax": integer(default=-1, lowest=-1, blank=False),
        "nconmax": integer(default=-1, lowest=-1, blank=False),
        "nstack": integer(default=-1, lowest=-1, blank=False),
        "nuserdata": integer(default=0),
        "nkey": integer(default=0),
    }
    | {
        f"nuser_{kind}": integer(default=-1, lowest=-1)
        for kind in ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")
    },
    rules=[exclusive("memory", "nstack"), exclusive("memory", "njmax")],
)

STATISTIC = element(
    {
        "meaninertia": real(),
        "meanmass": real(),
        "meansize": real(),
        "extent": real(positive=True),
        "center": real(3),
    }
)

VISUAL = element(children=once("global", "quality", "headlight", "map", "scale", "rgba"))

GLOBAL = element(
    {
        "cameraid": integer(default=-1),
        "orthographic": boolean(False),
        "fovy": real32(default=45.0),
        "ipd": real32(default=0.068),
        "azimuth": real32(default=90.0),
        "elevation": real32(default=-45.0),
        "linewidth": real32(default=1.0),
        "glow": real32(default=0.3),
        "offwidth": integer(default=640),
        "offheight": integer(default=480),
        "realtime": real32(default=1.0, positive=True),
        "ellipsoidinertia": boolean(False),
        "bvactive": boolean(False),
    }
)

QUALITY = element(
    {
        "shadowsize": integer(default=4096),
        "offsamples": integer(default=4),
        "numslices": integer(default=28),
        "numstacks": integer(default=16),
        "numquads": integer(default=4),
    }
)

HEADLIGHT = element(
    {
        "ambient": real32(3, default=(0.1, 0.1, 0.1)),
        "diffuse": real32(3, default=(0.4, 0.4, 0.4)),
        "specular": real32(3, default=(0.5, 0.5, 0.5)),
        "active": key(k.HEADLIGHT, "auto"),
    }
)

MAP_DEFAULTS = {
    "stiffness": 100.0,
    "stiffnessrot": 500.0,
    "force": 0.005,
    "torque": 0.1,
    "alpha": 0.3,
    "fogstart": 3.0,
    "fogend": 10.0,
    "znear": 0.01,
    "zfar": 50.0,
    "haze": 0.3,
    "shadowclip": 1.0,
    "shadowscale": 0.6,
    "actuatortendon": 2.0,
}
MAP = element({name: real32(default=value, positive=name == "znear") for name, value in MAP_DEFAULTS.items()})

SCALE_DEFAULTS = {
    "forcewidth": 0.1,
    "contactwidth": 0.3,
    "contactheight": 0.1,
    "connect": 0.2,
    "com": 0.4,
    "camera": 0.3,
    "light": 0.3,
    "selectpoint": 0.2,
    "jointlength": 1.0,
    "jointwidth": 0.1,
    "actuatorlength": 0.7,
    "actuatorwidth": 0.2,
    "framelength": 1.0,
    "framewidth": 0.1,
    "constraint": 0.1,
    "slidercrank": 0.2,
    "frustum": 10.0,
}
SCALE = element({name: real32(default=value) for name, value in SCALE_DEFAULTS.items()})

RGBA_DEFAULTS = {
    "fog": (0.0, 0.0, 0.0, 1.0),
    "haze": (1.0, 1.0, 1.0, 1.0),
    "force": (1.0, 0.5, 0.5, 1.0),
    "inertia": (0.8, 0.2, 0.2, 0.6),
    "joint": (0.2, 0.6, 0.8, 1.0),
    "actuator": (0.2, 0.25, 0.2, 1.0),
    "actuatornegative": (0.2, 0.6, 0.9, 1.0),
    "actuatorpositive": (0.9, 0.4, 0.2, 1.0),
    "com": (0.9, 0.9, 0.9, 1.0),
    "camera": (0.6, 0.9, 0.6, 1.0),
    "light": (0.6, 0.6, 0.9, 1.0),
    "selectpoint": (0.9, 0.9, 0.1, 1.0),
    "connect": (0.2, 0.2, 0.8, 1.0),
    "contactpoint": (0.9, 0.6, 0.2, 1.0),
    "contactforce": (0.7, 0.9, 0.9, 1.0),
    "contactfriction": (0.9, 0.8, 0.4, 1.0),
    "contacttorque": (0.9, 0.7, 0.9, 1.0),
    "contactgap": (0.5, 0.8, 0.9, 1.0),
    "rangefinder": (1.0, 1.0, 0.1, 1.0),
    "constraint": (0.9, 0.0, 0.0, 1.0),
    "slidercrank": (0.5, 0.3, 0.8, 1.0),
    "crankbroken": (0.9, 0.0, 0.0, 1.0),
    "frustum": (1.0, 1.0, 0.0, 0.2),
    "bv": (0.0, 1.0, 0.0, 0.5),
    "bvactive": (1.0, 0.0, 0.0, 0.5),
}
RGBA = element({name: real32(4, default=value) for name, value in RGBA_DEFAULTS.items()})

ELEMENTS = {
    "mujoco": MUJOCO,
    "compiler": COMPILER,
    "lengthrange": LENGTHRANGE,
    "option": OPTION,
    "flag": FLAG,
    "size": SIZE,
    "statistic": STATISTIC,
    "visual": VISUAL,
    "global": GLOBAL,
    "quality": QUALITY,
    "headlight": HEADLIGHT,
    "map": MAP,
    "scale": SCALE,
    "rgba": RGBA,
}
