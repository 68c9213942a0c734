"""The search of a batch: each pass advances a lot of the worlds that are not done, with the cones that they use."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.hard.interior_point import Found, advance, begin, found_by
from mjx_like.hard.problem import Point, Problem, contact_bound
from mjx_like.math.batching import whole_batch, with_capacity
from mjx_like.math.gauss_jordan import solve_and_again
from mjx_like.math.lanes import in_lanes
from mjx_like.math.lots import advanced, lot_of

Array = jax.Array

_UNIT = 8  # cones
_MOST_IN_LANES = 16  # dofs; with more, what a group works on leaves the cache
# of all cones over those of a capacity; each more takes a third longer to compile where searches are in lanes
_LEAST_GAIN, _LEAST_GAIN_IN_LANES = 1.5, 2.5


def search(iterations: int, p: Problem, nu: Array) -> Found:
    """Return the point of the central path, from a velocity nu, as far as the iterations go."""

    def batched(p: Problem, nu: Array) -> Found:
        return with_capacity(_capacities(p), _need(p), functools.partial(_sized, iterations), p, nu)

    return whole_batch(batched)(p, nu)


def _capacities(p: Problem) -> tuple[int, ...]:
    """Return the numbers of cones to choose from: about a third of them, and all; each is a program of its own."""
    most = p.contact.used.shape[-1]
    some = _UNIT * -(-most // (3 * _UNIT))
    least = _LEAST_GAIN_IN_LANES if p.b.shape[-1] <= _MOST_IN_LANES else _LEAST_GAIN
    return (some, most) if least * some < most else (most,)


def _need(p: Problem) -> Array:
    """Return how many cones of each world are in use, shape (batch,); they stand first."""
    pairs = jax.vmap(contact_bound)(p, p.used)
    return jnp.max(jnp.where(pairs > 0, jnp.arange(1, pairs.shape[1] + 1), 0), axis=1, initial=0)


def _sized(iterations: int, size: int, p: Problem, nu: Array) -> Found:
    """Return the searches of a batch of worlds, none of which uses more than `size` cones."""
    count = p.contact.used.shape[1]
    p = jax.vmap(functools.partial(_cut, size))(p)
    found = _in_lanes(iterations, p, nu)
    if found is None:
        first = jax.vmap(functools.partial(begin, iterations))(p, nu)
        found = found_by(advanced(jax.vmap(functools.partial(advance, iterations)), p, first, lot_of(*nu.shape)))
    return found._replace(best=jax.vmap(functools.partial(_widened, count - size))(found.best))


def _in_lanes(iterations: int, p: Problem, nu: Array) -> Found | None:
    """Return the searches where groups of worlds are one kernel each, else None."""

    def one(p: Problem, nu: Array) -> Found:
        step = functools.partial(advance, iterations, p, solve_and_again=solve_and_again)
        return found_by(lax.while_loop(lambda s: ~s.done, step, begin(iterations, p, nu)))

    return in_lanes(one, p, nu) if nu.shape[1] <= _MOST_IN_LANES else None


def _cut(size: int, p: Problem) -> Problem:
    """Return the problem with the first cones."""
    lost = p.contact.used.shape[0] - size
    pairs = {name: _first(getattr(p, name), lost) for name in ("distance", "k", "used", "fall", "gap")}
    return p.replace(J=p.J.cut(lost), contact=jax.tree.map(lambda x: _first(x, lost), p.contact), **pairs)


def _first(x: Array, lost: int) -> Array:
    return x[: x.shape[0] - lost]


def _widened(more: int, z: Point) -> Point:
    """Return the point with more cones, that are not in use, at the solution of their conditions."""
    c = jnp.pad(z.c, ((0, more), (0, 0)))
    return z.replace(c=c, **{k: jnp.pad(getattr(z, k), (0, more), constant_values=1) for k in ("s", "gamma", "eta")})
