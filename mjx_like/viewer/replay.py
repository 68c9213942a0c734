"""A trajectory as one HTML file that needs no network: turn it around, scrub through it, send it to somebody."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from mjx_like.errors import InputError
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.viewer.scene import Scene
from mjx_like.viewer.server import import_viser, server
from mjx_like.visual.frames import FPS, Frames, frames_of
from mjx_like.visual.part import GROUPS


def save_html(
    m: Model,
    trajectory: Any,
    path: str | Path,
    *,
    fps: float = FPS,
    worlds: int = 16,
    d: Data | None = None,
    groups: Iterable[int] = GROUPS,
    sites: bool = True,
    spacing: float | None = None,
) -> Path:
    """Write a trajectory as one HTML file that plays in a browser without a network.

    Args:
      m: one model, without a batch axis.
      trajectory: what `rollout` returned, or anything with `qpos` and, if it has one, `time`; one world or a batch.
      path: of the file; it is replaced if it exists, and its folder made if it does not.
      fps: frames a second of simulated time; it plays at the speed of the simulation.
      worlds: of a batch, how many are drawn, in a grid.
      d: where mocap bodies are, for a model that has them.
      groups: of geoms and sites, those drawn.
      sites: whether sites are drawn.
      spacing: between worlds [m]; None for 1.5 times the size of what moves.

    Returns:
      The path.

    Raises:
      InputError: a trajectory of another model, or a name that does not end in .html.
      UnsupportedError: viser is not installed, or what cannot be drawn.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: the name of a replay ends in .html")
    import_viser()  # raises before the work, not after
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = frames_of(m, trajectory, fps=fps, worlds=worlds, d=d)
    with server() as opened:
        path.write_text(_recorded(opened, m, frames, tuple(groups), sites, spacing), encoding="utf-8")
    return path


def _recorded(
    opened: Any, m: Model, frames: Frames, groups: tuple[int, ...], sites: bool, spacing: float | None
) -> str:
    """Play the frames on a server, and return what it recorded as HTML."""
    scene = Scene(opened.scene, m, frames, groups, sites, spacing)
    scene.show(frames, 0)
    set_camera(opened, m, scene)
    recording = opened.get_scene_serializer()
    for frame in range(1, len(frames.xpos)):
        recording.insert_sleep(frames.dt)
        scene.show(frames, frame)
    recording.insert_sleep(frames.dt)
    return recording.as_html()


def set_camera(opened: Any, m: Model, scene: Scene) -> None:
    """Set the first view: all worlds, from the side that the file gives for MuJoCo's free camera."""
    look = m.vis.global_
    azimuth, elevation = np.deg2rad([look.azimuth, max(look.elevation, -25.0)])
    direction = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    center, size = (scene.low + scene.high) / 2, np.linalg.norm(scene.high - scene.low)
    opened.initial_camera.look_at = center
    opened.initial_camera.position = center - (0.95 * size + 1.0 * np.ptp(scene.offset, axis=0).max()) * direction
