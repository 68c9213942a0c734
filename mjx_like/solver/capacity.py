"""Solving a batch of worlds at the least row capacity that holds all their rows."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from mjx_like.math.batching import whole_batch, with_capacity
from mjx_like.solver.law import Cone, Law
from mjx_like.solver.problem import Problem, Solution, Start

Array = jax.Array

_ROWS_PER_CONE = 4  # a capacity of n rows holds n / 4 cones


def at_capacity(minimise: Callable[[Problem, Start], Solution]) -> Callable[[Problem, Start], Solution]:
    """Return the solver of one world whose batches are solved by `minimise`, at the capacity that they need.

    minimise: takes and returns pytrees with a batch axis first.
    """

    def batched(p: Problem, start: Start) -> Solution:
        need = jnp.maximum(start.nrow, _ROWS_PER_CONE * start.ncone)
        most = p.aref.shape[1] if p.law.cone is None else max(split(p.law)[0], _ROWS_PER_CONE * split(p.law)[1])
        return with_capacity(most, need, lambda n, *a: _sized(n, minimise, *a), p, start)

    return whole_batch(batched)


def split(law: Law) -> tuple[int, int, int]:
    """Return the number of plain rows, of cones and of rows in a cone."""
    if law.cone is None:
        return law.D.shape[-1], 0, 0
    ncone, ndim = law.cone.scale.shape[-2:]
    return law.D.shape[-1] - ncone * ndim, ncone, ndim


def _sized(size: int, minimise: Callable[[Problem, Start], Solution], p: Problem, start: Start) -> Solution:
    """Return the optima of a batch of worlds, none of which uses more than `size` rows."""
    nplain, ncone, ndim = split(p.law)
    plain, cones = min(nplain, size), min(ncone, -(-size // _ROWS_PER_CONE))

    def cut(x: Array) -> Array:
        first = x[:, :plain]
        return first if not ncone else jnp.concatenate([first, x[:, nplain : nplain + cones * ndim]], axis=1)

    def widen(x: Array) -> Array:
        first = jnp.pad(x[:, :plain], ((0, 0), (0, nplain - plain)))
        if not ncone:
            return first
        return jnp.concatenate([first, jnp.pad(x[:, plain:], ((0, 0), (0, (ncone - cones) * ndim)))], axis=1)

    cone = Cone(scale=p.law.cone.scale[:, :cones], mu=p.law.cone.mu[:, :cones]) if ncone else None
    law = Law(D=cut(p.law.D), low=cut(p.law.low), high=cut(p.law.high), loss=cut(p.law.loss), cone=cone)
    if start.islands is not None:
        row = jnp.swapaxes(cut(jnp.swapaxes(start.islands.row, 1, 2)), 1, 2)
        start = start.replace(islands=start.islands.replace(row=row))
    s = minimise(Problem(M=p.M, q=p.q, J=cut(p.J), aref=cut(p.aref), law=law), start)
    return s.replace(force=widen(s.force), state=widen(s.state))
