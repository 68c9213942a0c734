"""Where everything that moves is, along a trajectory: bodies, lights, and the paths of tendons."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError
from mjx_like.smooth.camlight import camlight
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state.initial import empty_data
from mjx_like.tendon.stage import tendon
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.worlds import one_model

FPS = 30.0  # frames a second of simulated time
_PULLEY = -2  # in wrap_obj


@dataclasses.dataclass(frozen=True)
class Frames:
    """Poses at equal distances of time, of some worlds.

    dt: between frames [s]; xpos, xquat: of the bodies, shapes (frame, world, nbody, 3) and (..., 4) [m; wxyz, world];
    light_xpos, light_xdir: of the lights, shapes (frame, world, nlight, 3) [m; 1, world];
    path, path_num, path_adr, path_obj: paths of tendons, as Data has them, with the same leading axes; None without.
    """

    dt: float
    xpos: np.ndarray
    xquat: np.ndarray
    light_xpos: np.ndarray
    light_xdir: np.ndarray
    path: np.ndarray | None = None
    path_num: np.ndarray | None = None
    path_adr: np.ndarray | None = None
    path_obj: np.ndarray | None = None

    def segments(self, frame: int, world: int, tendon_id: int) -> np.ndarray:
        """Return the segments that a tendon is drawn with, shape (k, 2, 3) [m, world]."""
        start, count = int(self.path_adr[frame, world, tendon_id]), int(self.path_num[frame, world, tendon_id])
        point = self.path[frame, world].reshape(-1, 3)[start : start + count]
        obj = self.path_obj[frame, world].reshape(-1)[start : start + count]
        keep = (obj[:-1] != _PULLEY) & (obj[1:] != _PULLEY)
        return np.stack([point[:-1], point[1:]], axis=1)[keep]


def frames_of(m: Model, trajectory: Any, *, fps: float = FPS, worlds: int = 16, d: Data | None = None) -> Frames:
    """Return the poses along a trajectory, interpolated in nothing: the recorded states nearest to each frame's time.

    Args:
      m: one model, without a batch axis.
      trajectory: what `rollout` returned, or anything with `qpos`, and `time` if it has one, as attributes or keys;
        shapes (steps, nq) and (steps,), or with a leading axis of worlds.
      fps: frames a second of simulated time.
      worlds: of a batch, how many at most.
      d: where mocap bodies are, for a model that has them; None for where the model file puts them.

    Raises:
      InputError: a trajectory without qpos, of another shape, or with numbers that are not finite.
    """
    qpos, dt = recorded_frames(m, trajectory, fps, worlds)
    return poses(m, qpos, dt, d)


def recorded_frames(m: Model, trajectory: Any, fps: float, worlds: int) -> tuple[np.ndarray, float]:
    """Return the positions at each frame, shape (frame, world, nq), and the time between frames [s].

    Arguments and errors are those of `frames_of`.
    """
    one_model("frames_of", m)
    if not fps > 0:
        raise InputError(f"fps={fps}: must be positive")
    qpos = _recorded(trajectory, "qpos")
    if qpos is None:
        raise InputError("the trajectory has no qpos; give what rollout returned, or the .npz file of the command line")
    if qpos.ndim not in (2, 3) or qpos.shape[-1] != m.nq or not qpos.shape[-2]:
        raise InputError(f"qpos has shape {qpos.shape}; this model has (steps, {m.nq}) or (worlds, steps, {m.nq})")
    if not np.isfinite(qpos).all():
        raise InputError("qpos has numbers that are not finite")
    qpos = qpos.reshape(-1, *qpos.shape[-2:])[:worlds]
    step = _step(m, _recorded(trajectory, "time"), qpos.shape[1])
    dt = max(1 / fps, step)
    index = np.round(np.arange(0, qpos.shape[1] - 0.5, dt / step)).astype(int)
    return qpos[:, index].swapaxes(0, 1), dt


def poses(m: Model, qpos: np.ndarray, dt: float, d: Data | None = None) -> Frames:
    """Return the poses at positions of shape (frame, world, nq)."""
    start = empty_data(m) if d is None else d
    flat = jnp.asarray(qpos.reshape(-1, m.nq), m.qpos0.dtype)
    found = jax.jit(jax.vmap(lambda q: moving(m, posed(m, start.replace(qpos=q)))))(flat)
    return Frames(dt, *(np.asarray(x).reshape(*qpos.shape[:2], *x.shape[1:]) for x in found))


def posed(m: Model, d: Data) -> Data:
    """Return `d` with all that follows from its positions by kinematics, also of a model that the engine cannot run."""
    now = camlight(m, com_pos(m, kinematics(m, d)))
    return tendon(m, now) if m.ntendon else now


def moving(m: Model, d: Data) -> tuple[jax.Array, ...]:
    """Return the fields of Data that Frames holds, in its order."""
    poses = d.xpos, d.xquat, d.light_xpos, d.light_xdir
    return (*poses, d.wrap_xpos, d.ten_wrapnum, d.ten_wrapadr, d.wrap_obj) if m.ntendon else poses


def _recorded(trajectory: Any, name: str) -> np.ndarray | None:
    value = getattr(trajectory, name, None)
    if value is None:
        try:
            value = trajectory[name]
        except (TypeError, KeyError, IndexError):
            return None
    return np.asarray(value, float)


def _step(m: Model, time: np.ndarray | None, steps: int) -> float:
    """Time between two recorded states [s]."""
    if time is None or steps < 2 or time.shape[-1] != steps:
        return float(m.opt.timestep)
    step = float(np.median(np.diff(time.reshape(-1, steps)[0])))
    return step if step > 0 else float(m.opt.timestep)
