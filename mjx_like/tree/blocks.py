"""Vectors and matrices over the dofs as one block for each kinematic tree, where a model has many trees.

The inertia matrix and its factor are stored as their blocks then, shape (nv, n), a row for each dof and a column for
each dof of its tree; the Jacobian of a constraint row as the parts of the at most two trees that it touches. `n` is the
number of dofs of the largest tree; smaller ones are padded.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINVAL
from mjx_like.math.linalg import matmul, solve_definite
from mjx_like.math.linear import linear_at_capacity
from mjx_like.math.select import rows, take
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType
from mjx_like.types.model import Model
from mjx_like.types.plans import Trees
from mjx_like.types.topology import Topology

Array = jax.Array


def split(trees: Trees, x: Array) -> Array:
    """Return what stands at the dofs of each tree, shape (ntree, n, ...), zero beyond; x: shape (nv, ...)."""
    count, most = trees.dof.shape
    if trees.padded:
        x = jnp.concatenate([x, jnp.zeros((1, *x.shape[1:]), x.dtype)])
    return take(x, trees.dof.ravel()).reshape(count, most, *x.shape[1:])


def join(trees: Trees, x: Array) -> Array:
    """Return what stands at each dof, shape (nv, ...), of what `split` returns."""
    return take(x.reshape(-1, *x.shape[2:]), trees.place)


def blocks(trees: Trees, matrix: Array) -> Array:
    """Return the blocks of a stored matrix, shape (nv, n), as (ntree, n, n); MINVAL on the diagonal beyond a tree's."""
    out = split(trees, matrix)
    if not trees.padded:
        return out
    beyond = (trees.dof == trees.place.size)[:, :, None] & np.eye(trees.dof.shape[1], dtype=bool)
    return jnp.where(beyond, MINVAL, out)


def diagonal(trees: Trees, x: Array) -> Array:
    """Return a diagonal matrix as it is stored, shape (nv, n); x: shape (nv,)."""
    column = trees.place % trees.dof.shape[1]
    return jnp.where(np.arange(trees.dof.shape[1]) == column[:, None], x[:, None], 0)


def whole(trees: Trees, matrix: Array) -> Array:
    """Return a stored matrix, shape (nv, n), as one, shape (nv, nv)."""
    most = trees.dof.shape[1]
    tree, column = trees.place // most, trees.place % most
    return jnp.where(tree[:, None] == tree, take(matrix.T, column).T, 0)


def chains(t: Topology) -> np.ndarray:
    """Return 1 where a tree's dof of the column is that of the row or above it, shape (ntree, n, n)."""
    trees = t.plans.tree.trees
    parent = np.append(t.dof_parentid, -1)[trees.dof]
    out = np.broadcast_to(np.eye(trees.dof.shape[1]), (*trees.dof.shape, trees.dof.shape[1])).copy()
    for k in range(trees.dof.shape[1]):
        above = np.where(parent[:, k] >= 0, parent[:, k] - trees.dof[:, 0], -1)
        own = np.flatnonzero(above >= 0)
        out[own, k] += out[own, above[own]]
    return out


def product(m: Model, matrix: Array, x: Array) -> Array:
    """Return the product of a matrix of the dofs, as it is stored in Data, and a vector, shape (nv,)."""
    trees = m.plans.tree.trees
    if trees is None:
        return matmul(matrix, x)
    return join(trees, matmul(split(trees, matrix), split(trees, x)[..., None])[..., 0])


def solve(m: Model, matrix: Array, x: Array, factor: Array | None = None) -> Array:
    """Return y with `matrix` y = x, shape (nv,), for a positive definite matrix of the dofs as it is stored in Data.

    factor: its lower Cholesky factor, stored likewise, where there is one.
    """
    trees = m.plans.tree.trees
    if trees is None:
        return solve_definite(matrix, x, factor)
    factors = None if factor is None else blocks(trees, factor)
    each = jax.vmap(lambda a, b, f: solve_definite(a, b, f), in_axes=(0, 0, None if factor is None else 0))
    return join(trees, each(blocks(trees, matrix), split(trees, x), factors))


def coupled(m: Model, jacobian: Array, weight: Array) -> Array:
    """Return J' diag(weight) J as it is stored in Data, with what couples dofs of different chains left out.

    jacobian: shape (k, nv); weight: shape (k,).
    """
    trees = m.plans.tree.trees
    if trees is None:
        ancestor = m.plans.tree.dof_ancestor
        return jnp.where((ancestor + ancestor.T) > 0, matmul(jacobian.T * weight, jacobian), 0)
    own, chain = split(trees, jacobian.T), chains(m.topology)
    return join(trees, jnp.where((chain + np.swapaxes(chain, 1, 2)) > 0, matmul(own * weight, own.mT), 0))


def added(m: Model, matrix: Array, x: Array) -> Array:
    """Return a matrix of the dofs as it is stored in Data, with x, shape (nv,), added to its diagonal."""
    trees = m.plans.tree.trees
    return matrix + (jnp.diag(x) if trees is None else diagonal(trees, x))


def diagonal_of(m: Model, matrix: Array) -> Array:
    """Return the diagonal of a matrix of the dofs as it is stored in Data, shape (nv,)."""
    trees = m.plans.tree.trees
    if trees is None:
        return jnp.diag(matrix)
    return take(matrix.ravel(), np.arange(m.nv) * trees.dof.shape[1] + trees.place % trees.dof.shape[1])


