"""Springs that yield: their rest moves with them once they are stretched beyond the yield threshold."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion, safe
from mjx_like.math.linalg import matmul
from mjx_like.math.select import take
from mjx_like.tree import spring
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, JointType
from mjx_like.types.model import Model

Array = jax.Array


def next_plastic(m: Model, d: Data, qpos: Array, qvel: Array) -> Array:
    """Return the plastic state at the end of the step, shape (nplastic,).

    A rest that is further from the position than the threshold follows it, up to the threshold (ideal plasticity).
    Lengths of tendons at the end are those of the start, moved along their Jacobians.

    Args:
      qpos: positions at the end, shape (nq,).
      qvel: mean velocity over the step, shape (nv,).

    Reads plastic, ten_length, ten_J.  Source: joint springyield of the XML reference; results of MuJoCo 4.0.0.
    """
    joints, tendons = np.flatnonzero(m.jnt_plasticadr >= 0), np.flatnonzero(m.tendon_plasticadr >= 0)
    if m.disabled(DisableBit.SPRING) or not (joints.size or tendons.size):
        return d.plastic
    parts, addresses = [], []
    ball = m.jnt_type[joints] == JointType.BALL
    for ids, kernel in ((joints[~ball], _scalar), (joints[ball], _ball)):
        if ids.size:
            size = 4 if kernel is _ball else 1
            index = m.jnt_plasticadr[ids][:, None] + np.arange(size)
            address = m.jnt_qposadr[ids][:, None] + np.arange(size)
            rest, position = take(d.plastic, index.ravel()), take(qpos, address.ravel())
            moved = kernel(rest.reshape(index.shape), position.reshape(index.shape), take(m.jnt_springyield, ids))
            parts.append(moved.ravel())
            addresses.append(index.ravel())
    if tendons.size:
        index = m.tendon_plasticadr[tendons][:, None] + np.arange(2)
        length = take(d.ten_length + m.opt.timestep * matmul(d.ten_J, qvel), tendons)
        rest = take(d.plastic, index.ravel()).reshape(index.shape)
        parts.append(_tendon(rest, length, take(m.tendon_springyield, tendons)).ravel())
        addresses.append(index.ravel())
    address = np.concatenate(addresses)
    others = np.setdiff1d(np.arange(m.nplastic), address)
    order = np.argsort(np.concatenate([address, others]))
    return take(jnp.concatenate([*parts, take(d.plastic, others)]), order)


def _excess(stretch: Array, threshold: Array) -> Array:
    """Return by how much `stretch` is beyond the threshold, with its sign."""
    return stretch - safe.clip(stretch, -threshold, threshold)


def _scalar(rest: Array, position: Array, threshold: Array) -> Array:
    return rest + _excess(position - rest, threshold[:, None])


def _ball(rest: Array, position: Array, threshold: Array) -> Array:
    position = quaternion.normalize(position)
    rotation = quaternion.subtract(position, quaternion.normalize(rest))
    angle = safe.norm(rotation)
    over = angle > threshold
    kept = safe.divide(threshold, angle, where=over)[:, None] * rotation
    return jnp.where(over[:, None], quaternion.multiply(position, quaternion.from_rotation_vector(-kept)), rest)


def _tendon(rest: Array, length: Array, threshold: Array) -> Array:
    """Return the rest ranges, shape (n, 2); under tension a lower end at 0 stays there, as slack."""
    shift = _excess(spring.extension_from(rest, length), threshold)
    slack = (rest[:, 0] == 0) & (rest[:, 1] > 0) & (shift > 0)
    return rest + jnp.stack([jnp.where(slack, 0, shift), shift], axis=1)
