"""The joint-space inertia matrix: composite rigid bodies, factor, solve and products."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.linalg import cho_solve, cholesky, matmul
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import combine, take
from mjx_like.math.spatial import inertia_times
from mjx_like.tree.inherited import dof_armature, has_armature, tendon_armature
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def crb(m: Model, d: Data) -> Data:
    """Return d with composite inertias and the dense, symmetric inertia matrix, armature included.

    The armature of a tendon couples only dofs of one chain, as MuJoCo's sparse matrix does.

    Reads cinert, cdof, ten_J (where a tendon has armature). Writes crb, M.  Source: mj_crb, mj_tendonArmature.
    """
    composite = combine(m.plans.smooth.inertia_mask, d.cinert)
    if not m.nv:
        return d.replace(crb=composite)
    momentum = inertia_times(take(composite, m.dof_bodyid), d.cdof)
    ancestor = m.plans.tree.dof_ancestor
    product = matmul(momentum, d.cdof.T)
    strict = (ancestor - np.eye(m.nv)) > 0
    mirrored = product.T if on_cpu() else matmul(d.cdof, momentum.T)  # no kernel of its own
    inertia = jnp.where(ancestor > 0, product, jnp.where(strict.T, mirrored, 0))
    tree = m.plans.tree
    if has_armature(m.topology, "dof", tree.dof_actuator).any():
        inertia = inertia + jnp.diag(dof_armature(m))
    if has_armature(m.topology, "tendon", tree.tendon_actuator).any():
        coupled = matmul(d.ten_J.T * tendon_armature(m), d.ten_J)
        inertia = inertia + jnp.where((ancestor + ancestor.T) > 0, coupled, 0)
    return d.replace(crb=composite, M=inertia)


def factor_m(m: Model, d: Data) -> Data:
    """Return d with the lower Cholesky factor of the inertia matrix.

    Reads M. Writes qLD.  Source: mj_factorM.
    """
    return d.replace(qLD=cholesky(d.M))


def solve_m(m: Model, d: Data, x: Array) -> Array:
    """Return M^-1 x by the factor; x: shape (nv,) or (nv, k).  Source: mj_solveM."""
    return cho_solve(d.qLD, x)


def mul_m(m: Model, d: Data, vec: Array) -> Array:
    """Return the product of the inertia matrix and a vector, shape (nv,).  Source: mj_mulM."""
    return matmul(d.M, vec)


def full_m(m: Model, d: Data) -> Array:
    """Return the dense inertia matrix, shape (nv, nv).  Source: mj_fullM."""
    return d.M
