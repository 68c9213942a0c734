"""Table rows: sensor."""

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
    oneof,
    real,
    reals,
    ref,
    required,
    text,
    together,
)

HISTORY = {
    "nsample": integer(default=0),
    "interp": key(k.INTERP, "zoh"),
    "delay": real(default=0.0),
    "interval": real(1, 2, default=(0.0, 0.0)),
}
NAMED = {"name": name("sensor"), "user": reals()}
BASE = NAMED | HISTORY | {"cutoff": real(default=0.0), "noise": real(default=0.0)}
FRAME = {"objtype": required(key(k.FRAME_OBJECT)), "objname": required(text())}
REFERENCE = {"reftype": key(k.FRAME_OBJECT), "refname": text()}
PAIR_ENDS = {"geom1": ref("geom"), "geom2": ref("geom"), "body1": ref("body"), "body2": ref("body")}
PAIR_RULES = (
    exclusive("geom1", "body1"),
    oneof("geom1", "body1"),
    exclusive("geom2", "body2"),
    oneof("geom2", "body2"),
)

# Sensors that are attached to one object, by the kind of object.
ATTACHED = {
    "site": "touch accelerometer velocimeter gyro force torque magnetometer",
    "joint": "jointpos jointvel jointactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel jointlimitfrc",
    "tendon": "tendonpos tendonvel tendonactuatorfrc tendonlimitpos tendonlimitvel tendonlimitfrc",
    "actuator": "actuatorpos actuatorvel actuatorfrc",
    "body": "subtreecom subtreelinvel subtreeangmom",
}
ATTACHED_SENSORS = {
    tag: element(BASE | {kind: required(ref(kind))}) for kind, tags in ATTACHED.items() for tag in tags.split()
}

FRAME_SENSORS = {
    tag: element(BASE | FRAME | REFERENCE, rules=[together("reftype refname")])
    for tag in "framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel".split()
} | {tag: element(BASE | FRAME) for tag in ("framelinacc", "frameangacc")}

PAIR_SENSORS = {tag: element(BASE | PAIR_ENDS, rules=PAIR_RULES) for tag in ("distance", "normal", "fromto")}

GLOBAL_SENSORS = {tag: element(BASE) for tag in ("e_potential", "e_kinetic", "clock")}

OTHER_SENSORS = {
    "camprojection": element(BASE | {"site": required(ref("site")), "camera": required(ref("camera"))}),
    "rangefinder": element(
        BASE
        | {
            "site": ref("site"),
            "camera": ref("camera"),
            "data": keys(k.RAY_DATA, default=("dist",), ordered=True),
        },
        rules=[exclusive("site", "camera"), oneof("site", "camera")],
    ),
    "insidesite": element(BASE | FRAME | {"site": required(ref("site")), "enclosed": boolean(False)}),
    "sensor_contact": element(
        BASE
        | PAIR_ENDS
        | {
            "subtree1": ref("body"),
            "subtree2": ref("body"),
            "site": ref("site"),
            "num": integer(default=1, lowest=1, blank=False),
            "data": keys(k.CONTACT_DATA, default=("found",), ordered=True),
            "reduce": key(k.REDUCE, "none"),
        },
        rules=[exclusive("geom1", "body1", "subtree1", "site"), exclusive("geom2", "body2", "subtree2")],
    ),
    "tactile": element(
        NAMED | HISTORY | {"cutoff": real(default=0.0), "geom": required(ref("geom")), "mesh": required(ref("mesh"))}
    ),
    "user": element(
        NAMED
        | {
            "objtype": text(),
            "objname": text(),
            "datatype": key(k.DATATYPE, "real"),
            "needstage": key(k.STAGE, "acc"),
            "dim": required(integer()),
            "cutoff": real(default=0.0),
            "noise": real(default=0.0),
        },
        rules=[together("objtype objname")],
    ),
    "sensor_plugin": element(
        NAMED
        | {
            "plugin": text(),
            "instance": ref("instance"),
            "cutoff": real(default=0.0),
            "objtype": text(),
            "objname": text(),
            "reftype": text(),
            "refname": text(),
        },
        many("config"),
        [together("objtype objname"), together("reftype refname")],
    ),
}

SENSORS = ATTACHED_SENSORS | FRAME_SENSORS | PAIR_SENSORS | GLOBAL_SENSORS | OTHER_SENSORS

ELEMENTS = {
    "sensor": element(
        children={tag: child for kind in SENSORS for tag, child in many(**{kind.removeprefix("sensor_"): kind}).items()}
    ),
    **SENSORS,
}
