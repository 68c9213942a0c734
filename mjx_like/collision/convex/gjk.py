"""Distance of two convex geoms after Gilbert, Johnson and Keerthi: the iterates of MuJoCo's nativeccd, step for step.

Spheres and capsules are first taken as points and segments; where these are apart, that is the answer, grown by the
radii. Otherwise, and for other geoms, the search runs on the full geoms. Both are one loop over one support function,
whose stage is data.

Source: mjc_ccd, gjk in MuJoCo's engine_collision_gjk.
"""

import functools
import operator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex.simplex import dot, mean, nearest
from mjx_like.constants import MINVAL
from mjx_like.geometry.convex import CORNERED, ROUND, Pair, core, supports
from mjx_like.math import unfused
from mjx_like.math.select import rows
from mjx_like.types.enums import GeomType

Array = jax.Array

FAR = 1e30  # stands for no distance
_POINTED = (*ROUND, *CORNERED, GeomType.HFIELD)  # without radius and margin, they have corners alone
_CORE, _FULL, _DONE = range(3)  # stages: reduced geoms, full geoms, end


class Corners(NamedTuple):
    """Points of the Minkowski difference: one point of each geom, and its index there (see geometry.convex).

    All in one array, so that few instructions move them; indices are exact in float32 below 2^24.
    """

    table: Array  # shape (..., 8): both points and both indices

    @property
    def first(self) -> Array:
        """The points of the first geom, shape (..., 3) [m], world."""
        return self.table[..., :3]

    @property
    def second(self) -> Array:
        """Those of the second geom."""
        return self.table[..., 3:6]

    @property
    def points(self) -> Array:
        """The differences, shape (..., 3)."""
        return self.first - self.second

    @property
    def index(self) -> Array:
        """The indices in both geoms, shape (..., 2)."""
        return self.table[..., 6:].astype(jnp.int32)

    def put(self, at: Array, new: "Corners") -> "Corners":
        """Return these with row `at` replaced by `new`."""
        return Corners(jnp.where((np.arange(self.table.shape[0]) == at)[:, None], new.table, self.table))

    def rows(self, index) -> "Corners":
        """Return the rows of an index array, all in bounds."""
        return Corners(rows(self.table, index))


class Distance(NamedTuple):
    """What the search leaves."""

    dist: Array  # negative where only radii and margins overlap, 0 where the geoms within do, FAR above the cutoff [m]
    first: Array  # nearest points, shape (3,) [m]
    second: Array
    simplex: Corners  # four, `count` of them in use
    count: Array
    apart: Array  # True where a plane separates the full geoms
    reduced: Array  # True where the answer comes from the reduced geoms
    seen: Array  # indices of the last support points, shape (2,)


class _State(NamedTuple):
    stage: Array
    step: Array
    point: Array  # nearest point of the Minkowski difference so far, shape (3,)
    before: Array  # its length one step earlier
    found: Distance  # so far; dist is the length of the point


def support_pair(geoms: Pair, kinds, direction: Array, seen: Array, middle: bool = False) -> Corners:
    """Return the farthest point of the Minkowski difference in a unit direction; the table has shape (8,)."""
    found = supports(geoms, kinds, jnp.stack([direction, -direction]), seen, middle)
    return Corners(jnp.concatenate([found.point.ravel(), found.index.astype(found.point.dtype)]))


def support_pairs(geoms: Pair, kinds, directions: Array, seen: Array) -> Corners:
    """Return the farthest points in unit directions, shape (k, 3); in float64 each knows the corners of the one before.

    Of corners of a mesh that are equally far, MuJoCo keeps the last that it found.
    """
    if directions.dtype == np.float64 and any(GeomType.MESH in own for own in kinds):

        def onward(seen, direction):
            found = support_pair(geoms, kinds, direction, seen)
            return found.index, found

        return lax.scan(onward, seen, directions)[1]
    return jax.vmap(lambda direction: support_pair(geoms, kinds, direction, seen))(directions)


