"""The primal problem of a model with many trees: the metric as blocks, rows as the parts of at most two trees."""

import jax
import jax.numpy as jnp

from mjx_like.math.linalg import matmul
from mjx_like.solver.law import Law, curvature, force, zones
from mjx_like.tree.blocks import parts_times
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array


@record
class TreeProblem(Record):
    """What the optimum depends on; k: dofs of the largest tree. Beyond the dofs of a tree M is 1 and the rest zero."""

    M: Array = leaf("ntree", "k", "k", unit="metric, symmetric positive definite")
    q: Array = leaf("ntree", "k", unit="smooth force")
    J: Array = leaf("nrow", 2, "k")
    aref: Array = leaf("nrow")
    law: Law = leaf()


@record
class TreeStart(Record):
    """Which trees rows touch, and what decides where the solver starts and stops."""

    smooth: Array = leaf("ntree", "k", unit="acceleration without constraints")
    warm: Array = leaf("ntree", "k", unit="acceleration to start from where its cost is less than that of `smooth`")
    touched: Array = leaf("nrow", 2)  # -1 for none
    nrow: Array = leaf()  # rows in use
    tolerance: Array = leaf()


@record
class TreeSolution(Record):
    """The optimum, and how it was found."""

    x: Array = leaf("ntree", "k")
    constraint: Array = leaf("ntree", "k", unit="J' force")
    iterations: Array = leaf()
    residual: Array = leaf()  # norm of the gradient over the trace of M


def columns(p: TreeProblem) -> Array:
    """Return what rows have beside J in one array, shape (..., nrow, 5), of which `of_columns` reads."""
    return jnp.stack([p.aref, p.law.D, p.law.low, p.law.high, p.law.loss], axis=-1)


def of_columns(x: Array) -> tuple[Array, Law]:
    """Return aref and the law of rows of `columns`, shape (..., 5)."""
    aref, *law = jnp.unstack(x, axis=-1)
    return aref, Law(*law, cone=None)


def metric_times(M: Array, x: Array) -> Array:
    """Return the metric times x, shape (..., ntree, k)."""
    return matmul(M, x[..., None])[..., 0]


def transposed_times(J: Array, touched: Array, f: Array, ntree: int) -> Array:
    """Return J' f of one world, shape (ntree, k): for derivatives; the solver takes tables where they hold its rows."""
    out = jnp.zeros((ntree + 1, J.shape[-1]), J.dtype)
    return out.at[jnp.where(touched < 0, ntree, touched)].add(J * f[:, None, None])[:ntree]


def summed_blocks(J: Array, touched: Array, weight: Array, ntree: int) -> Array:
    """Return the blocks of J' diag(weight) J of each tree of one world, shape (ntree, k, k)."""
    out = jnp.zeros((ntree + 1, J.shape[-1], J.shape[-1]), J.dtype)
    each = (weight[:, None, None] * J)[..., :, None] * J[..., None, :]
    return out.at[jnp.where(touched < 0, ntree, touched)].add(each)[:ntree]


def gradient(p: TreeProblem, touched: Array, x: Array) -> Array:
    """Return the gradient of the cost of one world, which vanishes at the optimum, shape (ntree, k)."""
    f = force(p.law, parts_times(p.J, touched, x) - p.aref)
    return metric_times(p.M, x) - p.q - transposed_times(p.J, touched, f, x.shape[0])


def weights(p: TreeProblem, touched: Array, x: Array) -> Array:
    """Return the curvature of each row at an acceleration, shape (nrow,)."""
    jar = parts_times(p.J, touched, x) - p.aref
    return curvature(p.law, zones(p.law, jar), jar, p.J[:, 0])[0]


def hessian_times(p: TreeProblem, touched: Array, weight: Array, v: Array) -> Array:
    """Return the Hessian with given curvatures of rows times v, shape (ntree, k)."""
    pulled = weight * parts_times(p.J, touched, v)
    return metric_times(p.M, v) + transposed_times(p.J, touched, pulled, v.shape[0])
