"""What links objects of the tree: contact pairs, equalities, tendons, actuators and sensors."""

from typing import Any

import numpy as np

from mjx_like.compiler.context import KIND_NAMES
from mjx_like.compiler.decompile.source import Source, limited, poly, said, user, word, words
from mjx_like.errors import ModelError
from mjx_like.mjcf.canonical import input_words, node
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import keywords as k
from mjx_like.types.enums import (
    Attachment,
    CtrlInput,
    DynType,
    EqType,
    GainType,
    ObjType,
    SensorType,
    TendonType,
    TrnType,
    WrapType,
)

_EQUALITIES = {EqType.CONNECT: "connect", EqType.WELD: "weld", EqType.JOINT: "joint", EqType.TENDON: "tendon"}
_SETPOINTS = {CtrlInput.POS: "ctrlrange", CtrlInput.VEL: "velrange", CtrlInput.FF: "ffrange"}
_ENDS = {ObjType.BODY: "body", ObjType.XBODY: "subtree", ObjType.GEOM: "geom", ObjType.SITE: "site"}


def contacts(s: Source) -> list[Element]:
    """Contact pairs and excluded pairs of bodies."""
    found = []
    for index in range(s["npair"]):
        label = s.label(ObjType.PAIR, index)
        attrib = {"name": s.name(ObjType.PAIR, index), "condim": int(s["pair_dim"][index])}
        for end in ("geom1", "geom2"):
            attrib[end] = s.named(ObjType.GEOM, s[f"pair_{end}"][index], label)
        for name in ("friction", "solref", "solreffriction", "solimp"):
            attrib[name] = s[f"pair_{name}"][index]
        for name in ("margin", "gap", "adhesion"):
            attrib[name] = float(s[f"pair_{name}"][index])
        found.append(said("pair", attrib))
    for index, signature in enumerate(s["exclude_signature"]):
        label = s.label(ObjType.EXCLUDE, index)
        bodies = {"body1": int(signature) >> 16, "body2": int(signature) & 0xFFFF}
        names = {end: s.named(ObjType.BODY, body, label) for end, body in bodies.items()}
        found.append(said("exclude", {"name": s.name(ObjType.EXCLUDE, index)} | names))
    return found


def equalities(s: Source) -> list[Element]:
    """Equality constraints. A weld without a relative pose of its own takes that of the reference configuration."""
    return [_equality(s, index) for index in range(s["neq"])]


def _equality(s: Source, index: int) -> Element:
    kind, label, data = EqType(s["eq_type"][index]), s.label(ObjType.EQUALITY, index), s["eq_data"][index]
    if kind in (EqType.FLEX, EqType.FLEXSTRAIN):
        return _flex_equality(s, index, label)
    if kind not in _EQUALITIES:
        raise ModelError(f"{label}: equality {kind.name.lower()} of a compiled model cannot be written as MJCF")
    tag, of_bodies = _EQUALITIES[kind], s["eq_objtype"][index] == ObjType.BODY
    attrib = {
        "name": s.name(ObjType.EQUALITY, index),
        "active": bool(s["eq_active0"][index]),
        "solref": s["eq_solref"][index],
        "solimp": s["eq_solimp"][index],
    }
    if kind in (EqType.CONNECT, EqType.WELD):
        side, obj = ("body", ObjType.BODY) if of_bodies else ("site", ObjType.SITE)
        if of_bodies:
            attrib["anchor"] = data[:3]
    else:
        side, obj = tag, ObjType[tag.upper()]
        attrib["polycoef"] = data[:5]
    if kind == EqType.WELD:
        attrib["torquescale"] = float(data[10])
        attrib["relpose"] = data[3:10] if of_bodies and not data[11] else None
    for end, objid in (("1", s["eq_obj1id"][index]), ("2", s["eq_obj2id"][index])):
        attrib[side + end] = s.named(obj, objid, label) if objid >= 0 else None
    return said(tag, attrib, kind=tag if tag in ("connect", "weld") else f"equality_{tag}")


def _flex_equality(s: Source, index: int, label: str) -> Element:
    attrib = {"name": s.name(ObjType.EQUALITY, index), "flex": s.named(ObjType.FLEX, s["eq_obj1id"][index], label)}
    attrib |= {"active": bool(s["eq_active0"][index]), "solref": s["eq_solref"][index]}
    attrib["solimp"] = s["eq_solimp"][index]
    if s["eq_type"][index] == EqType.FLEXSTRAIN:
        return said("flexstrain", attrib | {"cell": s["eq_data"][index][:3]})
    return said("flex", attrib, kind="equality_flex")


def tendons(s: Source) -> list[Element]:
    """Tendons with their paths."""
    return [_tendon(s, index) for index in range(s["ntendon"])]


