"""Where rays first meet triangles and height fields.

Which triangle is met is searched without derivative; the distance to its plane then has the derivative of that plane.
Source: mj_rayMesh, mj_rayHfield of MuJoCo 4.0.0.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.constants import MINVAL
from mjx_like.geometry import ray
from mjx_like.math import safe
from mjx_like.math import vector as v

Array = jax.Array

_STRIP_CELLS = 3  # cells of one strip of a height field that a ray can cross, with one for rounding
_STRIPS = 8  # that a ray tries at once
_ROOM = 1e-3  # around a height field, in cells, for rounding
_FAR = 1e18  # of an inverse direction that has no other: finite, and so are its products with lengths


def across(vector: v.Vector) -> tuple[v.Vector, v.Vector]:
    """Return two unit vectors across `vector` and each other."""
    size = [jnp.abs(x) for x in vector]
    first = (size[0] >= size[1]) & (size[0] >= size[2])
    second = ~first & (size[1] >= size[2])
    one, zero = jnp.ones_like(size[0]), jnp.zeros_like(size[0])
    guess = (jnp.where(first, zero, one), jnp.where(second, zero, one), jnp.where(first | second, one, zero))
    share = safe.divide(v.dot(vector, guess), v.dot(vector, vector))
    t1, _ = v.normalize(v.along(guess, vector, -share))
    t0, _ = v.normalize(v.cross(t1, vector))
    return t0, t1


def inverse_direction(vector: Array) -> Array:
    """Return 1 over the components of directions, a large number for those that are zero."""
    flat = jnp.abs(vector) < 1 / _FAR
    return jnp.where(flat, _FAR, safe.ratio(1, jnp.where(flat, 1, vector)))


def reach(corners: tuple[v.Vector, v.Vector, v.Vector], point: v.Vector, vector: v.Vector, tangents) -> Array:
    """Return how far along rays their triangles are met, infinite where they are not; all components broadcast.

    corners: of the triangles; point, vector: of the rays, in the same frame; tangents: as `across` returns them.
    """
    apart = [v.sub(corner, point) for corner in corners]
    p, q = ([v.dot(tangent, a) for a in apart] for tangent in tangents)
    a, b, c, e = p[0] - p[2], p[1] - p[2], q[0] - q[2], q[1] - q[2]
    det = a * e - b * c
    wide = jnp.abs(det) >= MINVAL
    inverse = safe.ratio(1, jnp.where(wide, det, 1))
    first, second = (b * q[2] - e * p[2]) * inverse, (c * p[2] - a * q[2]) * inverse
    dist, steep = to_plane(corners, point, vector)
    met = wide & steep & (first >= 0) & (second >= 0) & (first + second <= 1) & (dist >= 0)
    return jnp.where(met, dist, jnp.inf)


def to_plane(corners: tuple[v.Vector, v.Vector, v.Vector], point: v.Vector, vector: v.Vector) -> tuple[Array, Array]:
    """Return how far along rays the planes of their triangles are met, and whether they are not parallel to them."""
    normal = facing(corners)
    rise = v.dot(vector, normal)
    steep = jnp.abs(rise) >= MINVAL
    return safe.ratio(v.dot(v.sub(corners[2], point), normal), jnp.where(steep, rise, 1)), steep


def facing(corners: tuple[v.Vector, v.Vector, v.Vector]) -> v.Vector:
    """Return vectors along the normals of triangles, on the side where the corners run anticlockwise."""
    return v.cross(v.sub(corners[0], corners[2]), v.sub(corners[1], corners[2]))


def height_field(point: Array, vector: Array, size: Array, height: Array) -> tuple[Array, Array]:
    """Return distance, -1 on a miss, and outward normal where rays first meet a height field.

    Two triangles of each cell, the box below them, and vertical walls along the rim can be met.

    Args:
      point: where the rays begin, shape (n, 3) [m, frame of the field].
      vector: their directions, shape (n, 3).
      size: half extents in x and y, height at elevation 1, depth of the base; shape (4,) [m].
      height: elevations, shape (nrow, ncol).
    """
    half_base = jnp.concatenate([size[:2], size[3:] / 2])
    base, base_normal = ray.box(point + size[3] / 2 * np.array([0, 0, 1]), vector, half_base)
    surface, surface_normal = _met_surface(point, vector, size, height)
    walls, wall_normal = _walls(point, vector, size, height)
    dist = jnp.concatenate([jnp.where(base >= 0, base, jnp.inf)[:, None], surface[:, None], walls], axis=1)
    normals = jnp.concatenate([base_normal[:, None], surface_normal[:, None], wall_normal], axis=1)
    best = jnp.argmin(dist, axis=1)
    chosen = (np.arange(dist.shape[1]) == best[:, None])[..., None]
    least = jnp.min(dist, axis=1)
    return jnp.where(jnp.isfinite(least), least, -1), jnp.sum(jnp.where(chosen, normals, 0), axis=1)


def _cell(size: Array, height: Array, which: Array, row: Array, column: Array) -> tuple[v.Vector, v.Vector, v.Vector]:
    """Return the corners of triangles of cells: of the one towards +x where `which` is 0, else towards +y."""
    nrow, ncol = height.shape
    step = 2 * size[:2] / np.array([ncol - 1, nrow - 1])

    def corner(r, c):
        z = height.reshape(-1).at[r * ncol + c].get(mode="promise_in_bounds")
        return step[0] * c - size[0], step[1] * r - size[1], z * size[2]

    return corner(row, column), corner(row + 1, column + 1), corner(row + which, column + 1 - which)


def _met_surface(point: Array, vector: Array, size: Array, height: Array) -> tuple[Array, Array]:
    """Return distance, infinite on a miss, and normal of the triangle that each ray meets first."""
    p, q, fixed, field = lax.stop_gradient((v.unpack(point), v.unpack(vector), size, height))
    dist, *own = _first_cell(p, q, fixed, field)
    corners = _cell(size, height, *own)
    depth, _ = to_plane(corners, v.unpack(point), v.unpack(vector))
    normal, _ = v.normalize(facing(corners))
    upward = v.pack(v.scale(normal, jnp.where(normal[2] < 0, -1, 1)))
    return jnp.where(jnp.isfinite(dist), depth, jnp.inf), upward


class _Course(NamedTuple):
    """The strips of cells that rays cross, one after the other; components have shape (n,).

    Strips are columns of cells, or rows where a ray crosses more of those.
    """

    by_column: Array
    main: Array  # where the ray begins, along the strips' numbers [cells]
    other: Array  # and across [cells]
    tangent: Array  # how far it goes across in a strip [cells]
    first: Array  # strip, beyond the last where it does not come as low as the field
    onward: Array  # 1 or -1
    count: Array  # strips


def _course(p: v.Vector, q: v.Vector, size: Array, height: Array) -> _Course:
    """Return the strips that rays cross from where they are as low as the field is high, and one more at either end."""
    nrow, ncol = height.shape
    step = 2 * size[:2] / np.array([ncol - 1, nrow - 1])
    start = [(p[i] + size[i]) / step[i] for i in range(2)]
    slope = [q[i] / step[i] for i in range(2)]
    by_column = jnp.abs(slope[0]) >= jnp.abs(slope[1])
    main, other = (jnp.where(by_column, *pair) for pair in (start, start[::-1]))
    tangent = jnp.where(by_column, safe.divide(slope[1], slope[0]), safe.divide(slope[0], slope[1]))

    room = _ROOM * jnp.min(step)
    low = (-size[0], -size[1], jnp.min(height) * size[2])
    high = (size[0], size[1], jnp.max(height) * size[2])
    spans = [_span(p[i], q[i], low[i] - room, high[i] + room) for i in range(3)]
    enter = functools.reduce(jnp.maximum, [near for near, _ in spans], 0)
    leave = functools.reduce(jnp.minimum, [far for _, far in spans])
    rate = jnp.where(by_column, *slope)
    ends = (jnp.clip(jnp.nan_to_num(jnp.floor(main + rate * at)), 0, max(nrow, ncol) - 2) for at in (enter, leave))
    first, last = (x.astype(jnp.int32) for x in ends)
    onward = jnp.where(rate < 0, -1, 1)
    count = jnp.where(enter <= leave, jnp.abs(last - first) + 3, 0)
    return _Course(by_column, main, other, tangent, first - onward, onward, count)


def _span(p: Array, q: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return between which distances along rays one of their coordinates is between two values."""
    inverse = inverse_direction(q)
    ends = (low - p) * inverse, (high - p) * inverse
    return jnp.minimum(*ends), jnp.maximum(*ends)


