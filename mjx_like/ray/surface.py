"""Rays against geoms whose surface is data or a function: meshes, height fields and signed distance fields."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.lax import stop_gradient as stop

from mjx_like.geometry.ray import RAY
from mjx_like.geometry.ray_surface import across, facing, height_field, reach, to_plane
from mjx_like.geometry.signed_distance import field, held
from mjx_like.geometry.triangle_tree import first_triangle, make_tree
from mjx_like.math import safe
from mjx_like.math import vector as v
from mjx_like.math.select import rows, take
from mjx_like.types.enums import GeomType
from mjx_like.types.model import Model
from mjx_like.types.topology import Topology

Array = jax.Array

_MOST_TRIED = 200  # triangles that each ray tries; of more, a tree is searched
_STEPS = 40  # along a ray to a signed distance field
_TOUCH = 1e-7  # distance at which a ray has met it [m]
_LOST = 1e6  # beyond this distance it never will [m]


def meshes(m: Model, data: np.ndarray, point: Array, vector: Array, seen: Array) -> tuple[Array, Array, Array]:
    """Return distance, (n, k), -1 but for the shape that each ray meets first, normal, (n, k, 3), and face, (n,).

    data: mesh of each shape, static, (k,); point, vector: of the rays in the frame of each shape, shape (n, k, 3);
    seen: which shapes count, shape (n, k). The face is a row of mesh_face, of no meaning on a miss.
    Every triangle counts, from either side; the normal is that of its outer side.  Source: mj_rayMesh.
    """
    search = _among_all if tried(m.topology, data) else _in_tree
    faces = [_faces(m.topology, mesh) for mesh in data]
    dist, met_shape, face = search(m.topology, stop(m.mesh_vert), data, faces, stop(point), stop(vector), seen)
    hit = jnp.isfinite(dist)

    own = (np.arange(data.size) == met_shape[:, None]) & hit[:, None]
    start, direction = (v.unpack(jnp.sum(jnp.where(own[..., None], x, 0), axis=1)) for x in (point, vector))
    chosen = rows(mesh_corners(m.topology), face)
    met = tuple(v.unpack(m.mesh_vert.at[chosen[:, i]].get(mode="promise_in_bounds")) for i in range(3))
    depth, _ = to_plane(met, start, direction)
    normal, _ = v.normalize(facing(met))
    return jnp.where(own, depth[:, None], -1), jnp.where(own[..., None], v.pack(normal)[:, None], 0), face


def tried(t: Topology, meshes: np.ndarray) -> int:
    """Return how many triangles each ray tries one by one; 0 where a tree is searched instead.  meshes: of shapes."""
    count = int(t.mesh_facenum[meshes].sum())
    return count if count <= _MOST_TRIED else 0


def mesh_corners(t: Topology) -> np.ndarray:
    """Return the rows of mesh_vert of the corners of all faces, shape (nmeshface, 3)."""
    return t.mesh_face + np.repeat(t.mesh_vertadr, t.mesh_facenum)[:, None]


def _among_all(
    t: Topology, corner: Array, data: np.ndarray, faces: list[np.ndarray], point: Array, vector: Array, seen: Array
) -> tuple[Array, Array, Array]:
    """Return distance, number of the shape and face of the first triangle of each ray, shape (n,) each.

    faces: those of each shape's mesh, as `_faces` returns them.
    """
    face, owner = np.concatenate(faces), np.repeat(np.arange(data.size, dtype=np.int32), list(map(len, faces)))
    vertex = mesh_corners(t)[face]
    p, q = v.unpack(point), v.unpack(vector)
    triangles = tuple(v.unpack(take(corner, vertex[:, i])[None]) for i in range(3))
    of_face = lambda x: x[:, owner]  # noqa: E731
    tangents = tuple(tuple(map(of_face, t)) for t in across(q))
    dist = reach(triangles, tuple(map(of_face, p)), tuple(map(of_face, q)), tangents)
    dist = jnp.where(of_face(seen), dist, jnp.inf)
    best = jnp.argmin(dist, axis=1)
    return jnp.min(dist, axis=1), jnp.asarray(owner)[best], jnp.asarray(face)[best]


def _in_tree(
    t: Topology, corner: Array, data: np.ndarray, faces: list[np.ndarray], point: Array, vector: Array, seen: Array
) -> tuple[Array, Array, Array]:
    """Return the same as `_among_all`, by the tree of boxes."""
    _, first, mesh = np.unique(data, return_index=True, return_inverse=True)
    corners = mesh_corners(t)
    tree = make_tree([corners[faces[shape]] for shape in first])
    in_slot = make_tree([np.repeat(faces[shape][:, None], 3, axis=1) for shape in first]).vertex[:, 0]
    dist, shape, slot = first_triangle(
        tree, mesh, corner.at[tree.vertex].get(mode="promise_in_bounds"), point, vector, seen
    )
    return dist, shape, rows(in_slot, slot)


def _faces(t: Topology, mesh: int) -> np.ndarray:
    """Return the rows of mesh_face of a mesh, shape (nface,), neighbours after each other."""
    part = slice(int(t.mesh_faceadr[mesh]), int(t.mesh_faceadr[mesh] + t.mesh_facenum[mesh]))
    return t.mesh_faceadr[mesh] + t.mesh_facecurve[part]


def height_fields(m: Model, data: np.ndarray, point: Array, vector: Array, seen: Array) -> tuple[Array, Array]:
    """Return distance, shape (n, k), -1 on a miss, and normals, shape (n, k, 3), of rays that meet height fields.

    data: height field of each shape, static, shape (k,); others as those of `meshes`.  Source: mj_rayHfield.
    """
    dists, normals = [], []
    for index, ground in enumerate(data):
        nrow, ncol, start = (int(x[ground]) for x in (m.hfield_nrow, m.hfield_ncol, m.hfield_adr))
        height = m.hfield_data[start : start + nrow * ncol].reshape(nrow, ncol)
        dist, normal = height_field(point[:, index], vector[:, index], m.hfield_size[ground], height)
        dists.append(dist)
        normals.append(normal)
    return jnp.where(seen, jnp.stack(dists, axis=1), -1), jnp.stack(normals, axis=1)


def fields(m: Model, geoms: np.ndarray, point: Array, vector: Array, seen: Array) -> tuple[Array, Array]:
    """Return distance, shape (n, k), -1 on a miss, and normals, shape (n, k, 3), of rays that meet signed distances.

    Each step goes as far as the surface is at least; from inside, the far side is met. The end is held, and moves with
    the field there.
    geoms: ids, shape (k,); others as those of `meshes`.  Source: ray_sdf.
    """
    size = v.unpack(take(m.geom_size, geoms))
    live, still = (field(model, GeomType.SDF, geoms, size) for model in (m, held(m)))
    start, (way, length) = v.unpack(point), v.normalize(v.unpack(vector))
    begin, ahead = stop((start, way))
    near = RAY[GeomType.BOX](*stop((point, vector)), stop(take(m.geom_size, geoms)))[0] >= 0

    def step(_, state):
        total, met, lost = state
        gap = still.distance(v.along(begin, ahead, total))
        going = ~(met | lost)
        return total + jnp.where(going, jnp.abs(gap), 0), met | (going & (jnp.abs(gap) < _TOUCH)), lost | (gap > _LOST)

    none = jnp.zeros(seen.shape, bool)
    total, met, _ = lax.fori_loop(0, _STEPS, step, (jnp.zeros(seen.shape, point.dtype), none, ~near | ~seen))
    at = v.along(start, way, total)
    slope = still.gradient(stop(at))
    gap = live.distance(at)
    total = total - safe.divide(gap - stop(gap), v.dot(slope, ahead))
    dist = safe.divide(total, length, -1, where=met)
    return dist, jnp.where(met[..., None], v.pack(v.normalize(slope)[0]), 0)


SURFACES = {GeomType.MESH: meshes, GeomType.HFIELD: height_fields, GeomType.SDF: fields}
