"""How far geoms jut out of a site: the largest distance of their points from its surface, negative within.

For convex shapes that is the largest difference of their support functions over all directions. The distance from a
convex site is a convex function, so that its largest value on a geom stands at an extreme point: a corner of a mesh or
box, the centre of a sphere or an end of a capsule (grown by the radius), a point of the rim of a cylinder or of the
surface of an ellipsoid. From many starts the point moves to the support point along the outward normal of the site
there, which never lessens the distance. The winning direction is held, and the difference differentiated.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex import gjk
from mjx_like.collision.convex.flat_tables import hull_vertices
from mjx_like.constants import MINVAL
from mjx_like.geometry.convex import Convex, convex, core, pair, support
from mjx_like.math import quaternion, safe
from mjx_like.math.select import take
from mjx_like.sensor.volume import hull_planes
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup

Array = jax.Array

_STARTS = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)
_STARTS /= np.linalg.norm(_STARTS, axis=1, keepdims=True)
_TURNS = 30  # of the ascent, where a shape is round
_SEARCH = 60  # iterations for the nearest point of a mesh
_HALVINGS = 60  # of the interval that holds the root for the nearest point of an ellipsoid


def enclosed(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return how far the objects jut out of their sites, or the negative clearance, shape (n,) [m].

    Of a body, the geom that juts out most counts. Around capsules, cylinders and meshes MuJoCo's search may end lower.
    Source: sensor/insidesite in MuJoCo's XML reference.
    """
    table = m.plans.sensor.enclosed
    rows = table[np.isin(table[:, 0], group.sensor)]
    address = np.searchsorted(group.sensor, rows[:, 0])  # sensors of a group ascend
    object_id = rows[:, 1] + m.ngeom * rows[:, 2]
    mesh = np.append(m.geom_type, m.site_type)[object_id] == GeomType.MESH
    parts = [_outside(m, d, object_id[k], group.refid[address[k]]) for k in (mesh, ~mesh) if k.any()]
    order = np.concatenate([np.flatnonzero(mesh), np.flatnonzero(~mesh)])
    return jax.ops.segment_max(take(jnp.concatenate(parts), np.argsort(order)), address, group.sensor.size)


def _outside(m: Model, d: Data, object_id: np.ndarray, site: np.ndarray) -> Array:
    """Return the value of each pair of an object, a geom or ngeom plus a site, and a site, shape (n,)."""
    both = ((d.geom_xpos, d.site_xpos), (d.geom_xmat, d.site_xmat), (m.geom_size, m.site_size))
    pose = [take(jnp.concatenate(x), object_id) for x in both]
    kind, around = np.append(m.geom_type, m.site_type)[object_id].astype(np.int32), m.site_type[site].astype(np.int32)
    kinds, shells = (tuple(sorted(set(x.tolist()))) for x in (kind, around))
    own = jax.vmap(convex)(kind, *pose, _hulls(m, object_id))
    frame = (take(x, site) for x in (d.site_xpos, d.site_xmat, m.site_size))
    shell = jax.vmap(convex)(around, *frame, _hulls(m, m.ngeom + site))
    held = lax.stop_gradient((own, shell, _planes(m, site)))
    direction = lax.stop_gradient(jax.vmap(lambda a, b, faces: _direction(a, b, faces, kinds, shells))(*held))
    return jax.vmap(lambda a, b, u: _reach(a, kinds, u) - _reach(b, shells, u))(own, shell, direction)


def _hulls(m: Model, ids: np.ndarray) -> Array:
    """Return the corners of geoms or, behind them, sites, that are meshes, shape (n, k, 3); the first repeats.

    Those of a site are where the file has them.
    """
    t = m.topology
    meshes = np.append(m.geom_type, m.site_type)[ids] == GeomType.MESH
    if not meshes.any():
        return jnp.zeros((ids.size, 1, 3), m.geom_size.dtype)
    mesh = np.where(meshes, np.append(t.geom_dataid, t.site_dataid)[ids], -1)
    hulls = [t.mesh_vertadr[k] + hull_vertices(t, k) if k >= 0 else np.zeros(1, int) for k in mesh]
    width = max(map(len, hulls))
    index = np.stack([np.append(hull, np.full(width - hull.size, hull[0])) for hull in hulls])
    vert = take(m.mesh_vert, index.ravel()).reshape(ids.size, width, 3)
    pos, quat = (take(x, np.maximum(mesh, 0))[:, None] for x in (m.mesh_pos, m.mesh_quat))
    return jnp.where((ids >= m.ngeom)[:, None, None], pos + quaternion.rotate(quat, vert), vert)


def _planes(m: Model, site: np.ndarray) -> Array:
    """Return the faces of sites that are meshes, see `hull_planes`, and some for the others."""
    mesh = np.where(m.site_type[site] == GeomType.MESH, m.site_dataid[site], -1)
    if (mesh < 0).all():
        return jnp.zeros((site.size, 1, 4), m.geom_size.dtype)
    return hull_planes(m, np.where(mesh < 0, mesh.max(), mesh))