def _first_cell(p: v.Vector, q: v.Vector, size: Array, height: Array) -> tuple[Array, Array, Array, Array]:
    """Return distance, infinite on a miss, and triangle that rays meet first, as `_cell` names it: which, row, column.

    A few strips are tried at a time, until each ray has met a triangle or left the field. In a strip it crosses no more
    than two cells, for it crosses more strips than cells within one.
    """
    course = _course(p, q, size, height)
    rays = tuple(x[:, None] for x in p), tuple(x[:, None] for x in q)
    tangents = tuple(tuple(x[:, None] for x in t) for t in across(q))

    def tried(begin: Array | int) -> tuple[Array, ...]:
        cells = _cells(course, height.shape, begin)
        dist = reach(_cell(size, height, *cells), *rays, tangents)
        best = jnp.argmin(dist, axis=1)[:, None]
        return jnp.min(dist, axis=1), *(jnp.take_along_axis(x, best, axis=1)[:, 0] for x in cells)

    def further(state: tuple[Array, tuple[Array, ...]]) -> tuple[Array, tuple[Array, ...]]:
        begin, best = state
        found = tried(begin)
        nearer = found[0] < best[0]
        return begin + _STRIPS, tuple(jnp.where(nearer, x, y) for x, y in zip(found, best, strict=True))

    def under_way(state: tuple[Array, tuple[Array, ...]]) -> Array:
        begin, best = state
        return jnp.any(~jnp.isfinite(best[0]) & (begin < course.count))

    if max(height.shape) <= _STRIPS:  # all strips and one more at the end where the ray enters
        return tried(0)
    nowhere = jnp.zeros(p[0].shape, jnp.int32)
    none = jnp.full(p[0].shape, jnp.inf, p[0].dtype), nowhere, nowhere, nowhere
    return lax.while_loop(under_way, further, (jnp.int32(0), none))[1]


