"""Trajectories for the Rerun viewer (rerun.io): meshes, poses over time, sensors as plots."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mjx_like.errors import UnsupportedError
from mjx_like.interop.labels import labels
from mjx_like.types.data import Data
from mjx_like.types.enums import ObjType
from mjx_like.types.model import Model
from mjx_like.visual.frames import FPS, Frames, frames_of
from mjx_like.visual.grid import SPACING, offsets
from mjx_like.visual.look import mean_color
from mjx_like.visual.part import GROUPS, Part, bounds, parts

_TIMELINE = "time"


def log_rerun(
    m: Model,
    trajectory: Any,
    *,
    path: str = "mjx_like",
    fps: float = FPS,
    worlds: int = 16,
    d: Data | None = None,
    groups: Iterable[int] = GROUPS,
    sites: bool = False,
) -> None:
    """Log a trajectory to Rerun, to the recording that is open: call `rerun.init`, then `rerun.spawn` or `rerun.save`.

    Bodies are entities under `path/world0/bodies/NAME`, with triangles and, along the timeline `time` [s], their poses;
    sensors of the first world are scalars under `path/sensors/NAME`, if the trajectory has sensordata and time.

    Args:
      m: one model, without a batch axis.
      trajectory: what `rollout` returned, or anything with `qpos` and, if it has one, `time`; one world or a batch.
      path: of the entity that all others are under.
      fps: poses a second of simulated time.
      worlds: of a batch, how many are logged, in a grid.
      d: where mocap bodies are, for a model that has them.
      groups: of geoms and sites, those logged.
      sites: whether sites are.

    Raises:
      InputError: a trajectory of another model.
      UnsupportedError: rerun is not installed.
    """
    rr = _import_rerun()
    frames = frames_of(m, trajectory, fps=fps, worlds=worlds, d=d)
    drawn = parts(m, groups, sites)
    low, high = bounds(m, drawn, frames.xpos[0, 0], frames.xquat[0, 0])
    offset = offsets(frames.xpos.shape[1], SPACING * float(max(high - low)))
    rr.log(path, rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for number, part in enumerate(part for part in drawn if part.ground):
        rr.log(f"{path}/ground/{number}", _mesh(rr, part), static=True)
    for world in range(len(offset)):
        _log_world(rr, m, frames, [part for part in drawn if not part.ground], f"{path}/world{world}", world, offset)
    _log_sensors(rr, m, trajectory, path)


def _import_rerun() -> Any:
    try:
        import rerun
    except ImportError:
        raise UnsupportedError("log_rerun needs rerun: pip install rerun-sdk") from None
    return rerun


def _log_world(rr: Any, m: Model, frames: Frames, drawn: list[Part], path: str, world: int, offset: np.ndarray) -> None:
    times = rr.TimeColumn(_TIMELINE, duration=frames.dt * np.arange(len(frames.xpos)))
    for body in sorted({part.body for part in drawn}):
        entity = f"{path}/bodies/{m.id2name(ObjType.BODY, body) or f'body{body}'}"
        for number, part in enumerate(part for part in drawn if part.body == body):
            rr.log(f"{entity}/{number}", _mesh(rr, part), static=True)
        pos, quat = frames.xpos[:, world, body] + offset[world], np.roll(frames.xquat[:, world, body], -1, axis=-1)
        columns = rr.Transform3D.columns(translation=pos.astype(np.float32), quaternion=quat.astype(np.float32))
        rr.send_columns(entity, indexes=[times], columns=columns)


def _log_sensors(rr: Any, m: Model, trajectory: Any, path: str) -> None:
    values, time = (getattr(trajectory, name, None) for name in ("sensordata", "time"))
    if values is None or time is None:
        return
    values, time = (np.asarray(x) for x in (values, time))
    if time.ndim == 2:
        values, time = values[0], time[0]
    for label, column in zip(labels(m)["sensordata"], values.T, strict=True):
        rr.send_columns(
            f"{path}/sensors/{label}",
            indexes=[rr.TimeColumn(_TIMELINE, duration=time)],
            columns=rr.Scalars.columns(scalars=column),
        )


def _mesh(rr: Any, part: Part) -> Any:
    return rr.Mesh3D(
        vertex_positions=part.surface.vertex.astype(np.float32),
        triangle_indices=part.surface.face.astype(np.uint32),
        albedo_factor=np.round(255 * mean_color(part.look)).astype(np.uint8),
    )
