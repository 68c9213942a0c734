"""The search, by Newton's method on a CPU, else by the interior point method, and again where it fails.

Newton's method makes its trials itself. A search by the interior point method is made again from rest, then without the
friction of contacts: the conditions are those of a convex problem then, so that bodies end apart whatever kept the
searches before.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.hard.interior_point import Found, fails
from mjx_like.hard.newton import Start
from mjx_like.hard.problem import Point, Problem, without_friction
from mjx_like.hard.search import near_search
from mjx_like.hard.search_anywhere import search_anywhere
from mjx_like.math.batching import of_worlds, whole_batch
from mjx_like.math.platform import on_cpu

Array = jax.Array

_SEARCHES = 3  # by the interior point method, the last without friction


def attempts(iterations: int, p: Problem, nu: Array, start: Start) -> Found:
    """Return what is found; where the searches with friction failed, the point of the problem without friction.

    Iterations are those of all searches.
    nu: velocity, shape (nv,), that the interior point method begins with; start: what Newton's method begins with.
    """
    if on_cpu():
        return near_search(iterations, p, start)
    return whole_batch(functools.partial(_batched, iterations))(p, nu)


def _batched(iterations: int, p: Problem, nu: Array) -> Found:
    """Return the searches of a batch by the interior point method, the body of a loop, so that it is compiled once."""

    def goes(s: tuple[Found, Array]) -> Array:
        found, tries = s
        return jnp.any(fails(found.error) & (tries < _SEARCHES))

    def attempt(s: tuple[Found, Array]) -> tuple[Found, Array]:
        found, tries = s
        own, last = fails(found.error), tries == _SEARCHES - 1
        begin = jnp.where(tries[:, None] == 1, 0, nu)
        search = jax.vmap(functools.partial(search_anywhere, iterations))
        new = search(jax.vmap(without_friction)(p, last), begin, own)
        new = new._replace(iterations=new.iterations + found.iterations, failed=last)
        return of_worlds(own, new, found), tries + own

    tries = jnp.zeros(nu.shape[:1], jnp.int32)
    point = Point(nu, p.k, p.k, p.contact.J[..., 0], p.contact.k, p.loss.J[..., 0], p.bound)  # any, of these shapes
    none = Found(point, jnp.full_like(p.h, jnp.inf), tries, tries > 0)
    return lax.while_loop(goes, attempt, (none, tries))[0]
