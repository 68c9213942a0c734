"""Centrally symmetric convex geoms against each other: one routine for every pair without a closed form.

The Minkowski difference of two such geoms is a sum of simple parts: a ball, ellipsoids, disks and segments. The signed
distance is the largest value, over unit directions n, of gap(n) = c.n - sum of the parts' support functions, c leading
from the first centre to the second; n is then the normal. The maximum lies where the gap is smooth, or on its kinks:
on the circle across one segment (an edge touches), where two such circles meet (two edges, or a face), or at the axis
of a disk (a cap). Each case is solved by itself, by Newton steps or directly, and the best one wins.
Any direction gives a lower bound, so a case that does not apply does no harm.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.shape import Point, Shape
from mjx_like.math import linalg, safe
from mjx_like.math import vector as v
from mjx_like.types.enums import GeomType

Array = jax.Array

_STEPS = 40  # Newton steps at most
_WIDEST = 0.5  # longest step [rad]
_SAMPLES = 16  # start directions, on half of the sphere


class Parts(NamedTuple):
    """The Minkowski difference of two geoms, and which of its segments and disks belong to the first."""

    center: v.Vector  # from the first geom to the second
    radius: Array
    ellipsoids: list[tuple[tuple[v.Vector, v.Vector, v.Vector], v.Vector]]  # axes, half sizes
    disks: list[tuple[v.Vector, v.Vector, v.Vector, Array]]  # two axes in the plane, normal, radius
    segments: list[tuple[v.Vector, Array]]  # direction, half length


def _own_parts(kind: GeomType, shape: Shape) -> Parts:
    """Return the parts of one geom, with its position as centre."""
    x, y, z = shape.axes
    zero = jnp.zeros_like(shape.size[0])
    none = Parts(shape.pos, zero, [], [], [])
    if kind == GeomType.SPHERE:
        return none._replace(radius=shape.size[0])
    if kind == GeomType.CAPSULE:
        return none._replace(radius=shape.size[0], segments=[(z, shape.size[1])])
    if kind == GeomType.ELLIPSOID:
        return none._replace(ellipsoids=[(shape.axes, shape.size)])
    if kind == GeomType.CYLINDER:
        return none._replace(disks=[(x, y, z, shape.size[0])], segments=[(z, shape.size[1])])
    return none._replace(segments=list(zip(shape.axes, shape.size, strict=True)))


def kernel(first: GeomType, second: GeomType) -> Callable[[Shape, Shape, Array], list[Point]]:
    """Return the kernel of a pair of types: one point."""
    return lambda a, b, detect: [contact((first, second), a, b)]


def contact(kinds: tuple[GeomType, GeomType], a: Shape, b: Shape) -> Point:
    """Return the contact of two geoms: signed distance, point midway between the surfaces, normal.

    Where the nearest points are not unique, some of them are returned.
    """
    first, second = _own_parts(kinds[0], a), _own_parts(kinds[1], b)
    parts = Parts(v.sub(second.center, first.center), first.radius + second.radius,
                  *(p + q for p, q in zip(first[2:], second[2:], strict=True)))  # fmt: skip
    stopped = lax.stop_gradient(parts)
    rows = _rows(stopped)
    found = _ascend(stopped, rows, _start(stopped, rows))
    fixed = _fixed_normals(parts)
    winner = _winner(stopped, lax.stop_gradient(fixed), found)

    live = _rows(parts)
    free = _step(parts, live, _onto(live, lax.stop_gradient(found)), None)
    chosen = np.arange(fixed[0].shape[0] + found[0].shape[0])[:, None] == winner
    options = (jnp.concatenate([f, q]) for f, q in zip(fixed, free, strict=True))
    return _witness(parts, first, tuple(jnp.sum(jnp.where(chosen, x, 0), axis=0) for x in options))


def _flip(parts: Parts, n: v.Vector) -> v.Vector:
    """Return n or -n, whichever has the larger gap: the one that points to the second geom."""
    return v.scale(n, jnp.where(v.dot(n, parts.center) < 0, -1, 1))


def _level(like: Array) -> float:
    """Return the component of the normal below which it counts as across a segment, or along the axis of a disk."""
    return float(np.sqrt(np.finfo(like.dtype).eps))


def _gap(parts: Parts, n: v.Vector) -> Array:
    """Return the separation along a unit direction."""
    total = v.dot(parts.center, n) - parts.radius
    for axes, size in parts.ellipsoids:
        local = v.project(axes, n)
        total -= v.norm(tuple(s * x for s, x in zip(size, local, strict=True)))
    for x, y, _, radius in parts.disks:
        total -= radius * safe.sqrt(v.dot(x, n) ** 2 + v.dot(y, n) ** 2)
    for direction, half in parts.segments:
        total -= half * jnp.abs(v.dot(direction, n))
    return total


def _smooth_support(parts: Parts, n: v.Vector) -> v.Vector:
    """Return the support point of ball, ellipsoids and disks; the middle of a disk along its normal."""
    total = v.scale(n, parts.radius)
    for axes, size in parts.ellipsoids:
        scaled = tuple(s * x for s, x in zip(size, v.project(axes, n), strict=True))
        unit, _ = v.normalize(scaled)
        total = v.add(total, v.combine(axes, tuple(s * x for s, x in zip(size, unit, strict=True))))
    for x, y, _, radius in parts.disks:
        p, q = v.dot(x, n), v.dot(y, n)
        length = safe.sqrt(p * p + q * q)
        share = jnp.where(length < _level(length), 0, safe.divide(radius, length))
        total = v.along(v.along(total, x, share * p), y, share * q)
    return total


def _bend(parts: Parts, n: v.Vector, t1: v.Vector, t2: v.Vector) -> tuple[Array, Array, Array]:
    """Return the second derivatives (11, 12, 22) of the support function along two tangents."""
    out = [jnp.broadcast_to(parts.radius, n[0].shape)] * 3
    out[1] = jnp.zeros_like(out[1])
    for axes, size in parts.ellipsoids:
        w, r1, r2 = (tuple(s * x for s, x in zip(size, v.project(axes, t), strict=True)) for t in (n, t1, t2))
        w, length = v.normalize(w)
        d1, d2 = v.dot(w, r1), v.dot(w, r2)
        for k, value in enumerate((v.dot(r1, r1) - d1 * d1, v.dot(r1, r2) - d1 * d2, v.dot(r2, r2) - d2 * d2)):
            out[k] = out[k] + safe.divide(value, length)
    for x, y, _, radius in parts.disks:
        p, q = v.dot(x, n), v.dot(y, n)
        length = safe.sqrt(p * p + q * q)
        turn1, turn2 = (safe.divide(p * v.dot(y, t) - q * v.dot(x, t), length) for t in (t1, t2))
        for k, value in enumerate((turn1 * turn1, turn1 * turn2, turn2 * turn2)):
            out[k] = out[k] + safe.divide(radius * value, length)
    return tuple(out)


class _Rows(NamedTuple):
    """The searches of a pair, stacked; components have shape (rows, n).

    Free searches come first: one for each disk, in polar coordinates about its axis, or one without; then one on the
    circle across each segment.
    """

    axis: v.Vector
    polar: np.ndarray  # (rows, 1) True about the axis of a disk
    bound: np.ndarray  # (rows, 1) True on a circle


def _rows(parts: Parts) -> _Rows:
    zero = jnp.zeros_like(parts.radius)
    free = [z for _, _, z, _ in parts.disks] or [(zero, zero, zero)]
    axes = [*free, *(direction for direction, _ in parts.segments)]
    index = np.arange(len(axes))[:, None]
    bound = index >= len(free)
    polar = ~bound & (len(parts.disks) > 0)
    return _Rows(tuple(jnp.stack([axis[i] for axis in axes]) for i in range(3)), polar, bound)


def _onto(rows: _Rows, n: v.Vector) -> v.Vector:
    """Return each row's direction moved onto its circle."""
    off = jnp.where(rows.bound, v.dot(rows.axis, n), 0)
    return v.normalize(v.along(n, rows.axis, -off))[0]


