"""Solving a batch of worlds at the least row capacity that holds all their rows, or each at the least that it needs."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp

from mjx_like.math.batching import LEAST_CAPACITY, capacities, each_with_capacity, whole_batch, with_capacity
from mjx_like.solver.law import Cone, Law
from mjx_like.solver.problem import Problem, Solution, Start

Array = jax.Array

_ROWS_PER_CONE = 4  # a capacity of n rows holds n / 4 cones


def at_capacity(
    minimise: Callable[[Problem, Start], Solution], least: int = LEAST_CAPACITY, second: int = 2
) -> Callable[[Problem, Start], Solution]:
    """Return the solver of one world whose batches are solved by `minimise`, at the capacity that they need.

    minimise: takes and returns pytrees with a batch axis first; least, second: see `capacities`.
    """

    def batched(p: Problem, start: Start) -> Solution:
        wanted = need(start.nrow, start.ncone)
        return with_capacity(
            capacities(most(p.law), least, second), wanted, lambda n, *a: _sized(n, minimise, *a), p, start
        )

    return whole_batch(batched)


def each_at_capacity(minimise: Callable[..., Solution], least: int) -> Callable[[Problem, Start], Solution]:
    """Return the solver of one world whose batches are solved by `minimise`, each world at the capacity that it needs.

    minimise: as that of `at_capacity`; it also takes `own`, bool, shape (batch,), the worlds whose results count.
    least: see `capacities`.
    """

    def batched(p: Problem, start: Start) -> Solution:
        def sized(size: int, own: Array, p: Problem, start: Start) -> Solution:
            return _sized(size, functools.partial(minimise, own=own), p, start)

        return each_with_capacity(capacities(most(p.law), least), need(start.nrow, start.ncone), sized, p, start)

    return whole_batch(batched)


def most(law: Law) -> int:
    """Return the capacity that holds all rows and cones that there can be."""
    nplain, ncone, _ = split(law)
    return max(nplain, _ROWS_PER_CONE * ncone)


def need(nrow: Array, ncone: Array) -> Array:
    """Return the capacity that holds the rows and cones in use, shape (...)."""
    return jnp.maximum(nrow, _ROWS_PER_CONE * ncone)


def split(law: Law) -> tuple[int, int, int]:
    """Return the number of plain rows, of cones and of rows in a cone."""
    if law.cone is None:
        return law.D.shape[-1], 0, 0
    ncone, ndim = law.cone.scale.shape[-2:]
    return law.D.shape[-1] - ncone * ndim, ncone, ndim


class Kept:
    """The rows of a problem that are kept at a capacity: the first plain rows, then the first cones."""

    def __init__(self, law: Law, size: int):
        self._nplain, self._ncone, self._ndim = split(law)
        self._plain, self._cones = min(self._nplain, size), min(self._ncone, -(-size // _ROWS_PER_CONE))

    def cut(self, x: Array) -> Array:
        """Return the rows that are kept of x, shape (nrow, ...)."""
        first = x[: self._plain]
        end = self._nplain + self._cones * self._ndim
        return first if not self._ncone else jnp.concatenate([first, x[self._nplain : end]])

    def widen(self, x: Array) -> Array:
        """Return the rows of x, shape (kept,), among zeros, where they were."""
        first = jnp.pad(x[: self._plain], (0, self._nplain - self._plain))
        if not self._ncone:
            return first
        return jnp.concatenate([first, jnp.pad(x[self._plain :], (0, (self._ncone - self._cones) * self._ndim))])

    def cut_problem(self, p: Problem) -> Problem:
        """Return the problem with the rows and cones that are kept; likewise a change of it."""
        cut, cone = self.cut, p.law.cone
        cone = None if cone is None else Cone(scale=cone.scale[: self._cones], mu=cone.mu[: self._cones])
        law = Law(D=cut(p.law.D), low=cut(p.law.low), high=cut(p.law.high), loss=cut(p.law.loss), cone=cone)
        return Problem(M=p.M, q=p.q, J=cut(p.J), aref=cut(p.aref), law=law)


def _sized(size: int, minimise: Callable[[Problem, Start], Solution], p: Problem, start: Start) -> Solution:
    """Return the optima of a batch of worlds, none of which uses more than `size` rows."""
    kept = Kept(p.law, size)
    if start.islands is not None:
        row = jax.vmap(jax.vmap(kept.cut))(start.islands.row)
        start = start.replace(islands=start.islands.replace(row=row))
    s = minimise(jax.vmap(kept.cut_problem)(p), start)
    widen = jax.vmap(kept.widen)
    return s.replace(force=widen(s.force), state=widen(s.state))
