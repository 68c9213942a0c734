"""The primal-dual interior point method of one world: a bounded number of steps along the central path.

Each step solves one system twice: toward products of zero, which says how far to go and what the changes add to the
conditions, and toward the target chosen by that. At the target of the problem itself nothing is added, for that would
lead off the central path.
Source: Dojo paper, section on the solver; Mehrotra 1992; Nesterov and Todd 1997.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.hard.elimination import Free, System, free_pairs
from mjx_like.hard.problem import Cones, Point, Problem, contact_bound, friction, products, residuals, times
from mjx_like.hard.scaling import Scaling
from mjx_like.math import lapack, safe

Array = jax.Array

_TO_BOUNDARY = 0.9  # share of the way to the boundary that a step takes
_LEAST_START = 0.3  # slack at the start, over the distance that the pair can come in a step
_FAR = 1e6  # of a step, in its own length
_NOISE = 16  # rounding errors
_LOOSER = 30  # products of cones may be as much further from their targets, which in float32 they are


class Search(NamedTuple):
    """Where a search stands; error: the largest residual over its natural size."""

    z: Point
    error: Array
    iterations: Array


def tolerance(dtype) -> float:
    """Return the error at which a search ends."""
    return 1e-8 if jnp.finfo(dtype).bits > 32 else 1e-2


def search(iterations: int, p: Problem, nu: Array) -> Search:
    """Return the point of the central path, from a velocity nu, as far as the iterations go."""

    def goes(s: Search) -> Array:
        return (s.iterations < iterations) & (s.error > tolerance(nu.dtype))

    first = start(p, nu)
    return lax.while_loop(goes, functools.partial(_advance, p), Search(first, error(p, first), jnp.int32(0)))


def start(p: Problem, nu: Array) -> Point:
    """Return a point whose products have one ratio to their targets, with slacks in proportion to the speed."""
    rate = jnp.abs(times(p.J, nu)) + p.fall
    s = jnp.maximum(jnp.abs(p.distance + p.h * times(p.J, nu)), _LEAST_START * p.h * rate)
    pushed = _LEAST_START * safe.ratio(p.h * rate, p.gap) * safe.ratio(rate, p.fall)
    rubbed = safe.ratio(safe.norm(times(p.contact.J, nu)) * contact_bound(p, safe.ratio(p.k, p.gap)), p.contact.k)
    target = jnp.maximum(jnp.maximum(_mean(p.used, pushed), _mean(p.contact.used, rubbed)), 1.0)
    gamma = safe.ratio(target * p.k, s)
    c, eta = friction(contact_bound(p, gamma), times(p.contact.J, nu), target * p.contact.k)
    loss_c, loss_eta = friction(p.bound, times(p.loss.J, nu), target * p.loss.k)
    return Point(nu, s, gamma, c, eta, loss_c, loss_eta)


def _mean(used: Array, x: Array) -> Array:
    return jnp.sum(used * x) / jnp.maximum(jnp.sum(used), 1)


def error(p: Problem, z: Point) -> Array:
    """Return the largest residual beyond rounding, over its natural size, shape ().

    It is the share by which a product of slack and impulse is wrong, or a thirtieth of that for products of cones.
    """
    r, noise, bound = residuals(p, z), _NOISE * jnp.finfo(z.nu.dtype).eps, contact_bound(p, z.gamma)
    impulse = jnp.max(jnp.abs(p.b), initial=0) + jnp.max(p.used * jnp.abs(z.gamma), initial=0)
    reach = jnp.abs(p.distance) + p.h * jnp.sum(jnp.abs(p.J * z.nu), axis=-1)
    parts = (
        jnp.abs(r.motion) / jnp.maximum(impulse, safe.tiny(impulse)),
        jnp.maximum(jnp.abs(r.s) - noise * reach, 0) / z.s,
        jnp.abs(r.pair) / p.k,
        jnp.maximum(jnp.abs(r.cone) - noise * (bound * z.eta)[:, None], 0) / (_LOOSER * p.contact.k[:, None]),
        jnp.maximum(jnp.abs(r.loss) - noise * (p.bound * z.loss_eta)[:, None], 0) / (_LOOSER * p.loss.k[:, None]),
    )
    return functools.reduce(jnp.maximum, [jnp.max(x, initial=0) for x in parts])


def _advance(p: Problem, at: Search) -> Search:
    """Return the search one step later; a step that is not finite is not made."""
    z, r = at.z, residuals(p, at.z, 0.0)
    slide, loss_slide = times(p.contact.J, z.nu), times(p.loss.J, z.nu)
    contact = Scaling(contact_bound(p, z.gamma), z.c, z.eta, slide)
    loss = Scaling(p.bound, z.loss_c, z.loss_eta, loss_slide)
    system = System(p, z, contact.linear, loss.linear)
    H = system.matrix()

    def direction(target, pair, cone, lost):
        gamma = free_pairs(z, r.s, r.pair - target * p.k + pair)
        push, held = contact.remainder(target * p.contact.k, cone), loss.remainder(target * p.loss.k, lost)
        f = Free(r.s, gamma, *push, *held)
        return system.step(f, lapack.solve_columns(H, system.side(r.motion, f)[:, None])[:, 0])

    away = direction(0.0, 0.0, 0.0, 0.0)
    mean = _product(p, z)
    share = safe.clip(_product(p, _moved(z, away, jnp.minimum(1.0, _longest(p, z, away)))) / mean, 0.0, 1.0)
    target = jnp.maximum(share**3 * mean, 1.0)
    above = (target > 1.0).astype(mean.dtype)
    none, bound = jnp.zeros_like(p.bound), contact_bound(p, away.gamma)
    step = direction(
        target,
        above * away.s * away.gamma,
        above * contact.second_order(bound, away.c, away.eta, times(p.contact.J, away.nu)),
        above * loss.second_order(none, away.loss_c, away.loss_eta, times(p.loss.J, away.nu)),
    )
    new = _moved(z, step, jnp.minimum(1.0, _TO_BOUNDARY * _longest(p, z, step)))
    finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(new)]))
    new = jax.tree.map(lambda a, b: jnp.where(finite, a, b), new, z)
    return Search(new, error(p, new), at.iterations + 1)


def _moved(z: Point, step: Point, alpha: Array) -> Point:
    return jax.tree.map(lambda x, d: x + alpha * d, z, step)


def _product(p: Problem, z: Point) -> Array:
    """Return the mean of the products over their targets."""
    values = products(p, z)
    used = (p.used, p.contact.used, p.loss.used)
    total = sum(jnp.sum(u * x) for u, x in zip(used, values, strict=True))
    return total / jnp.maximum(sum(jnp.sum(u) for u in used), 1)


def _longest(p: Problem, z: Point, d: Point) -> Array:
    """Return how far a step can go, in its own length, until the first pair or cone is at its boundary."""
    none = jnp.zeros_like(p.bound)
    slides, changes = ([times(cones.J, x) for cones in (p.contact, p.loss)] for x in (z.nu, d.nu))
    parts = (
        _to_zero(p.used, z.s, d.s),
        _to_zero(p.used, z.gamma, d.gamma),
        _to_surface(p.contact, contact_bound(p, z.gamma), z.c, contact_bound(p, d.gamma), d.c),
        _to_surface(p.contact, z.eta, slides[0], d.eta, changes[0]),
        _to_surface(p.loss, p.bound, z.loss_c, none, d.loss_c),
        _to_surface(p.loss, z.loss_eta, slides[1], d.loss_eta, changes[1]),
    )
    return functools.reduce(jnp.minimum, [jnp.min(x, initial=_FAR) for x in parts])


def _to_zero(used: Array, x: Array, d: Array) -> Array:
    falls = (used > 0) & (d < 0)
    return jnp.where(falls, -x / jnp.where(falls, d, -1), _FAR)


def _to_surface(cones: Cones, x: Array, rest: Array, d: Array, drest: Array) -> Array:
    """Return the least positive root of the determinant along a step, shape (ncone,)."""
    size = safe.norm(rest)
    constant = jnp.maximum((x - size) * (x + size), 0)
    half, square = x * d - jnp.sum(rest * drest, axis=-1), d * d - jnp.sum(drest * drest, axis=-1)
    discriminant = half * half - square * constant
    below = jnp.sqrt(jnp.maximum(discriminant, 0)) - half
    hits = (cones.used > 0) & (discriminant >= 0) & (below > 0)
    return jnp.where(hits, constant / jnp.where(hits, below, 1), _FAR)