def stored(trees: Trees, matrix: Array) -> Array:
    """Return a matrix, shape (nv, nv), as it is stored, shape (nv, n): what couples two trees is left out."""
    nv, most = trees.place.size, trees.dof.shape[1]
    column = trees.dof[trees.place // most]
    flat = take(matrix.ravel(), (np.arange(nv)[:, None] * nv + np.minimum(column, nv - 1)).ravel())
    return jnp.where(column < nv, flat.reshape(nv, most), 0)


def full_matrix(m: Model, matrix: Array) -> Array:
    """Return a matrix of the dofs as it is stored in Data, `M` or `qLD`, as one array, shape (nv, nv)."""
    trees = m.plans.tree.trees
    return matrix if trees is None else whole(trees, matrix)


def full_j(m: Model, d: Data) -> Array:
    """Return the constraint Jacobian as one array, shape (njmax, nv).

    It is `efc_J`, but in models of many trees, which store the parts of two trees.
    Reads efc_J, efc_type, efc_id and contact.
    """
    trees = m.plans.tree.trees
    if trees is None:
        return d.efc_J
    most = trees.dof.shape[1]
    own, column = trees.place // most, trees.place % most
    touched = row_trees(m, d)
    parts = d.efc_J.reshape(-1, 2, most)
    return sum(jnp.where(touched[:, side, None] == own, parts[:, side, column], 0) for side in range(2))


def row_velocity(m: Model, d: Data, x: Array) -> Array:
    """Return the constraint Jacobian times x, shape (njmax,); x: shape (nv,).

    Reads efc_J, and in models of many trees what `row_trees` reads.
    """
    trees = m.plans.tree.trees
    if trees is None:
        return matmul(d.efc_J, x)
    return linear_at_capacity(_parts_times, m.njmax, d.nefc, (d.efc_J, row_trees(m, d)), split(trees, x))


def _parts_times(size: int, J_and_trees: tuple[Array, Array], x: Array) -> Array:
    """Return `parts_times` of the first rows, zero for the rest."""
    J, touched = J_and_trees
    return jnp.pad(parts_times(J[:size].reshape(size, 2, -1), touched[:size], x), (0, J.shape[0] - size))


def parts_times(J: Array, touched: Array, x: Array) -> Array:
    """Return the products of rows, given by their parts, shape (n, 2, k), with x, shape (ntree, k).

    touched: the trees of the parts, shape (n, 2), -1 for none.
    """
    own = rows(jnp.pad(x, ((0, 1), (0, 0))), jnp.where(touched < 0, x.shape[0], touched))
    return jnp.sum(J * own, axis=(1, 2))


def parts_of(m: Model, d: Data, J: Array) -> Array:
    """Return a constraint Jacobian, shape (njmax, nv), as it is stored in Data; d: with types and contacts."""
    trees = m.plans.tree.trees
    if trees is None:
        return J
    touched = row_trees(m, d)
    dof = rows(np.append(trees.dof, np.full((1, trees.dof.shape[1]), m.nv), axis=0), touched)
    dof = jnp.where(touched[..., None] < 0, m.nv, dof).reshape(m.njmax, -1)
    return jnp.take_along_axis(jnp.pad(J, ((0, 0), (0, 1))), dof, axis=1)


def row_trees(m: Model, d: Data) -> Array:
    """Return the at most two trees that each constraint row touches, shape (njmax, 2); -1 for none.

    Reads nefc, efc_type, efc_id and contact.
    """
    kind, index = d.efc_type, d.efc_id
    table, start = slot_table(m.topology)
    slot = kind < int(ConstraintType.CONTACT_FRICTIONLESS)
    own = rows(table, jnp.where(slot, rows(start, jnp.where(slot, kind, 0)) + index, 0))
    geom = rows(d.contact.geom, jnp.where(slot, 0, index))
    of_contact = geom_trees(m.topology, jnp.maximum(geom, 0))
    used = (jnp.arange(m.njmax) < d.nefc)[:, None]
    return jnp.where(used, jnp.where(slot[:, None], own, of_contact), -1)


def geom_trees(t: Topology, geom: Array) -> Array:
    """Return the trees that pairs of geoms, shape (n, 2), belong to; one tree stands once, first where it is alone."""
    return ordered(rows(jnp.asarray(t.body_treeid[t.geom_bodyid].astype(np.int32)), geom))


def ordered(tree: Array) -> Array:
    """Return pairs of trees, shape (n, 2), with -1 in place of a second that is the first, and -1 last."""
    first, second = tree[..., 0], tree[..., 1]
    alone = jnp.where(first < 0, second, first)
    single = (first < 0) | (second < 0) | (first == second)
    return jnp.where(single[..., None], jnp.stack([alone, jnp.full_like(alone, -1)], axis=-1), tree)


def slot_table(t: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Return the trees of what rows other than contacts belong to, shape (n, 2), and where each ConstraintType starts.

    Equalities stand first, then dofs, tendons, joints, tendons.
    """
    dofs = t.dof_treeid[:, None]
    joints = t.dof_treeid[t.jnt_dofadr][:, None]
    single = [np.concatenate([x, np.full_like(x, -1)], axis=1) for x in (dofs, joints)]
    parts = [t.plans.tree.trees.equality, single[0], t.tendon_treeid, single[1], t.tendon_treeid]
    start = np.cumsum([0, *(len(part) for part in parts[:-1])])
    table = np.concatenate([*parts, np.full((1, 2), -1)])
    return table.astype(np.int32), start.astype(np.int32)
