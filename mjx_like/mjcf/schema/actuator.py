"""Table rows: actuator and its shortcuts.

A shortcut's own parameters (kp, kv, timeconst, ...) have no default here: what they inherit is decided in
mjx_like.mjcf.actuator.
"""

from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.grammar import (
    boolean,
    element,
    integer,
    key,
    keys,
    many,
    name,
    only_elements,
    real,
    reals,
    ref,
    text,
)

NGAIN, NBIAS, NDYN = 10, 10, 10

NO_RANGE = (0.0, 0.0)
RANGE = real(2, default=NO_RANGE)
LIMITED = key(k.TRISTATE, "auto")
INPUT = keys(k.INPUT_CHART | k.INPUT_NONE | k.INPUT_BIT, alone=("expmap", "quat", "none"), ordered=True)

BASE = {
    "name": name("actuator"),
    "class": ref("default", in_default=False),
    "group": integer(default=0),
    "nsample": integer(default=0),
    "interp": key(k.INTERP, "zoh"),
    "delay": real(default=0.0),
    "ctrlrange": RANGE,
    "forcelimited": LIMITED,
    "forcerange": RANGE,
    "user": reals(),
}

DRIVE = {
    "lengthrange": only_elements(RANGE),
    "gear": real(1, 6, default=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
    "damping": real(1, 3, default=(0.0, 0.0, 0.0)),
    "armature": real(default=0.0),
    "cranklength": real(default=0.0),
}

TARGETS = ("joint", "jointinparent", "tendon", "cranksite", "site", "body")  # the last one given wins
TRANSMISSION = {
    "joint": only_elements(ref("joint")),
    "jointinparent": only_elements(ref("joint")),
    "tendon": only_elements(ref("tendon")),
    "slidersite": only_elements(ref("site")),
    "cranksite": only_elements(ref("site")),
}
SITES = {"site": only_elements(ref("site")), "refsite": only_elements(ref("site"))}

CTRL = {"ctrllimited": LIMITED}
ACT = {"actlimited": LIMITED, "actrange": RANGE}
GAINS = {"kp": real(), "kv": real(), "dampratio": real()}

GENERAL = (
    BASE
    | CTRL
    | ACT
    | DRIVE
    | TRANSMISSION
    | SITES
    | {
        "body": only_elements(ref("body")),
        "actdim": integer(default=-1),
        "input": INPUT,
        "velrange": RANGE,
        "ffrange": RANGE,
        "dyntype": key(k.DYN, "none"),
        "gaintype": key(k.GAIN, "fixed"),
        "biastype": key(k.BIAS, "none"),
        "dynprm": real(1, NDYN, default=(1.0,) + (0.0,) * (NDYN - 1)),
        "gainprm": real(1, NGAIN, default=(1.0,) + (0.0,) * (NGAIN - 1)),
        "biasprm": real(1, NBIAS, default=(0.0,) * NBIAS),
        "actearly": boolean(False),
        "inheritrange": real(default=0.0),
    }
)

SERVO = BASE | CTRL | DRIVE | TRANSMISSION | SITES

SHORTCUTS = {
    "motor": SERVO,
    "position": SERVO | GAINS | {"inheritrange": real(), "timeconst": real()},
    "velocity": SERVO | {"kv": real()},
    "intvelocity": SERVO | ACT | GAINS | {"inheritrange": real()},
    "orientation": BASE | GAINS | SITES | {"joint": TRANSMISSION["joint"], "input": INPUT},
    "pid": SERVO
    | GAINS
    | {
        "posrange": real(2),
        "velrange": RANGE,
        "ffrange": RANGE,
        "inheritrange": real(),
        "ki": real(),
        "imax": real(),
        "slewmax": real(),
        "input": INPUT,
    },
    "damper": BASE | DRIVE | TRANSMISSION | SITES | {"kv": real()},
    "cylinder": SERVO | {"timeconst": real(), "area": real(), "diameter": real(), "bias": real(3)},
    "muscle": BASE
    | CTRL
    | DRIVE
    | TRANSMISSION
    | {"timeconst": real(2), "tausmooth": only_elements(real()), "range": real(2)}
    | {parameter: real() for parameter in "force scale lmin lmax vmax fpmax fvmax".split()},
    "adhesion": BASE | {"body": GENERAL["body"], "gain": real()},
    "dcmotor": {attribute: row for attribute, row in SERVO.items() if not attribute.startswith("force")}
    | {
        "motorconst": real(1, 2),
        "resistance": real(),
        "nominal": real(1, 3),
        "saturation": real(1, 3),
        "inductance": real(1, 2),
        "cogging": real(1, 3),
        "controller": real(1, 6),
        "thermal": real(1, 6),
        "lugre": real(1, 5),
        "input": INPUT,
    },
}

PLUGIN = {"plugin": text(), "instance": ref("instance")} | {
    attribute: GENERAL[attribute]
    for attribute in (
        *BASE,
        *CTRL,
        *ACT,
        *DRIVE,
        *TRANSMISSION,
        "site",
        "actdim",
        "dyntype",
        "dynprm",
        "actearly",
    )
}

ACTUATOR = element(children=many("general", *SHORTCUTS, plugin="actuator_plugin"))

ELEMENTS = {
    "actuator": ACTUATOR,
    "general": element(GENERAL, record="general"),
    **{tag: element(attributes, record="general") for tag, attributes in SHORTCUTS.items()},
    "actuator_plugin": element(PLUGIN, many("config"), record="general"),
}
