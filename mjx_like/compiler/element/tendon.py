"""Tendons and the tables of their paths."""

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context, choice, numbers
from mjx_like.compiler.element.geom import material
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import GeomType, JointType, ObjType, TendonType, WrapType

_GEOMS = (WrapType.SPHERE, WrapType.CYLINDER)


def compile_tendon(ctx: Context, element: Element, geom_type, jnt_type) -> tuple[Row, list[Row]]:
    """Return the fields of a tendon and the rows of its path.

    Raises:
      ModelError: a bad path, reference or range.
    Source: mjCTendon::Compile.
    """
    a = ctx.spec.resolve(element)
    spatial = element.tag == "spatial"
    path = [_wrap(ctx, part, geom_type) for part in element.children]
    armature = a["armature"]
    if armature < 0:
        raise element.error(f"armature {armature:g} is negative")
    if spatial:
        _check_spatial(element, path, armature)
    else:
        _check_fixed(element, path, jnt_type)
    limits, force_limits = a["range"], a["actuatorfrcrange"]
    limited = ctx.limited(element, choice(a["limited"]), limits, "range")
    if limited and limits[0] >= limits[1]:
        raise element.error(f"range {numbers(limits)}: the first value must be the smaller")
    force_limited = ctx.limited(element, choice(a["actuatorfrclimited"]), force_limits, "actuatorfrcrange")
    if force_limited and not (force_limits[0] < force_limits[1] and force_limits[0] <= 0 <= force_limits[1]):
        raise element.error(f"actuatorfrcrange {numbers(force_limits)} must be a range that holds zero")
    spring = _springlength(element, a)
    if a["springyield"] < 0:
        raise element.error(f"springyield {a['springyield']:g} is negative")
    width = a["width"]
    if spatial and width <= 0:
        raise element.error("width must be positive")
    stiffness, damping = a["stiffness"], a["damping"]
    row = {
        "tendon_type": int(TendonType.SPATIAL if spatial else TendonType.FIXED),
        "tendon_num": len(path),
        "tendon_matid": material(ctx, element, a),
        "tendon_group": a["group"],
        "tendon_limited": limited,
        "tendon_actfrclimited": force_limited,
        "tendon_width": width,
        "tendon_solref_lim": a["solreflimit"],
        "tendon_solimp_lim": a["solimplimit"],
        "tendon_solref_fri": a["solreffriction"],
        "tendon_solimp_fri": a["solimpfriction"],
        "tendon_range": limits,
        "tendon_actfrcrange": force_limits,
        "tendon_margin": a["margin"],
        "tendon_stiffness": stiffness[0],
        "tendon_stiffnesspoly": stiffness[1:],
        "tendon_damping": damping[0],
        "tendon_dampingpoly": damping[1:],
        "tendon_armature": armature,
        "tendon_frictionloss": a["frictionloss"],
        "tendon_lengthspring": spring,
        "tendon_springyield": a["springyield"],
        "tendon_user": ctx.user_data(element, a, "nuser_tendon"),
        "tendon_rgba": a["rgba"],
    }
    return row, path


def _springlength(element: Element, a) -> np.ndarray:
    spring = a["springlength"]
    if spring[0] > spring[1]:
        raise element.error(f"springlength {numbers(spring)}: the first value must not be the larger")
    return spring


def _wrap(ctx: Context, part: Element, geom_type) -> Row:
    if part.tag == "joint":
        objid = ctx.names.find(ObjType.JOINT, part.get("joint"), part, "joint")
        return _wrap_row(WrapType.JOINT, objid, float(part.get("coef")))
    if part.tag == "site":
        return _wrap_row(WrapType.SITE, ctx.names.find(ObjType.SITE, part.get("site"), part, "site"), 0)
    if part.tag == "pulley":
        divisor = float(part.get("divisor"))
        if divisor <= 0:
            raise part.error(f"divisor {divisor:g} must be positive")
        return _wrap_row(WrapType.PULLEY, -1, divisor)
    objid = ctx.names.find(ObjType.GEOM, part.get("geom"), part, "geom")
    kind = {GeomType.SPHERE: WrapType.SPHERE, GeomType.CYLINDER: WrapType.CYLINDER}.get(GeomType(geom_type[objid]))
    if kind is None:
        raise part.error(f"geom '{part.get('geom')}' is neither a sphere nor a cylinder")
    side = part.get("sidesite")
    return _wrap_row(kind, objid, ctx.names.find(ObjType.SITE, side, part, "sidesite") if side else -1)


def _wrap_row(kind: WrapType, objid: int, prm: float) -> Row:
    return {"wrap_type": int(kind), "wrap_objid": objid, "wrap_prm": prm}


def _check_fixed(element: Element, path: list[Row], jnt_type) -> None:
    if not path:
        raise element.error("the path is empty; a fixed tendon needs a joint")
    joints = [row["wrap_objid"] for row in path]
    for joint in joints:
        if jnt_type[joint] not in (JointType.HINGE, JointType.SLIDE):
            raise element.error("only hinge and slide joints can be in a fixed tendon")
    if len(set(joints)) < len(joints):
        raise element.error("a joint is in the path twice")


def _check_spatial(element: Element, path: list[Row], armature: float) -> None:
    if len(path) < 2:
        raise element.error(f"the path has {len(path)} objects; a spatial tendon needs two or more")
    kinds = [WrapType(row["wrap_type"]) for row in path]
    around = [WrapType.PULLEY, *kinds, WrapType.PULLEY]
    for i, kind in enumerate(kinds):
        before, after = around[i], around[i + 2]
        if kind == WrapType.PULLEY:
            if i and before == WrapType.PULLEY:
                raise element.error(f"two pulleys follow each other at position {i}")
            if i == len(kinds) - 1:
                raise element.error("the path ends with a pulley")
        elif kind == WrapType.SITE:
            if before == WrapType.PULLEY and after == WrapType.PULLEY:
                raise element.error(f"the site at position {i} needs a neighbour that is not a pulley")
            if after == WrapType.SITE and path[i]["wrap_objid"] == path[i + 1]["wrap_objid"]:
                raise element.error(f"the site at position {i} is repeated")
        elif before != WrapType.SITE or after != WrapType.SITE:
            raise element.error(f"the geom at position {i} must stand between two sites")
        elif armature > 0:
            raise element.error("a tendon that wraps around geoms cannot have armature")
