"""The primal-dual interior point method of one world: a step along the central path, from a start.

Each step solves one system twice: toward products of zero, which says how far to go and what the changes add to the
conditions, and toward the target chosen by that. What they add counts as much as there was room for the first step; at
the target of the problem itself it does not count, for that would lead off the central path.
Source: Dojo paper, section on the solver; Mehrotra 1992; Nesterov and Todd 1997.
"""

import functools
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from mjx_like.hard.boundary import room
from mjx_like.hard.components import Parts, added, dot, parts, scaled
from mjx_like.hard.elimination import Free, System, free_pairs
from mjx_like.hard.problem import (
    Point,
    Problem,
    Rates,
    Residuals,
    changes,
    contact_bound,
    products,
    rates,
    residuals,
    sliding_friction,
)
from mjx_like.hard.scaling import Scaling
from mjx_like.math import lapack, safe

Array = jax.Array
T = TypeVar("T")

TO_BOUNDARY = 0.9  # share of the way to the boundary that a step takes
LEFT_BEHIND = 0.91  # a contact stops a step that takes more of its way; more than the above by more than rounding
SHORT = 0.2  # of a step, in its own length
RELEASED = 60  # products of a cone that stops short steps, over the mean
_LEAST_START = 0.3  # slack at the start, over the distance that the pair can come in a step
_UNCONVERGED = 1e-3  # error that counts, in float64
NOISE = 16  # rounding errors
LOOSER = 30  # products of cones may be as much further from their targets, which in float32 they are


class Search(NamedTuple):
    """Where a search stands; error: the largest residual over its natural size."""

    z: Point
    at: Rates  # of z
    motion: Array  # residual of z
    apart: Array  # likewise of its slacks
    count: Array  # of pairs and cones in use, 1 if there are none
    best: Point  # of all so far, so that a search that fails ends no worse than it began
    error: Array  # of the best
    iterations: Array
    done: Array


class Found(NamedTuple):
    """What a search found; error and iterations as in `Search`."""

    best: Point
    error: Array
    iterations: Array
    failed: Array  # whether that is of the problem without the friction of contacts


def found_by(s: Search) -> Found:
    """Return what a search has found so far."""
    return Found(s.best, s.error, s.iterations, jnp.asarray(False))


def tolerance(dtype) -> float:
    """Return the error at which a search ends."""
    return 1e-8 if jnp.finfo(dtype).bits > 32 else 1e-2


def fails(error: Array) -> Array:
    """Return whether a search with such an error has not converged."""
    return error > max(tolerance(error.dtype), _UNCONVERGED)


def begin(iterations: int, p: Problem, nu: Array) -> Search:
    """Return the search before the first step, from a velocity nu, shape (nv,)."""
    at = rates(p, nu)
    z = start(p, nu, at)
    r = residuals(p, z, at)
    count = jnp.maximum(sum(jnp.sum(x.used) for x in (p, p.contact, p.loss)), 1)
    begun = Search(z, at, r.motion, r.s, count, z, error_of(p, z, r), jnp.int32(0), jnp.asarray(False))
    return _ended(iterations, begun)


def _ended(iterations: int, at: Search) -> Search:
    return at._replace(done=(at.error <= tolerance(at.error.dtype)) | (at.iterations >= iterations))


def start(p: Problem, nu: Array, at: Rates) -> Point:
    """Return a point whose products have one ratio to their targets, with slacks in proportion to the speed.

    at: `rates` of nu.
    """
    rate = jnp.abs(at.pair) + p.fall
    s = jnp.maximum(jnp.abs(p.distance + p.h * at.pair), _LEAST_START * p.h * rate)
    pushed = _LEAST_START * safe.ratio(p.h * rate, p.gap) * safe.ratio(rate, p.fall)
    slide = jnp.sqrt(dot(at.contact, at.contact)) + jnp.zeros_like(p.contact.k)
    rubbed = safe.ratio(slide * contact_bound(p, safe.ratio(p.k, p.gap)), p.contact.k)
    target = jnp.maximum(jnp.maximum(_mean(p.used, pushed), _mean(p.contact.used, rubbed)), 1.0)
    gamma = safe.ratio(target * p.k, s)
    c, eta = sliding_friction(p.contact, contact_bound(p, gamma), at.contact, target)
    loss_c, loss_eta = sliding_friction(p.loss, p.bound, at.loss, target)
    return Point(nu, s, gamma, c, eta, loss_c, loss_eta)


def _mean(used: Array, x: Array) -> Array:
    return jnp.sum(used * x) / jnp.maximum(jnp.sum(used), 1)


