"""Push a cube to a target with the tip of an arm."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from mjx_like.control.cost import Cost
from mjx_like.control.tasks.task import Task
from mjx_like.scenes import scene
from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from mjx_like.types.enums import ObjType
from mjx_like.types.model import Model


def pusher(steps: int = 160, **options: Any) -> Task:
    """Return the task to bring the cube of models/pusher.xml onto its target; options: of `Model.from_xml_path`."""
    m = scene("pusher", **options)
    cube, target = m.name2id(ObjType.BODY, "cube"), m.name2id(ObjType.SITE, "target")
    tip = m.name2id(ObjType.SITE, "tip")

    def to_go(d: Data) -> jnp.ndarray:
        return d.xpos[cube, :2] - d.site_xpos[target, :2]

    def running(m: Model, d: Data) -> jnp.ndarray:
        behind = d.xpos[cube, :2] + 0.065 * to_go(d) / (0.02 + jnp.linalg.norm(to_go(d)))
        reach = d.site_xpos[tip, :2] - behind
        return np.sqrt(2 * 0.005) * jnp.concatenate([3 * to_go(d), 2 * reach, 0.1 * d.qvel[:2], 0.3 * d.ctrl])

    def final(m: Model, d: Data) -> jnp.ndarray:
        return np.sqrt(2 * 10) * jnp.concatenate([3 * to_go(d), 0.3 * d.qvel[2:4], 0.05 * d.qvel[:2]])

    def solved(m: Model, d: Data) -> jnp.ndarray:
        return (jnp.linalg.norm(to_go(d)) < 0.02) & (jnp.linalg.norm(d.qvel[2:4]) < 0.1)

    ctrl = jnp.zeros((steps, m.nu), m.qpos0.dtype)
    return Task(m, make_data(m, "home"), Cost(running, final), ctrl, solved, "cube within 2 cm, below 0.1 m/s")
