"""Push a box right over the floor, or lift it: the two tasks of the Dojo paper, through contact that sticks."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from mjx_like.control.cost import Cost
from mjx_like.control.tasks.task import Task
from mjx_like.errors import InputError, shown
from mjx_like.scenes import scene
from mjx_like.state.initial import make_data
from mjx_like.types.enums import ObjType


def planar_box(goal: str = "right", steps: int = 100, **options: Any) -> Task:
    """Return the task to bring the box of models/planar_box.xml 1 m to the `goal`, "right" or "up", within a second.

    options: of `Model.from_xml_path`.
    Source: Howell et al., Dojo: a differentiable physics engine for robotics (2022), the planar box.
    """
    if goal not in ("right", "up"):
        raise InputError(f"goal={shown(goal)}: must be one of right, up")
    m = scene("planar_box", **options)
    centre, target = m.name2id(ObjType.SITE, "centre"), m.name2id(ObjType.SITE, goal)

    def to_go(d: Any) -> jnp.ndarray:
        return jnp.append(d.site_xpos[centre] - d.site_xpos[target], d.qpos[2])

    def solved(m: Any, d: Any) -> jnp.ndarray:
        return (jnp.linalg.norm(to_go(d)[:3]) < 0.05) & (jnp.linalg.norm(d.qvel[:2]) < 0.3)

    cost = Cost(
        lambda m, d: np.sqrt(2 * 0.01) * 0.3 * d.ctrl,
        lambda m, d: np.sqrt(2 * 10) * jnp.concatenate([to_go(d), 0.2 * d.qvel]),
    )
    # On the floor no small force lifts the box, so no derivative points up: begin with forces that carry its weight.
    lift = -m.opt.gravity[2] * m.body_mass[-1] / m.actuator_gear[1, 0] if goal == "up" else 0
    ctrl = jnp.zeros((steps, m.nu), m.qpos0.dtype).at[:, 1].set(lift)
    return Task(m, make_data(m), cost, ctrl, solved, "centre within 5 cm of the target, below 0.3 m/s")
