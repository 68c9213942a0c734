"""Sensors: type, what they are attached to, size and stage of their data."""

from typing import NamedTuple

import numpy as np

from mjx_like.compiler.arrays import Columns, Row
from mjx_like.compiler.context import KINDS, Context, keyword, numbers, vector
from mjx_like.compiler.plugin.registry import touch_grid_size
from mjx_like.mjcf.schema import keywords
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import (
    SENSOR_OF_TAG,
    Attachment,
    ConDataField,
    DataType,
    GeomType,
    JointType,
    ObjType,
    RayDataField,
    SensorType,
    Stage,
)  # fmt: skip

_FRAMES = (ObjType.BODY, ObjType.XBODY, ObjType.GEOM, ObjType.SITE, ObjType.CAMERA)
_CONTACT_SIZE = {
    "found": 1, "force": 3, "torque": 3, "dist": 1, "pos": 3, "normal": 3, "tangent": 3, "linvel": 3, "angvel": 3,
}  # fmt: skip
_CONTACT_STAGE = {"force": Stage.ACC, "torque": Stage.ACC, "linvel": Stage.VEL, "angvel": Stage.VEL}
_RAY_SIZE = {"dist": 1, "dir": 3, "origin": 3, "point": 3, "normal": 3, "depth": 1}


def compile_sensor(ctx: Context, element: Element, columns: Columns) -> Row:
    """Return the fields of a sensor.

    Args:
      columns: columns of joints, tendons, geoms, cameras and actuators, by field name.

    Raises:
      ModelError: a sensor that does not fit its object, or bad values.
    Source: mjCSensor::Compile.
    """
    kind = SENSOR_OF_TAG[element.tag]
    a = ctx.spec.resolve(element)
    objtype, objid, reftype, refid = attached = _attached(ctx, element, a, kind)
    intprm, dim, datatype, stage = _measured(ctx, element, a, kind, attached, columns)
    _check_object(element, kind, *attached, columns)
    cutoff, noise = _cutoff_and_noise(element, a, kind, datatype)
    nsample, delay, interval = _history(element, a)
    return {
        "sensor_type": int(kind),
        "sensor_datatype": int(datatype),
        "sensor_needstage": int(stage),
        "sensor_objtype": int(objtype),
        "sensor_objid": objid,
        "sensor_reftype": int(reftype),
        "sensor_refid": refid,
        "sensor_intprm": intprm,
        "sensor_dim": dim,
        "sensor_cutoff": cutoff,
        "sensor_noise": noise,
        "sensor_delay": delay,
        "sensor_history": (nsample, keywords.INTERP[a.get("interp", "zoh")]),
        "sensor_interval": interval,
        "sensor_user": ctx.user_data(element, a, "nuser_sensor"),
    }


class _Data(NamedTuple):
    """What a sensor writes: parameters of its reduction, number, type and stage of its values."""

    intprm: tuple[int, int, int]
    dim: int
    datatype: DataType
    stage: Stage


def _measured(ctx: Context, element: Element, a, kind: SensorType, attached, columns: Columns) -> _Data:
    """Return what the row of the sensor's type says of its data, or what its attributes do."""
    data = _Data((0, 0, 0), kind.dim, kind.datatype, kind.stage)
    if kind in _MEASURED:
        return _MEASURED[kind](ctx, element, a, data, attached, columns)
    if kind.attachment == Attachment.ACTUATOR:
        return data._replace(dim=int(columns["actuator_outnum"][attached[1]]))
    return data


def _cutoff_and_noise(element: Element, a, kind: SensorType, datatype: DataType) -> tuple[float, float]:
    cutoff, noise = float(a.get("cutoff") or 0), float(a.get("noise") or 0)
    for name, value in (("cutoff", cutoff), ("noise", noise)):
        if value < 0:
            raise element.error(f"{name} {value:g} is negative")
    directed = datatype == DataType.AXIS and kind != SensorType.GEOMNORMAL
    if cutoff > 0 and (datatype == DataType.QUATERNION or directed):
        raise element.error("a cutoff cannot be applied to an axis or a quaternion")
    return cutoff, noise


