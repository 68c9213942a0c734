"""The search of a batch: each pass advances a lot of the worlds that are not done, with the cones that they use."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.hard.interior_point import Found, Search, advance, begin, found_by
from mjx_like.hard.problem import Point, Problem, contact_bound
from mjx_like.math.batching import each_with_capacity, whole_batch
from mjx_like.math.gauss_jordan import solve_and_again
from mjx_like.math.lanes import in_lanes
from mjx_like.math.lots import advanced, lot_of

Array = jax.Array

_UNIT = 8  # cones
_MOST_IN_LANES = 16  # dofs; with more, what a group works on leaves the cache
# of all cones over those of a capacity; each more takes a third longer to compile in lanes, an eighth elsewhere
_LEAST_GAIN, _LEAST_GAIN_IN_LANES = 1.5, 2.5


def search(iterations: int, p: Problem, nu: Array, wanted: Array | bool = True) -> Found:
    """Return the point of the central path, from a velocity nu, as far as the iterations go.

    wanted: whether to search at all; else the result is without meaning.
    """

    def batched(p: Problem, nu: Array, wanted: Array) -> Found:
        def sized(size: int, own: Array, p: Problem, nu: Array) -> Found:
            return _sized(iterations, size, own & wanted, p, nu)

        return each_with_capacity(_capacities(p), jnp.where(wanted, _need(p), 0), sized, p, nu)

    return whole_batch(batched)(p, nu, jnp.asarray(wanted))


def _capacities(p: Problem) -> tuple[int, ...]:
    """Return the numbers of cones to choose from, all of them the last; each is a program of its own.

    In lanes there is one more at the most, about a third, else 8 and from there on threefold.
    """
    most = p.contact.used.shape[-1]
    if p.b.shape[-1] <= _MOST_IN_LANES:
        some = _UNIT * -(-most // (3 * _UNIT))
        return (some, most) if _LEAST_GAIN_IN_LANES * some < most else (most,)
    sizes, size = [], _UNIT
    while _LEAST_GAIN * size < most:
        sizes.append(size)
        size *= 3
    return (*sizes, most)


def _need(p: Problem) -> Array:
    """Return how many cones of each world are in use, shape (batch,); they stand first."""
    pairs = jax.vmap(contact_bound)(p, p.used)
    return jnp.max(jnp.where(pairs > 0, jnp.arange(1, pairs.shape[1] + 1), 0), axis=1, initial=0)


def _sized(iterations: int, size: int, own: Array, p: Problem, nu: Array) -> Found:
    """Return the searches of a batch of worlds; those of `own`, shape (batch,), use no more than `size` cones.

    Others are not made.
    """
    count = p.contact.used.shape[1]
    p = jax.vmap(functools.partial(_cut, size))(p)
    found = _in_lanes(iterations, own, p, nu)
    if found is None:
        first = jax.vmap(functools.partial(_begun, iterations))(own, p, nu)
        found = found_by(advanced(jax.vmap(functools.partial(advance, iterations)), p, first, lot_of(*nu.shape)))
    return found._replace(best=jax.vmap(functools.partial(_widened, count - size))(found.best))


def _in_lanes(iterations: int, own: Array, p: Problem, nu: Array) -> Found | None:
    """Return the searches where groups of worlds are one kernel each, else None."""

    def one(own: Array, p: Problem, nu: Array) -> Found:
        step = functools.partial(advance, iterations, p, solve_and_again=solve_and_again)
        return found_by(lax.while_loop(lambda s: ~s.done, step, _begun(iterations, own, p, nu)))

    return in_lanes(one, own, p, nu) if nu.shape[1] <= _MOST_IN_LANES else None


def _begun(iterations: int, own: Array, p: Problem, nu: Array) -> Search:
    """Return the search before the first step, done where it is not to be made."""
    s = begin(iterations, p, nu)
    return s._replace(done=s.done | ~own)


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
