"""Centres of mass, inertias and motion axes in the frame of each kinematic tree."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.math.quaternion import cross
from mjx_like.math.select import combine, take
from mjx_like.math.spatial import pack_inertia
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def com_pos(m: Model, d: Data) -> Data:
    """Return d with subtree centres of mass and with inertias and dof axes about the centre of mass of each tree.

    Reads xipos, ximat, xmat, xanchor, xaxis. Writes subtree_com, cinert, cdof.  Source: mj_comPos.
    """
    com = subtree_com(m, d.xipos)
    inertia = pack_inertia(m.body_inertia, d.ximat, d.xipos - take(com, m.body_rootid), m.body_mass)
    real = (np.arange(m.nbody) > 0)[:, None]
    return d.replace(subtree_com=com, cinert=jnp.where(real, inertia, 0), cdof=_dof_axes(m, d, com))


def subtree_com(m: Model, xipos: Array) -> Array:
    """Return the centre of mass of each subtree, shape (nbody, 3) [m]; `xipos` of the body where it has no mass."""
    weighted = jnp.concatenate([m.body_mass[:, None] * xipos, m.body_mass[:, None]], axis=-1)
    total = combine(m.plans.tree.body_ancestor.T, weighted)
    heavy = total[:, 3:] >= MINVAL
    return safe.divide(total[:, :3], total[:, 3:], xipos, where=heavy)


def _dof_axes(m: Model, d: Data, com: Array) -> Array:
    """Return the motion of the whole tree per unit velocity of each dof, shape (nv, 6)."""
    plan = m.plans.smooth
    if not m.nv:
        return d.cdof
    axis = take(d.xaxis, m.dof_jntid)
    offset = take(com, m.body_rootid[m.dof_bodyid]) - take(d.xanchor, m.dof_jntid)
    if plan.dof_rotating.any():
        columns = jnp.swapaxes(d.xmat, -1, -2).reshape(-1, 3)
        rotated = take(columns, 3 * m.dof_bodyid + plan.dof_column)
        axis = jnp.where(plan.dof_rotating[:, None], rotated, axis)
    still, linear = jnp.zeros_like(axis), axis
    if plan.dof_shifting.any():
        linear = jnp.where(plan.dof_shifting[:, None], np.eye(3, dtype=axis.dtype)[plan.dof_column], linear)
    rotates = ~(plan.dof_slide | plan.dof_shifting)[:, None]
    return jnp.concatenate([jnp.where(rotates, axis, still), jnp.where(rotates, cross(axis, offset), linear)], axis=-1)
