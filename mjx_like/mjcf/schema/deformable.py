"""Table rows: deformable, flexcomp, composite."""

from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.body import CONTACT_FILTER, GREY, ONE_ORIENTATION, ORIENTATION, ORIGIN
from mjx_like.mjcf.schema.grammar import (
    boolean,
    element,
    integer,
    integers,
    key,
    many,
    name,
    once,
    real,
    real32,
    reals,
    reals32,
    ref,
    required,
    text,
)

DEFORMABLE = element(children=many("flex", "skin"))

LOOK = {
    "group": integer(default=0),
    "material": ref("material"),
    "rgba": real32(4, default=GREY),
    "flatskin": boolean(False),
    "radius": real(default=0.005),
}

FLEX = element(
    {
        "name": name("flex"),
        **LOOK,
        "dim": integer(default=2),
        "body": required(text()),
        "vertex": reals(),
        "element": required(integers()),
        "texcoord": reals32(),
        "elemtexcoord": integers(),
        "node": text(),
        "nodecoord": reals(),
        "cellcount": integer(3, default=(1, 1, 1)),
        "dof": key(k.FLEX_DOF),
    },
    once("elasticity", contact="flex_contact", edge="flex_edge"),
)

FLEX_EDGE = element({"stiffness": real(default=0.0), "damping": real(default=0.0)})

ELASTICITY = element(
    {
        "young": real(default=0.0),
        "poisson": real(default=0.0),
        "shear": real(default=0.0),
        "damping": real(default=0.0),
        "thickness": real(default=-1.0),
        "yield": real(1, 2, default=(0.0, 0.0)),
        "elastic2d": key(k.ELASTIC2D, "none"),
        "section": key(k.SECTION, "circle"),
        "sectionsize": real(2, default=(0.0, 0.0)),
    }
)

FLEX_CONTACT = element(
    CONTACT_FILTER
    | {
        "selfcollide": key(k.FLEX_SELF, "auto"),
        "activelayers": integer(default=1),
        "passive": boolean(False),
    }
)

FLEXCOMP = element(
    {
        "name": required(name("flex")),
        **LOOK,
        "group": integer(default=0, blank=False),
        "type": key(k.FLEXCOMP, "grid"),
        "dim": integer(default=2, blank=False),
        "dof": key(k.FLEX_DOF, "full"),
        "count": integer(3, default=(10, 10, 10)),
        "cellcount": integer(3, default=(1, 1, 1)),
        "spacing": real(3, default=(0.02, 0.02, 0.02)),
        "rigid": boolean(False),
        "mass": real(default=1.0),
        "inertiabox": real(default=0.005),
        "scale": real(3, default=(1.0, 1.0, 1.0)),
        "file": text(),
        "mesh": ref("mesh"),
        "point": reals(),
        "element": integers(),
        "texcoord": reals32(),
        "pos": real(3, default=ORIGIN),
        **ORIENTATION,
        "origin": real(3),
    },
    once("elasticity", contact="flex_contact", edge="flexcomp_edge") | many("pin", "plugin"),
    [ONE_ORIENTATION],
)

FLEXCOMP_EDGE = element(
    {
        "equality": key(k.FLEX_EQUALITY, "false"),
        "solref": real(1, 2, default=(0.02, 1.0)),
        "solimp": real(1, 5, default=(0.9, 0.95, 0.001, 0.5, 2.0)),
        "stiffness": real(default=0.0),
        "damping": real(default=0.0),
    }
)

PIN = element({"id": integers(), "range": integers(), "grid": integers(), "gridrange": integers()})

# The grammar of MuJoCo 3.1.6, before composite left the language.
COMPOSITE_LIMITS = {
    "solreflimit": real(1, 2),
    "solimplimit": real(1, 5),
    "frictionloss": real(),
    "solreffriction": real(1, 2),
    "solimpfriction": real(1, 5),
}
COMPOSITE = element(
    {
        "prefix": text(),
        "type": required(key(k.COMPOSITE)),
        "count": integer(1, 3),
        "spacing": real(),
        "offset": real(3, default=ORIGIN),
        "vertex": reals(),
        "initial": text(),
        "curve": text(),
        "size": real(1, 3),
        "solrefsmooth": real(1, 2),
        "solimpsmooth": real(1, 5),
        "flatinertia": real(),
        "face": integers(),
    },
    once(skin="composite_skin", geom="composite_geom", site="composite_site")
    | many("plugin", joint="composite_joint", tendon="composite_tendon", pin="composite_pin"),
)
COMPOSITE_JOINT = element(
    {
        "kind": required(key(k.COMPOSITE_JOINT)),
        "group": integer(),
        "stiffness": real(),
        "damping": real(),
        "armature": real(),
        "solreffix": real(1, 2),
        "solimpfix": real(1, 5),
        "type": key(k.JOINT),
        "axis": real(3),
        "limited": key(k.TRISTATE, "auto"),
        "range": real(2),
        "margin": real(),
        **COMPOSITE_LIMITS,
    }
)
COMPOSITE_TENDON = element(
    {
        "kind": required(key({"main": 0, "shear": 1})),
        "group": integer(),
        "stiffness": real(),
        "damping": real(),
        "solreffix": real(1, 2),
        "solimpfix": real(1, 5),
        "limited": key(k.TRISTATE, "auto"),
        "range": real(2),
        "margin": real(),
        "material": ref("material"),
        "rgba": real32(4),
        "width": real(),
        **COMPOSITE_LIMITS,
    }
)
COMPOSITE_SKIN = element(
    {
        "texcoord": boolean(),
        "material": ref("material"),
        "group": integer(lowest=0, highest=5),
        "rgba": real32(4),
        "inflate": real(),
        "subgrid": integer(),
    }
)
COMPOSITE_GEOM = element(
    CONTACT_FILTER
    | {
        "type": key(k.GEOM),
        "group": integer(),
        "size": real(1, 3),
        "material": ref("material"),
        "rgba": real32(4),
        "mass": real(),
        "density": real(),
    }
)
COMPOSITE_SITE = element({"group": integer(), "size": real(1, 3), "material": ref("material"), "rgba": real32(4)})
COMPOSITE_PIN = element({"coord": integer(1, 2)})

ELEMENTS = {
    "deformable": DEFORMABLE,
    "flex": FLEX,
    "flex_edge": FLEX_EDGE,
    "flex_contact": FLEX_CONTACT,
    "elasticity": ELASTICITY,
    "flexcomp": FLEXCOMP,
    "flexcomp_edge": FLEXCOMP_EDGE,
    "pin": PIN,
    "composite": COMPOSITE,
    "composite_joint": COMPOSITE_JOINT,
    "composite_tendon": COMPOSITE_TENDON,
    "composite_skin": COMPOSITE_SKIN,
    "composite_geom": COMPOSITE_GEOM,
    "composite_site": COMPOSITE_SITE,
    "composite_pin": COMPOSITE_PIN,
}
