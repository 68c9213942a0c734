"""Poses, velocities and accelerations of bodies, geoms, sites and cameras."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion
from mjx_like.math.quaternion import cross
from mjx_like.math.select import take
from mjx_like.math.spatial import shift_motion, to_frame
from mjx_like.types.data import Data
from mjx_like.types.enums import ObjType
from mjx_like.types.model import Model

Array = jax.Array

POSITION = {
    ObjType.BODY: "xipos",
    ObjType.XBODY: "xpos",
    ObjType.GEOM: "geom_xpos",
    ObjType.SITE: "site_xpos",
    ObjType.CAMERA: "cam_xpos",
}
ROTATION = {
    ObjType.BODY: "ximat",
    ObjType.XBODY: "xmat",
    ObjType.GEOM: "geom_xmat",
    ObjType.SITE: "site_xmat",
    ObjType.CAMERA: "cam_xmat",
}
OWNER = {ObjType.GEOM: "geom_bodyid", ObjType.SITE: "site_bodyid", ObjType.CAMERA: "cam_bodyid"}
LOCAL_QUAT = {
    ObjType.BODY: "body_iquat",
    ObjType.GEOM: "geom_quat",
    ObjType.SITE: "site_quat",
    ObjType.CAMERA: "cam_quat",
}


def object_position(d: Data, objtype: int, objid: np.ndarray) -> Array:
    """Return the positions of objects of one type, shape (n, 3) [m, world]; BODY is the inertial frame."""
    return take(getattr(d, POSITION[ObjType(objtype)]), objid)


def object_rotation(d: Data, objtype: int, objid: np.ndarray) -> Array:
    """Return the rotations (local to world) of objects of one type, shape (n, 3, 3)."""
    return take(getattr(d, ROTATION[ObjType(objtype)]), objid)


def object_quaternion(m: Model, d: Data, objtype: int, objid: np.ndarray) -> Array:
    """Return the orientations of objects of one type, shape (n, 4); of cameras as if fixed to their body."""
    quat = take(d.xquat, object_body(m, objtype, objid))
    if objtype == ObjType.XBODY:
        return quat
    local = take(getattr(m, LOCAL_QUAT[ObjType(objtype)]), objid)
    return quaternion.multiply(quat, quaternion.normalize(local))


def object_body(m: Model, objtype: int, objid: np.ndarray) -> np.ndarray:
    """Return the ids of the bodies that carry the objects."""
    kind = ObjType(objtype)
    return getattr(m, OWNER[kind])[objid] if kind in OWNER else np.asarray(objid)


def object_velocities(m: Model, d: Data, objtype: int, objid: np.ndarray, local: bool = False) -> Array:
    """Return the velocities of objects of one type, shape (n, 6): angular [rad/s], linear [m/s].

    objid: static ids, shape (n,); local: in the axes of the object instead of the world's.
    Reads cvel, subtree_com and the poses of the objects.  Source: mj_objectVelocity.
    """
    velocity = _at_object(m, d, d.cvel, objtype, objid)
    return to_frame(velocity, object_rotation(d, objtype, objid)) if local else velocity


def object_accelerations(m: Model, d: Data, objtype: int, objid: np.ndarray, local: bool = False) -> Array:
    """Return the accelerations of objects of one type, gravity included, shape (n, 6): angular, linear.

    Arguments as for `object_velocity`. A body at rest accelerates upwards at 1 g.
    Reads cvel, cacc, subtree_com and the poses of the objects.  Source: mj_objectAcceleration.
    """
    velocity = object_velocities(m, d, objtype, objid)
    acceleration = _at_object(m, d, d.cacc, objtype, objid)
    rotating = cross(velocity[:, :3], velocity[:, 3:])
    acceleration = jnp.concatenate([acceleration[:, :3], acceleration[:, 3:] + rotating], axis=1)
    return to_frame(acceleration, object_rotation(d, objtype, objid)) if local else acceleration


def _at_object(m: Model, d: Data, motion: Array, objtype: int, objid: np.ndarray) -> Array:
    """Return the motion of each object's body, shape (nbody, 6) in tree frames, at the object itself."""
    body = object_body(m, objtype, objid)
    offset = object_position(d, objtype, objid) - take(d.subtree_com, m.body_rootid[body])
    return shift_motion(take(motion, body), offset)


def object_velocity(m: Model, d: Data, objtype: ObjType, objid: int, flg_local: bool = False) -> Array:
    """Return the velocity of an object, shape (6,): angular [rad/s], linear [m/s], in its axes or the world's.

    Source: mj_objectVelocity.
    """
    return object_velocities(m, d, objtype, np.array([objid]), flg_local)[0]


def object_acceleration(m: Model, d: Data, objtype: ObjType, objid: int, flg_local: bool = False) -> Array:
    """Return the acceleration of an object, gravity included, shape (6,): angular, linear; see `object_velocity`.

    Reads cacc: call `rne_postconstraint` before.  Source: mj_objectAcceleration.
    """
    return object_accelerations(m, d, objtype, np.array([objid]), flg_local)[0]