def _tendon(s: Source, index: int) -> Element:
    tag = "spatial" if s["tendon_type"][index] == TendonType.SPATIAL else "fixed"
    label, material = s.label(ObjType.TENDON, index), int(s["tendon_matid"][index])
    attrib = {
        "name": s.name(ObjType.TENDON, index),
        "group": int(s["tendon_group"][index]),
        "limited": limited(s["tendon_limited"][index], s["tendon_range"][index]),
        "actuatorfrclimited": limited(s["tendon_actfrclimited"][index], s["tendon_actfrcrange"][index]),
        "range": s["tendon_range"][index],
        "actuatorfrcrange": s["tendon_actfrcrange"][index],
        "solreflimit": s["tendon_solref_lim"][index],
        "solimplimit": s["tendon_solimp_lim"][index],
        "solreffriction": s["tendon_solref_fri"][index],
        "solimpfriction": s["tendon_solimp_fri"][index],
        "springlength": s["tendon_lengthspring"][index],
        "stiffness": poly(s["tendon_stiffness"][index], s["tendon_stiffnesspoly"][index]),
        "damping": poly(s["tendon_damping"][index], s["tendon_dampingpoly"][index]),
        "user": user(s["tendon_user"][index]),
    }
    for name in ("frictionloss", "springyield", "margin", "armature"):
        attrib[name] = float(s[f"tendon_{name}"][index])
    if tag == "spatial":
        attrib |= {"width": float(s["tendon_width"][index]), "rgba": s["tendon_rgba"][index]}
        attrib["material"] = s.named(ObjType.MATERIAL, material, label) if material >= 0 else None
    start = int(s["tendon_adr"][index])
    return said(tag, attrib, [_wrap(s, wrap, label) for wrap in range(start, start + int(s["tendon_num"][index]))])


def _wrap(s: Source, index: int, label: str) -> Element:
    kind, obj, prm = WrapType(s["wrap_type"][index]), int(s["wrap_objid"][index]), float(s["wrap_prm"][index])
    if kind == WrapType.JOINT:
        return node("joint", {"joint": s.named(ObjType.JOINT, obj, label), "coef": prm}, kind="fixed_joint")
    if kind == WrapType.PULLEY:
        return node("pulley", {"divisor": prm})
    if kind == WrapType.SITE:
        return node("site", {"site": s.named(ObjType.SITE, obj, label)}, kind="spatial_site")
    attrib = {"geom": s.named(ObjType.GEOM, obj, label)}
    if prm >= 0:
        attrib["sidesite"] = s.named(ObjType.SITE, round(prm), label)
    return node("geom", attrib, kind="spatial_geom")


def actuators(s: Source) -> list[Element]:
    """Actuators, all of them general."""
    return [_actuator(s, index) for index in range(s["nactuator"])]


def _actuator(s: Source, index: int) -> Element:
    label, dyntype = s.label(ObjType.ACTUATOR, index), DynType(s["actuator_dyntype"][index])
    nsample, interp = (int(value) for value in s["actuator_history"][index])
    own_size = dyntype in (DynType.USER, DynType.PID, DynType.DCMOTOR)
    outputs = slice(int(s["actuator_outadr"][index]), int(s["actuator_outadr"][index] + s["actuator_outnum"][index]))
    attrib = {
        "name": s.name(ObjType.ACTUATOR, index),
        "group": int(s["actuator_group"][index]),
        "nsample": nsample,
        "interp": word(k.INTERP, interp),
        "forcelimited": limited(s["actuator_forcelimited"][index], s["actuator_forcerange"][index]),
        "actlimited": limited(s["actuator_actlimited"][index], s["actuator_actrange"][index]),
        "gear": _one(s["actuator_gear"][outputs], f"{label}: actuator_gear"),
        "lengthrange": s["actuator_lengthrange"][outputs.start],
        "damping": poly(s["actuator_damping"][index], s["actuator_dampingpoly"][index]),
        "actdim": int(s["actuator_actnum"][index]) if own_size else -1,
        "dyntype": word(k.DYN, dyntype),
        "gaintype": word(k.GAIN, s["actuator_gaintype"][index]),
        "biastype": word(k.BIAS, s["actuator_biastype"][index]),
        "actearly": bool(s["actuator_actearly"][index]),
        "user": user(s["actuator_user"][index]),
    }
    for name in ("forcerange", "actrange", "dynprm", "gainprm", "biasprm"):
        attrib[name] = s[f"actuator_{name}"][index]
    for name in ("delay", "armature", "cranklength"):
        attrib[name] = float(s[f"actuator_{name}"][index])
    return said("general", attrib | _transmission(s, index, label) | _inputs(s, index, attrib["gaintype"], label))


def _transmission(s: Source, index: int, label: str) -> dict[str, str]:
    """What an actuator acts on."""
    kind, (target, other) = TrnType(s["actuator_trntype"][index]), s["actuator_trnid"][index]
    if kind in (TrnType.JOINT, TrnType.JOINTINPARENT, TrnType.TENDON, TrnType.BODY):
        obj = {TrnType.TENDON: ObjType.TENDON, TrnType.BODY: ObjType.BODY}.get(kind, ObjType.JOINT)
        return {kind.name.lower(): s.named(obj, target, label)}
    if kind == TrnType.SO3 and other < 0:
        return {"joint": s.named(ObjType.JOINT, target, label)}
    first, second = ("cranksite", "slidersite") if kind == TrnType.SLIDERCRANK else ("site", "refsite")
    found = {first: s.named(ObjType.SITE, target, label)}
    return found | ({second: s.named(ObjType.SITE, other, label)} if other >= 0 else {})


