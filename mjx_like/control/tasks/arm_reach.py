"""Bring the gripper of an arm to a place."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from mjx_like.control.cost import Cost
from mjx_like.control.tasks.task import Task
from mjx_like.scenes import scene
from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, ObjType
from mjx_like.types.model import Model


def arm_reach(target: tuple[float, float, float] = (0.35, 0.3, 0.7), steps: int = 100, **options: Any) -> Task:
    """Return the task to bring the grip site of models/arm.xml to a place [m] by servo set points.

    Contacts are off, which leaves the cube to fall: nothing is touched on the way, and the program is a third as long.
    options: of `Model.from_xml_path`.
    """
    m = scene("arm", **options)
    m = m.replace(opt=m.opt.replace(timestep=0.005, disableflags=m.opt.disableflags | DisableBit.CONTACT))
    d, grip, goal = make_data(m, "home"), m.name2id(ObjType.SITE, "grip"), np.array(target)
    rest, arm = d.ctrl, 8  # dofs of the arm and its gripper; those of the cube follow

    def running(m: Model, d: Data) -> jnp.ndarray:
        off = d.site_xpos[grip] - goal
        return np.sqrt(2 * 0.005) * jnp.concatenate([off, 0.05 * d.qvel[:arm], 0.1 * (d.ctrl - rest)])

    def final(m: Model, d: Data) -> jnp.ndarray:
        return np.sqrt(2 * 10) * jnp.concatenate([d.site_xpos[grip] - goal, 0.05 * d.qvel[:arm]])

    def solved(m: Model, d: Data) -> jnp.ndarray:
        return (jnp.linalg.norm(d.site_xpos[grip] - goal) < 0.02) & jnp.all(jnp.abs(d.qvel[:arm]) < 0.5)

    ctrl = jnp.broadcast_to(d.ctrl, (steps, m.nu))
    return Task(m, d, Cost(running, final), ctrl, solved, "grip within 2 cm of the place, joints below 0.5 rad/s")
