"""Trot: diagonal legs in turn, at a speed."""

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

FEET = ("front_right_foot", "front_left_foot", "rear_right_foot", "rear_left_foot")


def quadruped(speed: float = 0.5, period: float = 0.4, lift: float = 0.06, steps: int = 100, **options: Any) -> Task:
    """Return the task to walk models/quadruped.xml ahead at a trot, by servo set points.

    speed: [m/s]; period: of a stride [s]; lift: how high a foot swings [m]; options: of `Model.from_xml_path`.
    """
    m = scene("quadruped", **options)
    m = m.replace(opt=m.opt.replace(timestep=0.008))
    d = make_data(m, "home")
    feet = np.array([m.name2id(ObjType.SITE, name) for name in FEET])
    phase, rest, home, end = np.pi * np.array([0, 1, 1, 0]), d.ctrl, d.qpos, steps * 0.008

    def off(d: Data, time: Any) -> jnp.ndarray:
        """Return how far the trunk is from where it should be."""
        return jnp.concatenate([d.qpos[:3] - jnp.stack([speed * time, 0, home[2]]), 2 * d.qpos[4:7]])

    def running(m: Model, d: Data) -> jnp.ndarray:
        swing = lift * jnp.maximum(jnp.sin(2 * np.pi * d.time / period + phase), 0)
        height = d.site_xpos[feet, 2] - 0.024 - swing
        return np.sqrt(2 * 0.008) * jnp.concatenate(
            [3 * off(d, d.time), 20 * height, 0.3 * (d.qvel[:1] - speed), 0.02 * d.qvel[6:], 0.5 * (d.ctrl - rest)]
        )

    def final(m: Model, d: Data) -> jnp.ndarray:
        return np.sqrt(2) * jnp.concatenate(
            [3 * off(d, end), 0.3 * (d.qvel[:1] - speed), 0.2 * (d.qpos[7:] - home[7:])]
        )

    def solved(m: Model, d: Data) -> jnp.ndarray:
        return (d.qpos[0] > 0.7 * speed * end) & (d.qpos[2] > 0.25) & jnp.all(jnp.abs(d.qpos[4:7]) < 0.15)

    ctrl = jnp.broadcast_to(rest, (steps, m.nu))
    criterion = "70 % of the way, trunk above 0.25 m and within 0.3 rad of level"
    return Task(m, d, Cost(running, final), ctrl, solved, criterion)
