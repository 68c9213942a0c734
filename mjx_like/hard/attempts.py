"""The search, by Newton's method on a CPU, else by the interior point method, and again where it fails.

It is made again from rest, where the products of slacks and impulses begin near their targets or, by Newton's method,
far above them, then without the friction of contacts: the conditions are those of a convex problem then, so that bodies
end apart whatever kept the searches before.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.hard.interior_point import Found, fails
from mjx_like.hard.newton import TRIALS, Start, without_impulses
from mjx_like.hard.problem import Point, Problem, without_friction
from mjx_like.hard.search import near_search
from mjx_like.hard.search_anywhere import search_anywhere
from mjx_like.math.batching import of_worlds, whole_batch
from mjx_like.math.platform import on_cpu

Array = jax.Array

_ANYWHERE = 3  # searches by the interior point method, the last without friction


def attempts(iterations: int, p: Problem, nu: Array, start: Start) -> tuple[Found, Array]:
    """Return what is found, and whether the searches with friction failed.

    Then the point is that of the problem without friction. Iterations are those of all searches.
    nu: velocity, shape (nv,), that the interior point method begins with; start: what Newton's method begins with.
    """
    return whole_batch(functools.partial(_batched, iterations))(p, nu, start)


def _batched(iterations: int, p: Problem, nu: Array, start: Start) -> tuple[Found, Array]:
    """Return what `attempts` does for a batch of worlds; the search is the body of a loop, and compiled once."""
    method, trials = (_near, TRIALS) if on_cpu() else (_anywhere, _ANYWHERE)

    def goes(s: tuple[Found, Array]) -> Array:
        found, tries = s
        return jnp.any(fails(found.error) & (tries < trials))

    def attempt(s: tuple[Found, Array]) -> tuple[Found, Array]:
        found, tries = s
        own = fails(found.error)
        new = method(iterations, jax.vmap(without_friction)(p, tries >= trials - 1), nu, start, tries, own)
        new = new._replace(iterations=new.iterations + found.iterations)
        return of_worlds(own, new, found), tries + own

    tries = jnp.zeros(nu.shape[:1], jnp.int32)
    point = Point(nu, p.k, start.gamma, start.c, p.contact.k, start.loss_c, p.bound)  # any, of these shapes
    none = Found(point, jnp.full_like(p.h, jnp.inf), tries, tries > 0)
    found, tries = lax.while_loop(goes, attempt, (none, tries))
    return found, tries > trials - 1


def _near(iterations: int, p: Problem, nu: Array, start: Start, tries: Array, wanted: Array) -> Found:
    """Return the searches of a batch by Newton's method; tries: before these, of each world."""
    rest = jax.vmap(without_impulses)(p, jnp.zeros_like(nu), tries)
    return jax.vmap(functools.partial(near_search, iterations))(p, of_worlds(tries > 0, rest, start), wanted)


def _anywhere(iterations: int, p: Problem, nu: Array, start: Start, tries: Array, wanted: Array) -> Found:
    """Return them by the interior point method."""
    begin = jnp.where(tries[:, None] == 1, 0, nu)
    return jax.vmap(functools.partial(search_anywhere, iterations))(p, begin, wanted)
