"""Inverse dynamics with hard contact: the forces of a step whose end is known, in closed form.

At a velocity nu at the step's end each pair has its slack s and so its impulse k / s; friction follows from the bound
and the sliding velocity, springs of equalities from nu. What the motion takes beside these is the force applied.
Source: the conditions of `problem`.
"""

import jax
import jax.numpy as jnp

from mjx_like.constraint.plan import without_rows
from mjx_like.errors import UnsupportedError
from mjx_like.hard.carried import Seen, seen
from mjx_like.hard.problem import Point, Problem, contact_bound, impulse, rates, sliding_friction
from mjx_like.hard.rows import Motion, forces, least_distance, motion, problem
from mjx_like.hard.stage import Position, rows_at_end, solved, with_equalities
from mjx_like.integrator.table import conditions, step_metric
from mjx_like.math import safe
from mjx_like.math.linalg import matmul
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array


_CORRECTIONS = 2


def hard_inverse(m: Model, d: Data, position: Position) -> Data:
    """Return `d` with the force that must be applied for `qacc` to be the velocity change of a step over its time.

    Exact where `refresh` is 0. Else the last solve has its distances from where the one before ended, which the force
    decides: that is first taken to be the end of the step itself, and corrected twice by the solves with the force
    found. `contact` and `efc_*` are left as by `hard_constraint`. Where a contact or limit would end inside, no
    force is enough, and the force is NaN.

    position: as in `hard_constraint`.
    Reads qpos, qvel, qacc, qfrc_bias, qfrc_passive, the rows, and what the integrator's metric reads.
    Writes efc_force, qfrc_constraint, qfrc_inverse, and with `refresh` what contacts and rows are.

    Raises:
      UnsupportedError: restitution, or the integrator `variational`.
    """
    if m.hard.rebounds:
        raise UnsupportedError("inverse: hard contact has none with restitution; mjx.with_hard_contact(m) has one")
    if conditions(m, d) is not None:
        raise UnsupportedError("inverse: hard contact has none with the integrator variational; take implicitfast")
    metric = step_metric(m, d)
    d = _constrained(m, d, metric, position)
    force = matmul(metric, d.qacc) + d.qfrc_bias - d.qfrc_passive - d.qfrc_constraint
    return d.replace(qfrc_inverse=force)


def _constrained(m: Model, d: Data, metric: Array, position: Position) -> Data:
    """Return `d` with the forces of constraints at the end of the step."""
    if without_rows(m):
        return d.replace(qfrc_constraint=jnp.zeros_like(d.qvel))
    nu, none = d.qvel + m.opt_floats.timestep * d.qacc, jnp.zeros_like(d.qvel)
    own = motion(m, d.replace(qfrc_smooth=none), metric)
    least = least_distance(d)
    if m.hard.refresh:
        base, before = _base(m, d, own, nu, least, position)
        rows = d.replace(**rows_at_end(m, d, base, position, before)[0])
    else:
        base, rows = none, d
    p, layout = problem(m, rows, own, base, least)
    force, total = forces(m, rows, own, layout, p, central_point(p, nu, jnp.nan))
    return with_equalities(m, d, rows).replace(efc_force=force, qfrc_constraint=total)


def _base(m: Model, d: Data, own: Motion, nu: Array, least: Array, position: Position) -> tuple[Array, Seen | None]:
    """Return where the solve before the last ended, of a step that ends at `nu`: its velocity and its contacts."""

    def corrected(s: tuple[Array, Seen | None], _) -> tuple[tuple[Array, Seen | None], None]:
        base, before = s
        rows, _ = rows_at_end(m, d, base, position, before)
        p, _ = problem(m, d.replace(**rows), own, base, least)
        moved = own._replace(b=matmul(own.A, nu) - impulse(p, central_point(p, nu, 0.0)))
        end, way = solved(m, d, nu, lambda _: moved, position, m.hard.refresh)
        return (end.nu, way.before), None

    return jax.lax.scan(corrected, (nu, seen(m, d)), None, _CORRECTIONS)[0]


def central_point(p: Problem, nu: Array, inside: float) -> Point:
    """Return the point of the central path at a velocity nu, shape (nv,), whatever moves it.

    inside: impulse of pairs without a positive slack, which have none on the path.
    """
    at = rates(p, nu)
    s = jnp.where(p.used > 0, p.distance + p.h * at.pair, 1)
    gamma = jnp.where(s > 0, safe.ratio(p.k, jnp.where(s > 0, s, 1)), inside)
    c, eta = sliding_friction(p.contact, contact_bound(p, gamma), at.contact)
    loss_c, loss_eta = sliding_friction(p.loss, p.bound, at.loss)
    return Point(nu, s, gamma, c, eta, loss_c, loss_eta)
