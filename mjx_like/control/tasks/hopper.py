"""Jump to a place and stand there."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from mjx_like.control.cost import Cost
from mjx_like.control.tasks.task import Task
from mjx_like.scenes import scene
from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from mjx_like.types.model import Model


def hopper(distance: float = 0.5, steps: int = 200, **options: Any) -> Task:
    """Return the task to bring the hopper of models/hopper.xml a distance [m] ahead, upright and at rest.

    options: of `Model.from_xml_path`.
    """
    m = scene("hopper", **options)
    goal = np.array([distance, 1.1, 0])

    def running(m: Model, d: Data) -> jnp.ndarray:
        off = jnp.array([0.5, 1, 1]) * (d.qpos[:3] - goal)
        return np.sqrt(2 * 0.004) * jnp.concatenate([off, 0.03 * d.qvel, 0.3 * d.ctrl])

    def final(m: Model, d: Data) -> jnp.ndarray:
        return np.sqrt(2 * 5) * jnp.concatenate([d.qpos[:3] - goal, 0.2 * d.qvel[:3], 0.05 * d.qvel[3:]])

    def solved(m: Model, d: Data) -> jnp.ndarray:
        return (jnp.abs(d.qpos[0] - distance) < 0.1) & (d.qpos[1] > 0.9) & (jnp.abs(d.qpos[2]) < 0.3)

    ctrl = jnp.zeros((steps, m.nu), m.qpos0.dtype)
    criterion = "torso within 10 cm of the place, above 0.9 m, within 0.3 rad of upright"
    return Task(m, make_data(m, "crouch"), Cost(running, final), ctrl, solved, criterion)
