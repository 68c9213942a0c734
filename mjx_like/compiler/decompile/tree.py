"""The tree: bodies with their inertia, and what they hold. Frames are those of the compiled model."""

from typing import Any

import numpy as np

from mjx_like.compiler.decompile.mesh import mesh_place
from mjx_like.compiler.decompile.plugin import Plugins, use
from mjx_like.compiler.decompile.source import Source, limited, poly, said, user, word, words
from mjx_like.compiler.element.joint import NQ, NV
from mjx_like.compiler.simple import simple_bodies
from mjx_like.errors import ModelError
from mjx_like.mjcf.canonical import node
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import keywords as k
from mjx_like.types.enums import GeomType, JointType, ObjType, SleepPolicy

_SLEEP = {SleepPolicy.NEVER: "never", SleepPolicy.ALLOWED: "allowed", SleepPolicy.INIT: "init"}
_ROUNDING = 1e-6  # share by which numbers of single precision may miss what they are meant to be


def worldbody(s: Source, plugins: Plugins) -> Element:
    """The tree of a model, whose bodies and geoms use plugins.

    Raises ModelError for values that no MJCF gives, such as an inertia of its own for each axis of a ball joint.
    """
    unsimple = _declared_unsimple(s)
    bodies = [_body(s, index, unsimple) for index in range(s["nbody"])]
    for field, make in _PARTS:
        for index, owner in enumerate(s[field]):
            bodies[owner].children.append(made := make(s, index))
            made.children += use(plugins.of_geom, index) if made.tag == "geom" else []
    for index in range(1, s["nbody"]):
        bodies[index].children += use(plugins.of_body, index)
        bodies[s["body_parentid"][index]].children.append(bodies[index])
    return bodies[0]


def _declared_unsimple(s: Source) -> np.ndarray:
    """Which bodies the file declared not simple."""
    return (simple_bodies(s.arrays.fields, np.ones(s["nbody"], bool)) > 0) & (s["body_simple"] == 0)


def _body(s: Source, index: int, unsimple: np.ndarray) -> Element:
    if index == 0:
        return node("worldbody")
    trees = np.flatnonzero(s["dof_bodyid"][s["tree_dofadr"]] == index)
    attrib = {
        "name": s.name(ObjType.BODY, index),
        "pos": s["body_pos"][index],
        "quat": s["body_quat"][index],
        "mocap": bool(s["body_mocapid"][index] >= 0),
        "gravcomp": float(s["body_gravcomp"][index]),
        "sleep": _SLEEP.get(int(s["tree_sleep_policy"][trees[0]])) if len(trees) else None,
        "simple": "false" if unsimple[index] else None,
        "user": user(s["body_user"][index]),
    }
    return said("body", attrib, _inertial(s, index))


def _inertial(s: Source, index: int) -> list[Element]:
    """The inertial element, none for a body that has neither mass nor geoms."""
    mass, moments = float(s["body_mass"][index]), _balanced(s["body_inertia"][index])
    pos, quat = s["body_ipos"][index], s["body_iquat"][index]
    bare = np.array_equal(pos, s["body_pos"][index]) and np.array_equal(quat, s["body_quat"][index])
    if bare and not mass and not moments.any() and not s["body_geomnum"][index]:
        return []
    attrib = {"pos": np.array(pos), "mass": mass, "quat": quat, "diaginertia": moments}
    inertial = said("inertial", attrib)
    inertial.attrib["pos"], inertial.attrib["mass"] = attrib["pos"], mass
    return [inertial]


def _balanced(moments: np.ndarray) -> np.ndarray:
    """Moments of inertia, the largest cut to the sum of the others where it exceeds that by rounding."""
    moments = np.array(moments, float)
    largest = int(np.argmax(moments))
    others = moments.sum() - moments[largest]
    if others < moments[largest] <= others * (1 + _ROUNDING):
        first, second = np.delete(moments, largest)
        moments[largest] = first + second
    return moments


