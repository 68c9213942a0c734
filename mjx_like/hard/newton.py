"""Newton's method on the central path: few steps where a point is near, each with one system and no way to a boundary.

Each pair has one unknown, the slack less the impulse over a weight, which gives both: positive, with the product that
is wanted. Likewise the sliding velocity less the friction over a weight gives a point on the central path of the cone.
A step solves the linearised conditions, goes all of the way, and takes the point of the path that its unknowns say.
Where that does not end soon, steps go on with large products that fall in equal ratios. They can take turns between two
points and fail, as those of an interior point method seldom do.
Source: Chen and Harker 1993 and Kanzow 1996 for pairs; Fukushima, Luo and Tseng 2002 for cones; Alart and Curnier 1991
for friction by such unknowns; Dojo paper for the conditions.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.hard.components import Parts, added, dot, parts, scaled
from mjx_like.hard.elimination import Free, System, answer, free_pairs, of_product
from mjx_like.hard.interior_point import Found, error_of, moved, tolerance
from mjx_like.hard.problem import Cones, Point, Problem, Rates, changes, contact_bound, joined, rates, residuals
from mjx_like.math import lapack, safe
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array

MOST = 18  # steps
_PLAIN = 4  # steps at the products of the problem, before those that begin with large ones
_LARGE, _RATIO = 1e4, 0.3  # products over those of the problem, and what each step leaves of them
_SURE = 1e-2  # error, over the tolerance, at which a search ends; within the tolerance it makes one step more
_MOTION = 100  # times as much as elsewhere does what is left of the motion count, which steps from afar leave
_ROOTS = 5  # steps for the size of a sliding velocity


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
    """Where a search stands."""

    z: Point  # on the central path
    at: Rates  # of its velocity
    motion: Array  # residual
    apart: Array  # residual of its slacks
    best: Point  # of all before they were moved onto the path
    error: Array  # of the best
    within: Array  # whether that of the last one was within the tolerance
    iterations: Array
    done: Array


def without_impulses(p: Problem, nu: Array) -> Start:
    """Return a start from a velocity, shape (nv,), that nothing is known of."""
    loss_c = jnp.zeros(p.loss.J.shape[:-1], p.b.dtype)
    return Start(nu, jnp.zeros_like(p.k), jnp.zeros(p.contact.J.shape[:-1], p.b.dtype), loss_c)


def begin(iterations: int, p: Problem, start: Start) -> Walk:
    """Return the search before the first step."""
    at = rates(p, start.nu)
    s = p.distance + p.h * at.pair
    off = Point(start.nu, s, start.gamma, start.c, jnp.ones_like(p.contact.k), start.loss_c, jnp.ones_like(p.bound))
    z = _on_path(p, off, at, 1.0)
    r, no = residuals(p, z, at), jnp.asarray(False)
    walk = Walk(z, at, r.motion, r.s, z, jnp.full_like(p.h, jnp.inf), no, jnp.int32(0), no)
    return walk._replace(done=jnp.asarray(_most(iterations) == 0))


def _solve(a: Array, b: Array) -> Array:
    return lapack.solve_and_again(a, b)[0]


def advance(iterations: int, p: Problem, w: Walk, solve: Callable[[Array, Array], Array] = _solve) -> Walk:
    """Return the search one step later; it ends with a step that is not finite."""
    z, at = w.z, w.at
    cones = (contact_bound(p, z.gamma), z.c, z.eta, at.contact), (p.bound, z.loss_c, z.loss_eta, at.loss)
    (contact, push, grown), (loss, held, lost) = (_linear(*cone) for cone in cones)
    system = System(p, z, contact, loss)
    f = Free(w.apart, free_pairs(z, w.apart, 0.0), push, grown, held, lost)
    nu = solve(system.matrix(), system.side(w.motion, f))
    change = changes(p, nu)
    ahead, at = moved(z, system.step(f, nu, change), 1.0), moved(at, change, 1.0)
    error = jnp.where(_inside(p, ahead), error_of(p, ahead, residuals(p, ahead, at), _MOTION), jnp.inf)
    z = _on_path(p, ahead, at, _target(w.iterations + 1))
    r = residuals(p, z, at)
    better, count = error < w.error, w.iterations + 1
    best = jax.tree.map(lambda a, b: jnp.where(better, a, b), ahead, w.best)
    within, finite = error <= tolerance(error.dtype), jnp.isfinite(jnp.sum(r.motion))
    ends = (within & w.within) | (error <= _SURE * tolerance(error.dtype)) | (count >= _most(iterations)) | ~finite
    return Walk(z, at, r.motion, r.s, best, jnp.where(better, error, w.error), within, count, ends)


def found_by(w: Walk) -> Found:
    """Return what a search has found; its error is infinite where that is beyond the tolerance."""
    return Found(w.best, jnp.where(w.error <= tolerance(w.error.dtype), w.error, jnp.inf), w.iterations, w.done)


def _most(iterations: int) -> int:
    return min(iterations, MOST)


def _target(step: Array) -> Array | float:
    """Return the products that a step aims at, over those of the problem."""
    fallen = math.log(_LARGE) + math.log(_RATIO) * (step - _PLAIN)
    return jnp.where(step < _PLAIN, 1.0, jnp.exp(jnp.maximum(fallen, 0.0)))


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
