"""The joint-space inertia matrix: composite rigid bodies, factor, solve and products."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math.linalg import cho_solve, cholesky, matmul
from mjx_like.math.select import combine, take
from mjx_like.math.spatial import inertia_times
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def crb(m: Model, d: Data) -> Data:
    """Return d with composite inertias and the dense, symmetric inertia matrix, armature included.

    Reads cinert, cdof, ten_J (where a tendon has armature). Writes crb, M.  Source: mj_crb, mj_tendonArmature.
    """
    composite = combine(m.plans.smooth.inertia_mask, d.cinert)
    if not m.nv:
        return d.replace(crb=composite)
    momentum = inertia_times(take(composite, m.dof_bodyid), d.cdof)
    ancestor = m.plans.tree.dof_ancestor
    product = matmul(momentum, d.cdof.T)
    strict = (ancestor - np.eye(m.nv)) > 0
    inertia = jnp.where(ancestor > 0, product, jnp.where(strict.T, product.T, 0))
    if m.has["dof_armature"].any():
        inertia = inertia + jnp.diag(m.dof_armature)
    if m.has["tendon_armature"].any():
        inertia = inertia + matmul(d.ten_J.T * m.tendon_armature, d.ten_J)
    return d.replace(crb=composite, M=inertia)


def factor_m(m: Model, d: Data) -> Data:
    """Return d with the lower Cholesky factor of the inertia matrix.

    Reads M. Writes qLD.  Source: mj_factorM.
    """
    return d.replace(qLD=cholesky(d.M))


def solve_m(m: Model, d: Data, x: Array) -> Array:
    """Return M^-1 x by the factor; x: shape (nv,) or (nv, k).  Source: mj_solveM."""
    return cho_solve(d.qLD, x)


def mul_m(m: Model, d: Data, x: Array) -> Array:
    """Return M x; x: shape (nv,).  Source: mj_mulM."""
    return matmul(d.M, x)


def full_m(m: Model, d: Data) -> Array:
    """Return the dense inertia matrix, shape (nv, nv).  Source: mj_fullM."""
    return d.M
