"""Triangles that are met: normals and texture coordinates between their corners."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import safe
from mjx_like.math.select import rows
from mjx_like.ray.surface import mesh_corners
from mjx_like.render.skin import Skins
from mjx_like.types.model import Model

Array = jax.Array

_CREASE = 0.8  # least cosine between the normals of a corner and of its triangle that counts as smooth


class Corners(NamedTuple):
    """What corners of triangles have: vertices, normals and texture coordinates, and the rows of each, static, (n, 3).

    creased: which triangles are flat at corners where the normal is far from theirs, static, shape (n,).
    """

    vertex: Array
    normal: Array
    texcoord: Array
    vertex_row: np.ndarray
    normal_row: np.ndarray
    texcoord_row: np.ndarray
    creased: np.ndarray


class Between(NamedTuple):
    """At points of triangles: normal, shape (n, 3), texture coordinates, (n, 2), and their slope there, (n, 2, 3)."""

    normal: Array
    texcoord: Array
    slope: Array


def corners_of_meshes(m: Model) -> Corners:
    """Return the corners of the faces of all meshes.  Source: mjr_uploadMesh."""
    per_face = [np.repeat(x, m.mesh_facenum)[:, None] for x in (m.mesh_normaladr, m.mesh_texcoordadr)]
    with_texcoord = per_face[1][:, 0] >= 0
    texcoord_row = np.where(with_texcoord[:, None], m.mesh_facetexcoord + per_face[1], 0)
    texcoord = m.mesh_texcoord if m.mesh_texcoord.shape[0] else jnp.zeros((1, 2), m.mesh_vert.dtype)
    return Corners(
        m.mesh_vert, m.mesh_normal, texcoord, mesh_corners(m.topology), m.mesh_facenormal + per_face[0],
        texcoord_row, ~with_texcoord,
    )  # fmt: skip


def with_skins(m: Model, own: np.ndarray, corners: Corners, skins: Skins) -> Corners:
    """Return the corners with those of the faces of skins behind them; own: ids of the skins, in their order."""
    counts = m.skin_facenum[own]
    start = np.repeat(m.skin_texcoordadr[own], counts)[:, None]
    within = skins.face - np.repeat(m.skin_vertadr[own], counts)[:, None]
    texcoord_row = np.where(start >= 0, corners.texcoord.shape[0] + start + within, 0)
    return Corners(
        jnp.concatenate([corners.vertex, skins.vertex]),
        jnp.concatenate([corners.normal, skins.normal]),
        jnp.concatenate([corners.texcoord, m.skin_texcoord]),
        np.concatenate([corners.vertex_row, corners.vertex.shape[0] + skins.face]),
        np.concatenate([corners.normal_row, corners.normal.shape[0] + skins.face]),
        np.concatenate([corners.texcoord_row, texcoord_row]),
        np.append(corners.creased, np.zeros(len(skins.face), bool)),
    )


def between(corners: Corners, face: Array, point: Array) -> Between:
    """Return what points on faces have; face: shape (n,); point: in the frame of the corners, shape (n, 3)."""
    vertex, normal, texcoord = (
        rows(value, rows(row, face))
        for value, row in (
            (corners.vertex, corners.vertex_row),
            (corners.normal, corners.normal_row),
            (corners.texcoord, corners.texcoord_row),
        )
    )
    first, second = vertex[:, 1] - vertex[:, 0], vertex[:, 2] - vertex[:, 0]
    facing = jnp.cross(first, second)
    area = jnp.sum(facing * facing, axis=1, keepdims=True)
    slopes = jnp.stack([safe.divide(jnp.cross(second, facing), area), safe.divide(jnp.cross(facing, first), area)], 1)
    share = jnp.einsum("nij,nj->ni", slopes, point - vertex[:, 0])
    share = jnp.concatenate([1 - jnp.sum(share, axis=1, keepdims=True), share], axis=1)

    flat = safe.normalize(facing)[0][:, None]
    sharp = (jnp.sum(normal * flat, axis=-1) < _CREASE) & rows(corners.creased, face)[:, None]
    normal = jnp.where(sharp[..., None], flat, normal)
    return Between(
        safe.normalize(jnp.einsum("ni,nij->nj", share, normal))[0],
        jnp.einsum("ni,nij->nj", share, texcoord),
        jnp.einsum("nik,nij->nkj", texcoord[:, 1:] - texcoord[:, :1], slopes),
    )
