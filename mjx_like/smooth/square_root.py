"""A square root of the inertia matrix: products and solves with it."""

import jax

from mjx_like.math.linalg import cholesky, matmul
from mjx_like.smooth.crb import full_m
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def mul_m2(m: Model, d: Data, vec: Array) -> Array:
    """Return a square root of the inertia matrix times a vector, shape (nv,): its square is vec' M vec.

    The root is that of the factor L' D L.  Source: mj_mulM2.
    """
    return matmul(_root(m, d), vec) if m.nv else vec


def solve_m2(m: Model, d: Data, vec: Array) -> Array:
    """Return what the transposed root of `mul_m2` maps to a vector, shape (nv,).  Source: mj_solveM2."""
    if not m.nv:
        return vec
    return jax.scipy.linalg.solve_triangular(_root(m, d), vec, trans=1, lower=True)


def _root(m: Model, d: Data) -> Array:
    """Return the lower triangular U with U' U = M, which is sqrt(D) L of MuJoCo's factor L' D L, shape (nv, nv)."""
    return cholesky(full_m(m, d)[::-1, ::-1])[::-1, ::-1].T