def _start(parts: Parts, rows: _Rows) -> v.Vector:
    """Return for each row the best of fixed directions and the line of centres."""
    k = np.arange(_SAMPLES) + 0.5
    z, turn = k / _SAMPLES, k * np.pi * (3 - 5**0.5)
    radius = np.sqrt(1 - z * z)
    toward, _ = v.normalize(parts.center)
    spread = (radius * np.cos(turn), radius * np.sin(turn), z)
    dtype, shape = parts.radius.dtype, (_SAMPLES, 1, *parts.radius.shape)
    samples = tuple(
        jnp.concatenate([jnp.broadcast_to(np.asarray(s, dtype)[:, None, None], shape), t[None, None]])
        for s, t in zip(spread, toward, strict=True)
    )
    samples = _flip(parts, _onto(rows, samples))
    best = jnp.argmax(_gap(parts, samples), axis=0)
    chosen = np.arange(_SAMPLES + 1)[:, None, None] == best
    return tuple(jnp.sum(jnp.where(chosen, s, 0), axis=0) for s in samples)


def _ascend(parts: Parts, rows: _Rows, n: v.Vector) -> v.Vector:
    """Return for each row the direction of a local maximum: Newton steps, each kept only if the gap grows.

    The loop ends when no step of any pair would change the gap.
    """
    eps = jnp.finfo(parts.radius.dtype).eps

    def unfinished(state):
        count, _, _, widest, moved = state
        return (count < _STEPS) & jnp.any((widest > eps) & (moved > eps))

    def body(state):
        count, n, gap, widest, _ = state
        trial = _step(parts, rows, n, widest)
        new = _gap(parts, trial)
        moved = v.norm(v.sub(trial, n))
        better = new > gap
        widest = jnp.where(better, jnp.minimum(2 * widest, _WIDEST), 0.25 * jnp.minimum(widest, moved))
        return count + 1, v.select(better, trial, n), jnp.where(better, new, gap), widest, moved

    gap = _gap(parts, n)
    wide = jnp.full_like(gap, _WIDEST)
    return lax.while_loop(unfinished, body, (jnp.zeros((), jnp.int32), n, gap, wide, wide))[1]


