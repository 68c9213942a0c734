"""Which bodies have a diagonal block in the inertia matrix whatever the configuration."""

from typing import Any

import numpy as np

from mjx_like.types.enums import JointType, TrnType, WrapType

_SAME = 1e-6  # offsets of frames below it count as none
_AXIS = 1e-14  # entries of a joint axis below it count as zero

Fields = dict[str, Any]


def simple_bodies(f: Fields, allowed: np.ndarray) -> np.ndarray:
    """Return MuJoCo's body_simple, shape (nbody,): 0 not simple, 1 simple, 2 simple with nothing but slides.

    Args:
      f: arrays with mjModel's names.
      allowed: whether the file allows it, shape (nbody,).
    Source: body_simple in mjCModel::CopyTree, mjCModel::FinalizeSimple.
    """
    parent, dofnum, bodies = f["body_parentid"], f["body_dofnum"], np.arange(f["nbody"])
    centered = (np.abs(f["body_ipos"]) < _SAME).all(axis=1) & _identity(f["body_iquat"])
    root = (f["body_rootid"] == bodies) | ((parent[parent] == 0) & (dofnum[parent] == 0))
    simple = (centered & root & allowed).astype(int)
    simple[parent[parent > 0]] = 0
    for body in np.flatnonzero(simple):
        joints = range(f["body_jntadr"][body], f["body_jntadr"][body] + f["body_jntnum"][body])
        simple[body] = _of_joints(f, joints)
    heavy = np.asarray(f["tendon_armature"]) != 0
    pulls = (np.asarray(f["actuator_trntype"]) == TrnType.TENDON) & (np.asarray(f["actuator_armature"]) != 0)
    heavy[np.asarray(f["actuator_trnid"])[pulls, 0]] = True
    for tendon in np.flatnonzero(heavy):
        path = slice(f["tendon_adr"][tendon], f["tendon_adr"][tendon] + f["tendon_num"][tendon])
        for kind, obj in zip(f["wrap_type"][path], f["wrap_objid"][path], strict=True):
            if kind in _OWNERS:
                simple[f[_OWNERS[kind]][obj]] = 0
    return simple


_OWNERS = {
    WrapType.JOINT: "jnt_bodyid", WrapType.SITE: "site_bodyid",
    WrapType.SPHERE: "geom_bodyid", WrapType.CYLINDER: "geom_bodyid",
}  # fmt: skip


def _identity(quat: np.ndarray) -> np.ndarray:
    unit = np.array([1, 0, 0, 0])
    return (np.abs(quat - unit) < _SAME).all(axis=1) | (np.abs(quat + unit) < _SAME).all(axis=1)


def _of_joints(f: Fields, joints: range) -> int:
    """How simple a body is by its joints: each along an axis, at the origin, and no joint after a rotation."""
    rotated = False
    for joint in joints:
        kind = f["jnt_type"][joint]
        aligned = np.sum(np.abs(f["jnt_axis"][joint]) > _AXIS) == 1 or kind in (JointType.FREE, JointType.BALL)
        if rotated or not aligned or (np.abs(f["jnt_pos"][joint]) >= _SAME).any():
            return 0
        rotated = kind in (JointType.BALL, JointType.HINGE)
    return 2 if len(joints) and all(f["jnt_type"][joint] == JointType.SLIDE for joint in joints) else 1
