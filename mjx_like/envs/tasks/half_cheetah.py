"""A planar runner with two legs.  Source: the reward is that of gymnasium's HalfCheetah-v5."""

from mjx_like.envs.env import Outcome
from mjx_like.envs.tasks.task import Task, effort, forward_speed, near_key, planar
from mjx_like.types.data import Data
from mjx_like.types.model import Model


def reward(m: Model, before: Data, d: Data) -> Outcome:
    """Return speed less the effort; episodes are only truncated."""
    speed = forward_speed(m, before, d)
    return Outcome(speed - 0.1 * effort(d), False, {"speed": speed})


HALF_CHEETAH = Task("half_cheetah", near_key("home", 0.1, 0.1), planar, reward, n_frames=10)
