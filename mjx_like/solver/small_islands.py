"""Newton's method island by island where rows tie few trees together: each island is one problem.

An island is a set of trees that rows tie together, and has the number of its first tree. The islands of all worlds of a
batch make one list, which is solved lot by lot, so that worlds with few of them cost little.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.math.select import rows, search
from mjx_like.solver.entries import Order
from mjx_like.solver.law import Law
from mjx_like.solver.newton import _minimise
from mjx_like.solver.problem import Problem, Settings, Start
from mjx_like.solver.tree_problem import TreeProblem, TreeStart, columns, of_columns

Array = jax.Array

_DOFS = ((32, 64), (64, 256))  # most dofs and rows of an island, by kind
_LOT = 16  # islands that are solved at a time


class Members(NamedTuple):
    """The trees of each island, of all worlds; batch axis first."""

    island: Array  # (batch, ntree) of each tree
    tree: Array  # (batch, ntree) trees, those of the first island first
    start: Array  # (batch, ntree + 1) where each island begins

    def size(self) -> Array:
        """Return how many trees each island has, shape (batch, ntree); none where a tree is not the first of one."""
        return self.start[:, 1:] - self.start[:, :-1]


class Solved(NamedTuple):
    """What was found, by tree; norm and iterations of an island stand at its first tree."""

    x: Array  # (batch, ntree, k)
    constraint: Array  # (batch, ntree, k)
    iterations: Array  # (batch, ntree)
    norm: Array  # (batch, ntree) of the gradient


def members(touched: Array, ntree: int) -> Members:
    """Return the islands of a batch.  touched: trees of each row, shape (batch, nrow, 2), -1 for none."""
    apart = alone(len(touched), ntree)

    def tied() -> Members:
        island = jax.vmap(lambda own: _islands(own, ntree))(touched)
        tree = jnp.argsort(island, axis=1, stable=True).astype(jnp.int32)
        start = jax.vmap(lambda own: jnp.searchsorted(own, jnp.arange(ntree + 1)))(jnp.sort(island, axis=1))
        return Members(island, tree, start.astype(jnp.int32))

    return lax.cond(jnp.any(touched[..., 1] >= 0), tied, lambda: apart)


def alone(batch: int, ntree: int) -> Members:
    """Return an island for each tree."""
    start = jnp.broadcast_to(jnp.arange(ntree + 1, dtype=jnp.int32), (batch, ntree + 1))
    return Members(start[:, :-1], start[:, :-1], start)


def _islands(touched: Array, ntree: int) -> Array:
    """Return the island of each tree of one world: the least tree that it is tied to, shape (ntree,)."""
    first, second = (jnp.where(touched[:, 1] >= 0, touched[:, side], 0) for side in range(2))

    def spread(state: tuple[Array, Array]) -> tuple[Array, Array]:
        own = state[0]
        least = jnp.minimum(rows(own, first), rows(own, second))
        new = own.at[first].min(least).at[second].min(least)
        new = rows(new, new)
        return new, jnp.any(new != own)

    begin = (jnp.arange(ntree, dtype=jnp.int32), jnp.ones((), bool))
    return lax.while_loop(lambda state: state[1], spread, begin)[0]


def sizes(batch: int, ntree: int, k: int) -> tuple[tuple[int, int], ...]:
    """Return the kinds of islands that are solved here: the most trees and rows of each, two trees at the least.

    k: dofs of a tree. One world alone has one kind: a shorter program.
    """
    kinds = [(min(ntree, dofs // k), most) for dofs, most in _DOFS]
    kinds = [kind for kind in kinds if kind[0] > 1]
    return tuple(kinds if batch > 1 else kinds[-1:])


def solve(
    settings: Settings,
    size: tuple[int, int],
    p: TreeProblem,
    start: TreeStart,
    order: Order,
    own: Members,
    wanted: Array,
    found: Solved,
) -> Solved:
    """Return what was found, with the optima of the wanted islands, shape (batch, ntree), of at most this size.

    order: entries by island, of the first sides of rows.
    """
    listed = jnp.cumsum(wanted.ravel(), dtype=jnp.int32)

    def add(lot: Array, found: Solved) -> Solved:
        entry = search(listed, lot * _LOT + np.arange(1, _LOT + 1), side="left")
        used = entry < wanted.size
        tree = _trees(size[0], own, jnp.where(used, entry, 0))
        problem, begin = _problems(size, p, start, order, jnp.where(used, entry, 0), tree)
        s = _minimise(settings, problem, begin, used)
        trace = jnp.trace(problem.M, axis1=-2, axis2=-1)
        place, at = jnp.where(used[:, None], tree, wanted.size), jnp.where(used, entry, wanted.size)
        return Solved(
            x=_put(found.x, place, s.qacc),
            constraint=_put(found.constraint, place, s.constraint),
            iterations=_put(found.iterations, at, s.iterations),
            norm=_put(found.norm, at, s.residual * trace),
        )

    return lax.fori_loop(0, (listed[-1] + _LOT - 1) // _LOT, add, found)


def _span(start: Array, entry: Array) -> tuple[Array, Array]:
    """Return where islands begin and end in a list of their world, shape (n,); start: shape (batch, ntree + 1)."""
    ntree = start.shape[1] - 1
    first = entry // ntree * (ntree + 1) + entry % ntree
    return rows(start.ravel(), first), rows(start.ravel(), first + 1)


def _trees(most: int, own: Members, entry: Array) -> Array:
    """Return the trees of islands, counted through the worlds, shape (n, most); the number of all beyond.

    entry: the islands, counted likewise, shape (n,).
    """
    batch, ntree = own.tree.shape
    begin, end = _span(own.start, entry)
    place, base = begin[:, None] + np.arange(most), (entry // ntree * ntree)[:, None]
    held = place < end[:, None]
    return jnp.where(held, base + rows(own.tree.ravel(), base + jnp.where(held, place, 0)), batch * ntree)


def _problems(
    size: tuple[int, int], p: TreeProblem, start: TreeStart, order: Order, entry: Array, tree: Array
) -> tuple[Problem, Start]:
    """Return the problems of islands, shape (n, ...), the dofs of their trees one after the other.

    tree: as `_trees` returns it.
    """
    (batch, ntree, k), most = p.q.shape, size[0]
    held = tree < batch * ntree
    index = jnp.where(held, tree, 0)

    def of_trees(x: Array) -> Array:
        return jnp.where(held[..., None], rows(x.reshape(-1, k), index), 0).reshape(-1, most * k)

    block = jnp.where(held[..., None, None], rows(p.M.reshape(-1, k, k), index), MINVAL * np.eye(k))
    M = block[:, :, :, None] * np.eye(most, dtype=block.dtype)[:, None, :, None]
    J, aref, law = _rows_of(size[1], p, start.touched, order, entry, tree)
    begin, end = _span(order.start, entry)
    problem = Problem(M=M.reshape(-1, most * k, most * k), q=of_trees(p.q), J=J, aref=aref, law=law)
    return problem, Start(
        smooth=of_trees(start.smooth),
        warm=of_trees(start.warm),
        nrow=end - begin,
        ncone=jnp.zeros_like(begin),
        tolerance=rows(start.tolerance, entry // ntree),
    )


def _rows_of(
    most: int, p: TreeProblem, touched: Array, order: Order, entry: Array, tree: Array
) -> tuple[Array, Array, Law]:
    """Return the rows of islands, zeros beyond: J, shape (n, most, dofs), aref and the law."""
    (ntree, k), nrow, world = p.q.shape[1:], p.aref.shape[1], (entry // p.q.shape[1])[:, None]
    begin, end = _span(order.start, entry)
    place = begin[:, None] + np.arange(most)
    used = place < end[:, None]
    row = rows(order.entry.ravel(), jnp.where(used, world * order.entry.shape[1] + place, 0)) >> 1
    row = world * nrow + row
    side = rows(touched.reshape(-1, 2), row)
    side = jnp.where(side >= 0, world[..., None] * ntree + side, -1)
    part = jnp.where(used[..., None, None], rows(p.J.reshape(-1, 2, k), row), 0)
    own = side[..., None] == tree[:, None, None, :]
    J = jnp.sum(own[..., None] * part[..., None, :], axis=2).reshape(*row.shape, -1)
    rest = columns(p)
    return J, *of_columns(jnp.where(used[..., None], rows(rest.reshape(-1, rest.shape[-1]), row), 0))


def _put(x: Array, place: Array, value: Array) -> Array:
    """Return x, shape (batch, ntree, ...), with values at places counted through the worlds; none beyond the last."""
    rest = x.shape[2:]
    flat = x.reshape(-1, *rest)
    return flat.at[place.ravel()].set(value.reshape(-1, *rest), mode="drop").reshape(x.shape)
