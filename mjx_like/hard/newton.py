"""Newton's method on the central path: few steps where a point is near, each with one system and no way to a boundary.

Each pair has one unknown, the slack less the impulse over a weight, which gives both: positive, with the product that
is wanted. Likewise the sliding velocity less the friction over a weight gives a point on the central path of the cone.
A step solves the linearised conditions and takes the point of the path that its unknowns say, all of the way or, where
that leaves less of the motion, a part of it. The first trial has few steps, from what is known of the solution; others
begin at rest with large products, which fall in equal ratios.
Source: Chen and Harker 1993 and Kanzow 1996 for pairs; Fukushima, Luo and Tseng 2002 for cones; Alart and Curnier 1991
for friction by such unknowns; Dojo paper for the conditions.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.hard.augmented import explicit_in_search, system_of
from mjx_like.hard.components import Parts, added, dot, parts, scaled
from mjx_like.hard.elimination import Free, answer, free_pairs, of_product
from mjx_like.hard.interior_point import Found, error_of, fails, moved, tolerance
from mjx_like.hard.problem import (
    Cones,
    Point,
    Problem,
    Rates,
    Residuals,
    changes,
    contact_bound,
    joined,
    rates,
    rates_at_rest,
    residuals,
    without_friction,
)
from mjx_like.math import lapack, safe
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array

_PART = 0.3  # of a step, where it leaves less of the motion than all of it
_SURE = 1e-2  # error, over the tolerance, at which a search ends; within the tolerance it makes one step more
_MOTION = 100  # times as much as elsewhere does what is left of the motion count, which steps from afar leave
_DOUBT = 1 / 10  # share of the iterations after which a first trial ends where a step is large
_ASTRAY = 0.1  # of the momentum, above which it is
_ROOTS = 5  # steps for the size of a sliding velocity


class _Trial(NamedTuple):
    """How far from the solution a search may begin."""

    large: float  # products at its beginning, over those of the problem
    fall: float  # share of the iterations in which they fall to those
    most: float  # share of the iterations that it has


# the last is of a problem without friction
_TRIALS = (
    _Trial(1, 1, 1 / 5),
    _Trial(1e4, 1 / 5, 1),
    _Trial(1e4, 2 / 3, 1),
    _Trial(1e2, 2 / 3, 1),
    _Trial(1e6, 2 / 3, 1),
)
_LAST = len(_TRIALS) - 1


@record
class Start(Record):
    """A velocity, and the impulses that are expected with it."""

    nu: Array = leaf("nv")
    gamma: Array = leaf("npair")
    c: Array = leaf("ncone", "ndim")
    loss_c: Array = leaf("nloss", 1)

    def cut(self, lost: int) -> "Start":
        """Return the start of a problem without so many cones at the end."""
        return self.replace(gamma=self.gamma[: self.gamma.shape[0] - lost], c=self.c[: self.c.shape[0] - lost])


class Walk(NamedTuple):
    """Where a search stands: after a step that is yet to be moved onto the path."""

    z: Point  # before the step
    at: Rates  # of its velocity
    step: Point
    change: Rates  # that goes with it
    best: Point  # of all of the trial at the end of steps; of the one before while none of them has an error
    error: Array  # of the best
    within: Array  # whether that of the last one was within the tolerance
    trial: Array  # the number of trials before
    steps: Array  # of the trial
    iterations: Array  # of all trials
    done: Array


def without_impulses(p: Problem, nu: Array) -> Start:
    """Return a start from a velocity, shape (nv,), that nothing is known of."""
    loss_c = jnp.zeros(p.loss.J.shape[:-1], p.b.dtype)
    return Start(nu, jnp.zeros_like(p.k), jnp.zeros(p.contact.J.shape[:-1], p.b.dtype), loss_c)


def begin(iterations: int, p: Problem, start: Start) -> Walk:
    """Return the search before the first step."""
    at = rates(p, start.nu)
    z = _with_slacks(p, start, at)
    none, zero = jax.tree.map(jnp.zeros_like, (z, at)), jnp.int32(0)
    done = jnp.asarray(iterations == 0)
    return Walk(z, at, *none, z, jnp.full_like(p.h, jnp.inf), jnp.asarray(False), zero, zero, zero, done)


def _with_slacks(p: Problem, start: Start, at: Rates) -> Point:
    """Return the point where a trial begins; at: rates of the start."""
    s, eta, loss_eta = p.distance + p.h * at.pair, jnp.ones_like(p.contact.k), jnp.ones_like(p.bound)
    return Point(start.nu, s, start.gamma, start.c, eta, start.loss_c, loss_eta)


def _solve(a: Array, b: Array) -> Array:
    return lapack.solve_and_again(a, b)[0]


def advance(iterations: int, p: Problem, w: Walk, solve: Callable[[Array, Array], Array] = _solve) -> Walk:
    """Return the search one step later; when it is done, what it has found stays.

    A trial ends with a step that is not finite; where it has not found the solution the next one follows.
    """
    p = without_friction(p, w.trial == _LAST)
    z, at, r = _on_path_after(p, w, _target(iterations, w))
    cones = (contact_bound(p, z.gamma), z.c, z.eta, at.contact), (p.bound, z.loss_c, z.loss_eta, at.loss)
    (contact, push, grown), (loss, held, lost) = (_linear(*cone) for cone in cones)
    system = system_of(p, z, contact, loss, explicit_in_search(p))
    f = Free(r.s, free_pairs(z, r.s, 0.0), push, grown, held, lost)
    x = solve(system.matrix(), system.side(r.motion, f))
    change = changes(p, x[: p.b.shape[0]])
    step = system.step(f, x, change)
    ahead, there = moved(z, step, 1.0), moved(at, change, 1.0)
    error = jnp.where(_inside(p, ahead), error_of(p, ahead, residuals(p, ahead, there), _MOTION), jnp.inf)
    goes, within = ~w.done, error <= tolerance(error.dtype)
    better, steps = goes & (error < w.error), w.steps + goes
    best = jax.tree.map(lambda a, b: jnp.where(better, a, b), ahead, w.best)
    ends = (within & w.within) | (error <= _SURE * tolerance(error.dtype)) | (steps >= _most(iterations, w.trial))
    astray = (w.trial == 0) & (steps >= _DOUBT * iterations) & (_largest(change.momentum) > _ASTRAY * _largest(p.b))
    ends = ends | astray | ~jnp.isfinite(jnp.sum(x))
    least = jnp.where(better, error, w.error)
    again = goes & ends & ~_found(w.trial, least) & (w.trial < _LAST)
    return Walk(
        *(z, at, step, change, best),
        error=jnp.where(again, jnp.inf, least),
        within=within & ~again,
        trial=w.trial + again,
        steps=jnp.where(again, 0, steps),
        iterations=w.iterations + goes,
        done=w.done | (ends & ~again),
    )


def _largest(x: Array) -> Array:
    return jnp.max(jnp.abs(x), initial=0)


def _found(trial: Array, error: Array) -> Array:
    """Return whether a trial has found the solution; the first has to come nearer."""
    return jnp.where(trial > 0, ~fails(error), error <= tolerance(error.dtype))


def _on_path_after(p: Problem, w: Walk, target: Array) -> tuple[Point, Rates, Residuals]:
    """Return the point of the path after a step, or after the part of it where that leaves less of the motion.

    It is the one at rest before the first step of all trials but the first.
    """
    start, begins = _at_rest(p), (w.steps == 0) & (w.trial > 0)

    def after(part: Array) -> tuple[Array, tuple[Point, Rates, Residuals]]:
        there = moved((w.z, w.at), (w.step, w.change), part)
        z, at = jax.tree.map(lambda a, b: jnp.where(begins, a, b), start, there)
        z = _on_path(p, z, at, target)
        r = residuals(p, z, at)
        impulse = _largest(p.b) + jnp.max(p.used * z.gamma, initial=0)
        return _largest(r.motion) / jnp.maximum(impulse, safe.tiny(impulse)), (z, at, r)

    left, each = jax.vmap(after)(jnp.array([1.0, _PART], p.h.dtype))
    return jax.tree.map(lambda x: jnp.where(left[1] < left[0], x[1], x[0]), each)


def _at_rest(p: Problem) -> tuple[Point, Rates]:
    at = rates_at_rest(p)
    return _with_slacks(p, without_impulses(p, jnp.zeros_like(p.b)), at), at


def found_by(w: Walk) -> Found:
    """Return what a search has found."""
    return Found(w.best, w.error, w.iterations, (w.trial == _LAST) | ~_found(w.trial, w.error))


def _most(iterations: int, trial: Array) -> Array:
    """Return how many steps a trial has."""
    return _of_trial(trial, [math.ceil(x.most * iterations) for x in _TRIALS])


def _target(iterations: int, w: Walk) -> Array:
    """Return the products that a step aims at, over those of the problem."""
    large = _of_trial(w.trial, [math.log(x.large) for x in _TRIALS])
    steps = _of_trial(w.trial, [x.fall * max(iterations, 1) for x in _TRIALS])
    return jnp.exp(large * jnp.maximum(1 - w.steps / steps, 0.0))


def _of_trial(trial: Array, values: list[float]) -> Array:
    first, *others = values
    return functools.reduce(lambda x, i: jnp.where(trial > i, others[i], x), range(len(others)), jnp.asarray(first))


def _linear(bound: Array, c: Array, eta: Array, at: Parts) -> tuple:
    """Return the linearised condition of cones on the path, and how c and eta go to the velocity that there is."""
    toward = parts(c)
    slide = scaled(-eta / bound, toward)  # the velocity that c goes with
    linear = of_product(bound, toward, slide, eta)
    return linear, *answer(linear, added(at, scaled(-1, slide)), 0.0)


def _inside(p: Problem, z: Point) -> Array:
    """Return whether a point is inside all bounds."""

    def cones(x: Cones, bound: Array, c: Array, eta: Array) -> Array:
        return _least(x.used, jnp.minimum(bound * bound - dot(parts(c), parts(c)), eta))

    pairs = _least(p.used, jnp.minimum(z.s, z.gamma))
    contacts = cones(p.contact, contact_bound(p, z.gamma), z.c, z.eta)
    return jnp.minimum(jnp.minimum(pairs, contacts), cones(p.loss, p.bound, z.loss_c, z.loss_eta)) > 0


def _least(used: Array, x: Array) -> Array:
    return jnp.min(jnp.where(used > 0, x, 1), initial=1)


def _on_path(p: Problem, z: Point, at: Rates, target: Array | float) -> Point:
    """Return the point of the central path, with products at `target` times their own, that the unknowns say.

    Weights are the masses that rows feel: of pairs over the time step.
    """
    weight = p.mass / p.h
    s, gamma = _pairs(z.s - z.gamma / weight, target * p.k / weight)
    s, gamma = jnp.where(p.used > 0, s, 1), jnp.where(p.used > 0, gamma * weight, 1)

    def cones(x: Cones, bound: Array, c: Array, slide: Parts) -> tuple[Array, Array]:
        unknown = added(slide, scaled(-1 / x.mass, parts(c)))
        c, eta = _friction(bound, unknown, x.mass, target * x.k)
        return joined(x, c), eta

    contact = cones(p.contact, contact_bound(p, gamma), z.c, at.contact)
    return Point(z.nu, s, gamma, *contact, *cones(p.loss, p.bound, z.loss_c, at.loss))


def _pairs(difference: Array, product: Array) -> tuple[Array, Array]:
    """Return two positive numbers with this difference and product."""
    larger = 0.5 * (jnp.abs(difference) + jnp.sqrt(difference * difference + 4 * product))
    smaller = product / larger
    first = difference > 0
    return jnp.where(first, larger, smaller), jnp.where(first, smaller, larger)


def _friction(bound: Array, unknown: Parts, weight: Array, k: Array) -> tuple[Parts, Array]:
    """Return the impulse of friction, by component, and eta, where velocity less impulse over weight is `unknown`.

    As in `problem.friction`: c = -bound u / eta, eta = e + sqrt(e^2 + |u|^2), e = k / (2 bound).
    """
    e, given = k / (2 * bound), dot(unknown, unknown)
    size = jnp.sqrt(given + safe.tiny(bound))
    x = _sliding(size, bound / weight, e)
    eta = e + jnp.sqrt(e * e + x * x)
    return scaled(-bound * x / (eta * size), unknown), eta


def _sliding(size: Array, held: Array, e: Array) -> Array:
    """Return the root x of x + held x / (e + sqrt(e^2 + x^2)) = size, which rises and is concave.

    From above, Newton's method gets below the root in a step, and comes nearer from there.
    """
    free = size - held
    root = jnp.sqrt(free * free + 4 * held * e)
    x = jnp.where(free > 0, 0.5 * (free + root), 2 * held * e / (root + jnp.abs(free)))
    least = jnp.maximum(free, size * 2 * e / (held + 2 * e))
    for _ in range(_ROOTS):
        r = jnp.sqrt(e * e + x * x)
        x = x - (x + held * x / (e + r) - size) / (1 + held * e / (r * (e + r)))
        x = jnp.maximum(x, least)
    return x
