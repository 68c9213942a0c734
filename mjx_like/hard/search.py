"""The search of a batch: each pass advances a lot of the worlds that are not done, with the cones that they use."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.hard import interior_point, newton
from mjx_like.hard.interior_point import Found
from mjx_like.hard.problem import Point, Problem, contact_bound, with_masses
from mjx_like.math import pivots
from mjx_like.math.batching import each_with_capacity, whole_batch
from mjx_like.math.lanes import in_lanes
from mjx_like.math.lots import SMALL, advanced, lot_of

Array = jax.Array

_UNIT = 8  # cones
_LOT = 4  # worlds of large models that a CPU advances at a time: a step of more is faster, but not that of the last
# of all cones over those of a capacity, or it is not worth the time to compile
_LEAST_GAIN, _LEAST_GAIN_IN_LANES = 1.5, 2.5


class _Method(NamedTuple):
    """A way to search, of one world."""

    begin: Callable[[int, Problem, Any], Any]  # (iterations, problem, start) -> where the search stands
    advance: Callable[..., Any]  # (iterations, problem, where it stands) -> the same one step later
    found_by: Callable[[Any], Found]
    cut: Callable[[Any, int], Any]  # (start, cones) -> the start of a problem without so many cones at the end
    # whether it is for a CPU, where groups of worlds of small models are one kernel each, and others are advanced in
    # small lots; then `advance` keeps what a world that is done has found
    on_cpu: bool


_INTERIOR_POINT = _Method(
    interior_point.begin, interior_point.advance, interior_point.found_by, lambda nu, _: nu, on_cpu=False
)
_NEWTON = _Method(newton.begin, newton.advance, newton.found_by, newton.Start.cut, on_cpu=True)


def search(iterations: int, p: Problem, nu: Array, wanted: Array | bool = True) -> Found:
    """Return the point of the central path, from a velocity nu, as far as the iterations go.

    wanted: whether to search at all; else the result is without meaning.
    """
    return _search(_INTERIOR_POINT, iterations, p, nu, wanted)


def near_search(iterations: int, p: Problem, start: newton.Start) -> Found:
    """Return what `search` does, by Newton's method in all its trials; start: what the first begins with."""
    return _search(_NEWTON, iterations, p, start, wanted=True)


def _search(method: _Method, iterations: int, p: Problem, start: Any, wanted: Array | bool) -> Found:
    def batched(p: Problem, start: Any, wanted: Array) -> Found:
        def sized(size: int, own: Array, p: Problem, start: Any) -> Found:
            return _sized(method, iterations, size, own & wanted, p, start)

        return each_with_capacity(_capacities(method, p), jnp.where(wanted, _need(p), 0), sized, p, start)

    return whole_batch(batched)(p, start, jnp.asarray(wanted))


def _capacities(method: _Method, p: Problem) -> tuple[int, ...]:
    """Return the numbers of cones to choose from, all of them the last; each is a program of its own.

    Before it stand 8, 72 and so on; in lanes about a third of all, and nothing where small models are not in lanes.
    """
    most = p.contact.used.shape[-1]
    if p.b.shape[-1] <= SMALL:
        some = _UNIT * -(-most // (3 * _UNIT))
        return (some, most) if method.on_cpu and _LEAST_GAIN_IN_LANES * some < most else (most,)
    sizes, size = [], _UNIT
    while _LEAST_GAIN * size < most:
        sizes.append(size)
        size *= 9
    return (*sizes, most)


def _need(p: Problem) -> Array:
    """Return how many cones of each world are in use, shape (batch,); they stand first."""
    pairs = jax.vmap(contact_bound)(p, p.used)
    return jnp.max(jnp.where(pairs > 0, jnp.arange(1, pairs.shape[1] + 1), 0), axis=1, initial=0)


def _sized(method: _Method, iterations: int, size: int, own: Array, p: Problem, start: Any) -> Found:
    """Return the searches of a batch of worlds; those of `own`, shape (batch,), use no more than `size` cones.

    Others are not made.
    """
    lost = p.contact.used.shape[1] - size
    p, start = jax.vmap(functools.partial(_cut, lost))(p), jax.vmap(lambda x: method.cut(x, lost))(start)
    p = jax.vmap(with_masses)(p) if method.on_cpu else p
    found = _in_lanes(method, iterations, own, p, start) if method.on_cpu else None
    if found is None:
        first = jax.vmap(functools.partial(_begun, method, iterations))(own, p, start)
        step = jax.vmap(functools.partial(method.advance, iterations))
        found = jax.vmap(method.found_by)(advanced(step, p, first, _lot(method, *p.b.shape), holds=method.on_cpu))
    return found._replace(best=jax.vmap(functools.partial(_widened, lost))(found.best))


def _lot(method: _Method, batch: int, dofs: int) -> int:
    """Return how many worlds of a batch are advanced at a time."""
    return _LOT if method.on_cpu and dofs > SMALL else lot_of(batch, dofs)


def _in_lanes(method: _Method, iterations: int, own: Array, p: Problem, start: Any) -> Found | None:
    """Return the searches where groups of worlds are one kernel each, else None."""

    def one(own: Array, p: Problem, start: Any) -> Found:
        step = functools.partial(method.advance, iterations, p, solve=pivots.solve)
        return method.found_by(lax.while_loop(lambda s: ~s.done, step, _begun(method, iterations, own, p, start)))

    return in_lanes(one, own, p, start) if p.b.shape[1] <= SMALL else None


def _begun(method: _Method, iterations: int, own: Array, p: Problem, start: Any) -> Any:
    """Return the search before the first step, done where it is not to be made."""
    s = method.begin(iterations, p, start)
    return s._replace(done=s.done | ~own)


def _cut(lost: int, p: Problem) -> Problem:
    """Return the problem without so many cones at the end."""
    pairs = {name: _first(getattr(p, name), lost) for name in ("distance", "k", "used", "fall", "gap")}
    return p.replace(J=p.J.cut(lost), contact=jax.tree.map(lambda x: _first(x, lost), p.contact), **pairs)


def _first(x: Array, lost: int) -> Array:
    return x[: x.shape[0] - lost]


def _widened(more: int, z: Point) -> Point:
    """Return the point with more cones, that are not in use, at the solution of their conditions."""
    c = jnp.pad(z.c, ((0, more), (0, 0)))
    return z.replace(c=c, **{k: jnp.pad(getattr(z, k), (0, more), constant_values=1) for k in ("s", "gamma", "eta")})