def _cells(course: _Course, shape: tuple[int, int], begin: Array | int) -> tuple[Array, Array, Array]:
    """Return which, row and column of the triangles of a few strips, those from `begin` on, shape (n, triangles)."""
    nrow, ncol = shape
    strip = course.first[:, None] + course.onward[:, None] * (begin + np.arange(_STRIPS, dtype=np.int32))
    enter = course.other[:, None] + course.tangent[:, None] * (strip - course.main[:, None])
    lowest = jnp.floor(jnp.minimum(enter, enter + course.tangent[:, None]) - 1e-3)
    lowest = jnp.clip(jnp.nan_to_num(lowest), -_STRIP_CELLS, max(nrow, ncol)).astype(jnp.int32)
    beside = lowest[..., None] + np.arange(_STRIP_CELLS, dtype=np.int32)
    along = jnp.broadcast_to(strip[..., None], beside.shape)
    pairs = (along, beside), (beside, along)
    column, row = (jnp.where(course.by_column[:, None, None], *pair).reshape(strip.shape[0], -1) for pair in pairs)
    column, row = (jnp.clip(x, 0, n - 2).repeat(2, axis=1) for x, n in ((column, ncol), (row, nrow)))
    which = jnp.broadcast_to(np.tile(np.arange(2, dtype=np.int32), column.shape[1] // 2), column.shape)
    return which, row, column


def _walls(point: Array, vector: Array, size: Array, height: Array) -> tuple[Array, Array]:
    """Return distance, infinite on a miss, and normal for each of the four walls below the rim, -x, +x, -y, +y."""
    nrow, ncol = height.shape
    rims = (height[:, 0], height[:, ncol - 1], height[0], height[nrow - 1])
    dists, normals = [], []
    for wall, rim in enumerate(rims):
        axis, sign = wall // 2, 2 * (wall % 2) - 1
        steep = jnp.abs(vector[:, axis]) > MINVAL
        dist = safe.ratio(sign * size[axis] - point[:, axis], jnp.where(steep, vector[:, axis], 1))
        hit = point + dist[:, None] * vector
        along = hit[:, 1 - axis]
        at = lax.stop_gradient(safe.ratio((along + size[1 - axis]) * (rim.size - 1), 2 * size[1 - axis]))
        below = jnp.clip(jnp.nan_to_num(jnp.floor(at)), 0, rim.size - 2).astype(jnp.int32)
        left, right = (rim.at[below + k].get(mode="promise_in_bounds") for k in (0, 1))
        level = hit[:, 2]
        top = size[2] * (left * (below + 1 - at) + right * (at - below))
        on = (jnp.abs(along) <= size[1 - axis]) & (level >= 0) & (level <= size[2]) & (level < top)
        dists.append(jnp.where(steep & (dist >= 0) & on, dist, jnp.inf))
        normals.append(sign * np.eye(3)[axis])
    normals = jnp.asarray(np.stack(normals), point.dtype)
    return jnp.stack(dists, axis=1), jnp.broadcast_to(normals, (point.shape[0], 4, 3))
