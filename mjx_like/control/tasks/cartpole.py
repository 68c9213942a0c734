"""Swing a pole up with a cart on a rail, and hold it."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from mjx_like.control.cost import Cost
from mjx_like.control.tasks.task import Task
from mjx_like.scenes import scene
from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from mjx_like.types.model import Model


def cartpole(steps: int = 250, **options: Any) -> Task:
    """Return the swing-up of models/cartpole.xml from rest; options: of `Model.from_xml_path`."""
    m = scene("cartpole", **options)
    # From exact rest the first model sees no use in any control: a small push to begin with.
    ctrl = 0.1 * jnp.sin(0.05 * jnp.arange(steps, dtype=m.qpos0.dtype))[:, None]
    cost = Cost(lambda m, d: np.sqrt(2 * 0.01) * jnp.append(_residuals(d), 0.3 * d.ctrl), _final)
    return Task(m, make_data(m, "hanging"), cost, ctrl, _solved, "pole within 0.2 rad of upright, below 0.5 rad/s")


def _residuals(d: Data) -> jnp.ndarray:
    (x, angle), (v, rate) = d.qpos, d.qvel
    return jnp.stack([jnp.sin(angle), 1 - jnp.cos(angle), 0.3 * x, 0.1 * v, 0.1 * rate])


def _final(m: Model, d: Data) -> jnp.ndarray:
    return np.sqrt(2 * 10) * jnp.stack([1, 1, 1, 3, 3]) * _residuals(d)


def _solved(m: Model, d: Data) -> jnp.ndarray:
    return (jnp.cos(d.qpos[1]) > np.cos(0.2)) & (jnp.abs(d.qvel[1]) < 0.5)
