"""Geoms against signed distance fields: points where both distances are small, by descent from fixed points.

Each starts where the boxes of both geoms overlap, descends to where both are deep, and takes one step towards the
surface that is as far from one as from the other. The way there has no derivative: what is found is held in both geoms.
Source: mjc_SDF in MuJoCo's engine_collision_sdf.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.shape import Point, Shape
from mjx_like.constants import MAXVAL, MINVAL
from mjx_like.geometry.signed_distance import Field, field, held
from mjx_like.math import safe
from mjx_like.math import vector as v
from mjx_like.math.select import take
from mjx_like.types.model import Model
from mjx_like.types.plans import PairGroup

Array = jax.Array

_SHRINK = 0.1  # share of the descent that a step must reach
_SHORTEST = 1e-4  # factor of the gradient below which a step is taken in any case


class _Pair(NamedTuple):
    """Both fields of pairs of geoms; points are in the frame of the second."""

    first: Field
    second: Field
    axes: tuple[v.Vector, v.Vector, v.Vector]  # of the second frame in the first
    offset: v.Vector


def sdf_points(m: Model, group: PairGroup, a: Shape, b: Shape) -> Point:
    """Return the points of pairs whose second geom is a signed distance field; components have shape (slots, n).

    group: the pairs, of one pair of types; as many slots as option sdf_initpoints says.
    """
    geoms, stopped = (group.geom1, group.geom2), lax.stop_gradient((a, b))
    fields, still = (
        [field(model, k, g, s.size) for k, g, s in zip(group.types, geoms, shapes, strict=True)]
        for model, shapes in ((m, (a, b)), (held(m), stopped))
    )
    still = _pair(*still, *stopped)
    boxes = [take(lax.stop_gradient(m.geom_aabb), geom) for geom in (group.geom1, group.geom2)]
    start, overlap = _starts(still, boxes, group.slots)
    point, dist = _descend(still, start, m.flags.sdf_iterations)
    valid = overlap & (dist <= 0)
    valid &= ~known(point, valid)
    point = v.select(valid, point, tuple(jnp.zeros_like(x) for x in point))

    midway = v.scale(v.add(_world(a, _moved(still, point)), _world(b, point)), 0.5)
    x, y = (v.project(g.axes, v.sub(midway, g.pos)) for g in (b, a))
    inward, outward = (v.combine(g.axes, f.gradient(p)) for g, f, p in ((b, fields[1], x), (a, fields[0], y)))
    steep, rise = (v.norm(lax.stop_gradient(g)) for g in (inward, outward))
    share = safe.divide(rise, rise + steep, 0.5)
    moving = share * fields[1].distance(x) + (1 - share) * fields[0].distance(y)
    dist = jnp.where(valid, dist + moving - lax.stop_gradient(moving), 1)
    normal = v.normalize(v.sub(v.normalize(outward)[0], v.normalize(inward)[0]))[0]
    return Point(dist, v.along(midway, normal, 0.5 * dist), normal, valid)


def _pair(first: Field, second: Field, a: Shape, b: Shape) -> _Pair:
    axes = tuple(v.project(a.axes, axis) for axis in b.axes)
    return _Pair(first, second, axes, v.project(a.axes, v.sub(b.pos, a.pos)))


def _moved(pair: _Pair, x: v.Vector) -> v.Vector:
    """Return points of the second frame in the first."""
    return v.add(v.combine(pair.axes, x), pair.offset)


def _world(shape: Shape, x: v.Vector) -> v.Vector:
    return v.add(shape.pos, v.combine(shape.axes, x))


def _both(pair: _Pair, x: v.Vector) -> tuple[Array, Array]:
    """Return the distances to the second and the first geom."""
    return pair.second.distance(x), pair.first.distance(_moved(pair, x))


def _objective(pair: _Pair, x: v.Vector, last: Array) -> Array:
    """Return the sum of both distances and the size of the larger; in the last step, the larger."""
    near, far = _both(pair, x)
    larger = jnp.maximum(near, far)
    return jnp.where(last, larger, near + far + jnp.abs(larger))


def _ascent(pair: _Pair, x: v.Vector, last: Array) -> tuple[v.Vector, Array]:
    """Return the gradient of the objective, and the objective."""
    near, far = _both(pair, x)
    p, q = pair.second.gradient(x), v.project(pair.axes, pair.first.gradient(_moved(pair, x)))
    larger, steeper = jnp.maximum(near, far), v.select(near > far, p, q)
    total = v.along(v.add(p, q), steeper, jnp.where(larger > 0, 1, -1))
    return v.select(last, steeper, total), jnp.where(last, larger, near + far + jnp.abs(larger))


def _descend(pair: _Pair, x: v.Vector, steps: int) -> tuple[v.Vector, Array]:
    """Return points after steepest descent with backtracking, and the larger distance there.

    After some steps one that finds no improvement stays where it is, until the last step, which all take; one without
    gradient has value MAXVAL.
    """

    def step(count, state):
        x, _, done = state
        last = count == steps
        done = done & ~last
        slope, before = _ascent(pair, x, last)
        size = jnp.maximum(jnp.maximum(jnp.abs(slope[0]), jnp.abs(slope[1])), jnp.abs(slope[2]))
        lost = ~(size <= MAXVAL)
        slope = v.select(lost | done, tuple(jnp.zeros_like(g) for g in slope), slope)
        square = v.dot(slope, slope)

        def shorten(trial):
            length, _, searching = trial
            length = jnp.where(searching, 0.5 * length, length)
            value = _objective(pair, v.along(x, slope, -length), last)
            return length, value, searching & (length > _SHORTEST) & (value - before > -_SHRINK * length * square)

        begin = jnp.full_like(before, 2), before, ~(lost | done)
        length, value, _ = lax.while_loop(lambda t: jnp.any(t[2]), shorten, begin)
        worse = before < value
        length, value = jnp.where(worse, 0, length), jnp.where(worse, before, value)
        return v.along(x, slope, -length), jnp.where(lost, MAXVAL, value), done | lost | worse

    none = jnp.full(x[0].shape, MAXVAL, x[0].dtype)
    return lax.fori_loop(0, steps + 1, step, (x, none, jnp.zeros(x[0].shape, bool)))[:2]


def _starts(pair: _Pair, boxes: list[Array], count: int) -> tuple[v.Vector, Array]:
    """Return `count` points in the overlap of both boxes in the second frame, and whether there is an overlap.

    boxes: center and half sizes of the geoms in their frames, shape (n, 6).
    """
    first, second = (tuple(v.unpack(box[:, 3 * k : 3 * k + 3]) for k in (0, 1)) for box in boxes)
    middle = _moved(pair, second[0])
    half = tuple(sum(jnp.abs(axis[i]) * s for axis, s in zip(pair.axes, second[1], strict=True)) for i in range(3))
    low = tuple(jnp.maximum(c - s, d - h) for c, s, d, h in zip(*first, middle, half, strict=True))
    high = tuple(jnp.minimum(c + s, d + h) for c, s, d, h in zip(*first, middle, half, strict=True))
    overlap = (high[0] >= low[0]) & (high[1] >= low[1]) & (high[2] >= low[2])
    midway = tuple(
        a + (b - a) * np.array([halton(i, base) for i in range(count)], a.dtype)[:, None]
        for a, b, base in zip(low, high, (2, 3, 5), strict=True)
    )
    return v.project(pair.axes, v.sub(midway, pair.offset)), overlap


def halton(index: int, base: int) -> float:
    """Return an element of the Halton sequence.  Source: mju_Halton."""
    value, share = 0.0, 1.0 / base
    while index:
        value += share * (index % base)
        index, share = index // base, share / base
    return value


def known(x: v.Vector, valid: Array) -> Array:
    """Return which points, shape (slots, n), an earlier valid one repeats."""
    square = sum((c[:, None] - c[None]) ** 2 for c in x)
    earlier = np.tril(np.ones((x[0].shape[0],) * 2, bool), -1)[..., None]
    return jnp.any((square < MINVAL * MINVAL) & earlier & valid[None], axis=1)
