"""An arm with a gripper: reach a point, and push a cube to a target on the table."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.envs.env import Outcome
from mjx_like.envs.tasks.task import Task
from mjx_like.mjcf.edit.spec import Spec
from mjx_like.state.initial import reset_to_key
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model

Array = jax.Array

_ARM = 6  # joints before those of the gripper
_STEP = 0.08  # rad a step, of an action of 1
_REACH = np.array([[0.3, 0.6], [-0.3, 0.3], [0.45, 0.7]])  # where targets are [m]
_TABLE = np.array([[0.4, 0.62], [-0.2, 0.2], [0.425, 0.425]])
_NEAR = 0.02  # of a target that is reached [m]
_LOWEST = 0.35  # of a cube that is on the table [m]


def with_target(spec: Spec) -> None:
    """Add a body that marks the target and touches nothing."""
    target = spec.worldbody.add_body(name="target", pos=[0.5, 0, 0.5], mocap=True)
    target.add_geom(name="target", type=GeomType.SPHERE, size=[0.02], contype=0, conaffinity=0, rgba=[0, 0.8, 0.2, 0.5])


def _reset(box: np.ndarray, key: str):
    def reset(m: Model, d: Data, rng: Array) -> Data:
        of_target, of_pose = jax.random.split(rng)
        d = reset_to_key(m, d, key)
        low, high = box.T
        target = jax.random.uniform(of_target, (1, 3), d.qpos.dtype, low, high)
        noise = jax.random.uniform(of_pose, (_ARM,), d.qpos.dtype, -0.05, 0.05)
        qpos = jnp.concatenate([d.qpos[:_ARM] + noise, d.qpos[_ARM:]])
        return d.replace(qpos=qpos, ctrl=d.ctrl + jnp.pad(noise, (0, m.nu - _ARM)), mocap_pos=target)

    return reset


def control(m: Model, d: Data, action: Array) -> Data:
    """Return Data with targets of the servos: actions move them on, by 0.08 rad at most a step; the gripper's stays."""
    low, high = m.actuator_ctrlrange.T
    step = jnp.pad(_STEP * jnp.clip(action, -1, 1), (0, m.nu - _ARM))
    return d.replace(ctrl=jnp.clip(d.ctrl + step, low, high))


def _grip(m: Model, d: Data) -> Array:
    return d.site_xpos[m.site("grip").id]


def _cube(m: Model, d: Data) -> Array:
    return d.xpos[m.body("cube").id]


def observe_reach(m: Model, d: Data) -> Array:
    """Return joints, servo errors, and the way from the grip to the target, shape (21,)."""
    joints = d.qpos[:_ARM]
    return jnp.concatenate([joints, 0.1 * d.qvel[:_ARM], d.ctrl[:_ARM] - joints, d.mocap_pos[0] - _grip(m, d)])


def observe_push(m: Model, d: Data) -> Array:
    """Return joints, servo errors, and where grip, cube and target are from each other, shape (27,)."""
    cube = _cube(m, d)
    ways = [cube - _grip(m, d), d.mocap_pos[0] - cube, d.qvel[-6:-3]]
    return jnp.concatenate([observe_reach(m, d)[: 3 * _ARM], *ways])


def reached(m: Model, before: Data, d: Data) -> Outcome:
    """Return how near the grip is to the target, less the haste of the servos."""
    distance = jnp.sqrt(jnp.sum((d.mocap_pos[0] - _grip(m, d)) ** 2) + 1e-8)
    haste = jnp.sum((d.ctrl - before.ctrl) ** 2)
    return Outcome(jnp.exp(-5 * distance) + (distance < _NEAR) - 0.5 * haste, False, {"distance": distance})


def pushed(m: Model, before: Data, d: Data) -> Outcome:
    """Return how near the cube is to the target, and a little of how near the grip is to the cube.

    The episode ends when the cube falls off the table.
    """
    cube = _cube(m, d)
    distance = jnp.sqrt(jnp.sum((d.mocap_pos[0] - cube) ** 2) + 1e-8)
    away = jnp.sqrt(jnp.sum((cube - _grip(m, d)) ** 2) + 1e-8)
    haste = jnp.sum((d.ctrl - before.ctrl) ** 2)
    value = jnp.exp(-5 * distance) + (distance < _NEAR) + 0.2 * jnp.exp(-5 * away) - 0.5 * haste
    return Outcome(value, cube[2] < _LOWEST, {"distance": distance})


REACH = Task("arm", _reset(_REACH, "home"), observe_reach, reached, 10, 150, control, with_target, _ARM)
PUSH = Task("arm", _reset(_TABLE, "home"), observe_push, pushed, 10, 250, control, with_target, _ARM)
