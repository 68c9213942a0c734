"""A four-legged robot with servo joints: walk at a commanded velocity, and follow the rhythm of a trot.

A command (forward and sideways speed [m/s], yaw rate [rad/s], in the frame of the trunk) is drawn for each episode and
kept in `userdata`.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.envs.env import Outcome
from mjx_like.envs.tasks.task import Task, near_key
from mjx_like.math import quaternion
from mjx_like.mjcf.edit.spec import Spec
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array

_COMMANDS = np.array([[-0.3, 0.8], [-0.3, 0.3], [-0.6, 0.6]])  # from, to
_STRIDE = 0.5  # rad, of an action of 1
_LEAST_HEIGHT = 0.16  # of the trunk [m]
_LEAST_UPRIGHT = 0.5  # cosine of the trunk's tilt
_FREQUENCY = 2.0  # of the trot [Hz]
_LIFT, _SWING = 0.45, 0.15  # of the knee and the hip in the trot [rad]
# Legs in the order front right, front left, rear right, rear left: diagonal ones step together.
_PHASE = np.array([0, np.pi, np.pi, 0])


def with_command(spec: Spec) -> None:
    """Make room for the command in userdata."""
    spec.size.nuserdata = 3


def reset(m: Model, d: Data, rng: Array) -> Data:
    """Return a start near the keyframe "home", with a command."""
    of_pose, of_command = jax.random.split(rng)
    low, high = _COMMANDS.T
    command = jax.random.uniform(of_command, (3,), d.qpos.dtype, low, high)
    return near_key("home", 0.03, 0.05)(m, d, of_pose).replace(userdata=command.astype(d.userdata.dtype))


def control(m: Model, d: Data, action: Array) -> Data:
    """Return Data with targets of the servos: actions move them from the pose of the keyframe."""
    low, high = m.actuator_ctrlrange.T
    return d.replace(ctrl=jnp.clip(m.key_ctrl[0] + _STRIDE * jnp.clip(action, -1, 1), low, high))


def velocity(m: Model, d: Data) -> tuple[Array, Array]:
    """Return the trunk's linear and angular velocity in its own frame [m/s, rad/s]."""
    return quaternion.rotate(quaternion.conjugate(d.qpos[3:7]), d.qvel[:3]), d.qvel[3:6]


def upright(d: Data) -> Array:
    """Return the vertical in the frame of the trunk, shape (3,)."""
    return quaternion.rotate(quaternion.conjugate(d.qpos[3:7]), jnp.array([0, 0, 1], d.qpos.dtype))


def observe(m: Model, d: Data) -> Array:
    """Return velocities, the vertical, joints, last targets and the command, shape (48,)."""
    linear, angular = velocity(m, d)
    home = m.key_qpos[0, 7:]
    parts = [linear, angular, upright(d), d.qpos[7:] - home, 0.1 * d.qvel[6:], d.ctrl - m.key_ctrl[0], d.userdata]
    return jnp.concatenate([x.astype(d.qpos.dtype) for x in parts])


def observe_phase(m: Model, d: Data) -> Array:
    """Return the observation of the walk, and where in the trot it is, shape (50,)."""
    phase = (2 * jnp.pi * _FREQUENCY * d.time).astype(d.qpos.dtype)
    return jnp.concatenate([observe(m, d), jnp.stack([jnp.cos(phase), jnp.sin(phase)])])


def trot(m: Model, d: Data) -> Array:
    """Return the joint angles of a trot on the spot at this time, in the order of qpos, shape (12,)."""
    phase = 2 * jnp.pi * _FREQUENCY * d.time + _PHASE
    lift = jnp.maximum(0, jnp.sin(phase))
    legs = jnp.stack([jnp.zeros(4), _LIFT / 2 * lift + _SWING * jnp.cos(phase), -_LIFT * lift], axis=1)
    return m.key_qpos[0, 7:] + legs.ravel().astype(d.qpos.dtype)


def walked(m: Model, before: Data, d: Data) -> Outcome:
    """Return how well the command is followed, less tilt, bounce, effort and haste of the targets."""
    linear, angular = velocity(m, d)
    command = d.userdata.astype(d.qpos.dtype)
    follows = jnp.exp(-jnp.sum((linear[:2] - command[:2]) ** 2) / 0.1)
    turns = jnp.exp(-((angular[2] - command[2]) ** 2) / 0.1)
    vertical = upright(d)
    cost = jnp.sum(vertical[:2] ** 2) + 0.5 * linear[2] ** 2 + 0.02 * jnp.sum(angular[:2] ** 2)
    cost += 2e-5 * jnp.sum(d.qfrc_actuator**2) + 0.02 * jnp.sum((d.ctrl - before.ctrl) ** 2)
    fallen = (vertical[2] < _LEAST_UPRIGHT) | (d.qpos[2] < _LEAST_HEIGHT)
    return Outcome(follows + 0.5 * turns - cost, fallen, {"follows": follows, "turns": turns})


def trotted(m: Model, before: Data, d: Data) -> Outcome:
    """Return the reward of the walk, and how near the joints are to the trot."""
    walk = walked(m, before, d)
    rhythm = jnp.exp(-2 * jnp.sum((d.qpos[7:] - trot(m, d)) ** 2))
    return Outcome(walk.reward + rhythm, walk.terminated, {**walk.metrics, "rhythm": rhythm})


WALK = Task("quadruped", reset, observe, walked, n_frames=5, control=control, edit=with_command)
TROT = Task("quadruped", reset, observe_phase, trotted, n_frames=5, control=control, edit=with_command)