def _inputs(s: Source, index: int, gaintype: str, label: str) -> dict[str, Any]:
    """Which controls an actuator takes, and their ranges."""
    start, count, spec = (int(s[f"actuator_{name}"][index]) for name in ("ctrladr", "ctrlnum", "ctrlspec"))
    ranges, is_limited = (
        s["actuator_ctrlrange"][start : start + count],
        s["actuator_ctrllimited"][start : start + count],
    )
    attrib: dict[str, Any] = {"input": input_words({"gaintype": gaintype, "ctrlspec": spec})} if spec else {}
    if k.GAIN[gaintype] == GainType.PID:
        names = [name for bit, name in _SETPOINTS.items() if spec & bit]
        attrib |= dict(zip(names, ranges, strict=True))
    elif count:
        attrib["ctrlrange"] = _one(ranges, f"{label}: actuator_ctrlrange")
    found = {limited(one, limits) for one, limits in zip(is_limited, ranges, strict=True)}
    if len(found) > 1:
        found = {"true" if one else "false" for one in is_limited}
    if len(found) > 1:
        raise ModelError(f"{label}: some of its controls are limited and some are not; MJCF says it for all")
    return attrib | {"ctrllimited": found.pop() if found else None}


def _one(rows: np.ndarray, what: str) -> np.ndarray:
    """The one value of all inputs or outputs of an actuator."""
    if (rows != rows[0]).any():
        raise ModelError(f"{what} differs between its inputs or outputs; MJCF gives one value for all")
    return rows[0]


def sensors(s: Source) -> list[Element]:
    """Sensors.

    Raises ModelError for noise of a tactile sensor.
    """
    return [_sensor(s, index) for index in range(s["nsensor"])]


def _sensor(s: Source, index: int) -> Element:
    label, kind = s.label(ObjType.SENSOR, index), SensorType(s["sensor_type"][index])
    nsample, interp = (int(value) for value in s["sensor_history"][index])
    attrib = {
        "name": s.name(ObjType.SENSOR, index),
        "cutoff": float(s["sensor_cutoff"][index]),
        "noise": float(s["sensor_noise"][index]),
        "user": user(s["sensor_user"][index]),
    } | _sensed(s, index, kind, label)
    if kind == SensorType.TACTILE and attrib.pop("noise"):
        raise ModelError(f"{label}: MJCF has no noise for a tactile sensor")
    if kind == SensorType.USER:
        attrib["dim"] = int(s["sensor_dim"][index])
        attrib["datatype"] = word(k.DATATYPE, s["sensor_datatype"][index])
        attrib["needstage"] = word(k.STAGE, s["sensor_needstage"][index])
    else:
        attrib |= {"nsample": nsample, "interp": word(k.INTERP, interp), "delay": float(s["sensor_delay"][index])}
        attrib["interval"] = s["sensor_interval"][index]
    return said(kind.tag, attrib, kind="sensor_contact" if kind == SensorType.CONTACT else kind.tag)


def _sensed(s: Source, index: int, kind: SensorType, label: str) -> dict[str, Any]:
    """What a sensor is attached to, and how it reduces what it finds."""
    objtype, reftype = ObjType(s["sensor_objtype"][index]), ObjType(s["sensor_reftype"][index])
    name = s.named(objtype, s["sensor_objid"][index], label) if objtype != ObjType.UNKNOWN else None
    reference = s.named(reftype, s["sensor_refid"][index], label) if reftype != ObjType.UNKNOWN else None
    first, reduction, number = (int(value) for value in s["sensor_intprm"][index])
    typed = {"objtype": KIND_NAMES[objtype], "objname": name} if name else {}
    if kind == SensorType.CAMPROJECTION:
        return {"site": name, "camera": reference}
    if kind == SensorType.TACTILE:
        return {"mesh": name, "geom": reference}
    if kind == SensorType.INSIDESITE:
        return typed | {"site": reference, "enclosed": bool(first)}
    if kind == SensorType.RANGEFINDER:
        return {KIND_NAMES[objtype]: name, "data": _fields(k.RAY_DATA, first)}
    if kind == SensorType.CONTACT:
        ends = {"site" if objtype == ObjType.SITE else _ENDS.get(objtype, "") + "1": name}
        ends |= {_ENDS.get(reftype, "") + "2": reference}
        ends = {end: value for end, value in ends.items() if value}
        return ends | {"data": _fields(k.CONTACT_DATA, first), "reduce": word(k.REDUCE, reduction), "num": number}
    if kind.attachment == Attachment.PAIR:
        return {_ENDS[objtype] + "1": name, _ENDS[reftype] + "2": reference}
    if kind.attachment.attribute:
        return {kind.attachment.attribute: name}
    return typed | ({"reftype": KIND_NAMES[reftype], "refname": reference} if reference else {})


def _fields(keywords: dict[str, int], bits: int) -> tuple[str, ...]:
    """Keywords of the bits that are set."""
    return words({name: 1 << number for name, number in keywords.items()}, bits)
