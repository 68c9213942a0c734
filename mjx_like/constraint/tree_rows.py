"""The constraint Jacobian in models of many trees: of each row, the parts of the at most two trees that it touches."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.block_mask import dense
from mjx_like.math.quaternion import cross
from mjx_like.math.select import rows, take
from mjx_like.tree import blocks
from mjx_like.types.data import Contact
from mjx_like.types.topology import Topology

Array = jax.Array


def slot_column(t: Topology) -> np.ndarray:
    """Return the column of each slot that touches one dof alone, shape (nslot,); -1 for others."""
    trees, dof = t.plans.tree.trees, t.plans.constraint.slot_dof
    return np.where(dof < 0, -1, trees.place[dof] % trees.dof.shape[1])


def slot_parts(t: Topology, J: Array) -> Array:
    """Return the parts, shape (n, 2 k), of the rows of slots that touch several dofs, shape (n, nv)."""
    trees, plan = t.plans.tree.trees, t.plans.constraint
    several = plan.slot_dense >= 0
    table, start = blocks.slot_table(t)
    touched = table[start[plan.slot_type[several]] + plan.slot_id[several]]
    dof = np.where((touched >= 0)[..., None], trees.dof[touched], t.nv).reshape(len(touched), -1)
    cell = np.arange(len(dof))[:, None] * t.nv + np.minimum(dof, t.nv - 1)
    return jnp.where(dof < t.nv, take(J.ravel(), cell.ravel()).reshape(dof.shape), 0)


def contact_axes(t: Topology, c: Contact, cdof: Array, subtree_com: Array) -> Array:
    """Return the Jacobians of contacts along the axes of their frames, shape (ncon, axes, 2 k).

    Axes are the normal, the tangents, and as far as contacts need them the rotations about those three.
    Source: mj_jacDifPair, mj_instantiateContact.
    """
    trees = t.plans.tree.trees
    body = rows(t.geom_bodyid.astype(np.int32), c.geom)
    touched = blocks.geom_trees(t, c.geom)
    root = np.append(t.body_rootid[t.dof_bodyid[t.tree_dofadr]], 0).astype(np.int32)
    tree = jnp.where(touched < 0, t.ntree, touched)
    axis = rows(jnp.pad(blocks.split(trees, cdof), ((0, 1), (0, 0), (0, 0))), tree)  # (ncon, 2, k, 6)
    arm = c.pos[:, None] - rows(subtree_com, rows(root, tree))
    sign = _signs(t, body, touched).astype(axis.dtype)[..., None]
    turn = sign * axis[..., :3]
    shift = sign * axis[..., 3:] + cross(turn, jnp.broadcast_to(arm[:, :, None], turn.shape))
    ndim = max(t.plans.constraint.contact_dims)
    parts = [(shift, c.frame[:, : min(ndim, 3)])] + ([(turn, c.frame[:, : ndim - 3])] if ndim > 3 else [])
    along = [jnp.sum(x[:, None] * frame[:, :, None, None, :], axis=-1) for x, frame in parts]
    return jnp.concatenate(along, axis=1).reshape(c.dist.shape[0], ndim, -1)


def _signs(t: Topology, body: Array, touched: Array) -> Array:
    """Return 1 where a dof of a tree moves the second body alone, -1 the first alone, else 0; shape (n, 2, k)."""
    trees = t.plans.tree.trees
    column = np.append(np.arange(t.nv), t.nv)[trees.dof]
    moved = np.pad(dense(t.plans.tree.body_dof), ((0, 0), (0, 1)))
    table = np.take_along_axis(moved, column[np.maximum(t.body_treeid, 0)], axis=1) * (t.body_treeid >= 0)[:, None]
    moves = rows(table.astype(np.int8), body)
    own = rows(t.body_treeid.astype(np.int32), body)
    here = (own[:, :, None] == touched[:, None, :])[..., None] & (own >= 0)[:, :, None, None]
    first, second = (jnp.where(here[:, k], moves[:, k, None], 0) for k in (0, 1))
    return second - first


def contact_rows(
    axes: Array, source: Array, edge: Array, dim: Array, friction: Array, dims: tuple[int, ...], pyramidal: bool
) -> tuple[Array, Array]:
    """Return the parts of rows of contacts, shape (n, 2 k), and the friction coefficient of each row's axis.

    axes: of `contact_axes`; source: contact of each row; edge: its number in the contact; dim: of the contact;
    friction: shape (n, 5).
    """
    axis = jnp.where(dim == 1, 0, (edge >> 1) + 1) if pyramidal else edge
    mu = friction[:, 0]
    for i in range(2, max(dims)):
        mu = jnp.where(axis == i, friction[:, i - 1], mu)
    flat, count = axes.reshape(-1, axes.shape[-1]), axes.shape[1]
    along = rows(flat, source * count + jnp.clip(axis, 0, count - 1))
    if not pyramidal:
        return along, mu
    scale = jnp.where(dim == 1, 0, jnp.where(edge & 1 == 0, mu, -mu))[:, None]
    return rows(flat, source * count) + scale * along, mu
