"""Contact pairs and excluded pairs of bodies."""

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import ObjType


def compile_pair(ctx: Context, element: Element, geom_bodyid: np.ndarray) -> Row:
    """Return the fields of a contact pair, the geom of the lower body first; `pair_signature` is its sort key.

    Raises:
      ModelError: bad geoms or condim.
    Source: mjCPair::Compile.
    """
    a = ctx.spec.resolve(element)
    geoms = [ctx.names.find(ObjType.GEOM, a.get(role), element, role) for role in ("geom1", "geom2")]
    if a["condim"] not in (1, 3, 4, 6):
        raise element.error(f"condim {a['condim']} is none of 1, 3, 4, 6")
    first, second = sorted(geoms, key=lambda geom: geom_bodyid[geom])
    return {
        "pair_signature": signature(geom_bodyid[first], geom_bodyid[second]),
        "pair_dim": a["condim"],
        "pair_geom1": first,
        "pair_geom2": second,
        "pair_solref": a["solref"],
        "pair_solreffriction": a["solreffriction"],
        "pair_solimp": a["solimp"],
        "pair_margin": a["margin"],
        "pair_gap": a["gap"],
        "pair_adhesion": a["adhesion"],
        "pair_friction": a["friction"],
    }


def compile_exclude(ctx: Context, element: Element) -> Row:
    """Return the fields of an excluded pair of bodies; `exclude_signature` is its sort key.

    Raises:
      ModelError: bad bodies.
    Source: mjCBodyPair::Compile.
    """
    a = ctx.spec.resolve(element)
    bodies = sorted(ctx.names.find(ObjType.BODY, a.get(role), element, role) for role in ("body1", "body2"))
    return {"exclude_signature": signature(*bodies)}


def signature(first: int, second: int) -> int:
    """Return the code of a pair of bodies by which pairs are sorted."""
    return (int(first) << 16) + int(second)