def _history(element: Element, a) -> tuple[int, float, np.ndarray]:
    """Return the number of samples kept, the delay [s], and period and phase [s]."""
    nsample, delay, interval = int(a.get("nsample") or 0), float(a.get("delay") or 0), vector(a.get("interval"), 2)
    if delay > 0 and nsample <= 0:
        raise element.error("a delay needs a history buffer; give nsample")
    if interval[0] < 0 or not -interval[0] <= interval[1] * (interval[0] > 0) <= 0:
        raise element.error(
            f"interval {numbers(interval)}: the period cannot be negative, the phase is in (-period, 0]"
        )
    return nsample, delay, interval


def _check_enclosed(element: Element, objtype: ObjType, objid: int, site: int, columns: Columns) -> None:
    """Raise ModelError where the site, or what it shall enclose, has no bounded convex shape."""
    if objtype == ObjType.CAMERA:
        raise element.error("enclosed needs an object with a shape; found a camera")
    geoms = _geoms_of(objtype, objid, columns)
    if objtype != ObjType.SITE and not geoms:
        raise element.error("enclosed needs a body with at least one geom")
    sites = [site, objid] if objtype == ObjType.SITE else [site]
    shapes = [("geom", columns["geom_type"][i]) for i in geoms] + [("site", columns["site_type"][i]) for i in sites]
    for what, shape in shapes:
        if shape in (GeomType.PLANE, GeomType.HFIELD, GeomType.SDF):
            raise element.error(f"enclosed needs a bounded convex {what}; found a {GeomType(shape).name.lower()}")


def _geoms_of(objtype: ObjType, objid: int, columns: Columns) -> list[int]:
    """Return the geom itself, those of a body, or those of its subtree for XBODY."""
    if objtype == ObjType.GEOM:
        return [objid]
    bodies = {objid} if objtype in (ObjType.BODY, ObjType.XBODY) else set()
    if objtype == ObjType.XBODY:
        for child in range(objid + 1, len(columns["body_parentid"])):
            bodies |= {child} if columns["body_parentid"][child] in bodies else set()
    return [i for i, body in enumerate(columns.get("geom_bodyid", ())) if body in bodies]


def place_sensors(rows: list[Row], historyadr: int) -> tuple[int, int]:
    """Write the addresses of data and histories into `rows`; return the sizes of both."""
    adr = 0
    for row in rows:
        row["sensor_adr"] = adr
        adr += row["sensor_dim"]
        nsample = row["sensor_history"][0]
        row["sensor_historyadr"] = historyadr if nsample > 0 else -1
        if nsample > 0:
            historyadr += 2 + nsample * (1 + row["sensor_dim"])
    return adr, historyadr


def _attached(ctx: Context, element: Element, a, kind: SensorType) -> tuple[ObjType, int, ObjType, int]:
    """Return the kinds and ids of the object and of the reference; UNKNOWN and -1 where there is none."""
    none, to = (ObjType.UNKNOWN, -1), kind.attachment
    if kind in _ENDS:
        return _ENDS[kind](ctx, element, a)
    if to == Attachment.NOTHING:
        return *none, *none
    if to.attribute:
        obj = ObjType[to.attribute.upper()]
        return obj, ctx.names.find(obj, a.get(to.attribute), element, to.attribute), *none
    if to == Attachment.PAIR:
        sides = [_first(ctx, element, a, {f"body{i}": ObjType.BODY, f"geom{i}": ObjType.GEOM}) for i in (1, 2)]
        return *sides[0], *sides[1]
    return *_named(ctx, element, a, "obj"), *_named(ctx, element, a, "ref")


