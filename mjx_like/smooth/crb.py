"""The joint-space inertia matrix: composite rigid bodies, factor, solve and products."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.linalg import cho_solve, cholesky, matmul
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import combine, take
from mjx_like.math.spatial import inertia_times
from mjx_like.tree import blocks
from mjx_like.tree.inherited import dof_armature, has_armature, tendon_armature
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def crb(m: Model, d: Data) -> Data:
    """Return d with composite inertias and the symmetric inertia matrix, armature included.

    The armature of a tendon couples only dofs of one chain, as MuJoCo's sparse matrix does.

    Reads cinert, cdof, ten_J (where a tendon has armature). Writes crb, M.  Source: mj_crb, mj_tendonArmature.
    """
    composite = combine(m.plans.smooth.inertia_mask, d.cinert)
    if not m.nv:
        return d.replace(crb=composite)
    momentum = inertia_times(take(composite, m.dof_bodyid), d.cdof)
    tree = m.plans.tree
    inertia = _composite(m, momentum, d.cdof) if tree.trees is None else _composite_blocks(m, momentum, d.cdof)
    if has_armature(m.topology, "dof", tree.dof_actuator).any():
        armature = dof_armature(m)
        inertia = inertia + (jnp.diag(armature) if tree.trees is None else blocks.diagonal(tree.trees, armature))
    if has_armature(m.topology, "tendon", tree.tendon_actuator).any():
        inertia = inertia + blocks.coupled(m, d.ten_J, tendon_armature(m))
    return d.replace(crb=composite, M=inertia)


def _composite(m: Model, momentum: Array, cdof: Array) -> Array:
    """Return the inertia matrix of composite bodies, whose momenta per unit velocity of each dof are given."""
    ancestor = m.plans.tree.dof_ancestor
    product = matmul(momentum, cdof.T)
    strict = (ancestor - np.eye(m.nv)) > 0
    mirrored = product.T if on_cpu() else matmul(cdof, momentum.T)  # no kernel of its own
    return jnp.where(ancestor > 0, product, jnp.where(strict.T, mirrored, 0))


def _composite_blocks(m: Model, momentum: Array, cdof: Array) -> Array:
    """Return what `_composite` does as stored blocks, shape (nv, n)."""
    trees = m.plans.tree.trees
    product = matmul(blocks.split(trees, momentum), jnp.swapaxes(blocks.split(trees, cdof), 1, 2))
    chain = blocks.chains(m.topology)
    strict = (chain - np.eye(chain.shape[1])) > 0
    own = jnp.where(chain > 0, product, jnp.where(np.swapaxes(strict, 1, 2), jnp.swapaxes(product, 1, 2), 0))
    return blocks.join(trees, own)


def factor_m(m: Model, d: Data) -> Data:
    """Return d with the lower Cholesky factor of the inertia matrix.

    Reads M. Writes qLD.  Source: mj_factorM.
    """
    trees = m.plans.tree.trees
    if trees is None:
        return d.replace(qLD=cholesky(d.M))
    return d.replace(qLD=blocks.join(trees, cholesky(blocks.blocks(trees, d.M))))


def solve_m(m: Model, d: Data, x: Array) -> Array:
    """Return M^-1 x by the factor; x: shape (nv,) or (nv, k).  Source: mj_solveM."""
    trees = m.plans.tree.trees
    if trees is None:
        return cho_solve(d.qLD, x)
    return blocks.join(trees, cho_solve(blocks.blocks(trees, d.qLD), blocks.split(trees, x)))


def mul_m(m: Model, d: Data, vec: Array) -> Array:
    """Return the product of the inertia matrix and a vector, shape (nv,).  Source: mj_mulM."""
    return blocks.product(m, d.M, vec)


def full_m(m: Model, d: Data) -> Array:
    """Return the dense inertia matrix, shape (nv, nv).  Source: mj_fullM."""
    return blocks.full_matrix(m, d.M)


def full_factor(m: Model, d: Data) -> Array:
    """Return the dense lower Cholesky factor of the inertia matrix, shape (nv, nv)."""
    return blocks.full_matrix(m, d.qLD)
