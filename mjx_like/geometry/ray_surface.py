"""Where rays first meet triangles and height fields.

Which triangle is met is searched without derivative; the distance to its plane then has the derivative of that plane.
Source: mj_rayMesh, mj_rayHfield of MuJoCo 4.0.0.
"""

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
    """Return distance, infinite on a miss, and normal of the triangle that each ray meets first.

    Along the axis on which a ray crosses more cells, it crosses no more than two in each strip of cells.
    """
    nrow, ncol = height.shape
    p, q, fixed, field = lax.stop_gradient((v.unpack(point), v.unpack(vector), size, height))
    step = 2 * fixed[:2] / np.array([ncol - 1, nrow - 1])
    start = [(p[i] + fixed[i]) / step[i] for i in range(2)]
    slope = [q[i] / step[i] for i in range(2)]
    by_column = jnp.abs(slope[0]) >= jnp.abs(slope[1])
    main, other = (jnp.where(by_column, *pair) for pair in (start, start[::-1]))
    tangent = jnp.where(by_column, safe.divide(slope[1], slope[0]), safe.divide(slope[0], slope[1]))

    strip = np.arange(max(nrow, ncol) - 1)[None, :]
    enter = other[:, None] + tangent[:, None] * (strip - main[:, None])
    lowest = jnp.floor(jnp.minimum(enter, enter + tangent[:, None]) - 1e-3)
    lowest = jnp.clip(jnp.nan_to_num(lowest), -_STRIP_CELLS, max(nrow, ncol)).astype(jnp.int32)
    beside = lowest[..., None, None] + np.arange(_STRIP_CELLS)[:, None]
    along = jnp.broadcast_to(strip[..., None, None], beside.shape)
    which = jnp.broadcast_to(np.arange(2), (*beside.shape[:-1], 2))
    column, row = (jnp.where(by_column[:, None, None, None], *pair) for pair in ((along, beside), (beside, along)))
    column = jnp.clip(column, 0, ncol - 2).reshape(p[0].size, -1).repeat(2, axis=1)
    row = jnp.clip(row, 0, nrow - 2).reshape(p[0].size, -1).repeat(2, axis=1)
    which = which.reshape(p[0].size, -1)

    rays = tuple(x[:, None] for x in p), tuple(x[:, None] for x in q)
    tangents = tuple(tuple(x[:, None] for x in t) for t in across(q))
    dist = reach(_cell(fixed, field, which, row, column), *rays, tangents)
    best = jnp.argmin(dist, axis=1)[:, None]
    own = (jnp.take_along_axis(x, best, axis=1)[:, 0] for x in (which, row, column))
    corners = _cell(size, height, *own)
    depth, _ = to_plane(corners, v.unpack(point), v.unpack(vector))
    normal, _ = v.normalize(facing(corners))
    upward = v.pack(v.scale(normal, jnp.where(normal[2] < 0, -1, 1)))
    return jnp.where(jnp.isfinite(jnp.min(dist, axis=1)), depth, jnp.inf), upward


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
