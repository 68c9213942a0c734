"""Poses of cameras and lights in every tracking mode."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import component_first, safe
from mjx_like.math.quaternion import cross, rotate
from mjx_like.math.select import take
from mjx_like.smooth.kinematics import local_frames
from mjx_like.types.data import Data
from mjx_like.types.enums import CamLightType
from mjx_like.types.model import Model

Array = jax.Array


def camlight(m: Model, d: Data) -> Data:
    """Return d with the poses of cameras and lights.

    Reads xpos, xquat, subtree_com. Writes cam_xpos, cam_xmat, light_xpos, light_xdir.  Source: mj_camlight.
    """
    if m.ncam:
        cam_xpos, cam_xmat = _cameras(m, d)
        d = d.replace(cam_xpos=cam_xpos, cam_xmat=cam_xmat)
    if m.nlight:
        light_xpos, light_xdir = _lights(m, d)
        d = d.replace(light_xpos=light_xpos, light_xdir=light_xdir)
    return d


def fixed_cameras(m: Model, d: Data) -> tuple[Array, Array]:
    """Return positions, shape (ncam, 3) [m], and matrices, (ncam, 3, 3), of cameras as if all were fixed to bodies."""
    body = component_first.pose(jnp.moveaxis(take(d.xmat, m.cam_bodyid), 0, -1), take(d.xpos, m.cam_bodyid).T)
    frames = jnp.moveaxis(component_first.compose(body, local_frames(m.cam_pos, m.cam_quat)), -1, 0)
    return frames[:, :, 3], frames[:, :, :3]


def fixed_lights(m: Model, d: Data) -> tuple[Array, Array]:
    """Return positions, shape (nlight, 3) [m], and directions of lights as if all were fixed to bodies."""
    quat = take(d.xquat, m.light_bodyid)
    return take(d.xpos, m.light_bodyid) + rotate(quat, m.light_pos), rotate(quat, m.light_dir)


def _cameras(m: Model, d: Data) -> tuple[Array, Array]:
    pos, mat = fixed_cameras(m, d)
    track, trackcom, target, targetcom = _modes(m.cam_mode, m.cam_targetbodyid)
    if (track | trackcom).any():
        pos = _tracked(d, pos, m.cam_bodyid, track, trackcom, m.cam_pos0, m.cam_poscom0)
        mat = jnp.where((track | trackcom)[:, None, None], m.cam_mat0.reshape(-1, 3, 3), mat)
    if (target | targetcom).any():
        aim = _looking_at(pos - _aim(d, m.cam_targetbodyid, targetcom))
        mat = jnp.where((target | targetcom)[:, None, None], aim, mat)
    return pos, mat


def _lights(m: Model, d: Data) -> tuple[Array, Array]:
    pos, direction = fixed_lights(m, d)
    track, trackcom, target, targetcom = _modes(m.light_mode, m.light_targetbodyid)
    if (track | trackcom).any():
        pos = _tracked(d, pos, m.light_bodyid, track, trackcom, m.light_pos0, m.light_poscom0)
        direction = jnp.where((track | trackcom)[:, None], m.light_dir0, direction)
    if (target | targetcom).any():
        towards = _aim(d, m.light_targetbodyid, targetcom) - pos
        direction = jnp.where((target | targetcom)[:, None], towards, direction)
    return pos, safe.normalize(direction)[0]


def _modes(mode: np.ndarray, target_id: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return masks of the modes track, trackcom, targetbody, targetbodycom; a target mode without target is fixed."""
    aimed = target_id >= 0
    return (
        mode == CamLightType.TRACK,
        mode == CamLightType.TRACKCOM,
        (mode == CamLightType.TARGETBODY) & aimed,
        (mode == CamLightType.TARGETBODYCOM) & aimed,
    )


def _tracked(d: Data, pos: Array, body: np.ndarray, track, trackcom, pos0: Array, poscom0: Array) -> Array:
    pos = jnp.where(track[:, None], take(d.xpos, body) + pos0, pos)
    return jnp.where(trackcom[:, None], take(d.subtree_com, body) + poscom0, pos)


def _aim(d: Data, target_id: np.ndarray, com: np.ndarray) -> Array:
    target = np.maximum(target_id, 0)
    return jnp.where(com[:, None], take(d.subtree_com, target), take(d.xpos, target))


def _looking_at(backward: Array) -> Array:
    """Return camera matrices, shape (n, 3, 3), whose z axis is `backward`, with x axes horizontal."""
    z, _ = safe.normalize(backward)
    up = jnp.zeros_like(z).at[:, 2].set(1)
    x, _ = safe.normalize(cross(up, z))
    y, _ = safe.normalize(cross(z, x))
    return jnp.stack([x, y, z], axis=-1)
