"""Products with the constraint Jacobian."""

import jax

from mjx_like.math.linalg import matmul
from mjx_like.tree.blocks import full_j
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


def mul_jac_vec(m: Model, d: Data, vec: Array) -> Array:
    """Return the constraint Jacobian times a vector, shape (njmax,); unused rows are zero.  Source: mj_mulJacVec."""
    return matmul(full_j(m, d), vec)


def mul_jac_t_vec(m: Model, d: Data, vec: Array) -> Array:
    """Return the transposed constraint Jacobian times a vector, shape (nv,).  Source: mj_mulJacTVec."""
    return matmul(full_j(m, d).T, vec)
