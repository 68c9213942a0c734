"""The primal problem: minimise over the acceleration the Gauss cost of a metric plus the cost of the constraint rows.

    cost(a) = 1/2 a' M a - a' q + s(J a - aref),   optimum: M a - q - J' force(J a - aref) = 0

The metric `M` is the mass matrix, or what an implicit integrator puts in its place; `q` the smooth force.
Source: Computation chapter, reduced primal problem.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.math.linalg import matmul
from mjx_like.solver.law import Law, curvature, force, zones
from mjx_like.types.enums import SolverType
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array

_UNROLLED = 8192  # entries of a Hessian times rows up to which the sum over rows is written out


class Settings(NamedTuple):
    """What is static of a solve."""

    iterations: int
    ls_iterations: int
    warmstart: bool
    solver: SolverType = SolverType.NEWTON


@record
class Problem(Record):
    """What the optimum depends on; shapes (..., nrow) and (..., nv)."""

    M: Array = leaf("nv", "nv", unit="metric, symmetric positive definite")
    q: Array = leaf("nv", unit="smooth force")
    J: Array = leaf("nrow", "nv")
    aref: Array = leaf("nrow")
    law: Law = leaf()


@record
class Islands(Record):
    """The island of each dof and of each row, as 0/1 masks; an island has the number of its first tree."""

    dof: Array = leaf("nisland", "nv")
    row: Array = leaf("nisland", "nrow")


@record
class Start(Record):
    """What decides where the solver starts and stops, but not the optimum."""

    smooth: Array = leaf("nv", unit="acceleration without constraints: M smooth = q")
    warm: Array = leaf("nv", unit="acceleration to start from where its cost is less than that of `smooth`")
    nrow: Array = leaf()  # rows in use: those from here on are zero
    ncone: Array = leaf()  # likewise cones
    tolerance: Array = leaf()
    ls_tolerance: Array | None = None  # for solvers that search lines as MuJoCo does
    islands: Islands | None = None  # for solvers that go island by island
    limit: Array | None = None  # iterations, where fewer than the settings allow


@record
class Solution(Record):
    """The optimum, and how it was found."""

    qacc: Array = leaf("nv")
    force: Array = leaf("nrow")
    constraint: Array = leaf("nv", unit="J' force")
    state: Array = leaf("nrow")
    iterations: Array = leaf()
    residual: Array = leaf()  # norm of the gradient over the trace of M


def most_iterations(settings: Settings, limit: Array | None) -> int | Array:
    """Return how many iterations a solve may take."""
    return settings.iterations if limit is None else jnp.minimum(limit, settings.iterations)


def times(J: Array, x: Array) -> Array:
    """Return J x, shape (..., nrow)."""
    return matmul(J, x[..., None])[..., 0]


def transposed_times(J: Array, f: Array) -> Array:
    """Return J' f, shape (..., nv)."""
    return matmul(f[..., None, :], J)[..., 0, :]


def gradient(p: Problem, qacc: Array) -> Array:
    """Return the gradient of the cost, which vanishes at the optimum, shape (..., nv)."""
    return times(p.M, qacc) - p.q - transposed_times(p.J, force(p.law, times(p.J, qacc) - p.aref))


def hessian(p: Problem, zone: Array, jar: Array) -> Array:
    """Return the Hessian of the cost at residuals `jar`, which lie in `zone`, shape (..., nv, nv)."""
    weight, K = curvature(p.law, zone, jar, p.J)
    if written_out(p.J):
        weighted = weight[..., None] * K
        return sum((weighted[..., i, :, None] * K[..., i, None, :] for i in range(K.shape[-2])), p.M)
    return p.M + matmul(weight[..., None, :] * jnp.swapaxes(K, -1, -2), K)


def written_out(J: Array) -> bool:
    """Return whether `hessian` writes out its sum over the rows of J; else it is a product with J transposed."""
    nrow, nv = J.shape[-2:]
    return nrow * nv * nv <= _UNROLLED


def hessian_at(p: Problem, qacc: Array) -> Array:
    """Return the Hessian of the cost at an acceleration."""
    jar = times(p.J, qacc) - p.aref
    return hessian(p, zones(p.law, jar), jar)
