"""Displacements of springs, also of those that yield, and polynomial forces and energies."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion, safe
from mjx_like.math.select import combine, scatter, take
from mjx_like.types.data import Data
from mjx_like.types.enums import JointType
from mjx_like.types.model import Model

Array = jax.Array


def joint_rest(m: Model, d: Data) -> Array:
    """Return the position at which each joint spring rests, shape (nq,) [m or rad]; reads plastic."""
    index = joint_plastic(m)
    if not (index < m.nplastic).any():
        return m.qpos_spring
    return jnp.where(index < m.nplastic, take(jnp.append(d.plastic, 0), index), m.qpos_spring)


def tendon_rest(m: Model, d: Data) -> Array:
    """Return the range of lengths in which each tendon's spring rests, shape (ntendon, 2) [m]; reads plastic."""
    index = tendon_plastic(m)
    if not (index < m.nplastic).any():
        return m.tendon_lengthspring
    current = take(jnp.append(d.plastic, 0), index.ravel()).reshape(index.shape)
    return jnp.where(index < m.nplastic, current, m.tendon_lengthspring)


def joint_plastic(m: Model) -> np.ndarray:
    """Return where the rest of each coordinate stands in the plastic state, shape (nq,); nplastic where it is fixed."""
    out = np.full(m.nq, m.nplastic)
    for joint in np.flatnonzero(m.jnt_plasticadr >= 0):
        size = 4 if m.jnt_type[joint] == JointType.BALL else 1
        out[m.jnt_qposadr[joint] + np.arange(size)] = m.jnt_plasticadr[joint] + np.arange(size)
    return out


def tendon_plastic(m: Model) -> np.ndarray:
    """Return where the rest range of each tendon stands in the plastic state, (ntendon, 2); as `joint_plastic`."""
    adr = m.tendon_plasticadr[:, None]
    return np.where(adr >= 0, adr + np.arange(2), m.nplastic)


def joint_displacement(m: Model, d: Data) -> Array:
    """Return the displacement of each dof from the rest of its spring, shape (nv,) [m or rad].

    Rotations of ball and free joints: the rotation vector in the body frame, where they have a spring, else 0.
    Reads qpos, plastic.  Source: mj_springdamper.
    """
    return displacement_from(m, joint_rest(m, d), d.qpos)


def displacement_from(m: Model, start: Array, qpos: Array) -> Array:
    """Return the displacement of each dof from `start` to `qpos`, shapes (nq,), as `joint_displacement` does."""
    free, ball = m.jnt_type == JointType.FREE, m.jnt_type == JointType.BALL
    scalar = ~(free | ball)
    plain_qpos = np.concatenate([m.jnt_qposadr[scalar], (m.jnt_qposadr[free, None] + np.arange(3)).ravel()])
    plain_dof = np.concatenate([m.jnt_dofadr[scalar], (m.jnt_dofadr[free, None] + np.arange(3)).ravel()])
    out = scatter(take(qpos, plain_qpos) - take(start, plain_qpos), plain_dof, m.nv)
    rotating = (free | ball) & (m.has["jnt_stiffness"] | m.has["jnt_stiffnesspoly"])
    if not rotating.any():
        return out
    quat = ((m.jnt_qposadr + 3 * free)[rotating, None] + np.arange(4)).ravel()
    dof = ((m.jnt_dofadr + 3 * free)[rotating, None] + np.arange(3)).ravel()
    now, rest = (quaternion.normalize(take(x, quat).reshape(-1, 4)) for x in (qpos, start))
    return out + scatter(quaternion.subtract(now, rest).ravel(), dof, m.nv)


def joint_extension(m: Model, displacement: Array) -> Array:
    """Return what the stiffness of each dof's spring depends on, shape (nv,).

    The displacement of a scalar joint, the distance for the translation or rotation of a free joint or a ball.
    """
    block = _blocks(m)
    together = block[:, None] == block[None, :]
    if (together.sum(axis=1) == 1).all():
        return displacement
    distance = safe.sqrt(combine(together, displacement * displacement))
    return jnp.where(together.sum(axis=1) == 1, displacement, distance)


def block_starts(m: Model) -> np.ndarray:
    """Return a mask of the first dof of each spring, shape (nv,)."""
    block = _blocks(m)
    return np.append(True, np.diff(block) > 0)[: m.nv]


def polynomial_factor(linear: Array, poly: Array, x: Array) -> Array:
    """Return a + b x + c x^2; linear: a, shape (n,); poly: b and c, shape (n, 2).  Source: mju_polyForce."""
    return linear + x * (poly[:, 0] + x * poly[:, 1])


def polynomial_energy(linear: Array, poly: Array, x: Array) -> Array:
    """Return the integral of a x + b x^2 + c x^3 from 0; arguments as `polynomial_factor`."""
    return x * x * (linear / 2 + x * (poly[:, 0] / 3 + x * poly[:, 1] / 4))


def tendon_extension(m: Model, d: Data) -> Array:
    """Return how far each tendon is above or below the rest range of its spring, shape (ntendon,) [m].

    Reads ten_length, plastic.
    """
    return extension_from(tendon_rest(m, d), d.ten_length)


def extension_from(rest: Array, length: Array) -> Array:
    """Return how far lengths are above or below their rest ranges, shape (n,); rest: shape (n, 2).

    At the end of a range the derivative is that within; a range without width has none within.
    """
    low, high = rest[:, 0], rest[:, 1]
    return jnp.where(length > high, length - high, jnp.where((length < low) | (low >= high), length - low, 0))


def _blocks(m: Model) -> np.ndarray:
    """Return a number for each dof that dofs of one spring share."""
    rank = np.arange(m.nv) - m.jnt_dofadr[m.dof_jntid]
    return 2 * m.dof_jntid + (rank >= 3)
