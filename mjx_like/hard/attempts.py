"""The search: by Newton's method on a CPU, then by the interior point method, again where that fails.

The latter is made again from rest, where the products of slacks and impulses begin near their targets, then without the
friction of contacts: the conditions are those of a convex problem then, so that bodies end apart whatever kept the
searches before.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.hard.interior_point import Found, fails
from mjx_like.hard.newton import Start
from mjx_like.hard.problem import Problem, without_friction
from mjx_like.hard.search import near_search
from mjx_like.hard.search_anywhere import search_anywhere
from mjx_like.math.batching import of_worlds, whole_batch
from mjx_like.math.platform import on_cpu

Array = jax.Array


def attempts(iterations: int, p: Problem, nu: Array, start: Start) -> tuple[Found, Array]:
    """Return what is found, and whether the searches with friction failed.

    Then the point is that of the problem without friction. Iterations are those of all searches.
    nu: velocity, shape (nv,), that the interior point method begins with; start: what Newton's method begins with.
    """
    return whole_batch(functools.partial(_batched, iterations))(p, nu, start)


def _batched(iterations: int, p: Problem, nu: Array, start: Start) -> tuple[Found, Array]:
    """Return what `attempts` does for a batch of worlds; the search is the body of a loop, and compiled once."""
    search = jax.vmap(functools.partial(search_anywhere, iterations))

    def goes(s: tuple[Found, Array]) -> Array:
        found, tries = s
        return jnp.any(fails(found.error) & (tries < 3))

    def attempt(s: tuple[Found, Array]) -> tuple[Found, Array]:
        found, tries = s
        own = fails(found.error)
        begin = jnp.where(tries[:, None] == 1, 0, nu)
        new = search(jax.vmap(without_friction)(p, tries > 1), begin, own)
        new = new._replace(iterations=new.iterations + found.iterations)
        return of_worlds(own, new, found), tries + own

    batch = nu.shape[:1]
    if on_cpu():
        first = jax.vmap(functools.partial(near_search, iterations))(p, start)
    else:
        shapes = jax.eval_shape(search, p, nu, jax.ShapeDtypeStruct(batch, bool))
        first = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
        first = first._replace(error=jnp.full(batch, jnp.inf, nu.dtype))
    found, tries = lax.while_loop(goes, attempt, (first, jnp.zeros(batch, jnp.int32)))
    return found, tries > 2
