"""Trajectories as moving pictures: GIF and WebP by Pillow, MP4 where imageio-ffmpeg is installed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image as Picture

from mjx_like.errors import InputError, UnsupportedError
from mjx_like.render.camera import Camera
from mjx_like.render.image import render
from mjx_like.smooth.camlight import camlight
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state.initial import make_data
from mjx_like.tendon.stage import tendon
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.visual.frames import FPS, recorded_frames
from mjx_like.visual.part import GROUPS

ENDINGS = (".gif", ".webp", ".mp4")


def save_video(
    m: Model,
    trajectory: Any,
    path: str | Path,
    *,
    camera: Camera | int | str = -1,
    width: int = 320,
    height: int = 240,
    fps: float = FPS,
    samples: int = 2,
    d: Data | None = None,
    groups: Iterable[int] = GROUPS,
) -> Path:
    """Write a trajectory of one world as a GIF, WebP or MP4 file.

    Args:
      m: one model, without a batch axis.
      trajectory: what `rollout` returned, or anything with `qpos` and, if it has one, `time`; of a batch the
        first world.
      path: of the file; it is replaced if it exists, and its folder made if it does not. Its ending decides the format.
      camera: as for `render`.
      width: of the picture [pixels]; likewise height.
      fps: frames a second of simulated time; it plays at the speed of the simulation.
      samples: rays a pixel along each axis, for smooth edges.
      d: where mocap bodies are, for a model that has them.
      groups: of the geoms, sites and tendons, those drawn.

    Returns:
      The path.

    Raises:
      InputError: an ending that is none of these, a trajectory of another model, a camera that is not there.
      UnsupportedError: MP4 without imageio-ffmpeg.
    """
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: the name of a video ends in one of {', '.join(ENDINGS)}")
    writer = import_ffmpeg() if path.suffix.lower() == ".mp4" else None
    path.parent.mkdir(parents=True, exist_ok=True)
    qpos, dt = recorded_frames(m, trajectory, fps, 1)
    images = _images(m, qpos[:, 0], camera, width, height, samples, d, tuple(groups))
    if writer is None:
        _with_pillow(path, images, dt)
    else:
        _with_ffmpeg(writer, path, images, 1 / dt)
    return path


def _images(m: Model, qpos: np.ndarray, camera: Any, width: int, height: int, samples: int, d: Any, groups: Any):
    """Pictures of states, shape (n, height, width, 3), uint8."""
    start = make_data(m) if d is None else d

    def one(q: jax.Array) -> jax.Array:
        now = tendon(m, camlight(m, com_pos(m, kinematics(m, start.replace(qpos=q)))))
        rgb = render(m, now, camera, samples * width, samples * height, groups=groups).rgb
        rgb = jnp.mean(rgb.reshape(height, samples, width, samples, 3), axis=(1, 3))
        return jnp.round(255 * rgb).astype(jnp.uint8)

    draw = jax.jit(one)
    return np.stack([np.asarray(draw(q)) for q in jnp.asarray(qpos, m.qpos0.dtype)])


def _with_pillow(path: Path, images: np.ndarray, dt: float) -> None:
    first, *rest = map(Picture.fromarray, images)
    options = {"quality": 85, "method": 4} if path.suffix.lower() == ".webp" else {"optimize": True}
    first.save(path, save_all=True, append_images=rest, duration=round(1000 * dt), loop=0, **options)


def import_ffmpeg() -> Any:
    """Return imageio-ffmpeg, which writes MP4.

    Raises:
      UnsupportedError: it is not installed.
    """
    try:
        import imageio_ffmpeg
    except ImportError:
        raise UnsupportedError("MP4 needs imageio-ffmpeg: pip install imageio-ffmpeg; or write .gif or .webp") from None
    return imageio_ffmpeg


def _with_ffmpeg(imageio_ffmpeg: Any, path: Path, images: np.ndarray, fps: float) -> None:
    height, width = images.shape[1:3]
    stream = imageio_ffmpeg.write_frames(str(path), (width, height), fps=fps, macro_block_size=1, quality=7)
    stream.send(None)
    for image in images:
        stream.send(np.ascontiguousarray(image))
    stream.close()
