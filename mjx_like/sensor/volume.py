"""Volumes of sites: which points lie in them. A site of a mesh is its convex hull, where the file has the vertices."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion
from mjx_like.math.select import take
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model

Array = jax.Array


def in_sites(m: Model, site: np.ndarray, point: Array) -> Array:
    """Return whether points lie in sites, shape (n, ...).

    Args:
      site: static ids, shape (n,).
      point: in the frame of the site, shape (n, ..., 3) [m].
    Source: mju_insideGeom; a site of type sdf holds no point.
    """
    kind, found = m.site_type[site], jnp.zeros(point.shape[:-1], bool)
    size = take(m.site_size, site).reshape(-1, *[1] * (point.ndim - 2), 3)
    for shape, test in INSIDE.items():
        mine = np.reshape(kind == shape, (-1, *[1] * (found.ndim - 1)))
        if mine.any():
            found = jnp.where(mine, test(point, size), found)
    meshes = np.flatnonzero(kind == GeomType.MESH)
    if meshes.size:
        planes = hull_planes(m, m.site_dataid[site[meshes]])
        planes = planes.reshape(meshes.size, *[1] * (point.ndim - 2), *planes.shape[1:])
        above = jnp.sum(planes[..., :3] * take(point, meshes)[..., None, :], axis=-1) - planes[..., 3]
        found = found.at[meshes].set(jnp.max(above, axis=-1) <= 0)
    return found


def hull_planes(m: Model, mesh: np.ndarray) -> Array:
    """Return outward normal and distance from the origin of the faces of hulls, shape (n, k, 4), in frames of sites.

    mesh: static ids, shape (n,). The first face fills up what is short of the largest number.
    """
    first, count = m.mesh_polyadr[mesh], m.mesh_polynum[mesh]
    face = first[:, None] + np.where(np.arange(max(count)) < count[:, None], np.arange(max(count)), 0)
    corner = m.mesh_vertadr[mesh][:, None] + m.mesh_polyvert[m.mesh_polyvertadr[face]]
    normal, vert = take(m.mesh_polynormal, face.ravel()), take(m.mesh_vert, corner.ravel())
    pos, quat = (take(x, np.repeat(mesh, face.shape[1])) for x in (m.mesh_pos, m.mesh_quat))
    normal = quaternion.rotate(quat, normal)
    offset = jnp.sum(normal * (pos + quaternion.rotate(quat, vert)), axis=-1, keepdims=True)
    return jnp.concatenate([normal, offset], axis=-1).reshape(*face.shape, 4)


def _in_capsule(point: Array, size: Array) -> Array:
    above = jnp.maximum(jnp.abs(point[..., 2]) - size[..., 1], 0)
    return jnp.sum(point[..., :2] ** 2, axis=-1) + above * above <= size[..., 0] ** 2


def _in_cylinder(point: Array, size: Array) -> Array:
    return (jnp.abs(point[..., 2]) <= size[..., 1]) & (jnp.sum(point[..., :2] ** 2, axis=-1) <= size[..., 0] ** 2)


INSIDE = {
    GeomType.SPHERE: lambda point, size: jnp.sum(point * point, axis=-1) <= size[..., 0] ** 2,
    GeomType.CAPSULE: _in_capsule,
    GeomType.ELLIPSOID: lambda point, size: jnp.sum((point / size) ** 2, axis=-1) <= 1,
    GeomType.CYLINDER: _in_cylinder,
    GeomType.BOX: lambda point, size: jnp.all(jnp.abs(point) <= size, axis=-1),
}
