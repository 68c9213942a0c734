"""Table rows: sensor. Those that are attached as others are follow from SensorType; the others stand here."""

from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.grammar import (
    ElementType,
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
from mjx_like.types.enums import Attachment, SensorType

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


def _grammar(kind: SensorType) -> ElementType:
    """Return the grammar of a sensor that is attached as others are."""
    to = kind.attachment
    if to.attribute:
        return element(BASE | {to.attribute: required(ref(to.attribute))})
    if to == Attachment.PAIR:
        return element(BASE | PAIR_ENDS, rules=PAIR_RULES)
    if to == Attachment.FRAME:
        return element(BASE | FRAME | REFERENCE, rules=[together("reftype refname")])
    return element(BASE | (FRAME if to == Attachment.ISOLATED_FRAME else {}))


COMMON_SENSORS = {kind.tag: _grammar(kind) for kind in SensorType if kind.attachment != Attachment.OWN}
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

SENSORS = COMMON_SENSORS | OTHER_SENSORS

ELEMENTS = {
    "sensor": element(
        children={tag: child for kind in SENSORS for tag, child in many(**{kind.removeprefix("sensor_"): kind}).items()}
    ),
    **SENSORS,
}