def _camprojection_ends(ctx: Context, element: Element, a) -> tuple[ObjType, int, ObjType, int]:
    site = ctx.names.find(ObjType.SITE, a.get("site"), element, "site")
    return ObjType.SITE, site, ObjType.CAMERA, ctx.names.find(ObjType.CAMERA, a.get("camera"), element, "camera")


def _rangefinder_ends(ctx: Context, element: Element, a) -> tuple[ObjType, int, ObjType, int]:
    return *_first(ctx, element, a, {"site": ObjType.SITE, "camera": ObjType.CAMERA}), ObjType.UNKNOWN, -1


def _contact_ends(ctx: Context, element: Element, a) -> tuple[ObjType, int, ObjType, int]:
    first = {"site": ObjType.SITE, "body1": ObjType.BODY, "subtree1": ObjType.XBODY, "geom1": ObjType.GEOM}
    second = {"body2": ObjType.BODY, "subtree2": ObjType.XBODY, "geom2": ObjType.GEOM}
    return *_first(ctx, element, a, first), *_first(ctx, element, a, second)


def _tactile_ends(ctx: Context, element: Element, a) -> tuple[ObjType, int, ObjType, int]:
    mesh = ctx.names.find(ObjType.MESH, a.get("mesh"), element, "mesh")
    return ObjType.MESH, mesh, ObjType.GEOM, ctx.names.find(ObjType.GEOM, a.get("geom"), element, "geom")


def _insidesite_ends(ctx: Context, element: Element, a) -> tuple[ObjType, int, ObjType, int]:
    site = ctx.names.find(ObjType.SITE, a.get("site"), element, "site")
    return *_named(ctx, element, a, "obj"), ObjType.SITE, site


_ENDS = {
    SensorType.CAMPROJECTION: _camprojection_ends,
    SensorType.RANGEFINDER: _rangefinder_ends,
    SensorType.CONTACT: _contact_ends,
    SensorType.TACTILE: _tactile_ends,
    SensorType.INSIDESITE: _insidesite_ends,
}  # what attributes of their own name


def _first(ctx: Context, element: Element, a, choices: dict[str, ObjType]) -> tuple[ObjType, int]:
    for attribute, kind in choices.items():
        if a.get(attribute):
            return kind, ctx.names.find(kind, a[attribute], element, attribute)
    return ObjType.UNKNOWN, -1


def _named(ctx: Context, element: Element, a, prefix: str) -> tuple[ObjType, int]:
    word = a.get(prefix + "type")
    if not word:
        return ObjType.UNKNOWN, -1
    if word not in KINDS:
        raise element.error(f"{prefix}type '{word}' is no kind of object; known: {', '.join(KINDS)}")
    return KINDS[word], ctx.names.find(KINDS[word], a.get(prefix + "name"), element, prefix + "name")


def _contact(ctx: Context, element: Element, a, data: _Data, attached, columns: Columns) -> _Data:
    words = tuple(a.get("data") or ("found",))
    number = int(a["num"]) if a.get("num") is not None else 1
    if number <= 0:
        raise element.error(f"num {number} must be positive")
    bits = sum(1 << ConDataField[word.upper()] for word in words)
    reduction = keywords.REDUCE[a.get("reduce") or "none"]
    stage = max(_CONTACT_STAGE.get(word, Stage.POS) for word in words)
    if reduction in (keywords.REDUCE["maxforce"], keywords.REDUCE["netforce"]):
        stage = Stage.ACC
    dim = number * sum(_CONTACT_SIZE[word] for word in words)
    return data._replace(intprm=(bits, reduction, number), dim=dim, stage=stage)


def _rangefinder(ctx: Context, element: Element, a, data: _Data, attached, columns: Columns) -> _Data:
    words = tuple(a.get("data") or ("dist",))
    rays = int(np.prod(columns["cam_resolution"][attached[1]])) if attached[0] == ObjType.CAMERA else 1
    bits = sum(1 << RayDataField[word.upper()] for word in words)
    return data._replace(intprm=(bits, 0, 0), dim=rays * sum(_RAY_SIZE[word] for word in words))