def _joint(s: Source, index: int) -> Element:
    kind = JointType(s["jnt_type"][index])
    dof, adr = int(s["jnt_dofadr"][index]), int(s["jnt_qposadr"][index])
    dofs = slice(dof, dof + NV[kind])
    label = s.label(ObjType.JOINT, index)
    scalar = kind in (JointType.HINGE, JointType.SLIDE)
    if not scalar:
        _check_reference(s, index, kind, adr, label)

    def of_dofs(field: str) -> Any:
        return _shared(s[field][dofs], f"{label}: {field}")

    attrib = {
        "name": s.name(ObjType.JOINT, index),
        "type": word(k.JOINT, kind),
        "group": int(s["jnt_group"][index]),
        "pos": s["jnt_pos"][index],
        "axis": s["jnt_axis"][index],
        "limited": limited(s["jnt_limited"][index], s["jnt_range"][index]) if kind != JointType.FREE else None,
        "actuatorfrclimited": limited(s["jnt_actfrclimited"][index], s["jnt_actfrcrange"][index]) if scalar else None,
        "solreflimit": s["jnt_solref"][index],
        "solimplimit": s["jnt_solimp"][index],
        "solreffriction": of_dofs("dof_solref"),
        "solimpfriction": of_dofs("dof_solimp"),
        "stiffness": poly(s["jnt_stiffness"][index], s["jnt_stiffnesspoly"][index]),
        "range": s["jnt_range"][index],
        "actuatorfrcrange": s["jnt_actfrcrange"][index],
        "actuatorgravcomp": bool(s["jnt_actgravcomp"][index]),
        "margin": float(s["jnt_margin"][index]),
        "ref": float(s["qpos0"][adr]) if scalar else None,
        "springref": float(s["qpos_spring"][adr]) if scalar else None,
        "springyield": float(s["jnt_springyield"][index]),
        "armature": float(of_dofs("dof_armature")),
        "damping": poly(of_dofs("dof_damping"), of_dofs("dof_dampingpoly")),
        "frictionloss": float(of_dofs("dof_frictionloss")),
        "user": user(s["jnt_user"][index]),
    }
    return said("joint", attrib)


def _shared(rows: np.ndarray, what: str) -> Any:
    """The one value of all degrees of freedom of a joint."""
    if (rows != rows[0]).any():
        raise ModelError(f"{what} differs between its degrees of freedom; MJCF gives one value for all")
    return rows[0]


def _check_reference(s: Source, index: int, kind: JointType, adr: int, label: str) -> None:
    """Raise if the reference of a free or ball joint is not what a compiled model has."""
    body = s["jnt_bodyid"][index]
    wanted = np.array([1.0, 0, 0, 0])
    if kind == JointType.FREE:
        wanted = np.concatenate([s["body_pos"][body], s["body_quat"][body]])
    for field in ("qpos0", "qpos_spring"):
        if not np.allclose(s[field][adr : adr + NQ[kind]], wanted, rtol=1e-6, atol=1e-6):
            what = "body_pos and body_quat of its body" if kind == JointType.FREE else "the identity"
            raise ModelError(f"{label}: {field} is not {what}; MJCF cannot say that")


def _shape(s: Source, prefix: str, index: int) -> dict[str, Any]:
    """Attributes that geoms and sites share."""
    kind = {"geom": ObjType.GEOM, "site": ObjType.SITE}[prefix]
    material, mesh = int(s[f"{prefix}_matid"][index]), int(s[f"{prefix}_dataid"][index])
    attrib = {
        "name": s.name(kind, index),
        "type": word(k.GEOM, s[f"{prefix}_type"][index]),
        "group": int(s[f"{prefix}_group"][index]),
        "size": s[f"{prefix}_size"][index],
        "material": s.named(ObjType.MATERIAL, material, s.label(kind, index)) if material >= 0 else None,
        "pos": s[f"{prefix}_pos"][index],
        "quat": s[f"{prefix}_quat"][index],
        "rgba": s[f"{prefix}_rgba"][index],
        "user": user(s[f"{prefix}_user"][index]),
    }
    if mesh >= 0 and s[f"{prefix}_type"][index] != GeomType.HFIELD:
        del attrib["size"]
        attrib |= {"mesh": s.named(ObjType.MESH, mesh, s.label(kind, index))} | mesh_place(s, prefix, index)
    return attrib