def _step(parts: Parts, rows: _Rows, n: v.Vector, widest: Array | None) -> v.Vector:
    """Return the direction after one Newton step; safeguarded to an ascent of limited length if `widest` is given."""
    zero, one = jnp.zeros_like(n[0]), jnp.ones_like(n[0])
    steep = jnp.abs(n[0]) > 0.6
    guess = (jnp.where(steep, zero, one), jnp.where(steep, one, zero), zero)
    t2, sine = v.normalize(v.cross(v.select(rows.bound | rows.polar, rows.axis, guess), n))
    t1 = v.cross(t2, n)
    cosine = v.dot(rows.axis, n)
    cotangent = jnp.where(rows.polar, safe.divide(cosine, sine), 0)
    pull = v.sub(parts.center, _smooth_support(parts, n))
    for direction, half in parts.segments:
        pull = v.along(pull, direction, -half * jnp.sign(v.dot(direction, n)))
    gap, b1, b2 = v.dot(pull, n), v.dot(t1, pull), v.dot(t2, pull)
    a11, a12, a22 = _bend(parts, n, t1, t2)
    # on a circle only t2 is free; in polar coordinates the parallels are curved
    a11, a12, a22 = a11 + gap, a12 - cotangent * b2, a22 + gap + cotangent * b1
    a11, a12, b1 = jnp.where(rows.bound, 1, a11), jnp.where(rows.bound, 0, a12), jnp.where(rows.bound, 0, b1)
    if widest is not None:
        middle, apart = 0.5 * (a11 + a22), safe.sqrt(0.25 * (a11 - a22) ** 2 + a12 * a12)
        floor = 1e-3 * jnp.where(rows.bound, v.norm(parts.center) + parts.radius, jnp.abs(middle) + apart)
        lift = jnp.maximum(floor - jnp.where(rows.bound, a22, middle - apart), 0)
        a11, a22 = a11 + lift, a22 + lift
    det = a11 * a22 - a12 * a12
    s1, s2 = safe.divide(a22 * b1 - a12 * b2, det), safe.divide(a11 * b2 - a12 * b1, det)
    if widest is not None:
        length = safe.sqrt(s1 * s1 + s2 * s2)
        short = jnp.where(length > widest, safe.divide(widest, length), 1)
        s1, s2 = short * s1, short * s2
    straight = v.along(v.along(n, t1, s1), t2, s2)
    if not rows.polar.any():
        return v.normalize(straight)[0]
    turn = jnp.where(rows.polar, jnp.clip(safe.divide(s2, sine), -1, 1), 0)
    outward = v.cross(t2, rows.axis)
    outward = v.along(v.scale(outward, jnp.cos(turn)), t2, jnp.sin(turn))
    angle_sine, angle_cosine = sine * jnp.cos(s1) + cosine * jnp.sin(s1), cosine * jnp.cos(s1) - sine * jnp.sin(s1)
    curved = v.along(v.scale(outward, angle_sine), rows.axis, angle_cosine)
    return v.normalize(v.select(rows.polar, curved, straight))[0]


