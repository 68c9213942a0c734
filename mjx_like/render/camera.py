"""Cameras: those of the model, and one that looks at a point."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError
from mjx_like.types.data import Data
from mjx_like.types.enums import ObjType, ProjectionType
from mjx_like.types.model import Model
from mjx_like.types.pytree import Record, leaf, record, static

Array = jax.Array


@record
class Camera(Record):
    """A pinhole, or a plane for an orthographic camera.

    pos: of the pinhole; mat: its axes as columns: right, up, back; window: left, right, bottom and top of the picture
    at a distance of 1 [1], of an orthographic camera at any [m]; left and right are equal where the picture's aspect
    decides; orthographic: whether rays are parallel.
    """

    pos: Array = leaf(3, unit="m, world")
    mat: Array = leaf(3, 3, unit="1, world")
    window: Array = leaf(4, unit="1 or m")
    orthographic: bool = static()


def fixed_camera(m: Model, d: Data, camera: int | str) -> Camera:
    """Return a camera of the model.

    Args:
      m: one model.
      d: one world; reads cam_xpos, cam_xmat.
      camera: its name or id.

    Raises:
      InputError: there is none of that name or id.
    Source: mjv_cameraFrustum.
    """
    index = camera_id(m, camera)
    half = jnp.tan(jnp.deg2rad(m.cam_fovy[index]) / 2)
    parallel = bool(m.cam_projection[index] == ProjectionType.ORTHOGRAPHIC)
    half = m.cam_fovy[index] / 2 if parallel else half
    plain = jnp.stack([jnp.zeros_like(half), jnp.zeros_like(half), -half, half])
    size, lens = m.cam_sensorsize[index], m.cam_intrinsic[index]
    focal, shift = jnp.where(lens[:2] != 0, lens[:2], 1), lens[2:] * np.array([1, -1])  # rows of pixels run down
    low, high = (-size / 2 + shift) / focal, (size / 2 + shift) / focal
    own = jnp.stack([low[0], high[0], low[1], high[1]])
    window = jnp.where(jnp.all(size > 0) & (not parallel), own, plain)
    return Camera(d.cam_xpos[index], d.cam_xmat[index].reshape(3, 3), window, parallel)


def free_camera(
    m: Model,
    lookat: Array | None = None,
    distance: Array | float | None = None,
    azimuth: Array | float | None = None,
    elevation: Array | float | None = None,
    fovy: Array | float | None = None,
) -> Camera:
    """Return a camera that looks at a point; what is None is that of MuJoCo's free camera at the start.

    Args:
      m: the model; reads stat.center, stat.extent and vis.global_.
      lookat: the point [m, world].
      distance: from it [m].
      azimuth: of the direction of the view about z, 90 for along y [deg].
      elevation: of the direction of the view, negative for from above [deg].
      fovy: vertical field of view [deg].
    Source: mjv_defaultFreeCamera, mjv_updateCamera.
    """
    look = m.vis.global_
    lookat = m.stat.center if lookat is None else jnp.asarray(lookat, m.qpos0.dtype)
    distance = 1.5 * m.stat.extent if distance is None else distance
    azimuth, elevation = (
        jnp.deg2rad(jnp.asarray(own if given is None else given, lookat.dtype))
        for given, own in ((azimuth, look.azimuth), (elevation, look.elevation))
    )
    (ca, sa), (ce, se) = ((jnp.cos(x), jnp.sin(x)) for x in (azimuth, elevation))
    forward, up = jnp.stack([ce * ca, ce * sa, se]), jnp.stack([-se * ca, -se * sa, ce])
    right = jnp.stack([sa, -ca, jnp.zeros_like(sa)])
    fovy = jnp.asarray(look.fovy if fovy is None else fovy, lookat.dtype)
    half = fovy / 2 if look.orthographic else jnp.tan(jnp.deg2rad(fovy) / 2)
    window = jnp.stack([jnp.zeros_like(half), jnp.zeros_like(half), -half, half])
    mat = jnp.stack([right, up, -forward], axis=1)
    return Camera(lookat - distance * forward, mat, window, bool(look.orthographic))


def camera_id(m: Model, camera: int | str) -> int:
    """Return the id of a camera by its name or id.

    Raises:
      InputError: there is none of that name or id.
    """
    index = m.name2id(ObjType.CAMERA, camera) if isinstance(camera, str) else int(camera)
    if not 0 <= index < m.ncam:
        names = ", ".join(name or str(i) for i, name in enumerate(m.names[ObjType.CAMERA])) or "none"
        raise InputError(f"no camera {camera!r}; the model has: {names}")
    return index


def pixel_rays(camera: Camera, width: int, height: int) -> tuple[Array, Array]:
    """Return where the ray of each pixel begins and its direction, with a part of length 1 ahead.

    Shapes (height, width, 3) [m, world] and [1, world]; the first row is the upper one.
    """
    left, right, bottom, top = _window(camera, width, height)
    x = left + (right - left) * ((np.arange(width) + 0.5) / width)
    y = top + (bottom - top) * ((np.arange(height) + 0.5) / height)
    x, y = jnp.broadcast_arrays(x[None], y[:, None])
    across = x[..., None] * camera.mat[:, 0] + y[..., None] * camera.mat[:, 1]
    ahead = jnp.broadcast_to(-camera.mat[:, 2], across.shape)
    start = jnp.broadcast_to(camera.pos, across.shape)
    return (start + across, ahead) if camera.orthographic else (start, across + ahead)


def pixel_steps(camera: Camera, width: int, height: int) -> tuple[Array, Array]:
    """Return by what the starts and directions of `pixel_rays` change to the right and down, shape (2, 3) each."""
    left, right, bottom, top = _window(camera, width, height)
    step = jnp.stack([(right - left) / width * camera.mat[:, 0], (bottom - top) / height * camera.mat[:, 1]])
    return (step, jnp.zeros_like(step)) if camera.orthographic else (jnp.zeros_like(step), step)


def _window(camera: Camera, width: int, height: int) -> tuple[Array, Array, Array, Array]:
    """Left, right, bottom and top of the picture, as in Camera."""
    left, right, bottom, top = camera.window
    aspect = (top - bottom) / 2 * (width / height)
    return jnp.where(left == right, -aspect, left), jnp.where(left == right, aspect, right), bottom, top