def _geom(s: Source, index: int) -> Element:
    attrib = _shape(s, "geom", index)
    kind, label = GeomType(s["geom_type"][index]), s.label(ObjType.GEOM, index)
    if kind == GeomType.HFIELD:
        del attrib["size"]
        attrib["hfield"] = s.named(ObjType.HFIELD, s["geom_dataid"][index], label)
    fluid = s["geom_fluid"][index]
    if fluid[0]:
        attrib |= {"fluidshape": "ellipsoid", "fluidcoef": fluid[1:6]}
    for name in ("contype", "conaffinity", "condim", "priority"):
        attrib[name] = int(s[f"geom_{name}"][index])
    for name in ("friction", "solref", "solimp", "surfacevel"):
        attrib[name] = s[f"geom_{name}"][index]
    for name in ("solmix", "margin", "gap", "adhesion"):
        attrib[name] = float(s[f"geom_{name}"][index])
    return said("geom", attrib | {"castshadow": bool(s["geom_castshadow"][index])})


def _site(s: Source, index: int) -> Element:
    return said("site", _shape(s, "site", index))


def _aimed(s: Source, prefix: str, kind: ObjType, index: int) -> dict[str, Any]:
    """Attributes that cameras and lights share."""
    target = int(s[f"{prefix}_targetbodyid"][index])
    return {
        "name": s.name(kind, index),
        "mode": word(k.CAMLIGHT, s[f"{prefix}_mode"][index]),
        "target": s.named(ObjType.BODY, target, s.label(kind, index)) if target >= 0 else None,
        "pos": s[f"{prefix}_pos"][index],
    }


def _camera(s: Source, index: int) -> Element:
    attrib = _aimed(s, "cam", ObjType.CAMERA, index) | {
        "quat": s["cam_quat"][index],
        "projection": word(k.PROJECTION, s["cam_projection"][index]),
        "ipd": float(s["cam_ipd"][index]),
        "resolution": np.array(s["cam_resolution"][index], float),
        "output": words(k.CAMERA_OUTPUT, s["cam_output"][index]),
        "user": user(s["cam_user"][index]),
    }
    intrinsic = s["cam_intrinsic"][index]
    if (s["cam_sensorsize"][index] > 0).all():
        lens = {"sensorsize": s["cam_sensorsize"][index], "focal": intrinsic[:2], "principal": intrinsic[2:]}
    else:
        lens = {"fovy": float(s["cam_fovy"][index])}
    return said("camera", attrib | lens)


def _light(s: Source, index: int) -> Element:
    texture = int(s["light_texid"][index])
    attrib = _aimed(s, "light", ObjType.LIGHT, index) | {
        "type": word(k.LIGHT, s["light_type"][index]),
        "texture": s.named(ObjType.TEXTURE, texture, s.label(ObjType.LIGHT, index)) if texture >= 0 else None,
        "castshadow": bool(s["light_castshadow"][index]),
        "active": bool(s["light_active"][index]),
    }
    for name in ("dir", "attenuation", "ambient", "diffuse", "specular"):
        attrib[name] = s[f"light_{name}"][index]
    for name in ("bulbradius", "intensity", "range", "cutoff", "softness", "exponent"):
        attrib[name] = float(s[f"light_{name}"][index])
    return said("light", attrib)


_PARTS = (
    ("jnt_bodyid", _joint),
    ("geom_bodyid", _geom),
    ("site_bodyid", _site),
    ("cam_bodyid", _camera),
    ("light_bodyid", _light),
)
