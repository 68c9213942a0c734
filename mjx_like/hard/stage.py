"""The stage of hard contact: the acceleration of a step at whose end nothing penetrates."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constraint.plan import without_rows
from mjx_like.constraint.stage import reference_constraint
from mjx_like.errors import UnsupportedError
from mjx_like.hard.carried import Seen, seen, with_carried
from mjx_like.hard.free_motion import free_motion, free_velocity
from mjx_like.hard.implicit_gradient import solution
from mjx_like.hard.interior_point import Found
from mjx_like.hard.kept import Kept, kept, nothing, start_from
from mjx_like.hard.newton import Start, without_impulses
from mjx_like.hard.problem import Problem, without_friction
from mjx_like.hard.restitution import at_end, impacts, over_step, to_first
from mjx_like.hard.rows import Motion, forces, least_distance, problem
from mjx_like.integrator.position import integrate_pos
from mjx_like.integrator.table import conditions
from mjx_like.math.batching import of_worlds
from mjx_like.math.linalg import solve_general
from mjx_like.math.platform import on_cpu
from mjx_like.math.rule import custom_jvp
from mjx_like.math.tangent import changing
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array
Stage = Callable[[Model, Data], Data]
Position = Callable[[Model, Data, Stage | None, Array], Data]

_LEFT = 0.2  # of the velocity without contacts, where the first search starts: contacts stop most of what they meet

_COUNTERS = ("maxuse_con", "maxuse_efc", "warning")
_OF_A_ROW = (
    "efc_type", "efc_id", "efc_J", "efc_pos", "efc_margin", "efc_frictionloss", "efc_diagA", "efc_KBIP", "efc_D",
    "efc_R",
)  # fmt: skip
_ROWS = ("contact", *_OF_A_ROW, "ne", "nf", "nl", "nefc", "ncon", *_COUNTERS)


def hard_constraint(m: Model, d: Data, position: Position, contacts: Stage) -> Data:
    """Return `d` with the acceleration of the step and the forces of its constraints.

    The contacts are solved for with the distances at the start, then once more, `refresh` times, with those where the
    step ends; `contact` and `efc_*` are left as the last solve had them, but for equalities, which pull as they do at
    the start. Where it `finds_contacts` those of `d` do not matter, but its rows of equalities do. A search that fails
    is made again, at last without the friction of contacts (`attempts`); then the step counts as unconverged. The
    motion of the variational integrator is linearised about the velocity before each solve.

    position: (m, d, more, ahead) -> `d` with all that depends on position; `more` adds contacts to those found, if not
      None; `ahead` is the velocity that led there.
    contacts: (m, d) -> `d` with contacts and rows, of a pose that is known.
    Reads qpos, qvel, the rows, and what `free_motion` reads. Writes qacc, efc_force, qfrc_constraint, solver_niter,
    solver_residual, unconverged, with `refresh` what contacts and rows are, efc_vel and efc_aref of those, and with
    restitution qvel_mean.

    Raises:
      UnsupportedError: restitution with the integrator `variational`.
    """
    if m.hard.rebounds and conditions(m, d) is not None:
        raise UnsupportedError("hard contact has no restitution with the integrator variational; take implicitfast")
    if without_rows(m):
        nu = free_velocity(m, d)
        return _finished(m, d, nu, nu, jnp.zeros_like(nu))
    if finds_contacts(m):
        end, way = _solved_in_loop(position, contacts, m, d)
    else:
        end, way = solved(m, d, *free_motion(m, d), position, m.hard.refresh + 1)
    rows = d.replace(**end.rows)
    rows = with_equalities(m, d, reference_constraint(m, rows)) if m.hard.refresh else rows
    return _finished(
        m,
        rows.replace(
            efc_force=end.force,
            solver_niter=way.iterations,
            solver_residual=end.error,
            unconverged=d.unconverged + way.failed.astype(d.unconverged.dtype),
        ),
        end.nu,
        end.mean,
        end.constraint,
    )


def with_equalities(m: Model, start: Data, end: Data) -> Data:
    """Return `end` with the rows of equalities that `start` has: the first, and as many in both."""
    if not len(m.plans.constraint.equality_order):
        return end

    names = (*_OF_A_ROW, "efc_vel", "efc_aref")
    both = ({name: getattr(d, name) for name in names} for d in (start, end))
    return end.replace(**of_worlds(jnp.arange(m.njmax) < start.ne, *both))


class _Way(NamedTuple):
    """What a solve takes from the one before."""

    ahead: Array  # velocity, shape (nv,), that leads to the pose of its rows
    nu: Array  # velocity at the end of the step
    least: Array  # as in `problem`
    failed: Array  # whether a search has failed
    iterations: Array  # of all solves
    counters: dict[str, Array]
    before: Seen | None  # contacts that the next one takes over; None where none are
    kept: Kept  # impulses that the next one begins with


class Solved(NamedTuple):
    """What a solve had and found."""

    rows: dict[str, Any]  # contact and rows, by the name of the field in Data
    base: Array  # velocity, shape (nv,), that led to their pose
    nu: Array  # velocity at the end of the step
    mean: Array  # velocity over the step; with restitution another one than at its end
    force: Array  # of the rows, shape (njmax,)
    constraint: Array  # what they add up to, shape (nv,)
    error: Array


class _Step(NamedTuple):
    """What all solves of a step share."""

    m: Model
    d: Data
    free: Array
    motion_about: Callable[[Array], Motion]


@functools.partial(custom_jvp, nondiff_argnums=(0, 1))
def _solved_in_loop(position: Position, contacts: Stage, m: Model, d: Data) -> tuple[Solved, _Way]:
    """Return the last of the solves of a step, which are turns of one loop: collision and search are compiled once.

    Each turn finds its rows, the first at the start of the step. Derivatives are those of the solves written out, for
    that of a loop takes longer to compile and to run.
    """
    free, motion_about = free_motion(m, d)
    step = _Step(m, d, free, motion_about)

    def turn(way: _Way, first: Array) -> tuple[_Way, Solved]:
        rows, before = rows_at_end(m, d.replace(**way.counters), way.ahead, position, way.before, first)
        least = jnp.where(first, least_distance(d.replace(**rows)), way.least)
        way = way._replace(least=least, counters=_counters(rows), before=before)
        return _solve(step, way, rows, first)

    way, each = jax.lax.scan(turn, _way(step), np.arange(m.hard.refresh + 1) == 0)
    end = jax.tree.map(lambda x: x[-1], each)
    return _with_rebounds(step, way, end) if m.hard.rebounds else (end, way)


@functools.partial(_solved_in_loop.defjvp, symbolic_zeros=True)
def _solved_in_loop_jvp(position: Position, contacts: Stage, primals, tangents):
    values, rates, with_others = changing(primals, tangents)

    def written_out(values: list[Array]) -> tuple[Solved, _Way]:
        m, d = with_others(values)
        return solved(m, contacts(m, d), *free_motion(m, d), position, m.hard.refresh + 1)

    return jax.jvp(written_out, (values,), (rates,))


def solved(
    m: Model, d: Data, free: Array, motion_about: Callable[[Array], Motion], position: Position, solves: int
) -> tuple[Solved, _Way]:
    """Return the last of so many solves, at least one: the first with the rows of `d`, others with those at its end.

    free, motion_about: as `free_motion` returns them. position: as in `hard_constraint`.
    """
    step, rows = _Step(m, d, free, motion_about), _rows(d)
    way = _way(step)._replace(least=least_distance(d))
    before = way.before
    for turn in range(solves):
        if turn:
            rows, before = rows_at_end(m, d.replace(**way.counters), way.ahead, position, way.before)
        way, end = _solve(step, way._replace(counters=_counters(rows), before=before), rows, turn == 0)
    return _with_rebounds(step, way, end) if m.hard.rebounds else (end, way)


def _way(step: _Step) -> _Way:
    """Return the way before the first solve."""
    m, d, free, motion_about = step
    zero, counters = jnp.zeros((), free.dtype), _counters(_rows(d))
    impulses = nothing(jax.eval_shape(lambda: problem(m, d, motion_about(free), free, zero)[0]), d.contact)
    return _Way(jnp.zeros_like(free), free, zero, jnp.zeros((), bool), jnp.int32(0), counters, seen(m, d), impulses)


def _solve(step: _Step, way: _Way, rows: dict[str, Any], first: Array | bool) -> tuple[_Way, Solved]:
    """Return the way after a solve with these rows, and the solve."""
    m, d, free = step.m, step.d, step.free
    there, own = d.replace(**rows), step.motion_about(way.nu)
    p, layout = problem(m, there, own, way.ahead, way.least)
    if m.hard.rebounds:
        apart = solve_general(own.A, own.b)  # with derivatives
        found = impacts(m, there, layout, p, d.qvel, apart)
        # near the end of an impact the search would not find its impulse
        s = _searched(m, over_step(p, found), free, without_impulses(p, free))
        ahead = to_first(found, d.qvel, apart, s.best.nu)
        force, constraint = jnp.zeros_like(d.efc_force), jnp.zeros_like(free)  # those of the velocity at the end count
    else:
        begin = jnp.where(first, jnp.where(jnp.any(p.used > 0), _LEFT, 1.0) * free, way.nu)
        s = _searched(m, p, begin, start_from(p, there.contact, way.nu, way.kept))
        ahead, (force, constraint) = s.best.nu, forces(m, there, own, layout, without_friction(p, s.failed), s.best)
    nu = s.best.nu
    failed, iterations = way.failed | s.failed, way.iterations + s.iterations
    after = way._replace(ahead=ahead, nu=nu, failed=failed, iterations=iterations, kept=kept(p, there.contact, s.best))
    return after, Solved(rows, way.ahead, nu, nu, force, constraint, s.error)


def _searched(m: Model, p: Problem, nu: Array, start: Start) -> Found:
    """Return the solution of a problem; where the search begins carries no derivatives."""
    return solution(m.hard.iterations, p, *jax.lax.stop_gradient((nu, start)))


def _with_rebounds(step: _Step, way: _Way, s: Solved) -> tuple[Solved, _Way]:
    """Return the solve for the velocity at the end, with the rows of the last one."""
    m, d, free = step.m, step.d, step.free
    rows, motion = d.replace(**s.rows), step.motion_about(free)
    p, layout = problem(m, rows, motion, s.base, way.least)
    found = impacts(m, rows, layout, p, d.qvel, solve_general(motion.A, motion.b))
    p = at_end(p, found)
    own = _searched(m, p, free, without_impulses(p, free))
    force, constraint = forces(m, rows, motion, layout, without_friction(p, own.failed), own.best)
    s = s._replace(nu=own.best.nu, force=force, constraint=constraint, error=jnp.maximum(s.error, own.error))
    return s, way._replace(failed=way.failed | own.failed, iterations=way.iterations + own.iterations)


def finds_contacts(m: Model) -> bool:
    """Return whether `hard_constraint` finds the contacts of a step itself, those at its start among them.

    Not on an accelerator, where the loop makes a third more kernels.
    """
    return m.hard is not None and m.hard.refresh > 0 and not without_rows(m) and on_cpu()


def rows_at_end(
    m: Model, d: Data, nu: Array, position: Position, before: Seen | None, first: Array | bool = False
) -> tuple[dict[str, Any], Seen | None]:
    """Return the contacts and rows of the pose that a velocity leads to in a step, and those for the next solve.

    Args:
      nu: the velocity, shape (nv,).
      position: as in `hard_constraint`.
      before: contacts of the solve before; None where none are carried.
      first: whether this is the first solve, of all worlds.

    Reads qpos and what `position` reads.
    """
    more = None if before is None else functools.partial(with_carried, before=before, first=first)
    there = position(m, d.replace(qpos=integrate_pos(m, d.qpos, nu, m.opt_floats.timestep)), more, nu)
    return _rows(there), seen(m, there)


def _rows(d: Data) -> dict[str, Any]:
    return {name: getattr(d, name) for name in _ROWS}


def _counters(rows: dict[str, Any]) -> dict[str, Array]:
    return {name: rows[name] for name in _COUNTERS}


def _finished(m: Model, d: Data, nu: Array, mean: Array, constraint: Array) -> Data:
    d = d.replace(qvel_mean=mean) if m.hard.rebounds else d
    return d.replace(qacc=(nu - d.qvel) / m.opt_floats.timestep, qfrc_constraint=constraint)
