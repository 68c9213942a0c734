"""Equality constraints, up to what follows from the configuration at qpos0."""

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context, not_built, numbers, vector
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import EqType, JointType, ObjType

_TYPES = {
    "connect": EqType.CONNECT, "weld": EqType.WELD, "joint": EqType.JOINT, "tendon": EqType.TENDON,
    "flex": EqType.FLEX, "flexstrain": EqType.FLEXSTRAIN,
}  # fmt: skip
_DATA = (0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0)  # mjs_defaultEquality


def compile_equality(ctx: Context, element: Element, jnt_type: np.ndarray) -> Row:
    """Return the fields of an equality constraint, eq_data as the file gives it.

    Raises:
      ModelError: a bad reference, or a constraint of an object with itself.
    Source: mjCEquality::Compile, OneEquality in xml_native_reader.cc.
    """
    kind = _TYPES.get(element.tag)
    if kind is None:
        raise not_built(element, f"equality {element.tag}")
    a = ctx.spec.resolve(element)
    objtype, first, second, data = _SIDES[kind](ctx, element, a)
    if first == second:
        raise element.error("constrains an object to itself")
    if kind == EqType.JOINT:
        for joint in (first, second):
            if joint >= 0 and jnt_type[joint] not in (JointType.HINGE, JointType.SLIDE):
                raise element.error("only hinge and slide joints can be constrained")
    return {
        "eq_type": int(kind),
        "eq_obj1id": first,
        "eq_obj2id": second,
        "eq_objtype": int(objtype),
        "eq_active0": a["active"],
        "eq_solref": a["solref"],
        "eq_solimp": a["solimp"],
        "eq_data": data,
    }


def _connect(ctx: Context, element: Element, a):
    if a.get("body1") is None or a.get("anchor") is None:
        return *_sites(ctx, element, a), np.zeros(12)
    return *_bodies(ctx, element, a), vector(a["anchor"], 12, _DATA)


def _weld(ctx: Context, element: Element, a):
    data = np.array(_DATA, float)
    if a.get("relpose") is not None:
        data[3:10] = a["relpose"]
    if a.get("torquescale") is not None:
        data[10] = a["torquescale"]
    if a.get("anchor") is not None:
        data[:3] = a["anchor"]
    elif a.get("body1") is not None:
        data[:3] = 0
    return *(_sites if a.get("body1") is None else _bodies)(ctx, element, a), data


def _joint(ctx: Context, element: Element, a):
    return *_scalars(ctx, element, a, ObjType.JOINT, "joint"), vector(a.get("polycoef"), 12, _DATA)


def _tendon(ctx: Context, element: Element, a):
    return *_scalars(ctx, element, a, ObjType.TENDON, "tendon"), vector(a.get("polycoef"), 12, _DATA)


def _flex_element(ctx: Context, flex: int) -> Element:
    """Return the element of a flex."""
    return ctx.names.elements[ObjType.FLEX][flex]


def _flex(ctx: Context, element: Element, a):
    index = ctx.names.find(ObjType.FLEX, a.get("flex"), element, "flex")
    flex = ctx.spec.resolve(_flex_element(ctx, index))
    if len(set(flex["body"].split())) == 1 and not flex.get("node"):
        raise element.error(f"flex '{a['flex']}' is rigid")
    return ObjType.UNKNOWN, index, -1, np.array(_DATA, float)


def _flexstrain(ctx: Context, element: Element, a):
    kind, index, none, data = _flex(ctx, element, a)
    flex = ctx.spec.resolve(_flex_element(ctx, index))
    if flex.get("dof") not in ("trilinear", "quadratic"):
        raise element.error(f"flex '{a['flex']}' has no cells; it needs dof trilinear or quadratic")
    cell, count = np.asarray(a.get("cell", (-1, -1, -1))), np.asarray(flex["cellcount"])
    elasticity = _flex_element(ctx, index).find("elasticity")
    if elasticity is not None and elasticity.get("elastic2d", "none") != "none":
        x, y, z = count
        faces = 2 * int(x * y + x * z + y * z)
        if (cell[1:] != -1).any() or not 0 <= cell[0] < faces:
            raise element.error(f"cell {numbers(cell)} of a shell must be a face, (0, -1, -1) to ({faces - 1}, -1, -1)")
    elif (cell < 0).any() or (cell >= count).any():
        given = f"cell {numbers(cell)}" if a.get("cell") is not None else "no cell"
        raise element.error(f"has {given}; flex '{a['flex']}' has {numbers(count)} cells, counted from 0")
    data[:3] = cell
    return kind, index, none, data


_SIDES = {
    EqType.CONNECT: _connect, EqType.WELD: _weld, EqType.JOINT: _joint, EqType.TENDON: _tendon,
    EqType.FLEX: _flex, EqType.FLEXSTRAIN: _flexstrain,
}  # fmt: skip


def _bodies(ctx: Context, element: Element, a):
    return _pair(ctx, element, a, ObjType.BODY, "body", 0)


def _scalars(ctx: Context, element: Element, a, kind: ObjType, word: str):
    return ObjType.UNKNOWN, *_pair(ctx, element, a, kind, word, -1)[1:]


def _sites(ctx: Context, element: Element, a):
    return _pair(ctx, element, a, ObjType.SITE, "site", None)


def _pair(ctx: Context, element: Element, a, kind: ObjType, word: str, missing: int | None):
    """Kind and ids of the two sides; `missing` is the id of a second side that is not given, None if it must be."""
    first = ctx.names.find(kind, a.get(word + "1"), element, word + "1")
    other = a.get(word + "2")
    second = missing if other is None and missing is not None else ctx.names.find(kind, other, element, word + "2")
    return kind, first, second
