"""Contact pairs and excluded pairs of bodies."""

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import SOLIMP, SOLREF, Context, vector
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import ObjType

_FRICTION = (1, 1, 0.005, 0.0001, 0.0001)


def compile_pair(ctx: Context, element: Element, geom_bodyid: np.ndarray) -> Row:
    """Return the fields of a contact pair, the geom of the lower body first; `*signature` is its sort key.

    Raises:
      ModelError: bad geoms or condim.
    Source: mjCPair::Compile.
    """
    a = ctx.spec.resolve(element)
    geoms = [ctx.names.find(ObjType.GEOM, a.get(role), element, role) for role in ("geom1", "geom2")]
    if int(a.get("condim", 3)) not in (1, 3, 4, 6):
        raise element.error(f"condim {a['condim']} is none of 1, 3, 4, 6")
    first, second = sorted(geoms, key=lambda geom: geom_bodyid[geom])
    return {
        "*signature": signature(geom_bodyid[first], geom_bodyid[second]),
        "pair_dim": int(a.get("condim", 3)),
        "pair_geom1": first,
        "pair_geom2": second,
        "pair_solref": vector(a.get("solref"), 2, SOLREF),
        "pair_solreffriction": vector(a.get("solreffriction"), 2),
        "pair_solimp": vector(a.get("solimp"), 5, SOLIMP),
        "pair_margin": float(a.get("margin") or 0),
        "pair_gap": float(a.get("gap") or 0),
        "pair_adhesion": float(a.get("adhesion") or 0),
        "pair_friction": vector(a.get("friction"), 5, _FRICTION),
    }


def compile_exclude(ctx: Context, element: Element) -> Row:
    """Return the fields of an excluded pair of bodies; `*signature` is its sort key.

    Raises:
      ModelError: bad bodies.
    Source: mjCBodyPair::Compile.
    """
    a = ctx.spec.resolve(element)
    bodies = sorted(ctx.names.find(ObjType.BODY, a.get(role), element, role) for role in ("body1", "body2"))
    return {"*signature": signature(*bodies), "exclude_signature": signature(*bodies)}


def signature(first: int, second: int) -> int:
    """Return the code of a pair of bodies by which pairs are sorted."""
    return (int(first) << 16) + int(second)
