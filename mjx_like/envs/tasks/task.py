"""What a task consists of, and what many of them share."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.envs.env import Control, Observe, Reset, Reward, scaled
from mjx_like.integrator.position import integrate_pos
from mjx_like.mjcf.edit.spec import Spec
from mjx_like.state.initial import reset_to_key
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


class Task(NamedTuple):
    """A task over a scene of the package; other fields are arguments of Env.

    scene: its name; edit: what is added to its Spec; action_size: None for the number of controls.
    """

    scene: str
    reset: Reset
    observe: Observe
    reward: Reward
    n_frames: int
    episode_length: int = 1000
    control: Control = scaled
    edit: Callable[[Spec], None] | None = None
    action_size: int | None = None


def near_key(key: str, position: float, velocity: float) -> Reset:
    """Return a reset to a keyframe with uniform noise on position (in the tangent space) and velocity."""

    def reset(m: Model, d: Data, rng: Array) -> Data:
        d = reset_to_key(m, d, key)
        move, speed = jax.random.uniform(rng, (2, m.nv), d.qpos.dtype, -1, 1)
        return d.replace(qpos=integrate_pos(m, d.qpos, position * move, 1.0), qvel=d.qvel + velocity * speed)

    return reset


def planar(m: Model, d: Data) -> Array:
    """Return positions but for that along x, and velocities: the observation of a robot in a plane."""
    return jnp.concatenate([d.qpos[1:], jnp.clip(d.qvel, -10, 10)])


def spatial(m: Model, d: Data) -> Array:
    """Return positions but for those in the ground plane, and velocities: the observation of a free robot."""
    return jnp.concatenate([d.qpos[2:], jnp.clip(d.qvel, -10, 10)])


def forward_speed(m: Model, before: Data, d: Data) -> Array:
    """Return the mean speed along x of the first joint's position over a step [m/s]."""
    return (d.qpos[0] - before.qpos[0]) / (d.time - before.time).astype(d.qpos.dtype)


def effort(d: Data) -> Array:
    """Return the sum of squared controls."""
    return jnp.sum(d.ctrl**2)