def _fixed_normals(parts: Parts) -> v.Vector:
    """Return the directions where two circles meet, and the axes of disks; components have shape (k, n)."""
    pairs = [(p, q) for k, (p, _) in enumerate(parts.segments) for q, _ in parts.segments[k + 1 :]]
    one, zero = jnp.ones_like(parts.radius), jnp.zeros_like(parts.radius)
    out = []
    for side in (0, 1):
        vectors = [pair[side] for pair in pairs] or [(one, zero, zero)]
        out.append(tuple(jnp.stack([vector[i] for vector in vectors]) for i in range(3)))
    crossed, _ = v.normalize(v.cross(*out), otherwise=out[0])
    axes = [z for _, _, z, _ in parts.disks]
    directions = tuple(jnp.concatenate([crossed[i], *(z[i][None] for z in axes)]) for i in range(3))
    return _flip(parts, directions)


def _winner(parts: Parts, fixed: v.Vector, found: v.Vector) -> Array:
    """Return which direction has the largest gap, of `fixed` and then `found`.

    By rounding alone, a fixed one does not lose to a circle, nor a circle to a free search.
    """
    scale = v.norm(parts.center) + parts.radius + sum(half for _, half in parts.segments)
    slack = 16 * jnp.finfo(scale.dtype).eps * scale
    gaps = jnp.concatenate([_gap(parts, fixed), _gap(parts, found)])
    count, free = fixed[0].shape[0], max(1, len(parts.disks))
    handicap = np.zeros(gaps.shape[0], gaps.dtype)
    handicap[count:] = 1
    handicap[count : count + free] = 2
    return jnp.argmax(gaps - handicap[:, None] * slack, axis=0)


def _witness(parts: Parts, first: Parts, n: v.Vector) -> Point:
    """Return the contact for the normal n; segments across n, and disks along it, are placed by the residual.

    At the maximum, c minus all support points is along n. That fixes the point on an edge that touches.
    """
    tolerance = _level(parts.radius)
    directions, limits, active = [], [], []
    residual = v.sub(parts.center, _smooth_support(parts, n))
    for direction, half in parts.segments:
        on = v.dot(direction, n)
        across = jnp.abs(lax.stop_gradient(on)) < tolerance
        residual = v.along(residual, direction, jnp.where(across, 0, -half * jnp.sign(on)))
        directions.append(direction)
        limits.append(half)
        active.append(across)
    for x, y, _, radius in parts.disks:
        across = lax.stop_gradient(safe.sqrt(v.dot(x, n) ** 2 + v.dot(y, n) ** 2)) < tolerance
        for axis in (x, y):
            directions.append(axis)
            limits.append(radius)
            active.append(across)
    places = _places(directions, active, residual)
    count = len(parts.segments)
    places = [jnp.clip(p, -h, h) for p, h in zip(places[:count], limits[:count], strict=True)] + places[count:]
    for k in range(count, len(places), 2):
        reach = safe.sqrt(places[k] ** 2 + places[k + 1] ** 2)
        shrink = jnp.where(reach > limits[k], safe.divide(limits[k], reach), 1)
        places[k], places[k + 1] = shrink * places[k], shrink * places[k + 1]
    dist = v.dot(n, residual)
    for direction, place in zip(directions, places, strict=True):
        dist -= v.dot(n, direction) * place

    own = v.add(first.center, _smooth_support(first, n))
    for k, (direction, half) in enumerate(first.segments):
        own = v.along(own, direction, jnp.where(active[k], places[k], half * jnp.sign(v.dot(direction, n))))
    for k in range(len(first.disks)):
        at = count + 2 * k
        for i in (at, at + 1):
            own = v.along(own, directions[i], places[i])
    return Point(dist, v.along(own, n, 0.5 * dist), n)


def _places(directions: list[v.Vector], active: list[Array], residual: v.Vector) -> list[Array]:
    """Return the least-squares coordinates of `residual` along the active directions, 0 along the others."""
    if not directions:
        return []
    eps = jnp.finfo(residual[0].dtype).eps
    rows, right = [], []
    for i, p in enumerate(directions):
        row = [jnp.where(active[i] & active[j], v.dot(p, q), 0) if i != j else jnp.ones_like(p[0])
               for j, q in enumerate(directions)]  # fmt: skip
        row[i] = row[i] * (1 + 64 * eps)
        rows.append(jnp.stack(row, axis=-1))
        right.append(jnp.where(active[i], v.dot(p, residual), 0))
    matrix, right = jnp.stack(rows, axis=-2), jnp.stack(right, axis=-1)
    if len(directions) > 3:
        factor = lax.linalg.cholesky(matrix)
        solve = functools.partial(lax.linalg.triangular_solve, factor, left_side=True, lower=True)
        solution = solve(solve(right[..., None]), transpose_a=True)[..., 0]
    else:
        solution = linalg.cho_solve(linalg.cholesky(matrix), right)
    return [solution[..., k] for k in range(len(directions))]