def error_of(p: Problem, z: Point, r: Residuals, motion: float = 1.0) -> Array:
    """Return the largest residual beyond rounding, over its natural size, shape ().

    It is the share by which a product of slack and impulse is wrong, or a thirtieth of that for products of cones.
    """
    noise, bound = NOISE * jnp.finfo(z.nu.dtype).eps, contact_bound(p, z.gamma)
    impulse = jnp.max(jnp.abs(p.b), initial=0) + jnp.max(p.used * jnp.abs(z.gamma), initial=0)
    reach = jnp.abs(p.distance) + p.h * p.J.sizes_times(jnp.abs(z.nu))
    parts = (
        motion * jnp.abs(r.motion) / jnp.maximum(impulse, safe.tiny(impulse)),
        jnp.maximum(jnp.abs(r.s) - noise * reach, 0) / z.s,
        jnp.abs(r.pair) / p.k,
        jnp.maximum(jnp.abs(r.cone) - noise * (bound * z.eta)[:, None], 0) / (LOOSER * p.contact.k[:, None]),
        jnp.maximum(jnp.abs(r.loss) - noise * (p.bound * z.loss_eta)[:, None], 0) / (LOOSER * p.loss.k[:, None]),
    )
    return functools.reduce(jnp.maximum, [jnp.max(x, initial=0) for x in parts])


def advance(iterations: int, p: Problem, s: Search) -> Search:
    """Return the search one step later; a step that is not finite is not made."""
    z, at = s.z, s.at
    contact = Scaling(contact_bound(p, z.gamma), parts(z.c), z.eta, at.contact)
    loss = Scaling(p.bound, parts(z.loss_c), z.loss_eta, at.loss)
    system = System(p, z, contact.linear, loss.linear)

    def free(target, pair, cone, lost) -> Free:
        gamma = free_pairs(z, s.apart, p.used * z.s * z.gamma - target * p.k + pair)
        push, held = _remainder(contact, target * p.contact.k, cone), _remainder(loss, target * p.loss.k, lost)
        return Free(s.apart, gamma, *push, *held)

    f = free(0.0, 0.0, None, None)
    nu, again = lapack.solve_and_again(system.matrix(), system.side(s.motion, f))
    change = changes(p, nu)
    away = system.step(f, nu, change)
    mean, length = _product(p, s.count, z, at), jnp.minimum(1.0, room(p, z, away, at, change).all())
    ahead = _product(p, s.count, moved(z, away, length), moved(at, change, length))
    share = safe.clip(ahead / jnp.maximum(mean, safe.tiny(mean)), 0.0, 1.0)
    target = jnp.maximum(share**3 * mean, 1.0)
    weight = jnp.where(target > 1.0, length, 0.0)
    none, bound = jnp.zeros_like(p.bound), contact_bound(p, away.gamma)
    f = free(
        target,
        weight * away.s * away.gamma,
        scaled(weight, contact.second_order(bound, parts(away.c), away.eta, change.contact)),
        scaled(weight, loss.second_order(none, parts(away.loss_c), away.loss_eta, change.loss)),
    )
    nu = again(system.side(s.motion, f))
    change = changes(p, nu)
    return _stepped(iterations, p, s, *_reached(p, z, system.step(f, nu, change), at, change, mean))


def _stepped(iterations: int, p: Problem, s: Search, z: Point, at: Rates) -> Search:
    """Return the search at a point, if it is finite."""
    r = residuals(p, z, at)
    found = error_of(p, z, r)
    new, old = (z, at, r.motion, r.s), (s.z, s.at, s.motion, s.apart)
    finite, better = jnp.isfinite(found), found < s.error
    best = jax.tree.map(lambda a, b: jnp.where(better, a, b), z, s.best)
    new = jax.tree.map(lambda a, b: jnp.where(finite, a, b), new, old)
    return _ended(iterations, Search(*new, s.count, best, jnp.where(better, found, s.error), s.iterations + 1, s.done))


def _remainder(scaling: Scaling, target: Array, correction: Parts | None) -> tuple[Parts, Array]:
    """Return g and e of `Linear` for products at `target`; correction: of second order, taken off."""
    side = added(scaled(target, scaling.inverse), scaling.toward_zero)
    return scaling.remainder(side if correction is None else added(side, scaled(-1, correction)))


def _reached(p: Problem, z: Point, step: Point, at: Rates, change: Rates, mean: Array) -> tuple[Point, Rates]:
    """Return the point after as much of a step as there is room for, and its rates.

    Where the friction of a few contacts would keep it short, the rest goes on without them, and they take the friction
    that goes with the velocity there, at products that are large enough to be far from their boundary.
    """
    limits = room(p, z, step, at, change)
    whole, others = (jnp.minimum(1.0, TO_BOUNDARY * x) for x in (limits.all(), limits.others))
    length = jnp.maximum(whole, jnp.minimum(others, SHORT))
    new = moved(z, step, length)
    away = jnp.maximum(RELEASED * mean, 1.0)
    at = rates(p, new.nu)
    c, eta = sliding_friction(p.contact, contact_bound(p, new.gamma), at.contact, away)
    stops = LEFT_BEHIND * limits.contacts < length
    return new.replace(c=jnp.where(stops[:, None], c, new.c), eta=jnp.where(stops, eta, new.eta)), at


def moved(z: T, step: T, alpha: Array | float) -> T:
    """Return a point after so much of a step."""
    return jax.tree.map(lambda x, d: x + alpha * d, z, step)


def _product(p: Problem, count: Array, z: Point, at: Rates) -> Array:
    """Return the mean of the products over their targets."""
    used = (p.used, p.contact.used, p.loss.used)
    return sum(jnp.sum(u * x) for u, x in zip(used, products(p, z, at), strict=True)) / count
