"""Restitution: Newton's law of impacts, with the time of each impact within its step.

Along its normal a pair at a distance s0 would move in a step of length h with the velocity w + a t, where a h is the
change of its rate in a step without contacts, and w + a h / 2 the mean rate over that step.  Where it would be inside
at the end of the step it has met before, after a time t, at the speed u = sqrt(w^2 - 2 a s0).  What remains of the
step, r = h - t, begins with the speed e u, so that at its end
    distance = e u r + a r^2 / 2,    rate = e u + a r - a h / 2.
The last term belongs to the rates of a step, which are those half a step later.  One velocity cannot have both: the
mean velocity, which moves the pose, solves the conditions of contact with that distance, the velocity at the end, on
the same rows, with that rate.  Both are bounds from below: what is pushed harder by others parts faster.
Source: Newton's law of impact; Moreau 1988 for its form as a condition on velocities.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.constraint.softening import gravity
from mjx_like.hard.pair_rows import limits_first
from mjx_like.hard.problem import Problem
from mjx_like.math import safe
from mjx_like.solver.rows import ConeLayout, PlainLayout
from mjx_like.types.data import Data
from mjx_like.types.enums import ConstraintType
from mjx_like.types.model import Model

Array = jax.Array


_AT_REST = 10  # gaps, within which a contact rests


class Impacts(NamedTuple):
    """What pairs meet in a step, shape (npair,)."""

    share: Array  # of its rebound that a pair makes; 0 where it does not meet
    lands: Array  # 1 where it meets from afar, or rebounds; 0 where it rests already
    part: Array  # of the step that has gone by then
    distance: Array  # m, after the whole rebound, at the end of the step
    rate: Array  # m/s, of the distance, likewise


def impacts(m: Model, rows: Data, layout: ConeLayout | PlainLayout, p: Problem, qvel: Array, free: Array) -> Impacts:
    """Return the impacts of a step.

    qvel, free: velocity at the start, and at the end of a step without contacts, shape (nv,).
    """
    before, after = p.J.times(qvel), p.J.times(free)
    least = jnp.maximum(m.hard.rebound_speed, p.h * gravity(m))
    share = _rising(-safe.ratio(before, least))
    meets = (p.distance + p.h * after < 0) & _of_contacts(m, rows, layout, p) & (p.used > 0)
    start, change, first = jnp.maximum(p.distance, 0), after - before, (before + after) / 2
    speed = safe.sqrt(jnp.where(meets, first * first - 2 * safe.ratio(change * start, p.h), 1))
    part = safe.ratio(2 * start, p.h * jnp.where(meets, speed - first, 1))
    left, leaves = 1 - part, m.hard.restitution * speed
    return Impacts(
        share=jnp.where(meets, share, 0),
        lands=jnp.where(meets, jnp.maximum(share, _rising(safe.ratio(start, _AT_REST * p.gap))), 0),
        part=part,
        distance=p.h * left * jnp.maximum(leaves + change * left / 2, 0),
        rate=jnp.maximum(leaves + change * (left - 0.5), 0),
    )


def _rising(x: Array) -> Array:
    """Return 0 up to 1, 1 from 2 on, and a smooth step between."""
    x = safe.clip(x - 1, 0.0, 1.0)
    return x**2 * (3 - 2 * x)


def _of_contacts(m: Model, rows: Data, layout: ConeLayout | PlainLayout, p: Problem) -> Array:
    """Return whether pairs are those of contacts, not of limits, shape (npair,)."""
    nplain = p.k.shape[0] - p.contact.k.shape[0]
    kind = limits_first(m, rows).from_rows(layout.from_rows(rows.efc_type)[:nplain])
    plain = kind == ConstraintType.CONTACT_FRICTIONLESS
    return jnp.concatenate([plain, jnp.ones(p.contact.k.shape[0], bool)])


def over_step(p: Problem, i: Impacts) -> Problem:
    """Return the conditions on the mean velocity: what meets is at the end of the step where its rebound takes it."""
    return p.replace(distance=p.distance - i.share * i.distance)


def at_end(p: Problem, i: Impacts) -> Problem:
    """Return the conditions on the velocity at the end: what meets parts at the rate of its rebound, or stays together.

    p: with its own distances, which others keep.
    """
    return p.replace(distance=(1 - i.lands) * p.distance - i.share * p.h * i.rate)


def to_first(i: Impacts, qvel: Array, free: Array, nu: Array) -> Array:
    """Return the velocity, shape (nv,), that leads in a whole step to the pose of the first impact; nu without any.

    There the normals are those of the impact. qvel, free: as in `impacts`.
    """
    part = jnp.min(jnp.where(i.share > 0, i.part, jnp.inf), initial=jnp.inf)
    part, any_meets = jnp.where(jnp.isfinite(part), part, 1), jnp.any(i.share > 0)
    return jnp.where(any_meets, part * ((qvel + free) / 2 + part * (free - qvel) / 2), nu)
