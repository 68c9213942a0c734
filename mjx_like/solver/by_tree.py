"""The solver of models with many trees: Newton's method tree by tree, or with a linear solve where trees are coupled.

A tree that no row ties to another is a problem of its own, as an island of MuJoCo, and all of them are solved as so
many worlds. On a CPU so are islands of a few trees, with dense matrices (`small_islands`). On worlds with larger ones
Newton's method runs as a whole, and its linear systems are solved by conjugate gradients with the blocks of the trees
as preconditioner.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from mjx_like.constants import MINVAL
from mjx_like.math.batching import each_with_capacity, whole_batch
from mjx_like.math.platform import on_cpu
from mjx_like.math.select import rows
from mjx_like.math.tangent import still
from mjx_like.solver import coupled, small_islands
from mjx_like.solver.entries import Order, in_order, of_entries, table_of
from mjx_like.solver.implicit_gradient import OPTIMUM
from mjx_like.solver.law import Law, force, row_bounds, state, zones
from mjx_like.solver.newton import _minimise
from mjx_like.solver.problem import Problem, Settings, Start
from mjx_like.solver.small_islands import Members, Solved
from mjx_like.solver.tree_problem import TreeProblem, TreeSolution, TreeStart, columns, gradient, of_columns
from mjx_like.solver.tree_systems import solve_hessian
from mjx_like.tree import blocks
from mjx_like.types.data import Data
from mjx_like.types.enums import ConeType, DisableBit, SolverType
from mjx_like.types.model import Model

Array = jax.Array

_SIZES = (16, 64)  # rows of one tree; fuller ones are solved with the whole world


def by_tree(m: Model) -> bool:
    """Return whether `solve_by_tree` solves a model: one of many trees, by Newton, without elliptic cones or noslip."""
    cones = m.flags.cone == ConeType.ELLIPTIC and max(m.plans.constraint.contact_dims, default=1) > 1
    newton = SolverType(m.flags.solver) == SolverType.NEWTON and m.flags.noslip_iterations <= 0
    return m.plans.tree.trees is not None and newton and not cones


def solve_by_tree(m: Model, d: Data) -> Data:
    """Return `d` with the acceleration and the constraint forces of the mass matrix as metric.

    Reads M, qfrc_smooth, qacc_smooth, qacc_warmstart, nefc, contact and efc_*. Writes qacc, efc_force, efc_state,
    qfrc_constraint, solver_niter, solver_residual and unconverged.
    """
    trees = m.plans.tree.trees
    settings = Settings(
        iterations=m.flags.iterations,
        ls_iterations=m.flags.ls_iterations,
        warmstart=not m.disabled(DisableBit.WARMSTART),
    )
    low, high = row_bounds(d.efc_type, d.efc_R, d.efc_frictionloss)
    p = TreeProblem(
        M=blocks.blocks(trees, d.M),
        q=blocks.split(trees, d.qfrc_smooth),
        J=d.efc_J.reshape(m.njmax, 2, -1),
        aref=d.efc_aref,
        law=Law(D=d.efc_D, low=low, high=high, loss=d.efc_frictionloss, cone=None),
    )
    start = TreeStart(
        smooth=blocks.split(trees, d.qacc_smooth),
        warm=blocks.split(trees, d.qacc_warmstart),
        touched=blocks.row_trees(m, d),
        nrow=d.nefc,
        tolerance=m.opt_floats.tolerance,
    )
    s = tree_optimum(settings, p, lax.stop_gradient(start))
    qacc = blocks.join(trees, s.x)
    jar = blocks.row_velocity(m, d, qacc) - d.efc_aref
    used = jnp.arange(m.njmax) < d.nefc
    short = (s.iterations >= settings.iterations) & (s.residual > m.opt_floats.tolerance)
    return d.replace(
        qacc=qacc,
        efc_force=force(p.law, jar),
        efc_state=jnp.where(used, state(p.law, zones(p.law, jar)), 0).astype(d.efc_state.dtype),
        qfrc_constraint=blocks.join(trees, s.constraint),
        solver_niter=s.iterations,
        solver_residual=s.residual,
        unconverged=d.unconverged + short.astype(d.unconverged.dtype),
    )


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def tree_optimum(settings: Settings, p: TreeProblem, start: TreeStart) -> TreeSolution:
    """Return the optimum of `p`; its derivatives are those of the exact optimum, by `p` alone."""
    return whole_batch(functools.partial(_optimum, settings))(p, start)


@tree_optimum.defjvp
def _tree_optimum_jvp(settings: Settings, primals, tangents):
    p, start = primals
    s = tree_optimum(settings, p, start)
    x = checkpoint_name(s.x, OPTIMUM)
    _, change = jax.jvp(lambda p: gradient(p, start.touched, x), (p,), (tangents[0],))
    dx = -solve_hessian(p, start, x, change)
    # at the optimum the rows' forces are what the metric and the smooth force leave
    _, dconstraint = jax.jvp(lambda p, x: jnp.einsum("tij,tj->ti", p.M, x, precision="highest") - p.q, (p, x),
                             (tangents[0], dx))  # fmt: skip
    return s.replace(x=x), TreeSolution(
        x=dx, constraint=dconstraint, iterations=still(s.iterations), residual=still(s.residual)
    )


def _optimum(settings: Settings, p: TreeProblem, start: TreeStart) -> TreeSolution:
    """Return the optima of a batch of worlds."""
    batch, ntree = p.q.shape[:2]
    kinds = small_islands.sizes(*p.q.shape) if on_cpu() else ()  # an accelerator would wait for each lot of islands
    own = small_islands.members(start.touched, ntree) if kinds else small_islands.alone(batch, ntree)
    order = in_order(_islands_of_rows(start.touched, own)[..., None], start.nrow, ntree)
    trees, count = own.size(), order.start[:, 1:] - order.start[:, :-1]
    wanted, rest = [(trees == 1) & (count <= _SIZES[-1])], trees > 0
    for most, room in kinds:
        rest &= ~wanted[-1]
        wanted.append(rest & (trees <= most) & (count <= room))
    left = jnp.any(rest & ~wanted[-1], axis=1)
    left = left if kinds else left | jnp.any(start.touched[..., 1] >= 0, axis=1)
    found = _apart(settings, p, start, order, count, wanted[0] & ~left[:, None])
    for size, islands in zip(kinds, wanted[1:], strict=True):
        found = small_islands.solve(settings, size, p, start, order, own, islands & ~left[:, None], found)
    trace = jnp.sum(jnp.trace(p.M, axis1=-2, axis2=-1), axis=1)
    solved = TreeSolution(
        x=found.x,
        constraint=found.constraint,
        iterations=jnp.max(found.iterations, axis=1),
        residual=jnp.linalg.norm(found.norm, axis=1) / jnp.maximum(trace, MINVAL),
    )
    together = functools.partial(coupled.optimum, settings)
    return lax.cond(jnp.any(left), together, lambda *args: args[-1], p, start, left, solved)


def _islands_of_rows(touched: Array, own: Members) -> Array:
    """Return the island of each row, shape (batch, nrow), -1 for none."""
    first = touched[..., 0]
    return jnp.where(first < 0, -1, jax.vmap(rows)(own.island, jnp.maximum(first, 0)))


def _apart(settings: Settings, p: TreeProblem, start: TreeStart, order: Order, count: Array, own: Array) -> Solved:
    """Return the optima of the trees of `own`, shape (batch, ntree): each is a problem, at the capacity of its rows.

    order: entries by tree. count: how many there are.
    """
    batch, ntree = p.q.shape[:2]
    sizes = tuple(n for n in _SIZES if n < 2 * p.aref.shape[1]) or _SIZES[:1]
    begin = Start(
        smooth=start.smooth,
        warm=start.warm,
        nrow=count,
        ncone=jnp.zeros_like(count),
        tolerance=jnp.broadcast_to(start.tolerance[:, None], count.shape),
    )

    def sized(size: int, chosen: Array, *args: Any) -> tuple[Array, ...]:
        p, begin, order, own = args
        problem, begin = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (_alone(p, order, size), begin))
        s = _minimise(settings, problem, begin, chosen & own)
        return s.qacc, s.constraint, s.iterations, s.residual

    own = own.ravel()
    found = each_with_capacity(sizes, jnp.where(own, count.ravel(), 0), sized, p, begin, order, own)
    x, constraint, iterations, residual = (y.reshape(batch, ntree, *y.shape[1:]) for y in found)
    trace = jnp.trace(p.M, axis1=-2, axis2=-1)
    return Solved(x, constraint, jnp.where(own.reshape(batch, ntree), iterations, 0), residual * trace)


def _alone(p: TreeProblem, order: Order, size: int) -> Problem:
    """Return the problem of each tree with its first `size` rows, shape (batch, ntree, ...)."""
    table = table_of(order, p.J, size)
    aref, law = of_columns(of_entries(table, columns(p)))
    return Problem(M=p.M, q=p.q, J=table.J, aref=aref, law=law)