def distance(geoms: Pair, kinds, *, tolerance: Array, iterations: int, cutoff: Array, discrete: Array) -> Distance:
    """Return distance and nearest points, or the simplex around the origin that the penetration starts from.

    Args:
      geoms: the geoms; no derivative passes.
      kinds: the types that each can have, a pair of tuples.
      tolerance: opt.ccd_tolerance [m].
      iterations: opt.ccd_iterations.
      cutoff: largest distance of interest [m]; 0 asks for contacts alone.
      discrete: whether both geoms have corners only, which makes the search finite.
    """
    thin, offs = core(geoms)
    off, span = offs[0] + offs[1], _first_guess(geoms)
    pointed = functools.reduce(operator.or_, (geoms.kind == kind for kind in _POINTED))
    finite = jnp.all(pointed) if span.dtype == np.float64 else discrete  # the search on the reduced geoms

    def body(s: _State) -> _State:
        old = s.found
        full = s.stage == _FULL
        now = geoms._replace(size=jnp.where(full, geoms.size, thin.size), margin=jnp.where(full, geoms.margin, 0))
        exact = jnp.where(full, discrete, finite) & jnp.all(now.margin == 0)
        limit = jnp.where(full, cutoff, cutoff + off)
        here, length = s.point, old.dist
        new = support_pair(now, kinds, -here * _inverse(length), old.seen)
        corner = new.points

        lower = dot(here, corner)
        short = jnp.where(exact, MINVAL, tolerance)
        late, stalls = s.step >= iterations, (s.step > 1) & (jnp.abs(s.before - length) < MINVAL)
        over = late | stalls | (length < short) | (old.count == 4)
        over |= dot(here, here - corner) < jnp.where(exact, 0, 0.5 * tolerance * tolerance)
        apart = lower > 0
        beyond = ~over & apart & (lower >= limit * length)
        reached = jnp.where(late, s.before, length)  # MuJoCo takes the length of the last point that it searched from
        dist = jnp.where(beyond, FAR, jnp.where((old.count == 4) & ~apart, 0, reached))
        last = old._replace(dist=dist, count=jnp.where(beyond, 0, old.count), apart=apart, reduced=~full)

        grown = old.simplex.put(old.count, new)
        weights, point = nearest(grown.points, old.count + 1)
        simplex, weights, count = _compact(grown, weights)
        both = mean(weights, simplex.table[:, :6])
        onward = Distance(jnp.sqrt(dot(point, point)), both[:3], both[3:], simplex, count, apart, ~full, new.index)

        end = over | beyond
        again = end & ~full & ~(dist > tolerance)
        fresh = _start(geoms, span, old.seen)
        return _State(
            jnp.where(again, _FULL, jnp.where(end, _DONE, s.stage)).astype(jnp.int32),
            jnp.where(again, 0, s.step + 1),
            jnp.where(again, span, point),
            jnp.where(again, 0, length),
            jax.tree.map(lambda x, y, z: jnp.where(again, z, jnp.where(end, y, x)), onward, last, fresh),
        )

    stage = jnp.where(off > 0, _CORE, _FULL).astype(jnp.int32)
    begin = _start(geoms, span, jnp.full(2, -1, jnp.int32))
    start = _State(stage, jnp.zeros((), jnp.int32), span, jnp.zeros_like(begin.dist), begin)
    found = lax.while_loop(lambda s: s.stage != _DONE, body, start).found
    return _grow(found, offs, cutoff)


def _inverse(length: Array) -> Array:
    """Return 1 / length, or what is finite where that is zero."""
    return unfused.rounded(1 / jnp.where(length == 0, 1, length))


def _first_guess(geoms: Pair) -> Array:
    """Return the difference of the centres, shape (3,), or the first unit vector where they coincide."""
    span = geoms.center[0] - geoms.center[1]
    return jnp.where(dot(span, span) < MINVAL * MINVAL, np.arange(3) == 0, span)


def _start(geoms: Pair, span: Array, seen: Array) -> Distance:
    first, second = geoms.center
    none, yes = Corners(jnp.zeros((4, 8), span.dtype)), jnp.ones((), bool)
    return Distance(jnp.sqrt(dot(span, span)), first, second, none, jnp.zeros((), jnp.int32), yes, yes, seen)


def _grow(found: Distance, offs: Array, cutoff: Array) -> Distance:
    """Return the result for full geoms where it was found for reduced ones.  Source: inflate."""
    step = found.second - found.first
    length = jnp.sqrt(dot(step, step))
    step = jnp.where(length < MINVAL, np.arange(3) == 0, step * _inverse(length))
    grown = found.reduced & (found.dist < FAR)
    dist = jnp.where(grown, found.dist - (offs[0] + offs[1]), found.dist)
    return found._replace(
        dist=jnp.where(grown & (dist > cutoff), FAR, dist),
        first=jnp.where(grown, found.first + unfused.product(offs[0], step), found.first),
        second=jnp.where(grown, found.second - unfused.product(offs[1], step), found.second),
    )


def _compact(simplex: Corners, weights: Array) -> tuple[Corners, Array, Array]:
    """Return the corners of non-zero weight first, in order, their weights, and how many they are."""
    used = weights != 0
    rank = jnp.stack([jnp.sum(used[:k], dtype=jnp.int32) for k in range(4)])
    chosen = (rank == np.arange(4)[:, None]) & used
    table = jnp.concatenate([simplex.table, weights[:, None]], axis=1)
    table = jnp.sum(jnp.where(chosen[:, :, None], table, 0), axis=1)
    return Corners(table[:, :8]), table[:, 8], jnp.sum(used, dtype=jnp.int32)
