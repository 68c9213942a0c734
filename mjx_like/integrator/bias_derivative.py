"""Derivative of the Coriolis and centrifugal forces in the joint velocities."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.linalg import matmul
from mjx_like.math.select import combine, take
from mjx_like.math.spatial import force_cross, inertia_times, motion_cross
from mjx_like.tree.jacobian import axis_rate
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def bias_derivative(m: Model, d: Data) -> Array:
    """Return the derivative of the bias force without tendons in qvel, shape (nv, nv).

    Two dofs are coupled where one is above the other in the tree; the inertia and the velocity product of the subtree
    of the lower one decide.
    Reads cdof, cdof_dot, cvel, cinert.
    Source: mjd_rne_vel; Singh, Russell and Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics using
    Spatial Vector Algebra, 2022, equations for the velocity.
    """
    inertia, product = _packed(d.cinert), velocity_product(d)
    subtree = combine(m.plans.tree.body_ancestor.T, jnp.concatenate([inertia, product], axis=1))
    own = take(subtree, m.dof_bodyid)
    rate = d.cdof_dot + axis_rate(m, d)
    moved = _times(own[:, :6], rate) + _times(own[:, 6:], d.cdof)
    above = matmul(d.cdof, moved.T)
    left = jnp.concatenate([_times(own[:, :6], d.cdof), jnp.sum(own[:, 6:] * d.cdof[:, :, None], axis=1)], axis=1)
    below = matmul(left, jnp.concatenate([rate, d.cdof], axis=1).T)
    ancestor = m.plans.tree.dof_ancestor
    strict = (ancestor - np.eye(m.nv)).T > 0
    return jnp.where(ancestor > 0, below, jnp.where(strict, above, 0))


def velocity_product(d: Data) -> Array:
    """Return the derivative of each body's velocity product force in its velocity at fixed axes, shape (nbody, 6, 6).

    It is v x* I - I v x + (I v) x*: the last term is the cross product with the momentum, as a map of motions.
    Reads cvel, cinert.
    """
    basis = jnp.broadcast_to(jnp.eye(6, dtype=d.cvel.dtype), (d.cvel.shape[0], 6, 6))
    vel, inertia = d.cvel[:, None, :], d.cinert[:, None, :]
    carried = force_cross(vel, inertia_times(inertia, basis)) - inertia_times(inertia, motion_cross(vel, basis))
    columns = carried + force_cross(basis, inertia_times(inertia, vel))
    return jnp.swapaxes(columns, 1, 2)


def _packed(inertia: Array) -> Array:
    """Return inertias, shape (n, 10), as matrices, shape (n, 6, 6)."""
    basis = jnp.broadcast_to(jnp.eye(6, dtype=inertia.dtype), (inertia.shape[0], 6, 6))
    return inertia_times(inertia[:, None, :], basis)


def _times(matrix: Array, vector: Array) -> Array:
    return jnp.sum(matrix * vector[:, None, :], axis=2)
