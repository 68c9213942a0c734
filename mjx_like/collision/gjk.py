"""Distance of two convex geoms after Gilbert, Johnson and Keerthi: the iterates of MuJoCo's nativeccd, step for step.

Spheres and capsules are first taken as points and segments; where these are apart, that is the answer, grown by the
radii. Otherwise, and for other geoms, the search runs on the full geoms. Both are one loop over one support function,
whose stage is data.

Source: mjc_ccd, gjk in MuJoCo's engine_collision_gjk.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.simplex import dot, nearest
from mjx_like.constants import MINVAL
from mjx_like.geometry.convex import Convex, core, support

Array = jax.Array

FAR = 1e30  # stands for no distance
_CORE, _FULL, _DONE = range(3)  # stages: reduced geoms, full geoms, end


class Corners(NamedTuple):
    """Points of the Minkowski difference: one point of each geom, and its index there (see geometry.convex)."""

    first: Array  # shape (n, 3) [m], world
    second: Array
    index1: Array  # shape (n,)
    index2: Array

    @property
    def points(self) -> Array:
        """The differences, shape (n, 3)."""
        return self.first - self.second

    def put(self, at: Array, new: "Corners") -> "Corners":
        """Return these with row `at` replaced by the only row of `new`."""
        here = jnp.arange(self.index1.shape[0]) == at
        return jax.tree.map(lambda x, y: jnp.where(here[:, None] if x.ndim == 2 else here, y, x), self, new)

    def rows(self, index) -> "Corners":
        """Return the rows of an index array."""
        return jax.tree.map(lambda x: x[index], self)


class Distance(NamedTuple):
    """What the search leaves."""

    dist: Array  # negative where only radii and margins overlap, 0 where the geoms within do, FAR above the cutoff [m]
    first: Array  # nearest points, shape (3,) [m]
    second: Array
    simplex: Corners  # four, `count` of them in use
    count: Array
    apart: Array  # True where a plane separates the full geoms
    reduced: Array  # True where the answer comes from the reduced geoms
    seen: tuple[Array, Array]  # indices of the last support points


class _State(NamedTuple):
    stage: Array
    step: Array
    point: Array  # x, nearest point of the Minkowski difference so far
    length: Array
    before: Array  # length one step earlier
    simplex: Corners
    count: Array
    first: Array
    second: Array
    seen: tuple[Array, Array]
    result: Distance


def support_pair(a: Convex, b: Convex, kinds, direction: Array, seen: tuple[Array, Array]) -> Corners:
    """Return the farthest point of the Minkowski difference in a unit direction, as one row."""
    p = support(a, kinds[0], direction, seen[0])
    q = support(b, kinds[1], -direction, seen[1])
    return Corners(p.point[None], q.point[None], p.index[None], q.index[None])


def distance(a: Convex, b: Convex, kinds, *, tolerance: Array, iterations: int, cutoff: Array,
             discrete: Array) -> Distance:  # fmt: skip
    """Return distance and nearest points, or the simplex around the origin that the penetration starts from.

    Args:
      a, b: the geoms; no derivative passes.
      kinds: the types that each can have, a pair of tuples.
      tolerance: opt.ccd_tolerance [m].
      iterations: opt.ccd_iterations.
      cutoff: largest distance of interest [m]; 0 asks for contacts alone.
      discrete: whether both geoms have corners only, which makes the search finite.
    """
    (thin_a, off_a), (thin_b, off_b) = core(a), core(b)
    off = off_a + off_b

    def body(s: _State) -> _State:
        full = s.stage == _FULL
        ga, gb = (jax.tree.map(lambda x, y: jnp.where(full, x, y), p, q) for p, q in ((a, thin_a), (b, thin_b)))
        exact = discrete & (ga.margin == 0) & (gb.margin == 0)
        limit = jnp.where(full, cutoff, cutoff + off)
        new = support_pair(ga, gb, kinds, -s.point / jnp.where(s.length == 0, 1, s.length), s.seen)
        corner = new.points[0]

        lower = dot(s.point, corner)
        short = jnp.where(exact, MINVAL, tolerance)
        over = (s.length < short) | (jnp.abs(s.before - s.length) < MINVAL) | (s.count == 4) | (s.step >= iterations)
        over |= dot(s.point, s.point - corner) < jnp.where(exact, 0, 0.5 * tolerance * tolerance)
        apart = lower > 0
        beyond = ~over & apart & (lower >= limit * s.length)
        dist = jnp.where(beyond, FAR, jnp.where((s.count == 4) & ~apart, 0, s.length))
        count = jnp.where(beyond, 0, s.count)
        found = Distance(dist, s.first, s.second, s.simplex, count, apart, ~full, s.seen)

        grown = s.simplex.put(s.count, new)
        weights = nearest(grown.points, s.count + 1)
        simplex, weights, count = _compact(grown, weights)
        weights = weights[:, None]
        point = jnp.sum(weights * simplex.points, axis=0)
        end = over | beyond
        following = _State(
            jnp.where(end, _DONE, s.stage).astype(jnp.int32),
            s.step + 1,
            point,
            jnp.sqrt(dot(point, point)),
            s.length,
            simplex,
            count,
            jnp.sum(weights * simplex.first, axis=0),
            jnp.sum(weights * simplex.second, axis=0),
            (new.index1[0], new.index2[0]),
            jax.tree.map(lambda x, y: jnp.where(end, x, y), found, s.result),
        )
        again = end & ~full & ~(dist > tolerance)
        return jax.tree.map(lambda x, y: jnp.where(again, x, y), _start(a, b, s.seen), following)

    start = _start(a, b, (jnp.full((), -1, jnp.int32),) * 2)
    start = start._replace(stage=jnp.where(off > 0, _CORE, _FULL).astype(jnp.int32))
    found = lax.while_loop(lambda s: s.stage != _DONE, body, start).result
    return _grow(found, off_a, off_b, cutoff)


def _start(a: Convex, b: Convex, seen: tuple[Array, Array]) -> _State:
    point = a.center - b.center
    length = jnp.sqrt(dot(point, point))
    zero, rows, index = jnp.zeros((), jnp.int32), jnp.zeros((4, 3), point.dtype), jnp.zeros(4, jnp.int32)
    none, yes = Corners(rows, rows, index, index), jnp.ones((), bool)
    empty = Distance(jnp.full_like(length, FAR), a.center, b.center, none, zero, yes, yes, seen)
    full = jnp.full((), _FULL, jnp.int32)
    return _State(full, zero, point, length, jnp.zeros_like(length), none, zero, a.center, b.center, seen, empty)


def _grow(found: Distance, off_a: Array, off_b: Array, cutoff: Array) -> Distance:
    """Return the result for full geoms where it was found for reduced ones.  Source: inflate."""
    step = found.second - found.first
    length = jnp.sqrt(jnp.sum(step * step))
    step = jnp.where(length < MINVAL, np.arange(3) == 0, step / jnp.where(length < MINVAL, 1, length))
    grown = found.reduced & (found.dist < FAR)
    dist = jnp.where(grown, found.dist - (off_a + off_b), found.dist)
    return found._replace(
        dist=jnp.where(grown & (dist > cutoff), FAR, dist),
        first=jnp.where(grown, found.first + off_a * step, found.first),
        second=jnp.where(grown, found.second - off_b * step, found.second),
    )


def _compact(simplex: Corners, weights: Array) -> tuple[Corners, Array, Array]:
    """Return the corners of non-zero weight first, in order, their weights, and how many they are."""
    used = weights != 0
    place = jnp.stack([jnp.sum(used[:k], dtype=jnp.int32) for k in range(4)])
    chosen = (place == np.arange(4)[:, None]) & used

    def moved(x: Array) -> Array:
        mask = chosen[:, :, None] if x.ndim == 2 else chosen
        return jnp.sum(jnp.where(mask, x[None], 0), axis=1).astype(x.dtype)

    return jax.tree.map(moved, simplex), moved(weights), jnp.sum(used, dtype=jnp.int32)
