"""A planar leg hops forward.  Source: the reward is that of gymnasium's Hopper-v5."""

import jax.numpy as jnp

from mjx_like.envs.env import Outcome
from mjx_like.envs.tasks.task import Task, effort, forward_speed, near_key, planar
from mjx_like.types.data import Data
from mjx_like.types.model import Model

_LEAST_HEIGHT = 0.7  # of the hip [m]
_MOST_PITCH = 0.4  # rad


def reward(m: Model, before: Data, d: Data) -> Outcome:
    """Return speed, and 1 for each step that it does not fall, less the effort."""
    speed = forward_speed(m, before, d)
    fallen = (d.qpos[1] < _LEAST_HEIGHT) | (jnp.abs(d.qpos[2]) > _MOST_PITCH)
    return Outcome(speed + 1 - 1e-3 * effort(d), fallen, {"speed": speed})


HOPPER = Task("hopper", near_key("home", 5e-3, 5e-3), planar, reward, n_frames=2)
