"""A running simulation that can be pulled at: state, controls, the force of the mouse. No browser here."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.errors import InputError
from mjx_like.math import quaternion
from mjx_like.math.quaternion import cross
from mjx_like.state.initial import make_data
from mjx_like.step import step
from mjx_like.types.data import Data
from mjx_like.types.enums import JointType
from mjx_like.types.model import Model
from mjx_like.types.pytree import Role, with_role
from mjx_like.visual.frames import Frames, moving
from mjx_like.worlds import one_model

Array = jax.Array

MOST_STEPS = 500  # in one call of `advance`, so that a slow machine stays responsive


class Pull(NamedTuple):
    """A spring between a point of a body and a point in space.

    world, body: which; local: the point in the frame of the body [m]; target: where it is pulled [m, world];
    stiffness: per unit of mass [1/s^2], 0 for no pull.
    """

    world: Array | int = 0
    body: Array | int = 0
    local: Array | tuple[float, ...] = (0.0, 0.0, 0.0)
    target: Array | tuple[float, ...] = (0.0, 0.0, 0.0)
    stiffness: Array | float = 0.0


def pulled(m: Model, d: Data, pull: Pull, world: Array) -> Data:
    """Return a world with the force of a pull in xfrc_applied, critically damped.

    Reads xpos, xquat, xipos, cvel, subtree_com. Writes xfrc_applied.  Source: mjv_applyPerturbForce.
    """
    own = np.arange(m.nbody) == pull.body
    pos, quat, com = (jnp.sum(jnp.where(own[:, None], x, 0), axis=0) for x in (d.xpos, d.xquat, d.xipos))
    mass = 1 / jnp.maximum(jnp.sum(jnp.where(own, m.body_invweight0[:, 0], 0)), 1e-9)
    twist = jnp.sum(jnp.where(own[:, None], d.cvel, 0), axis=0)
    root = jnp.sum(jnp.where(own[:, None], d.subtree_com[m.body_rootid], 0), axis=0)
    point = pos + quaternion.rotate(quat, jnp.asarray(pull.local, pos.dtype))
    velocity = twist[3:] + cross(twist[:3], point - root)
    k = jnp.asarray(pull.stiffness, pos.dtype)
    force = mass * (k * (jnp.asarray(pull.target, pos.dtype) - point) - 2 * jnp.sqrt(k) * velocity)
    wrench = jnp.concatenate([force, cross(point - com, force)])
    active = (k > 0) & (world == pull.world)
    return d.replace(xfrc_applied=jnp.where(active & own[:, None], wrench, 0))


class Session:
    """Worlds of one model that are stepped for as long as somebody looks.

    Args:
      m: one model, without a batch axis.
      worlds: how many.
      key: keyframe at the start, name or number; None for qpos0.
    """

    lacks: tuple[str, ...] = ()  # why it cannot be stepped

    def __init__(self, m: Model, worlds: int = 1, key: str | int | None = None):
        one_model("Session", m)
        if worlds < 1:
            raise InputError(f"worlds={worlds}: must be at least 1")
        self.m, self.worlds, self.pull, self.rng = m, worlds, Pull(), np.random.default_rng(0)
        self._advance = jax.jit(_advance)
        self.reset(key)

    def reset(self, key: str | int | None = None) -> None:
        """Put all worlds at a keyframe, or at qpos0."""
        start = make_data(self.m, key)
        self.d = jax.device_put(jax.tree.map(lambda x: np.broadcast_to(x, (self.worlds, *x.shape)), start))
        self.look()

    def look(self) -> None:
        """Derive what depends on the state, poses for instance, and leave the state as it is."""
        after = self._advance(self.m, self.d, Pull(), 1)  # a step leaves what it derived from where it began
        self.d = after.replace(**{name: getattr(self.d, name) for name in _KEPT})

    def advance(self, seconds: float) -> int:
        """Simulate for some time and return the number of steps."""
        steps = int(min(max(round(seconds / float(self.m.opt.timestep)), 1), MOST_STEPS))
        self.d = self._advance(self.m, self.d, self.pull, steps)
        return steps

    def set_ctrl(self, index: int, value: float) -> None:
        """Set a control of all worlds."""
        self.d = self.d.replace(ctrl=self.d.ctrl.at[:, index].set(value))

    def random_ctrl(self) -> None:
        """Draw controls for all worlds, within their ranges, from -1 to 1 where there are none."""
        limited = self.m.actuator_ctrllimited
        low, high = (np.where(limited, np.asarray(self.m.actuator_ctrlrange)[:, k], b) for k, b in ((0, -1), (1, 1)))
        self.d = self.d.replace(ctrl=jnp.asarray(self.rng.uniform(low, high, self.d.ctrl.shape), self.d.ctrl.dtype))

    def set_joint(self, joint: int, value: float) -> None:
        """Set the position of a hinge or slide of all worlds, at rest."""
        if self.m.jnt_type[joint] not in (JointType.HINGE, JointType.SLIDE):
            raise InputError(f"joint {joint} is neither a hinge nor a slide")
        self.d = self.d.replace(
            qpos=self.d.qpos.at[:, int(self.m.jnt_qposadr[joint])].set(value),
            qvel=self.d.qvel.at[:, int(self.m.jnt_dofadr[joint])].set(0),
        )
        self.look()

    def grab(self, world: int, body: int, point: np.ndarray) -> None:
        """Take hold of a body at a point [m, world]."""
        pos, quat = np.asarray(self.d.xpos[world, body]), self.d.xquat[world, body]
        local = quaternion.rotate(quaternion.conjugate(quat), jnp.asarray(point - pos, quat.dtype))
        stiffness = self.m.vis.map.stiffness
        self.pull = Pull(world, body, tuple(np.asarray(local, float)), tuple(map(float, point)), float(stiffness))

    def drag(self, target: np.ndarray) -> None:
        """Move the point that the body is pulled to [m, world]."""
        self.pull = self.pull._replace(target=tuple(map(float, target)))

    def release(self) -> None:
        """Let go."""
        self.pull = Pull()

    def frames(self) -> Frames:
        """Return where everything is now, as one frame."""
        return Frames(0.0, *(np.asarray(x)[None] for x in moving(self.m, self.d)))


_KEPT = with_role(Data, Role.STATE, Role.WARMSTART, Role.INPUT, Role.USERDATA, Role.MEMORY, Role.COUNTER)


def _advance(m: Model, d: Data, pull: Pull, steps: Array) -> Data:
    worlds = jnp.arange(d.qpos.shape[0])

    def one(d: Data, world: Array) -> Data:
        return step(m, pulled(m, d, pull, world))

    return lax.fori_loop(0, steps, lambda _, d: jax.vmap(one)(d, worlds), d)
