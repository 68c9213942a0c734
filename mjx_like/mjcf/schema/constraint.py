"""Table rows: contact, tendon, equality."""

from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.body import GREY, ORIGIN
from mjx_like.mjcf.schema.grammar import (
    boolean,
    element,
    exclusive,
    integer,
    key,
    many,
    name,
    oneof,
    only_elements,
    real,
    real32,
    reals,
    ref,
    required,
    together,
)
from mjx_like.mjcf.schema.settings import SOLIMP, SOLREF

CONTACT = element(children=many("pair", "exclude"))

PAIR = element(
    {
        "name": name("pair"),
        "class": ref("default", in_default=False),
        "geom1": only_elements(ref("geom")),
        "geom2": only_elements(ref("geom")),
        "condim": integer(default=3),
        "friction": real(1, 5, default=(1.0, 1.0, 0.005, 0.0001, 0.0001)),
        "solref": real(1, 2, default=SOLREF),
        "solreffriction": real(1, 2, default=(0.0, 0.0)),
        "solimp": real(1, 5, default=SOLIMP),
        "gap": real(default=0.0),
        "margin": real(default=0.0),
        "adhesion": real(default=0.0),
    },
    record="pair",
)

EXCLUDE = element({"name": name("exclude"), "body1": required(ref("body")), "body2": required(ref("body"))})

TENDON = element(children=many("spatial", "fixed"))

TENDON_BASE = {
    "name": name("tendon"),
    "class": ref("default", in_default=False),
    "group": integer(default=0),
    "limited": key(k.TRISTATE, "auto"),
    "actuatorfrclimited": key(k.TRISTATE, "auto"),
    "range": real(2, default=(0.0, 0.0)),
    "actuatorfrcrange": real(2, default=(0.0, 0.0)),
    "solreflimit": real(1, 2, default=SOLREF),
    "solimplimit": real(1, 5, default=SOLIMP),
    "solreffriction": real(1, 2, default=SOLREF),
    "solimpfriction": real(1, 5, default=SOLIMP),
    "frictionloss": real(default=0.0),
    "springlength": real(1, 2, default=(-1.0, -1.0)),
    "springyield": real(default=0.0),
    "margin": real(default=0.0),
    "stiffness": real(1, 3, default=ORIGIN),
    "damping": real(1, 3, default=ORIGIN),
    "armature": real(default=0.0),
    "user": reals(),
}

SPATIAL = element(
    TENDON_BASE | {"width": real(default=0.003), "material": ref("material"), "rgba": real32(4, default=GREY)},
    many("pulley", site="spatial_site", geom="spatial_geom"),
    record="tendon",
)
SPATIAL_SITE = element({"site": required(ref("site"))})
SPATIAL_GEOM = element({"geom": required(ref("geom")), "sidesite": ref("site")})
PULLEY = element({"divisor": required(real())})

FIXED = element(TENDON_BASE, many(joint="fixed_joint"), record="tendon")
FIXED_JOINT = element({"joint": required(ref("joint")), "coef": required(real())})

EQUALITY = element(
    children=many("connect", "weld", "flexstrain", joint="equality_joint", tendon="equality_tendon")
    | many(flex="equality_flex")
)

EQUALITY_BASE = {
    "name": name("equality"),
    "class": ref("default", in_default=False),
    "active": boolean(True),
    "solref": real(1, 2, default=SOLREF),
    "solimp": real(1, 5, default=SOLIMP),
}
# anchor, relpose and cell have no default of their own: MuJoCo writes what is given over eq_data, which begins as
# (0, 1, 0, ...) with 1 at index 10 (torquescale), and clears the anchor of a weld between bodies that gives none.
ENDS = {"body1": ref("body"), "body2": ref("body"), "site1": ref("site"), "site2": ref("site")}
POLYCOEF = real(1, 5, default=(0.0, 1.0, 0.0, 0.0, 0.0))

CONNECT = element(
    EQUALITY_BASE | ENDS | {"anchor": real(3)},
    rules=[
        together("site1 site2"),
        exclusive("site1 site2", "body1 body2 anchor"),
        oneof("site1 site2", "body1 anchor"),
    ],
    record="equality",
)

WELD = element(
    EQUALITY_BASE
    | ENDS
    | {
        "anchor": real(3),
        "relpose": real(7),
        "torquescale": real(default=1.0),
    },
    rules=[
        together("site1 site2"),
        exclusive("site1 site2", "body1 body2 anchor relpose"),
        oneof("site1 site2", "body1"),
    ],
    record="equality",
)

EQUALITY_JOINT = element(
    EQUALITY_BASE | {"joint1": required(ref("joint")), "joint2": ref("joint"), "polycoef": POLYCOEF},
    record="equality",
)
EQUALITY_TENDON = element(
    EQUALITY_BASE | {"tendon1": required(ref("tendon")), "tendon2": ref("tendon"), "polycoef": POLYCOEF},
    record="equality",
)
EQUALITY_FLEX = element(EQUALITY_BASE | {"flex": required(ref("flex"))}, record="equality")
FLEXSTRAIN = element(EQUALITY_BASE | {"flex": required(ref("flex")), "cell": real(3)}, record="equality")

ELEMENTS = {
    "contact": CONTACT,
    "pair": PAIR,
    "exclude": EXCLUDE,
    "tendon": TENDON,
    "spatial": SPATIAL,
    "spatial_site": SPATIAL_SITE,
    "spatial_geom": SPATIAL_GEOM,
    "pulley": PULLEY,
    "fixed": FIXED,
    "fixed_joint": FIXED_JOINT,
    "equality": EQUALITY,
    "connect": CONNECT,
    "weld": WELD,
    "equality_joint": EQUALITY_JOINT,
    "equality_tendon": EQUALITY_TENDON,
    "equality_flex": EQUALITY_FLEX,
    "flexstrain": FLEXSTRAIN,
}
