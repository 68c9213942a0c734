"""Rays against geoms whose surface is data: meshes and height fields."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.geometry.ray_surface import across, facing, height_field, reach, to_plane
from mjx_like.math import vector as v
from mjx_like.math.select import take
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array


def meshes(m: Model, geoms: np.ndarray, point: Array, vector: Array, seen: Array) -> tuple[Array, Array]:
    """Return distance, shape (n, k), -1 but for the mesh that each ray meets first, and normals, shape (n, k, 3).

    point, vector: of the rays in the frame of each geom, shape (n, k, 3); seen: which geoms count, shape (n, k).
    Every triangle counts, from either side; the normal is that of its outer side.  Source: mj_rayMesh.
    """
    vertex, owner = _faces(m.topology, geoms)
    p, q, corner = lax.stop_gradient((v.unpack(point), v.unpack(vector), m.mesh_vert))
    triangles = tuple(v.unpack(take(corner, vertex[:, i])[None]) for i in range(3))
    of_face = lambda x: x[:, owner]  # noqa: E731
    tangents = tuple(tuple(map(of_face, t)) for t in across(q))
    dist = reach(triangles, tuple(map(of_face, p)), tuple(map(of_face, q)), tangents)
    dist = jnp.where(of_face(seen), dist, jnp.inf)
    best = jnp.argmin(dist, axis=1)
    hit = jnp.isfinite(jnp.min(dist, axis=1))

    own = (np.arange(geoms.size) == jnp.asarray(owner)[best][:, None]) & hit[:, None]
    start, direction = (v.unpack(jnp.sum(jnp.where(own[..., None], x, 0), axis=1)) for x in (point, vector))
    chosen = jnp.asarray(vertex)[best]
    met = tuple(v.unpack(m.mesh_vert.at[chosen[:, i]].get(mode="promise_in_bounds")) for i in range(3))
    depth, _ = to_plane(met, start, direction)
    normal, _ = v.normalize(facing(met))
    return jnp.where(own, depth[:, None], -1), jnp.where(own[..., None], v.pack(normal)[:, None], 0)


def _faces(t: Topology, geoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of all faces of the meshes of geoms, shape (nface, 3), and the place of each one's geom."""
    vertex, owner = [], []
    for place, mesh in enumerate(t.geom_dataid[geoms]):
        face = t.mesh_face[t.mesh_faceadr[mesh] :][: t.mesh_facenum[mesh]] + t.mesh_vertadr[mesh]
        vertex.append(face)
        owner.append(np.full(len(face), place, np.int32))
    return np.concatenate(vertex), np.concatenate(owner)


def height_fields(m: Model, geoms: np.ndarray, point: Array, vector: Array, seen: Array) -> tuple[Array, Array]:
    """Return distance, shape (n, k), -1 on a miss, and normals, shape (n, k, 3), of rays that meet height fields.

    Arguments are those of `meshes`.  Source: mj_rayHfield.
    """
    dists, normals = [], []
    for place, field in enumerate(m.geom_dataid[geoms]):
        nrow, ncol, start = (int(x[field]) for x in (m.hfield_nrow, m.hfield_ncol, m.hfield_adr))
        height = m.hfield_data[start : start + nrow * ncol].reshape(nrow, ncol)
        dist, normal = height_field(point[:, place], vector[:, place], m.hfield_size[field], height)
        dists.append(dist)
        normals.append(normal)
    return jnp.where(seen, jnp.stack(dists, axis=1), -1), jnp.stack(normals, axis=1)


SURFACES = {GeomType.MESH: meshes, GeomType.HFIELD: height_fields}