def _reach(geom: Convex, kinds: tuple[int, ...], direction: Array) -> Array:
    """Return the support function of a geom in a unit direction [m]."""
    point = support(geom, kinds, lax.stop_gradient(direction), jnp.full((), -1, jnp.int32)).point
    return jnp.sum(point * direction)


def _direction(own: Convex, shell: Convex, faces: Array, kinds: tuple[int, ...], shells: tuple[int, ...]) -> Array:
    """Return the unit direction, in the world, in which the object juts out most, shape (3,)."""
    thin = core(own)[0]
    none = jnp.full((), -1, jnp.int32)
    furthest = jax.vmap(lambda u: support(thin, kinds, u, none).point)
    normal = jax.vmap(lambda p: _outward(shell, faces, shells, p))
    if kinds == (GeomType.MESH,):
        points = own.pos + own.vert @ own.mat.T
    else:
        points = furthest(_STARTS.astype(own.pos.dtype) @ own.mat.T)
    if any(kind in kinds for kind in (GeomType.ELLIPSOID, GeomType.CYLINDER)):
        points = lax.fori_loop(0, _TURNS, lambda _, p: furthest(normal(p)), points)
    directions = normal(points)
    gain = jax.vmap(lambda p, u: jnp.sum(p * u) - _reach(shell, shells, u))(points, directions)
    return directions[jnp.argmax(gain)]


def _outward(shell: Convex, faces: Array, present: tuple[int, ...], point: Array) -> Array:
    """Return the unit normal of the surface of a shape at its point nearest to a point, away from it, shape (3,)."""
    local = jnp.sum(shell.mat * (point - shell.pos)[:, None], axis=0)
    out = jnp.zeros_like(local)
    for kind in present:
        normal = _of_mesh(local, shell, faces) if kind == GeomType.MESH else _NORMALS[kind](local, shell.size)
        out = jnp.where(shell.kind == kind, safe.normalize(normal)[0], out)
    return shell.mat @ out


def _of_mesh(point: Array, shell: Convex, faces: Array) -> Array:
    """Return the normal of the nearest face of a mesh, or the way from the nearest point; faces: shape (k, 4)."""
    above = faces[:, :3] @ point - faces[:, 3]
    zero, eye = jnp.zeros_like(point), jnp.eye(3, dtype=point.dtype)
    ends = convex(GeomType.SPHERE, point, eye, zero), convex(GeomType.MESH, zero, eye, zero, shell.vert)
    ends = ends[0], ends[1]._replace(center=jnp.mean(shell.vert, axis=0))
    options = {"tolerance": MINVAL, "iterations": _SEARCH, "cutoff": gjk.FAR, "discrete": True}
    found = gjk.distance(pair(*ends), ((GeomType.SPHERE,), (GeomType.MESH,)), **options)
    way = found.first - found.second
    outside = (jnp.max(above) > 0) & (jnp.sum(way * way) > MINVAL)
    return jnp.where(outside, way, faces[jnp.argmax(above), :3])


def _of_box(point: Array, size: Array) -> Array:
    over = jnp.abs(point) - size
    nearest = np.arange(over.size) == jnp.argmax(over)
    return jnp.where(jnp.max(over) > 0, jnp.maximum(over, 0), nearest) * jnp.where(point < 0, -1, 1)


def _of_capsule(point: Array, size: Array) -> Array:
    return point - jnp.where(np.arange(3) == 2, jnp.clip(point, -size[1], size[1]), 0)


def _of_cylinder(point: Array, size: Array) -> Array:
    across = jnp.sqrt(point[0] * point[0] + point[1] * point[1])
    side = _of_box(jnp.stack([across, point[2]]), size[:2])
    wide = across > MINVAL
    flat = jnp.where(wide, point[:2] / jnp.where(wide, across, 1), np.array([1.0, 0]))
    return jnp.concatenate([side[0] * flat, side[1:]])


def _of_ellipsoid(point: Array, size: Array) -> Array:
    """Return the normal at the nearest point x, where x_i = a_i^2 p_i / (t + a_i^2) for the largest root t."""
    square = size * size
    least = jnp.min(square)

    def inside(t):
        share = size * point / jnp.where(t + square > 0, t + square, 1)
        return jnp.where(t + square > 0, share, 0)

    def halve(_, ends):
        low, high = ends
        middle = 0.5 * (low + high)
        below = jnp.sum(inside(middle) ** 2) > 1
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    scaled = size * point
    t = lax.fori_loop(0, _HALVINGS, halve, (-least, jnp.sqrt(jnp.sum(scaled * scaled))))[1]
    share = inside(t)  # x over a; that of the shortest axis follows from the others, for it has no limit near zero
    short = np.arange(3) == jnp.argmin(size)
    rest = jnp.sqrt(jnp.maximum(1 - jnp.sum(jnp.where(short, 0, share * share)), 0))
    return jnp.where(short, jnp.where(point < 0, -rest, rest), share) / size


_NORMALS = {
    GeomType.SPHERE: lambda point, size: point,
    GeomType.CAPSULE: _of_capsule,
    GeomType.ELLIPSOID: _of_ellipsoid,
    GeomType.CYLINDER: _of_cylinder,
    GeomType.BOX: _of_box,
}