def _insidesite(ctx: Context, element: Element, a, data: _Data, attached, columns: Columns) -> _Data:
    if not a.get("enclosed"):
        return data
    objtype, objid, _, site = attached
    _check_enclosed(element, objtype, objid, site, columns)
    return data._replace(intprm=(1, 0, 0), datatype=DataType.REAL)


def _tactile(ctx: Context, element: Element, a, data: _Data, attached, columns: Columns) -> _Data:
    return data._replace(dim=3 * int(columns["mesh_vertnum"][attached[1]]))


def _plugin(ctx: Context, element: Element, a, data: _Data, attached, columns: Columns) -> _Data:
    if attached[0] != ObjType.SITE:
        raise element.error("a touch grid belongs to a site; give objtype 'site' and objname")
    return data._replace(dim=touch_grid_size(ctx.spec, element))


def _user(ctx: Context, element: Element, a, data: _Data, attached, columns: Columns) -> _Data:
    dim, datatype = int(a.get("dim") or 0), DataType(keyword(DataType, a.get("datatype", "real")))
    _check_user(element, dim, datatype)
    return data._replace(dim=dim, datatype=datatype, stage=Stage(keyword(Stage, a.get("needstage", "acc"))))


_MEASURED = {
    SensorType.CONTACT: _contact,
    SensorType.TACTILE: _tactile,
    SensorType.RANGEFINDER: _rangefinder,
    SensorType.INSIDESITE: _insidesite,
    SensorType.PLUGIN: _plugin,
    SensorType.USER: _user,
}  # what attributes of their own say


def _check_user(element: Element, dim: int, datatype: DataType) -> None:
    if dim < 0:
        raise element.error(f"dim {dim} is negative")
    need = {DataType.AXIS: 3, DataType.QUATERNION: 4}.get(datatype, dim)
    if dim != need:
        raise element.error(f"datatype {datatype.name.lower()} needs dim {need}, not {dim}")


def _check_object(element: Element, kind: SensorType, objtype, objid, reftype, refid, columns: Columns) -> None:
    if objtype == ObjType.JOINT:
        joint = JointType(columns["jnt_type"][objid])
        if kind.attachment == Attachment.SCALAR_JOINT and joint not in (JointType.HINGE, JointType.SLIDE):
            raise element.error("the joint must be a hinge or slide")
        if kind.attachment == Attachment.BALL_JOINT and joint != JointType.BALL:
            raise element.error("the joint must be a ball")
    if kind.attachment in (Attachment.LIMITED_JOINT, Attachment.LIMITED_TENDON):
        name = "jnt_limited" if objtype == ObjType.JOINT else "tendon_limited"
        if not columns[name][objid]:
            raise element.error("its object must have a range")
    if reftype not in (*_FRAMES, ObjType.UNKNOWN):
        raise element.error("reftype must be body, xbody, geom, site or camera")
    if kind.attachment in (Attachment.FRAME, Attachment.ISOLATED_FRAME) and objtype not in _FRAMES:
        raise element.error("objtype must be body, xbody, geom, site or camera")
    if kind.attachment == Attachment.PAIR:
        if (objtype, objid) == (reftype, refid):
            raise element.error("the two objects must differ")
        for side, index in ((objtype, objid), (reftype, refid)):
            if side == ObjType.GEOM and columns["geom_type"][index] == GeomType.HFIELD:
                raise element.error("distances to height fields are not defined")
    camera = objid if objtype == ObjType.CAMERA else refid if reftype == ObjType.CAMERA else -1
    if kind in (SensorType.CAMPROJECTION, SensorType.RANGEFINDER) and camera >= 0:
        if (np.asarray(columns["cam_resolution"][camera]) <= 0).any():
            raise element.error("the camera needs a positive resolution")
