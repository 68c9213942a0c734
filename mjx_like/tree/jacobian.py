"""Jacobians of points attached to bodies, and their time derivatives."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.block_mask import dense
from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import cross
from mjx_like.math.select import combine, take
from mjx_like.math.spatial import motion_cross
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def jac(m: Model, d: Data, point: Array, body_id: Array | np.ndarray | int) -> tuple[Array, Array]:
    """Return the translation and rotation Jacobian of points attached to bodies, each of shape (..., nv, 3).

    point: shape (..., 3) [m, world]; body_id: shape (...), static or traced.
    Reads subtree_com, cdof.  Source: mj_jac.
    """
    moves, offset = _chain(m, d, point, body_id)
    linear = d.cdof[:, 3:] + cross(d.cdof[:, :3], offset)
    return jnp.where(moves, linear, 0), jnp.where(moves, d.cdof[:, :3], 0)


def jac_dot(m: Model, d: Data, point: Array, body_id: Array | np.ndarray | int) -> tuple[Array, Array]:
    """Return the time derivatives of the Jacobians that `jac` returns, each of shape (..., nv, 3).

    Reads subtree_com, cdof, cdof_dot, cvel.  Source: mj_jacDot.
    """
    moves, offset = _chain(m, d, point, body_id)
    body = d.cvel[body_id]
    velocity = (body[..., 3:] + cross(body[..., :3], offset[..., 0, :]))[..., None, :]
    rate = axis_rate(m, d)
    linear = rate[:, 3:] + cross(rate[:, :3], offset) + cross(d.cdof[:, :3], velocity)
    return jnp.where(moves, linear, 0), jnp.where(moves, rate[:, :3], 0)


def joint_force(m: Model, d: Data, force: Array) -> Array:
    """Return the joint forces, shape (nv,), of spatial forces on bodies about the centres of their trees, (nbody, 6).

    Reads cdof.  Source: mj_applyFT, for all bodies at once.
    """
    if not m.nv:
        return jnp.zeros(0, force.dtype)
    return jnp.sum(d.cdof * combine(m.plans.tree.body_dof.T, force), axis=-1)


def spatial_force(m: Model, d: Data, body: np.ndarray, point: Array, force: Array, torque: Array) -> Array:
    """Return forces [N] at points and torques [N m], shapes (k, 3), about the centres of the trees of `body`, (k, 6).

    Reads subtree_com.
    """
    offset = point - take(d.subtree_com, m.body_rootid[body])
    return jnp.concatenate([torque + cross(offset, force), force], axis=-1)


def wrench_rows(m: Model, d: Data, force: Array, moves: np.ndarray) -> Array:
    """Return the joint forces, shape (k, nv), of each of k spatial forces, shape (k, 6), alone.

    moves: static mask of the dofs that each one acts on, shape (k, nv). Reads cdof.
    """
    return jnp.where(moves > 0, matmul(force, d.cdof.T), 0)


def axis_rate(m: Model, d: Data) -> Array:
    """Return the rate of change of each dof axis as carried by its own body, shape (nv, 6).

    It differs from cdof_dot for the rotations of ball and free joints, whose axes turn with the body.
    """
    rotating = m.plans.smooth.dof_rotating
    if not rotating.any():
        return d.cdof_dot
    return jnp.where(rotating[:, None], motion_cross(d.cvel[m.dof_bodyid], d.cdof), d.cdof_dot)


def _chain(m: Model, d: Data, point: Array, body_id: Array | np.ndarray | int) -> tuple[Array, Array]:
    """Return which dofs move each body, shape (..., nv, 1), and the point less the tree's centre, shape (..., 1, 3)."""
    mask = dense(m.plans.tree.body_dof) > 0
    if isinstance(body_id, jax.Array):
        moves, root = jnp.asarray(mask)[body_id], jnp.asarray(m.body_rootid)[body_id]
    else:
        moves, root = mask[body_id], m.body_rootid[body_id]
    return moves[..., None], (point - d.subtree_com[root])[..., None, :]
