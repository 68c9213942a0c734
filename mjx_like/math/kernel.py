"""Kernels of our own for GPUs: what one reads and writes of a world, and the solve of a small system.

A program of a kernel has one world. Triton asks for sizes that are powers of two: arrays here are larger than the
model's, and zero there. The plain operations of JAX are the reference, and run wherever a kernel does not (`on_gpu`).
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas

from mjx_like.math.on_gpu import Function

try:
    from jax.experimental.pallas import triton
except ImportError:  # deprecated in jax 0.11: a release without it runs the plain operations
    triton = None

Array = jax.Array

_LEAST = 16  # size of a matrix product
_LANES = 32  # threads of a warp


def size(n: int) -> int:
    """Return the least power of two that is not below n and that a matrix product takes."""
    return max(_LEAST, 1 << (n - 1).bit_length())


def parameters(n: int) -> Any:
    """Return how programs that work on matrices of n rows are compiled."""
    return triton.CompilerParams(num_warps=max(1, size(n) // _LANES), num_stages=1)


def first(n: int) -> pallas.Slice:
    """Return the first n entries of an axis."""
    return pallas.ds(jnp.int32(0), n)  # of one type with the other indices


def blocks(count: Array, each: int) -> Array:
    """Return how many blocks hold `count` rows."""
    return (count + each - 1) // each


def outer(weighted: Array, rows: Array) -> Array:
    """Return the sum of outer products of columns, shape (size, size), of two blocks of rows, shape (size, rows)."""
    return jnp.dot(weighted, rows.T, precision=lax.Precision.HIGHEST)


class Dofs:
    """Vectors and matrices over the dofs of one world, of `size` entries; those beyond nv are zero."""

    def __init__(self, world: Array, nv: int):
        self.world, self.nv, self.size = world, nv, size(nv)
        self.index = jnp.arange(self.size, dtype=jnp.int32)
        self.diagonal = self.index[:, None] == self.index[None, :]
        self.used = self.index < nv
        # Zero, which Triton cannot tell. Where it knows that addresses are multiples of 8 bytes or more, a thread reads
        # neighbours; with this in an address each reads one entry, and has a column of each matrix.
        self.zero = jnp.minimum(world, 0)

    def load(self, ref: Any) -> Array:
        """Return a vector."""
        return triton.load(ref.at[self.world, first(self.size)], mask=self.used, other=0)

    def store(self, ref: Any, x: Array) -> None:
        """Write a vector."""
        triton.store(ref.at[self.world, first(self.size)], x, mask=self.used)

    def matrix(self, ref: Any) -> Array:
        """Return a square matrix."""
        at = self.index[:, None], self.index[None, :] + self.zero
        return triton.load(ref.at[self.world, *at], mask=self.used[:, None] & self.used[None, :], other=0)

    def columns(self, ref: Any, column: Array, used: Array, *lead: Array) -> Array:
        """Return some columns of a matrix with a row for each dof, shape (size, columns), zero where not in use.

        lead: indices of axes between the worlds and the dofs.
        """
        at, mask = (self.index[:, None], column[None, :] + self.zero), self.used[:, None] & used[None, :]
        return triton.load(ref.at[self.world, *lead, *at], mask=mask, other=0)

    def store_matrix(self, ref: Any, x: Array) -> None:
        """Write a square matrix."""
        self._store_square(ref, x, self.index[:, None], self.index[None, :])

    def store_transposed(self, ref: Any, x: Array) -> None:
        """Write the transpose of a square matrix."""
        self._store_square(ref, x, self.index[None, :], self.index[:, None])

    def _store_square(self, ref: Any, x: Array, *at: Array) -> None:
        triton.store(ref.at[self.world, *at], x, mask=self.used[:, None] & self.used[None, :])

    def ones_beyond(self, dtype: Any) -> Array:
        """Return a diagonal matrix of ones beyond nv, so that the rest of a matrix there can be inverted."""
        return jnp.where(self.diagonal & ~self.used[:, None], 1, 0).astype(dtype)

    def solution(self, a: Array, b: Array) -> Array:
        """Return x with a x = b for a symmetric positive definite matrix, by sweeping out pivot after pivot.

        The matrix stays symmetric, so that the pivot's row is its column as well. Written out, since a warp has a
        column of the matrix in each thread: the row of a pivot known in advance is in registers, and costs nothing.
        """
        for k in range(self.nv):
            own = self.index == k
            row = jnp.sum(jnp.where(own[:, None], a, 0), axis=0)
            pivot, value = jnp.sum(jnp.where(own, row, 0)), jnp.sum(jnp.where(own, b, 0))
            inverse = 1 / pivot
            factor = row * inverse
            b = jnp.where(own, value * inverse, b - factor * value)
            swept = jnp.where(own[None, :], factor[:, None], a - factor[:, None] * row[None, :])
            a = jnp.where(own[:, None], factor[None, :], swept)
        return b

    def factored(self, a: Array, at: Array) -> Array:
        """Return the factors L U of a regular matrix in one array, transposed.

        a: near a symmetric positive definite matrix: no pivots are chosen; at: its transpose. A pivot's row is read off
        the one and its column off the other, where both are in registers (see `solution`). That is why neither may be
        computed from the other here: what changes the place of each entry goes through memory.
        """
        for k in range(self.nv):
            own, below = self.index == k, self.index > k
            row, column = (jnp.sum(jnp.where(own[:, None], x, 0), axis=0) for x in (a, at))
            pivot = jnp.sum(jnp.where(own, row, 0))
            low, row = jnp.where(below, column * (1 / pivot), 0), jnp.where(below, row, 0)
            a = jnp.where(below[:, None], a - low[:, None] * row[None, :], a)
            at = jnp.where(below[:, None], at - row[:, None] * low[None, :], at)
            at = jnp.where(own[:, None], jnp.where(below, low, column)[None, :], at)
        return at

    def lower_solution(self, factors: Array, b: Array) -> Array:
        """Return y with L y = b; factors: as `factored` returns them."""
        for k in range(self.nv):
            own = self.index == k
            column = jnp.sum(jnp.where(own[:, None], factors, 0), axis=0)
            b = b - jnp.where(self.index > k, column, 0) * jnp.sum(jnp.where(own, b, 0))
        return b

    def upper_solution(self, factors: Array, y: Array) -> Array:
        """Return x with U x = y; factors: as `factored` returns them."""
        pivots = jnp.sum(jnp.where(self.diagonal, factors, 0), axis=0)
        inverse = 1 / jnp.where(self.used, pivots, 1)
        for k in reversed(range(self.nv)):
            own = self.index == k
            column = jnp.sum(jnp.where(own[:, None], factors, 0), axis=0)
            value = jnp.sum(jnp.where(own, y * inverse, 0))
            y = jnp.where(own, value, y - jnp.where(self.index < k, column, 0) * value)
        return y


def eliminated(a: Array, b: Array, *, interpret: bool = False) -> Array:
    """Return x with a x = b for a batch of symmetric positive definite matrices, one program each.

    a: shape (batch, n, n); b: shape (batch, n). interpret: whether to run operation by operation, on any platform.
    """

    def program(a: Any, b: Any, x: Any) -> None:
        dofs = Dofs(pallas.program_id(0), n)
        dofs.store(x, dofs.solution(dofs.matrix(a) + dofs.ones_beyond(a.dtype), dofs.load(b)))

    batch, n = b.shape
    return pallas.pallas_call(
        program,
        grid=(batch,),
        out_shape=jax.ShapeDtypeStruct(b.shape, b.dtype),
        compiler_params=parameters(n),
        interpret=interpret,
        name="eliminated",
    )(a, b)


def elimination_trial(*, interpret: bool = False) -> tuple[Function, Function, tuple[Array, Array]]:
    """Return `eliminated`, LAPACK's solve, and a few systems in single precision."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 20, 20))
    systems = root @ root.mT + np.eye(20), rng.normal(size=(4, 20))
    own = functools.partial(eliminated, interpret=interpret)
    return own, _solved, tuple(jnp.asarray(x, jnp.float32) for x in systems)


def _solved(a: Array, b: Array) -> Array:
    return jnp.linalg.solve(a, b[..., None])[..., 0]
