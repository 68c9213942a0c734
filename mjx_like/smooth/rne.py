"""Recursive Newton-Euler as products with the tree's masks."""

import jax
import jax.numpy as jnp

from mjx_like.math.select import combine
from mjx_like.math.spatial import force_cross, inertia_times
from mjx_like.tree.jacobian import joint_force
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit
from mjx_like.types.model import Model

Array = jax.Array


def rne(m: Model, d: Data, flg_acc: bool = False) -> Data:
    """Return d with the bias force: Coriolis, centrifugal and gravity, shape (nv,) [N or N m].

    flg_acc: add the inertial force of `qacc`, armature left out: inverse dynamics.
    Reads cdof, cdof_dot, cvel, cinert, qvel, with flg_acc qacc. Writes qfrc_bias.  Source: mj_rne.
    """
    acceleration = bias_acceleration(m, d)
    if flg_acc and m.nv:
        acceleration = acceleration + combine(m.plans.tree.body_dof, d.cdof * d.qacc[:, None])
    return d.replace(qfrc_bias=joint_force(m, d, body_force(d, acceleration)))


def bias_acceleration(m: Model, d: Data) -> Array:
    """Return the spatial acceleration of each body at qacc = 0, less gravity, shape (nbody, 6)."""
    gravity = jnp.zeros(3, d.qvel.dtype) if m.topology.disabled(DisableBit.GRAVITY) else -m.opt.gravity
    upward = jnp.concatenate([jnp.zeros(3, gravity.dtype), gravity])
    if not m.nv:
        return jnp.broadcast_to(upward, (m.nbody, 6))
    return upward + combine(m.plans.tree.body_dof, d.cdof_dot * d.qvel[:, None])


def body_force(d: Data, acceleration: Array) -> Array:
    """Return the spatial force that each body's own motion takes, shape (nbody, 6); zero for the world."""
    return inertia_times(d.cinert, acceleration) + force_cross(d.cvel, inertia_times(d.cinert, d.cvel))
