"""Swing two links up by a motor at the elbow alone."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from mjx_like.control.cost import Cost
from mjx_like.control.tasks.task import Task
from mjx_like.scenes import scene
from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from mjx_like.types.model import Model


def acrobot(steps: int = 300, **options: Any) -> Task:
    """Return the swing-up of models/acrobot.xml from rest; options: of `Model.from_xml_path`."""
    m = scene("acrobot", **options)
    ctrl = 0.1 * jnp.sin(0.05 * jnp.arange(steps, dtype=m.qpos0.dtype))[:, None]
    cost = Cost(lambda m, d: np.sqrt(2 * 0.01) * jnp.append(_residuals(d), 0.3 * d.ctrl), _final)
    return Task(m, make_data(m, "hanging"), cost, ctrl, _solved, "tip within 0.1 m of the top, joints below 1 rad/s")


def _residuals(d: Data) -> jnp.ndarray:
    """Return by how much each link is off upright, and the speeds."""
    upper, lower = d.qpos[0], d.qpos[0] + d.qpos[1]
    off = jnp.stack([jnp.sin(upper), 1 - jnp.cos(upper), jnp.sin(lower), 1 - jnp.cos(lower)])
    return jnp.concatenate([off, 0.05 * d.qvel])


def _final(m: Model, d: Data) -> jnp.ndarray:
    return np.sqrt(2 * 10) * jnp.array([1.0, 1, 1, 1, 6, 6]) * _residuals(d)


def _solved(m: Model, d: Data) -> jnp.ndarray:
    top = d.site_xpos[0] - jnp.array([0, 0, 3.0])
    return (jnp.linalg.norm(top) < 0.1) & jnp.all(jnp.abs(d.qvel) < 1)
