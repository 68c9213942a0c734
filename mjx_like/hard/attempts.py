"""The search, made again where it fails: from rest, then without the friction of contacts.

From rest the products of slacks and impulses begin near their targets. Without friction the conditions are those of a
convex problem, so that bodies end apart whatever kept the searches before.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.hard.interior_point import Found, fails
from mjx_like.hard.problem import Problem, without_friction
from mjx_like.hard.search_anywhere import search_anywhere
from mjx_like.math.batching import of_worlds, whole_batch

Array = jax.Array


def attempts(iterations: int, p: Problem, nu: Array) -> tuple[Found, Array]:
    """Return what is found from a velocity nu, shape (nv,), and whether the searches with friction failed.

    Then the point is that of the problem without friction. Iterations are those of all searches.
    """
    return whole_batch(functools.partial(_batched, iterations))(p, nu)


def _batched(iterations: int, p: Problem, nu: Array) -> tuple[Found, Array]:
    """Return what `attempts` does for a batch of worlds; the search is the body of a loop, and compiled once."""
    search = jax.vmap(functools.partial(search_anywhere, iterations))

    def goes(s: tuple[Found, Array]) -> Array:
        found, tries = s
        return jnp.any(fails(found.error) & (tries < 3))

    def attempt(s: tuple[Found, Array]) -> tuple[Found, Array]:
        found, tries = s
        own = fails(found.error)
        start = jnp.where(tries[:, None] == 1, 0, nu)
        new = search(jax.vmap(without_friction)(p, tries > 1), start, own)
        new = new._replace(iterations=new.iterations + found.iterations)
        return of_worlds(own, new, found), tries + own

    batch = nu.shape[:1]
    shapes = jax.eval_shape(search, p, nu, jax.ShapeDtypeStruct(batch, bool))
    none = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    none = none._replace(error=jnp.full(batch, jnp.inf, nu.dtype))
    found, tries = lax.while_loop(goes, attempt, (none, jnp.zeros(batch, jnp.int32)))
    return found, tries > 2
