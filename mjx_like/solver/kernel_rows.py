"""What Newton's kernel reads and writes: its arguments and results, and the rows of one world, block by block."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas
from jax.experimental.pallas import triton

from mjx_like.math.kernel import Dofs, first
from mjx_like.solver.law import Law, force, state, zones

Array = jax.Array

_ROWS = 32  # of a block


def _numbers(block: Array) -> Array:
    """Return the numbers of the rows of a block."""
    return block * _ROWS + jnp.arange(_ROWS, dtype=jnp.int32)


class Inputs(NamedTuple):
    """What the kernel reads, arrays of all worlds: of the Problem and of the Start."""

    M: Any
    q: Any
    J: Any
    aref: Any
    D: Any
    low: Any
    high: Any
    loss: Any
    smooth: Any
    warm: Any
    nrow: Any
    tolerance: Any
    limit: Any


class Outputs(NamedTuple):
    """What the kernel writes; fields as of Solution."""

    qacc: Any
    force: Any
    constraint: Any
    state: Any
    iterations: Any
    residual: Any


class Block(NamedTuple):
    """Some rows of a world."""

    J: Array
    aref: Array
    law: Law

    def along(self, x: Array) -> Array:
        """Return J x."""
        return jnp.sum(self.J * x[None, :], axis=1)

    def residual(self, x: Array) -> Array:
        return self.along(x) - self.aref

    def onto(self, f: Array) -> Array:
        """Return J' f."""
        return jnp.sum(self.J * f[:, None], axis=0)


class Rows:
    """The rows in use of one world, block by block."""

    def __init__(self, given: Inputs, world: Array, nrow: int, dofs: Dofs):
        self.given, self.world, self.nrow, self.dofs = given, world, nrow, dofs
        self.used = given.nrow[world]
        self.blocks = (self.used + _ROWS - 1) // _ROWS

    def block(self, i: Array) -> Block:
        """Return the i-th block; its rows that are not in use are zero."""
        here = pallas.ds(i * _ROWS, _ROWS)
        used = _numbers(i) < self.used

        def load(ref: Any) -> Array:
            return triton.load(ref.at[self.world, here], mask=used, other=0)

        g = self.given
        J = triton.load(
            g.J.at[self.world, here, first(self.dofs.size)],
            mask=used[:, None] & self.dofs.used[None, :],
            other=0,
        )
        law = Law(D=load(g.D), low=load(g.low), high=load(g.high), loss=load(g.loss), cone=None)
        return Block(J, load(g.aref), law)

    def sums(self, of_block: Callable[[Block], Any], zero: Any) -> Any:
        """Return the sum over the blocks of what a function gives; zero: of its structure."""

        def add(i: Array, total: Any) -> Any:
            return jax.tree.map(jnp.add, total, of_block(self.block(i)))

        return lax.fori_loop(jnp.int32(0), self.blocks, add, zero)

    def final(self, found: Outputs, x: Array) -> Array:
        """Write forces and states at an acceleration, and return J' force."""

        def write(i: Array, constraint: Array) -> Array:
            b = self.block(i)
            residual = b.residual(x)
            f = force(b.law, residual)
            self._store(found.force, i, f)
            self._store(found.state, i, state(b.law, zones(b.law, residual)).astype(jnp.int32))
            return constraint + b.onto(f)

        def clear(i: Array, carry: Array) -> Array:
            self._store(found.force, i, jnp.zeros(_ROWS, x.dtype))
            self._store(found.state, i, jnp.zeros(_ROWS, jnp.int32))
            return carry

        constraint = lax.fori_loop(jnp.int32(0), self.blocks, write, jnp.zeros_like(x))
        lax.fori_loop(self.blocks, jnp.int32(-(-self.nrow // _ROWS)), clear, jnp.int32(0))
        return constraint

    def _store(self, ref: Any, i: Array, value: Array) -> None:
        inside = _numbers(i) < self.nrow
        triton.store(ref.at[self.world, pallas.ds(i * _ROWS, _ROWS)], value, mask=inside)
