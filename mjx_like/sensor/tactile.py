"""Tactile sensors: how deep the vertices of a mesh lie in what touches their body, and how fast that slides."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.geometry.signed_distance import field, has_field
from mjx_like.math import vector as v
from mjx_like.math.linalg import matmul
from mjx_like.math.quaternion import cross
from mjx_like.math.select import take
from mjx_like.smooth.object_motion import object_velocities
from mjx_like.types.data import Data
from mjx_like.types.enums import GeomType, ObjType
from mjx_like.types.model import Model
from mjx_like.types.plans import SensorGroup

Array = jax.Array


def tactile(m: Model, d: Data, group: SensorGroup) -> Array:
    """Return depth [m] and both sliding speeds [m/s] at each vertex of the sensors' meshes, shape (n, 3 nvertex).

    A geom counts while it touches any geom that moves with the sensor's; meshes and height fields never do. Where
    several overlap, the depth is the largest and the speeds are sums. Speeds are along the second and third normal of a
    vertex, zero for a mesh with fewer than three.
    Reads geom poses, contact, cvel and subtree_com.  Source: TACTILE in mj_sensorVel, by experiment.
    """
    return jnp.stack([_taxels(m, d, *sensor) for sensor in zip(group.objid, group.refid, strict=True)])


def _taxels(m: Model, d: Data, mesh: int, geom: int) -> Array:
    start, count = m.mesh_vertadr[mesh], m.mesh_vertnum[mesh]
    others = _others(m, geom)
    if not others.size:
        return jnp.zeros(3 * count, d.geom_xpos.dtype)
    rotation = d.geom_xmat[geom].T
    point = d.geom_xpos[geom] + matmul(m.mesh_vert[start : start + count].astype(rotation.dtype), rotation)
    depth = jnp.where(_touching(m, d, geom, others), jnp.maximum(-_distance(m, d, point, others), 0), 0)
    first = m.mesh_normaladr[mesh]
    if m.mesh_normalnum[mesh] != 3 * count:
        return jnp.concatenate([jnp.max(depth, axis=1), jnp.zeros(2 * count, depth.dtype)])
    own, motion = _velocity(m, d, point, np.array([geom])), _velocity(m, d, point, others)
    normal = m.mesh_normal[first : first + 3 * count].reshape(count, 3, 3)[:, 1:]
    tangent = matmul(normal.astype(rotation.dtype), rotation)
    slide = jnp.abs(jnp.sum((motion - own)[:, :, None] * tangent[:, None], axis=-1))
    slide = jnp.sum(jnp.where(depth[..., None] > 0, slide, 0), axis=1)
    return jnp.concatenate([jnp.max(depth, axis=1), slide[:, 0], slide[:, 1]])


def _others(m: Model, geom: int) -> np.ndarray:
    """Return the geoms with a signed distance that can touch what moves with a geom, by type."""
    weld = m.body_weldid[m.geom_bodyid]
    pairs = m.plans.collision.geom
    met = np.unique(np.concatenate([b[weld[a] == weld[geom]] for a, b in (pairs.T, pairs.T[::-1])]))
    met = met[(weld[met] != weld[geom]) & np.array([has_field(m.topology, g) for g in met.tolist()], bool)]
    return met[np.argsort(m.geom_type[met], kind="stable")]


def _touching(m: Model, d: Data, geom: int, others: np.ndarray) -> Array:
    """Return which of the other geoms have a contact with one that moves with `geom`."""
    weld = m.body_weldid[m.geom_bodyid]
    ours = jnp.asarray(weld == weld[geom])[jnp.maximum(d.contact.geom, 0)]
    met = (d.contact.geom[:, :, None] == others) & (d.contact.geom[:, :1, None] >= 0)
    return jnp.any(met[:, 0] & ours[:, 1:] | met[:, 1] & ours[:, :1], axis=0)


def _distance(m: Model, d: Data, point: Array, others: np.ndarray) -> Array:
    """Return the signed distances of points to geoms, shape (npoint, ngeom)."""
    found = []
    for kind in np.unique(m.geom_type[others]):
        geoms = others[m.geom_type[others] == kind]
        offset = point[:, None] - take(d.geom_xpos, geoms)
        local = jnp.sum(offset[..., None] * take(d.geom_xmat, geoms), axis=2)
        size = v.unpack(take(m.geom_size, geoms))
        found.append(field(m, GeomType(kind), geoms, size).distance(v.unpack(local)))
    return jnp.concatenate(found, axis=1)


def _velocity(m: Model, d: Data, point: Array, geoms: np.ndarray) -> Array:
    """Return the velocity [m/s] that each geom has at each point, shape (npoint, ngeom, 3)."""
    motion = object_velocities(m, d, ObjType.GEOM, geoms)
    return motion[:, 3:] + cross(motion[:, :3], point[:, None] - take(d.geom_xpos, geoms))
