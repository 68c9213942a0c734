"""Sensors that look: rangefinder and camera projection."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.select import take
from mjx_like.ray.stage import cast, unbuilt
from mjx_like.smooth.object_motion import object_position, object_rotation
from mjx_like.types.data import Data
from mjx_like.types.enums import ObjType, ProjectionType, RayDataField
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup
from mjx_like.types.topology import Topology

Array = jax.Array


def rangefinder(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return what rays from sites or camera pixels meet first, shape (n, dim), field by field of each ray.

    The distance is -1 on a miss. Geoms of the sensor's own body are passed.
    """
    position = object_position(d, group.objtype, group.objid)
    rotation = object_rotation(d, group.objtype, group.objid)
    if group.objtype == ObjType.SITE:
        start, aim = jnp.zeros((1, 1, 3), position.dtype), jnp.array([[[0, 0, 1]]], position.dtype)
    else:
        start, aim = pixel_rays(m, group.objid)
    origin = position[:, None] + jnp.sum(rotation[:, None] * start[:, :, None], axis=-1)
    direction = jnp.sum(rotation[:, None] * aim[:, :, None], axis=-1)
    include = np.repeat(rangefinder_geoms(m.topology, group.objtype, group.objid), origin.shape[1], axis=0)
    dist, _, normal = cast(m, d, origin.reshape(-1, 3), direction.reshape(-1, 3), include)
    dist, normal = dist.reshape(origin.shape[:2]), normal.reshape(origin.shape)
    fields = _fields(dist[..., None], origin, direction, normal, jnp.abs(aim[..., 2:]))
    chosen = [fields[field] for field in RayDataField if group.intprm[0] >> field & 1]
    return jnp.concatenate(chosen, axis=-1)


def rangefinder_geoms(t: Topology, objtype: int, objid: np.ndarray) -> np.ndarray:
    """Return which geoms each rangefinder may meet: all but those of its own body, shape (n, ngeom)."""
    owner = t.site_bodyid if objtype == ObjType.SITE else t.cam_bodyid
    return t.geom_bodyid[None, :] != owner[objid][:, None]


def rangefinder_lacks(t: Topology, sensor: int) -> tuple[str, ...]:
    """Return what of a rangefinder the engine cannot run: geoms that it may meet and no ray can."""
    return tuple(unbuilt(t, rangefinder_geoms(t, t.sensor_objtype[sensor], t.sensor_objid[sensor : sensor + 1])))


def pixel_rays(m: Model, camera: np.ndarray) -> tuple[Array, Array]:
    """Return where the rays of all pixels begin and where they aim, in camera frames, each of shape (n, npixel, 3).

    Pixels run along rows from the upper left; cameras of one group have the same number of pixels.
    """
    resolution = m.cam_resolution[camera]
    pixel = np.stack([_grid(width, height) for width, height in resolution])
    focal, principal = _intrinsics(m, camera)
    flip = np.array([1.0, -1.0])
    across = safe.ratio(flip * (pixel - principal[:, None]), focal[:, None])
    ahead = jnp.full_like(across[..., :1], -1)
    aim, _ = safe.normalize(jnp.concatenate([across, ahead], axis=-1))
    flat = (m.cam_projection[camera] == ProjectionType.ORTHOGRAPHIC)[:, None, None]
    relative = flip * (pixel / resolution[:, None] - 0.5) * take(m.cam_fovy, camera)[:, None, None]
    spread = jnp.concatenate([relative, jnp.zeros_like(ahead)], axis=-1)
    return jnp.where(flat, spread, 0), jnp.where(flat, np.array([0, 0, -1]), aim)


def camprojection(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return the pixel coordinates of sites in the images of cameras, shape (n, 2)."""
    offset = object_position(d, group.objtype, group.objid) - take(d.cam_xpos, group.refid)
    local = jnp.sum(take(d.cam_xmat, group.refid) * offset[:, :, None], axis=1)
    depth = local[:, 2:]
    shallow = jnp.where(depth < 0, -MINVAL, MINVAL)
    bottom = jnp.where(jnp.abs(depth) < MINVAL, shallow, depth)
    focal, _ = _intrinsics(m, group.refid)
    centre = 0.5 * m.cam_resolution[group.refid]
    return safe.ratio(np.array([-1.0, 1.0]) * focal * local[:, :2] + centre * depth, bottom)


def _grid(width: int, height: int) -> np.ndarray:
    """Return the centres of the pixels, shape (npixel, 2)."""
    row, column = np.mgrid[:height, :width]
    return np.stack([column.ravel(), row.ravel()], axis=-1) + 0.5


def _intrinsics(m: Model, camera: np.ndarray) -> tuple[Array, Array]:
    """Return focal lengths and principal points of cameras, each of shape (n, 2) [pixels]."""
    resolution = m.cam_resolution[camera]
    sensor, intrinsic = take(m.cam_sensorsize, camera), take(m.cam_intrinsic, camera)
    given = jnp.all(sensor != 0, axis=1, keepdims=True)
    scale = safe.divide(jnp.asarray(resolution, sensor.dtype), sensor)
    half_angle = take(m.cam_fovy, camera) * (np.pi / 360)
    focal = safe.ratio(0.5 * resolution[:, 1], jnp.tan(half_angle))[:, None]
    return jnp.where(given, intrinsic[:, :2] * scale, focal), jnp.where(
        given, intrinsic[:, 2:] * scale, 0.5 * resolution
    )


def _fields(dist: Array, origin: Array, direction: Array, normal: Array, cosine: Array) -> dict[RayDataField, Array]:
    hit = dist >= 0
    return {
        RayDataField.DIST: dist,
        RayDataField.DIR: jnp.where(hit, direction, 0),
        RayDataField.ORIGIN: origin,
        RayDataField.POINT: jnp.where(hit, origin + dist * direction, 0),
        RayDataField.NORMAL: normal,
        RayDataField.DEPTH: jnp.where(hit, dist * cosine, -1),
    }
