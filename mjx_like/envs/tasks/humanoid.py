"""A humanoid walks forward.  Source: the reward is that of gymnasium's Humanoid-v5, with its weights."""

from mjx_like.envs.env import Outcome
from mjx_like.envs.tasks.task import Task, effort, forward_speed, near_key, spatial
from mjx_like.types.data import Data
from mjx_like.types.model import Model

_HEIGHTS = (0.7, 1.4)  # of the free joint's body, when it does not fall [m]


def reward(m: Model, before: Data, d: Data) -> Outcome:
    """Return speed, and 5 for each step that it does not fall, less the effort."""
    speed = forward_speed(m, before, d)
    fallen = (d.qpos[2] < _HEIGHTS[0]) | (d.qpos[2] > _HEIGHTS[1])
    return Outcome(1.25 * speed + 5 - 0.1 * effort(d), fallen, {"speed": speed})


HUMANOID = Task("humanoid", near_key("home", 0.01, 0.01), spatial, reward, n_frames=3)
