"""A crawler with four legs walks forward.  Source: the reward is that of gymnasium's Ant-v5."""

from mjx_like.envs.env import Outcome
from mjx_like.envs.tasks.task import Task, effort, forward_speed, near_key, spatial
from mjx_like.types.data import Data
from mjx_like.types.model import Model

_HEIGHTS = (0.2, 1.0)  # of the torso, when it does not fall [m]


def reward(m: Model, before: Data, d: Data) -> Outcome:
    """Return speed, and 1 for each step that it does not fall, less the effort."""
    speed = forward_speed(m, before, d)
    fallen = (d.qpos[2] < _HEIGHTS[0]) | (d.qpos[2] > _HEIGHTS[1])
    return Outcome(speed + 1 - 0.5 * effort(d), fallen, {"speed": speed})


ANT = Task("ant", near_key("home", 0.05, 0.1), spatial, reward, n_frames=5)
