"""The stage of hard contact: the acceleration of a step at whose end nothing penetrates."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.constraint.plan import without_rows
from mjx_like.errors import UnsupportedError
from mjx_like.hard.free_motion import free_motion
from mjx_like.hard.implicit_gradient import solution
from mjx_like.hard.interior_point import tolerance
from mjx_like.hard.problem import Point, Problem, without_friction
from mjx_like.hard.restitution import at_end, impacts, over_step, to_first
from mjx_like.hard.rows import Motion, forces, least_distance, problem
from mjx_like.integrator.position import integrate_pos
from mjx_like.integrator.table import conditions
from mjx_like.math import lapack
from mjx_like.math.linalg import solve_general
from mjx_like.solver.rows import ConeLayout, PlainLayout
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array

_UNCONVERGED = 1e-3  # error of products over their targets that counts, in float64
_LEFT = 0.2  # of the velocity without contacts, where the first search starts: contacts stop most of what they meet

_ROWS = (
    "efc_type", "efc_id", "efc_J", "efc_pos", "efc_margin", "efc_frictionloss", "efc_diagA", "efc_KBIP", "efc_D",
    "efc_R", "ne", "nf", "nl", "nefc", "ncon", "maxuse_con", "maxuse_efc", "warning",
)  # fmt: skip


def hard_constraint(m: Model, d: Data, position: Callable[[Model, Data], Data]) -> Data:
    """Return `d` with the acceleration of the step and the forces of its constraints.

    The contacts are solved for with the distances at the start, then once more, `refresh` times, with those where the
    step ends; `contact` and `efc_*` are left as the last solve had them. After a search that fails the next ones are
    made without the friction of contacts, and do not fail; the step counts as unconverged. The motion of the
    variational integrator is linearised about the velocity before each solve.

    position: (m, d) -> `d` with all that depends on position.
    Reads qpos, qvel, the rows, and what `free_motion` reads. Writes qacc, efc_force,
    qfrc_constraint, solver_niter, solver_residual, unconverged, with `refresh` what contacts and rows are, and with
    restitution qvel_mean.

    Raises:
      UnsupportedError: restitution with the integrator `variational`.
    """
    free, motion_about = free_motion(m, d)
    if m.hard.rebounds and conditions(m, d) is not None:
        raise UnsupportedError("hard contact has no restitution with the integrator variational; take implicitfast")
    if without_rows(m):
        own = motion_about(free)
        nu = lapack.solve(own.A, own.b) if m.nv else free
        return _finished(m, d, nu, nu, jnp.zeros_like(nu))
    end = solved(m, d, free, motion_about, position, m.hard.refresh + 1)
    nu, rows, error = end.z.nu, end.rows, end.error
    force, constraint = forces(m, rows, end.own, end.layout, end.problem, end.z)
    return _finished(
        m,
        rows.replace(
            efc_force=force,
            solver_niter=end.iterations,
            solver_residual=error,
            unconverged=d.unconverged + end.failed.astype(d.unconverged.dtype),
        ),
        nu,
        end.mean,
        constraint,
    )


class Solved(NamedTuple):
    """The last solve of a step: its rows, motion and problem, and what it found."""

    rows: Data
    own: Motion
    problem: Problem
    layout: ConeLayout | PlainLayout
    z: Point
    mean: Array  # velocity, shape (nv,), over the step; with restitution another one than at its end
    error: Array
    failed: Array  # whether one of the searches failed; those after it leave out friction
    iterations: Array  # of all solves


def solved(
    m: Model,
    d: Data,
    free: Array,
    motion_about: Callable[[Array], Motion],
    position: Callable[[Model, Data], Data],
    solves: int,
) -> Solved:
    """Return the last of so many solves, at least one: the first with the rows of `d`, others with those at its end.

    free, motion_about: as `free_motion` returns them. position: as in `hard_constraint`.
    """
    nu, base, rows, total = free, jnp.zeros_like(free), d, jnp.int32(0)
    begin, failed, least = None, jnp.zeros((), bool), least_distance(d)
    for turn in range(solves):
        rows = rows_at_end(m, d, base, position) if turn else rows
        own = motion_about(nu)
        p, layout = problem(m, rows, own, base, least)
        p = without_friction(p, failed) if turn else p
        apart = solve_general(own.A, own.b) if m.hard.rebounds else free  # with derivatives
        found = impacts(m, rows, layout, p, d.qvel, apart) if m.hard.rebounds else None
        moving = p if found is None else over_step(p, found)
        if found is not None:
            begin = free  # near the end of an impact the search would not find its impulse
        elif not turn:
            begin = jnp.where(jnp.any(p.used > 0), _LEFT, 1.0) * free
        z, error, count = solution(m.hard.iterations, moving, jax.lax.stop_gradient(begin))
        nu, begin, total = z.nu, z.nu, total + count
        failed = failed | _fails(error)
        base = nu if found is None else to_first(found, d.qvel, apart, nu)
    if found is None:
        return Solved(rows, own, p, layout, z, nu, error, failed, total)
    p = at_end(p, found)
    z, again, count = solution(m.hard.iterations, p, jax.lax.stop_gradient(free))
    return Solved(rows, own, p, layout, z, nu, jnp.maximum(error, again), failed | _fails(again), total + count)


def _fails(error: Array) -> Array:
    """Return whether a search has not converged."""
    return error > max(tolerance(error.dtype), _UNCONVERGED)


def rows_at_end(m: Model, d: Data, nu: Array, position: Callable[[Model, Data], Data]) -> Data:
    """Return `d` with the contacts and rows of the pose that a velocity nu, shape (nv,), leads to in a step.

    position: as in `hard_constraint`. Reads qpos and what `position` reads.
    """
    there = position(m, d.replace(qpos=integrate_pos(m, d.qpos, nu, m.opt_floats.timestep)))
    return d.replace(contact=there.contact, **{name: getattr(there, name) for name in _ROWS})


def _finished(m: Model, d: Data, nu: Array, mean: Array, constraint: Array) -> Data:
    d = d.replace(qvel_mean=mean) if m.hard.rebounds else d
    return d.replace(qacc=(nu - d.qvel) / m.opt_floats.timestep, qfrc_constraint=constraint)
