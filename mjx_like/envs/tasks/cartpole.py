"""A pole on a cart: held upright, and swung up.

Source: rewards are those of gymnasium's CartPole-v1 and dm_control's cartpole (swingup, smooth).
"""

import jax
import jax.numpy as jnp

from mjx_like.envs.env import Outcome
from mjx_like.envs.tasks.task import Task, near_key
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array

_MOST_TILT = 0.2  # rad
_MOST_OFFSET = 1.2  # m


def observe(m: Model, d: Data) -> Array:
    """Return position of the cart, cosine and sine of the pole's angle, and both velocities, shape (5,)."""
    x, angle = d.qpos
    return jnp.stack([x, jnp.cos(angle), jnp.sin(angle), *d.qvel])


def balanced(m: Model, before: Data, d: Data) -> Outcome:
    """Return 1 for each step upright; the episode ends with a tilt of 0.2 rad, or 1.2 m from the middle."""
    x, angle = d.qpos
    return Outcome(jnp.ones_like(x), (jnp.abs(angle) > _MOST_TILT) | (jnp.abs(x) > _MOST_OFFSET))


def swung_up(m: Model, before: Data, d: Data) -> Outcome:
    """Return the product of smooth rewards for the pole upright, cart in the middle, little force and slow rotation."""
    x, angle = d.qpos
    upright = (jnp.cos(angle) + 1) / 2
    middle = (1 + jnp.exp(-((x / 0.8) ** 2))) / 2
    gentle = (4 + jnp.maximum(0, 1 - d.ctrl[0] ** 2)) / 5
    slow = (1 + jnp.exp(-((d.qvel[1] / 5) ** 2))) / 2
    return Outcome(upright * middle * gentle * slow, False, {"upright": upright})


CARTPOLE = Task("cartpole", near_key("home", 0.05, 0.05), observe, balanced, n_frames=2, episode_length=500)
SWING_UP = Task("cartpole", near_key("hanging", 0.1, 0.05), observe, swung_up, n_frames=2, episode_length=500)
